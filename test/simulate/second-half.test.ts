import type { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ClaimAnswer, ResultRecord } from '../../src/ledger/records.ts';
import { createCoverage } from './coverage.ts';
import type { Sabotage } from './process.ts';
import { firstObjection, historiesOf, simulateSeeds } from './sample.ts';
import { createStage, ENVIRONMENT_NAMES, type Stage } from './scene.ts';
import type { SimulatedEndpoint } from './server.ts';
import { simulate } from './simulate.ts';
import { watchSqlite } from './sqlite.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

let stage: Stage;
const watching = watchSqlite();
beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => {
  stage[Symbol.dispose]();
  watching[Symbol.dispose]();
});

describe.runIf(FULL)('the other half', () => {
  it('2500 more histories from seeds keep the promise (A1, A4, A5, B1, C10, H1, I1, I2, I5, J1, J4, K1, K2, K3)', async () => {
    const failing = await simulateSeeds({ from: 2501, count: 2500 }, historiesOf(stage), createCoverage());
    expect(failing.join('\n')).toBe('');
  }, 3_600_000);
});

it('is the same history for the same seed, to the last byte, whatever came before it', async () => {
  const record = async (seed: number): Promise<string> =>
    (await simulate(seed, stage, { coverage: createCoverage(), recording: true })).log.join('\n');
  const seeds = Array.from({ length: FULL ? 12 : 4 }, (_, i) => 40 + i);
  const first: string[] = [];
  for (const seed of seeds) first.push(await record(seed));
  const second: string[] = [];
  for (const seed of seeds.toReversed()) second.unshift(await record(seed));
  expect(second).toEqual(first);
  expect(new Set(first).size).toBe(seeds.length);
  expect(Math.max(...first.map((log) => log.split('\n').length))).toBeGreaterThan(100);
});

/** Broken on purpose: what the simulation must say of each, and, where it is not among the first, the seed that says so. */
const BROKEN: readonly [label: string, sabotage: Sabotage, says: RegExp, from?: number][] = [
  [
    'claimed rows are pending again at a start',
    {
      ledger: (ledger, db) => ({
        ...ledger,
        start(run, ...facts) {
          requeue(db);
          return ledger.start(run, ...facts);
        },
      }),
    },
    /moved claimed>pending in start|but received 2 times/,
  ],
  ['claims are written after the request', { ledger: claimsLater }, /which is not claimed|without a claim/],
  ['a request without an answer is made again', { endpoint: triesAgain }, /without a claim|but received 2 times/, 13],
  [
    'suppressions that come while sending are not written',
    { ledger: (ledger) => ({ ...ledger, suppress: () => true }) },
    /although it is suppressed/,
    22,
  ],
  ['an outcome now and then is lost', { ledger: forgetful }, /accepted by the API and is|was accepted/],
  [
    'a claim that is given back at a stop is not recorded',
    { ledger: (ledger) => ({ ...ledger, commit: (run, r, c, now) => ledger.commit(run, r.filter(isKept), c, now) }) },
    /is still claimed|rows are claimed, more than/,
    23,
  ],
  [
    'doubts are thrown away',
    { ledger: (ledger) => ({ ...ledger, commit: (run, r, c, now) => ledger.commit(run, r.map(failed), c, now) }) },
    /but received|failed/,
    13,
  ],
  [
    'a fallback that was begun is not sent to',
    {
      ledger: (ledger) => ({
        ...ledger,
        pending: (run, after, limit) => ledger.pending(run, after, limit).filter(({ step }) => step === 0),
      }),
    },
    /is forgotten: pending|the last start ended/,
    76,
  ],
  [
    'a recipient who cannot receive a step gets no other',
    {
      ledger: (ledger) => ({
        ...ledger,
        commit: (run, r, c, now) => ledger.commit(run, r.map(withoutNext), c, now),
      }),
    },
    /no other follows|is not the recipient/,
  ],
  [
    'the winner is not written',
    { ledger: (ledger) => ({ ...ledger, setWinner: (run, winner) => ({ ...run, winner }) }) },
    /with another body|the last start ended|is forgotten: deferred/,
    20,
  ],
  [
    'a claim does not say which environment posts it',
    { ledger: (ledger) => ({ ...ledger, start: (run, nowMs, commit) => ledger.start(run, nowMs, commit, null) }) },
    /and it is claimed for/,
  ],
  [
    'reports are found by the ids of every provider',
    {
      ledger: (ledger) => ({ ...ledger, events: { ...ledger.events, reportsOf: (of) => anywhere(ledger, of) } }),
    },
    /fell back, and no report says/,
    94,
  ],
  ['an answer about several is taken for all of them', { endpoint: takesAll }, /the server (?:said|gave out)/],
  ['a request for several without an answer is sent again in halves', { endpoint: halves }, /but received 2 times/, 13],
];

