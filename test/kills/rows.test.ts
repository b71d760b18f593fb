import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CliResult } from '../helpers/cli.ts';
import { readReceipts } from '../oracle/receipts.ts';
import type { Scene } from '../oracle/scene.ts';
import { type KillsApi, startKillsApi } from './api.ts';
import { createKillsScene } from './campaign.ts';
import { crashed } from './checks.ts';
import { judgeFinished, SEND, sendUntilFinished } from './finish.ts';
import { type Trip, tripEnv } from './trip.ts';

const ROWS = 6;
const CONCURRENCY = 2;
const CLAIM = "SET state = 'claimed'";
const PATIENCE = { timeout: 5 * 60_000 };

let api: KillsApi;
let scenes = 0;

beforeAll(async () => {
  api = await startKillsApi();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

interface Ended extends Disposable {
  readonly scene: Scene;
  readonly end: CliResult;
  /** How many rows the ledger and the server each know to be in doubt by this end. */
  readonly doubts: number;
  readonly received: () => number;
}

/** Starts a run that ends as the tripwire says. */
async function endAt(trip: Partial<Trip> & { readonly count: number }, options = '', latencyMs = 5): Promise<Ended> {
  scenes += 1;
  const address = await api.addressOf(`row-${scenes}`, { latencyMs, faults: 0, busyNumber: 0 });
  const scene = createKillsScene({ address, rows: ROWS, concurrency: CONCURRENCY, timeout: '5s' });
  const end = await scene.send(SEND, { env: tripEnv(trip, options) });
  const doubts = crashed(scene.endings()).length;
  const received = () => readReceipts(address.receipts).length;
  return { scene, end, doubts, received, [Symbol.dispose]: () => scene[Symbol.dispose]() };
}

/** Starts it again to the end: those who were in doubt stay so, all others are accepted. */
async function expectContinued({ scene, doubts }: Ended): Promise<void> {
  const known = crashed(scene.endings()).map(({ reference }) => reference);
  const ends = await sendUntilFinished(scene);
  expect(await judgeFinished({ scene, ends, mostCrashes: doubts, bodies: false })).toEqual([]);
  const endings = scene.endings();
  expect(crashed(endings).map(({ reference }) => reference)).toEqual(known);
  expect(endings.filter(({ outcome }) => outcome === 'accepted').length).toBe(ROWS - doubts);
  expect(ends.at(-1)?.status).toBe(doubts > 0 ? 4 : 0);
}

it(
  'killed before a claim, all recipients are pending, and the next start sends to all of them (A1)',
  PATIENCE,
  async () => {
    using ended = await endAt({ count: 1, only: CLAIM });
    expect(ended.end.signal).toBe('SIGKILL');
    expect(ended.scene.endings().map(({ outcome }) => outcome)).toEqual(Array(ROWS).fill('pending'));
    expect(ended.received()).toBe(0);
    await expectContinued(ended);
    expect(ended.received()).toBe(ROWS);
  },
);

it('killed while a claim is being committed, it never was (A1)', PATIENCE, async () => {
  using ended = await endAt({ count: 1, only: CLAIM, when: 'after' });
  expect(ended.end.signal).toBe('SIGKILL');
  expect(ended.doubts).toBe(0);
  await expectContinued(ended);
  expect(ended.received()).toBe(ROWS);
});

it(
  'killed after the claim and before the request, the row is in doubt and never sent to again (B1)',
  PATIENCE,
  async () => {
    using ended = await endAt({ count: 1, only: 'socket send' });
    expect(ended.end.signal).toBe('SIGKILL');
    expect(ended.doubts).toBe(1);
    expect(ended.received()).toBe(0);
    await expectContinued(ended);
    expect(ended.received()).toBe(ROWS - 1);
  },
);

it.each([
  ['as soon as the request is out', { count: 4, only: 'socket send', when: 'after' }],
  ['when the answer is there and not recorded', { count: 3, only: 'socket receive' }],
] as const)(
  'killed after the hook, %s, the row is in doubt, was received, and is not sent to again (C10)',
  PATIENCE,
  async (_, trip) => {
    using ended = await endAt(trip);
    expect(ended.end.signal).toBe('SIGKILL');
    expect(ended.doubts).toBeGreaterThan(0);
    expect(ended.doubts).toBeLessThanOrEqual(CONCURRENCY);
    await expectContinued(ended);
    // Each once: those in doubt by the first start, the others by either. The disk may have been at work on the claim of
    // another one.
    expect(ended.received()).toBeLessThanOrEqual(ROWS);
    expect(ended.received()).toBeGreaterThanOrEqual(ROWS - (ended.doubts - 1));
  },
);

it.each([2, 6])(
  'before the first byte of request %i leaves, its claim is in the ledger that a kill leaves (C11)',
  PATIENCE,
  async (count) => {
    using ended = await endAt({ count, only: 'socket send' });
    expect(ended.end.signal).toBe('SIGKILL');
    const endings = ended.scene.endings();
    const known = endings.filter(({ outcome }) => outcome === 'accepted').length + ended.doubts;
    // Those of which the server may have got a byte, and the one that was to leave now.
    expect(known).toBeGreaterThanOrEqual(count);
    expect(ended.doubts).toBeGreaterThan(0);
    await expectContinued(ended);
  },
);

const ENDS: readonly [string, Partial<Trip>, string, (end: CliResult) => void][] = [
  ['an uncaught exception', { action: 'throw' }, '', bug],
  ['an unhandled rejection', { action: 'reject' }, '', bug],
  ['no memory left', { action: 'memory' }, '--max-old-space-size=64', ({ status }) => expect(status).not.toBe(0)],
];

it.each(ENDS)('%s in the middle of a run is as a kill (I5)', PATIENCE, async (_, trip, options, expectEnd) => {
  // Slow answers, so that requests are in flight when it comes.
  using ended = await endAt({ count: 3, only: 'socket send', when: 'after', ...trip }, options, 200);
  expectEnd(ended.end);
  expect(ended.doubts).toBeGreaterThan(0);
  expect(ended.doubts).toBeLessThanOrEqual(CONCURRENCY);
  await expectContinued(ended);
  expect(ended.received()).toBe(ROWS);
});

/** One line that asks for a report, exit status 1, and no trace. */
function bug({ status, stderr }: CliResult): void {
  expect(status).toBe(1);
  expect(stderr).toMatch(/^handbill: a bug: planted (?:exception|rejection)\n/m);
  expect(stderr).not.toMatch(/^\s+at /m);
}
