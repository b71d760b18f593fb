/**
 * `FOLDER`: plays the API for any number of scenes at once, with faults, until its stdin ends. Says its origin on stdout.
 * `POST /SCENE/PROFILE/v2/messages` is written to FOLDER/SCENE.jsonl before it is answered; `PUT /SCENE/PROFILE` opens a port
 * for an API with another path. Started by api.ts.
 */
import { openSync, writeSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { FORMS, type Written } from '../oracle/forms.ts';
import { type Conduct, conductOf, hash, type Profile, type Request, readProfile, wordsOf } from './conduct.ts';

interface ApiState {
  readonly scene: string;
  readonly profile: Profile;
  readonly file: number;
  number: number;
  /** Requests by reference; only where a recipient may come again. */
  readonly seen: Map<string, number>;
}

const [folder = '.'] = process.argv.slice(2);
const states = new Map<string, ApiState>();
const RESET_AFTER_MS = 20;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Of answers that have no body. */
const STATUSES: Readonly<Partial<Record<Conduct, number>>> = {
  busy: 429,
  'busy-for-long': 429,
  refuse: 400,
  fail: 500,
  'too-large': 413,
};

interface Reply {
  readonly conduct: Conduct;
  readonly number: number;
  /** Null: no body. */
  readonly written: Written | null;
}

function stateOf(url: string): ApiState {
  const [, scene = '', profile = ''] = url.split('/');
  const key = `${scene}/${profile}`;
  let state = states.get(key);
  if (state === undefined) {
    const file = openSync(join(folder, `${scene}.jsonl`), 'a', 0o600);
    state = { scene, profile: readProfile(profile), file, number: 0, seen: new Map() };
    states.set(key, state);
  }
  return state;
}

function receive(state: ApiState, text: string, outgoing: ServerResponse): void {
  state.number += 1;
  const { number, profile, scene } = state;
  const form = FORMS[profile.form ?? 'messages-v2'];
  const asked = form.read(text);
  const { channel, references } = asked;
  const [reference = ''] = references;
  const earlier = state.seen.get(reference) ?? 0;
  state.seen.set(reference, earlier + 1);
  const request: Request = { number, earlier, channel, references };
  const conduct = conductOf(profile, scene, request);
  const said = wordsOf(profile, scene, request, conduct);
  const idOf = (at: number): string => `id-${scene}-${number}-${at}`;
  const written = said === null ? null : form.say(said, asked, idOf, hash(`${scene} ${number}`));
  // Half an answer says nothing.
  const isWhole = written !== null && conduct !== 'half';
  const each = isWhole && said?.some((one) => one !== 'taken') ? written.each : undefined;
  const ids = isWhole && each === undefined ? written.each : undefined;
  const status = written?.status ?? STATUSES[conduct] ?? null;
  const id = ids?.length === 1 ? ids[0]?.id : null;
  writeSync(
    state.file,
    `${JSON.stringify({ number, status, id, text, references, each: each ?? (references.length > 1 ? ids : undefined) })}\n`,
  );
  const reply: Reply = { conduct, number, written };
  // Spread, so that answers do not come in step.
  const waitMs = profile.latencyMs * (0.5 + (number % 7) / 6);
  if (waitMs === 0) answer(reply, outgoing);
  else setTimeout(() => answer(reply, outgoing), waitMs);
}

function answer({ conduct, number, written }: Reply, outgoing: ServerResponse): void {
  if (conduct === 'silence') return;
  if (conduct === 'reset') outgoing.socket?.resetAndDestroy();
  else if (conduct === 'close') outgoing.socket?.end();
  else if (written !== null) {
    const { status, body } = written;
    outgoing.writeHead(status, { ...JSON_TYPE, 'content-length': body.length });
    if (conduct === 'half') {
      outgoing.write(body.slice(0, body.length / 2));
      setTimeout(() => outgoing.socket?.resetAndDestroy(), RESET_AFTER_MS);
    } else outgoing.end(body);
  } else {
    // `Retry-After` holds back all recipients, else only this recipient waits: both are wanted, the first seldom.
    // After three tries a recipient waits for as long as the server asks, else for 15 minutes, which is too long for a test.
    const seconds = conduct === 'busy-for-long' ? '1' : conduct === 'busy' && number % 16 === 0 ? '0' : null;
    const wait = seconds === null ? {} : { 'retry-after': seconds };
    outgoing.writeHead(STATUSES[conduct] ?? 500, { ...wait, 'content-length': 0 });
    outgoing.end();
  }
}

/** The API of a scene; any, where its path says which. */
function serve(stateFor: (url: string) => ApiState): Server {
  return createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    outgoing.on('error', () => {});
    incoming.on('end', () => {
      const url = incoming.url ?? '';
      if (incoming.method === 'PUT') open(stateFor(url), outgoing);
      else receive(stateFor(url), Buffer.concat(chunks).toString(), outgoing);
    });
  });
}

/** Its origin alone, for an API whose path is given. */
function open(state: ApiState, outgoing: ServerResponse): void {
  const server = serve(() => state).listen(0, '127.0.0.1', () => outgoing.end(String(portOf(server))));
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

const server = serve(stateOf).listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${portOf(server)}\n`);
});
// The process that started it may itself be ended in any way.
process.stdin.resume().on('end', () => process.exit(0));