/** Reports about a message, and about those of other environments with its id. */
function anywhere({ events }: Ledger, message: Parameters<Ledger['events']['reportsOf']>[0]) {
  return ENVIRONMENT_NAMES.flatMap((environment) => events.reportsOf({ ...message, environment }));
}

it.each(BROKEN)('objects when %s', async (_, sabotage, says, from = 1) => {
  const objections = await firstObjection(sabotage, stage, { from, count: 200 });
  expect(objections.join('\n')).toMatch(says);
});

it('is content when nothing is broken', async () => {
  expect(await firstObjection({}, stage, { from: 1, count: FULL ? 30 : 10 })).toEqual([]);
});

function requeue(db: DatabaseSync): void {
  db.prepare(`UPDATE recipients SET state = 'pending' WHERE state = 'claimed'`).run();
}

/** Says at once that all are claimed, and writes it with the next commit. */
function claimsLater(ledger: Ledger): Ledger {
  let owed: Parameters<Ledger['commit']>[2] = [];
  return {
    ...ledger,
    commit(run, results, claims, nowMs) {
      const answers = claims.map((): ClaimAnswer => 'claimed');
      ledger.commit(run, [], owed, nowMs);
      owed = claims;
      if (results.length > 0) ledger.commit(run, results, [], nowMs);
      return answers;
    },
  };
}

function triesAgain(endpoint: SimulatedEndpoint): SimulatedEndpoint {
  return {
    ...endpoint,
    async post(body, reference) {
      const facts = await endpoint.post(body, reference);
      return facts.phase === 'P2' ? await endpoint.post(body, reference) : facts;
    },
  };
}

function forgetful(ledger: Ledger): Ledger {
  let count = 0;
  const kept = (): boolean => {
    count += 1;
    return count % 10 !== 0;
  };
  return { ...ledger, commit: (run, results, claims, now) => ledger.commit(run, results.filter(kept), claims, now) };
}

function isKept(result: ResultRecord): boolean {
  return !(result.from === 'claimed' && result.state === 'pending' && result.reason === 'stopped');
}

function failed(result: ResultRecord): ResultRecord {
  return result.state === 'in-doubt' ? { ...result, state: 'failed', reason: 'connect' } : result;
}

function withoutNext({ next: _, ...result }: ResultRecord): ResultRecord {
  return result;
}

/** Whatever a 2xx says of each, it says nothing any more. */
function takesAll(endpoint: SimulatedEndpoint): SimulatedEndpoint {
  return {
    ...endpoint,
    async post(body, reference) {
      const facts = await endpoint.post(body, reference);
      return facts.body.startsWith('{"messages"') ? { ...facts, body: '{}' } : facts;
    },
  };
}

/** Silence looks like 413. */
function halves(endpoint: SimulatedEndpoint): SimulatedEndpoint {
  return {
    ...endpoint,
    async post(body, reference) {
      const facts = await endpoint.post(body, reference);
      const several = (JSON.parse(body) as { readonly recipients: readonly unknown[] }).recipients.length > 1;
      return facts.phase === 'P2' && several ? { ...facts, phase: 'P4', status: 413, error: null } : facts;
    },
  };
}
