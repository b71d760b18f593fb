/**
 * `FOLDER`: plays the API for any number of scenes at once, with faults, until its stdin ends. Says its origin on stdout.
 * `POST /SCENE/PROFILE/v2/messages` is written to FOLDER/SCENE.jsonl before it is answered. Started by api.ts.
 */
import { openSync, writeSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import type { Said } from '../oracle/receipts.ts';
import { type Conduct, conductOf, type Profile, type Request, readProfile, saidOf } from './conduct.ts';

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
const ACCEPTED = { 'content-type': 'application/json' };
const CANNOT = '{"code":"channel-not-supported"}';

/** Status and id that go into the receipt. */
const SAYS: Readonly<Record<Conduct, { readonly status: number | null; readonly givesId: boolean }>> = {
  accept: { status: 202, givesId: true },
  busy: { status: 429, givesId: false },
  'busy-for-long': { status: 429, givesId: false },
  refuse: { status: 400, givesId: false },
  fail: { status: 500, givesId: false },
  reset: { status: null, givesId: false },
  close: { status: null, givesId: false },
  silence: { status: null, givesId: false },
  half: { status: 202, givesId: false },
  'too-large': { status: 413, givesId: false },
  unsupported: { status: 422, givesId: false },
};

interface Reply {
  readonly conduct: Conduct;
  readonly id: string | null;
  readonly number: number;
  /** What the answer says of each recipient; null where it has no list. */
  readonly entries: readonly object[] | null;
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
  const { channel, recipients } = JSON.parse(text) as Message;
  const references = recipients.map(({ metaData }) => metaData.handbill);
  const [reference = ''] = references;
  const earlier = state.seen.get(reference) ?? 0;
  state.seen.set(reference, earlier + 1);
  const request: Request = { number, earlier, channel, references };
  const conduct = conductOf(profile, scene, request);
  const { status, givesId } = SAYS[conduct];
  const said = references.map((one) => (conduct === 'unsupported' ? conduct : saidOf(profile, scene, one, request)));
  const hasList = givesId && (references.length > 1 || said[0] !== 'taken');
  const id = givesId && !hasList ? `id-${scene}-${number}` : null;
  const idAt = (at: number): string | null => (said[at] === 'taken' ? `id-${scene}-${number}-${at}` : null);
  const isSaid = hasList || conduct === 'unsupported';
  const each = isSaid ? { each: said.map((one, at) => ({ said: one, id: idAt(at) })) } : {};
  writeSync(state.file, `${JSON.stringify({ number, status, id, text, ...each })}\n`);
  const entries = hasList
    ? said.flatMap((one, at) => entryOf(one, recipients[at]?.msisdn, idAt(at))).toReversed()
    : null;
  const reply: Reply = { conduct, id, number, entries };
  // Spread, so that answers do not come in step.
  const waitMs = profile.latencyMs * (0.5 + (number % 7) / 6);
  if (waitMs === 0) answer(reply, outgoing);
  else setTimeout(() => answer(reply, outgoing), waitMs);
}

interface Message {
  readonly channel: string;
  readonly recipients: readonly { readonly msisdn: string; readonly metaData: { readonly handbill: string } }[];
}

/** The entry of one recipient in an answer; none for those that it leaves out. */
function entryOf(said: Said, to: string | undefined, id: string | null): object[] {
  if (said === 'unclear') return [];
  if (said === 'taken') return [{ to, id }];
  return [{ to, error: { code: said === 'unsupported' ? 'channel-not-supported' : 'refused' } }];
}

function answer({ conduct, id, number, entries }: Reply, outgoing: ServerResponse): void {
  const { status } = SAYS[conduct];
  const body = JSON.stringify(entries === null ? { id } : { messages: entries });
  if (conduct === 'silence') return;
  if (conduct === 'reset') outgoing.socket?.resetAndDestroy();
  else if (conduct === 'close') outgoing.socket?.end();
  else if (conduct === 'half') {
    outgoing.writeHead(202, { ...ACCEPTED, 'content-length': body.length });
    outgoing.write(body.slice(0, body.length / 2));
    setTimeout(() => outgoing.socket?.resetAndDestroy(), RESET_AFTER_MS);
  } else if (conduct === 'accept') {
    outgoing.writeHead(202, { ...ACCEPTED, 'content-length': body.length });
    outgoing.end(body);
  } else if (conduct === 'unsupported') {
    outgoing.writeHead(422, { ...ACCEPTED, 'content-length': CANNOT.length });
    outgoing.end(CANNOT);
  } else {
    // `Retry-After` holds back all recipients, else only this recipient waits: both are wanted, the first seldom.
    // After three tries a recipient waits for as long as the server asks, else for 15 minutes, which is too long for a test.
    const seconds = conduct === 'busy-for-long' ? '1' : conduct === 'busy' && number % 16 === 0 ? '0' : null;
    const wait = seconds === null ? {} : { 'retry-after': seconds };
    outgoing.writeHead(status ?? 500, { ...wait, 'content-length': 0 });
    outgoing.end();
  }
}

const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', () => {});
  outgoing.on('error', () => {});
  incoming.on('end', () => receive(stateOf(incoming.url ?? ''), Buffer.concat(chunks).toString(), outgoing));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
// The process that started it may itself be ended in any way.
process.stdin.resume().on('end', () => process.exit(0));
