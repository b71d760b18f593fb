import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { runCli, startCli } from '../helpers/cli.ts';
import { commandRunner } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawRequest, reset, startRawServer } from '../helpers/raw-server.ts';
import { post, SECRET, signed } from '../webhook/sender.ts';

/** Events; the whole set, as it was asked for, takes a minute. */
const EVENTS = process.env['HANDBILL_FULL'] === '1' ? 10_000 : 400;
const EVENTS_A_BODY = 50;
/** After every claim: what is reported from before a message was sent is not about it. */
const BASE_MS = Date.now() + 60_000;

/** What is told of a message, in order, by its number modulo 5; `Stop` and other texts are replies. */
const STORIES = [
  ['sent', 'delivered', 'read'],
  ['queued', 'failed'],
  ['queued', 'sent', 'delivered', 'Thanks!'],
  ['sent', 'expired', 'delivered'],
  ['sent', 'undeliverable', 'failed'],
];
const REPLIES: ReadonlySet<string> = new Set(['Thanks!', 'Stop']);

interface Told {
  readonly message: number;
  readonly event: object;
}

const numberOf = (message: number): string => `+4477009${String(message).padStart(5, '0')}`;

/** The API resets the connection after some requests: their recipients are in doubt until a report names our reference. */
const isDoubtful = (message: number): boolean => message % 40 === 7;

function told(message: number, what: string, at: number): Told {
  const timestamp = new Date(BASE_MS + 1000 * message + 100 * at).toISOString();
  if (REPLIES.has(what)) {
    const text = message % 20 === 2 ? 'Stop' : what;
    return { message, event: { from: numberOf(message), to: 'Riverside', text, timestamp } };
  }
  const id = isDoubtful(message) ? { reference: references.get(message) } : { messageId: `m-${message}` };
  return { message, event: { ...id, status: what, timestamp } };
}

/** Our reference of each message, as the API was told it; the same in both projects. */
const references = new Map<number, string>();

function storyOf(message: number): readonly Told[] {
  return (STORIES[message % STORIES.length] ?? []).map((what, at) => told(message, what, at));
}

const MESSAGES = (() => {
  for (let [message, events] = [0, 0]; ; message++) {
    if (events >= EVENTS) return message;
    events += (STORIES[message % STORIES.length] ?? []).length;
  }
})();

/** mulberry32: the same order each time. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [all[i], all[j]] = [all[j] as T, all[i] as T];
  }
  return all;
}

interface Outcome {
  readonly rows: readonly object[];
  readonly summary: object;
  readonly counts: object;
  readonly suppressed: readonly string[];
  /** Events that were posted to the webhook, repetitions included. */
  readonly posted: number;
}

/** Sends to all recipients, with `early` told before each answer of the API, and `late` when all of it is over. */
async function play(early: (message: number) => readonly Told[], late: () => readonly Told[]): Promise<Outcome> {
  let url = '';
  let posted = 0;
  const tell = async (events: readonly Told[]): Promise<void> => {
    if (events.length === 0) return;
    const body = JSON.stringify(events.map(({ event }) => event));
    const { status } = await post(url, body, { 'content-type': 'application/json', ...signed(body) });
    expect(status).toBe(200);
    posted += events.length;
  };
  const take = async (request: RawRequest): Promise<void> => {
    const [{ msisdn, metaData }] = JSON.parse(request.body).recipients;
    const message = Number(msisdn.slice(-5));
    references.set(message, metaData.handbill);
    await tell(early(message));
    if (isDoubtful(message)) reset(request);
    else answer(202, JSON.stringify({ id: `m-${message}` }))(request);
  };
  const server = await startRawServer({ behaviour: (request) => void take(request) });
  const env = { KEY: 'key-of-a-test', HANDBILL_WEBHOOK_SECRET: SECRET };
  using project = projectOf(new URL(server.url).origin);
  const listening = startCli(['listen', '--port', '0'], { cwd: project.root, env });
  try {
    while (!listening.stdout().includes('Ctrl-C')) await sleep(20);
    url = /Receiving on (\S+)/.exec(listening.stdout())?.[1] ?? '';
    const sent = await runCli(['send', 'hello', '--env', 'live', '--yes', '--quiet'], { cwd: project.root, env });
    expect(sent.signal).toBeNull();
    const rest = late();
    for (let at = 0; at < rest.length; at += EVENTS_A_BODY) await tell(rest.slice(at, at + EVENTS_A_BODY));
  } finally {
    listening.kill('SIGTERM');
    await listening.done;
    await server.close();
  }
  return { ...(await outcomeOf(project)), posted };
}

function projectOf(url: string): TestProject {
  const people = Array.from({ length: MESSAGES }, (_, message) => numberOf(message));
  return createProject({
    'handbill.yaml': `environments:
  live:
    baseUrl: "${url}"
    apiKey: { env: KEY }
    webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }
`,
    'hello/campaign.yaml': `name: hello
channel: sms
from: Riverside
template: { text: Hello }
recipients: people.csv
limits: { stopAfter: { inDoubt: 10000 } }
`,
    'hello/people.csv': `msisdn\n${people.join('\n')}\n`,
  });
}

async function outcomeOf({ root, path }: TestProject): Promise<Omit<Outcome, 'posted'>> {
  const rows = await commandRunner()(['report', 'hello', '--format', 'jsonl', '-o', 'rows.jsonl', '--quiet'], {
    cwd: root,
  });
  expect(rows).toMatchObject({ status: 0, stderr: '' });
  const summary = JSON.parse((await commandRunner()(['report', 'hello', '--format', 'json'], { cwd: root })).stdout);
  const ledger = openLedger(path('.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
  const counts = ledger.events.counts();
  const suppressed = [...ledger.suppressions()].map(({ address }) => address);
  ledger.close();
  const { state, totals, deliveries, replies } = summary;
  return {
    rows: readFileSync(path('rows.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => {
        const { updatedAt, ...row } = JSON.parse(line);
        return row;
      }),
    summary: { state, totals, deliveries, replies },
    counts,
    suppressed,
  };
}

describe(`${EVENTS} events, each twice and in any order, half of them before the API has answered`, () => {
  it('come to the same as each once and in order, with one effect each', { timeout: 300_000 }, async () => {
    const all = Array.from({ length: MESSAGES }, (_, message) => message);
    const inOrder = await play(
      () => [],
      () => all.flatMap(storyOf),
    );
    const random = createRandom(1);
    const left: Told[] = [];
    const mixed = await play(
      (message) => {
        // Each event is told twice: early or late, each time by itself.
        const twice = shuffled([...storyOf(message), ...storyOf(message)], random);
        const half = Math.floor(twice.length / 2);
        left.push(...twice.slice(half));
        return twice.slice(0, half);
      },
      () => shuffled(left, random),
    );
    const events = all.flatMap(storyOf);
    const replies = all.filter((message) => message % 5 === 2).length;
    const stops = all.filter((message) => message % 20 === 2);
    expect(events.length).toBeGreaterThanOrEqual(EVENTS);
    expect(inOrder.posted).toBe(events.length);
    expect(mixed.posted).toBe(2 * events.length);
    expect(mixed.counts).toEqual({ reports: events.length - replies, replies, unread: 0 });
    expect(mixed.suppressed).toEqual(stops.map(numberOf));
    expect(inOrder.summary).toMatchObject({ state: 'finished', totals: { accepted: MESSAGES, inDoubt: 0 } });
    expect({ ...mixed, posted: 0 }).toEqual({ ...inOrder, posted: 0 });
  });
});
