import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { type KillsApi, startKillsApi } from '../kills/api.ts';
import { inLanes } from '../kills/lanes.ts';
import { freshDatabaseOn } from './databases.ts';
import { type Fault, planRound, playRound, type RoundPlan, type RoundResult } from './round.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
const ROUNDS = 30;
/** Rounds are beside each other, each with a server of its own: what one does to it must not meet another. */
const LANES = 3;
/** One of each kind that is unlike the others, in the quick set. */
const SAMPLE: readonly Partial<RoundPlan>[] = [
  { fault: 'kill', victim: 1, workers: 2 },
  { fault: 'stop', victim: 2, workers: 2 },
  { fault: 'kill', victim: 0, workers: 2 },
];

let api: KillsApi;
beforeAll(async () => {
  api = await startKillsApi();
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

async function playAll(plans: readonly RoundPlan[]): Promise<readonly RoundResult[]> {
  const lanes = Array.from({ length: Math.min(LANES, plans.length) }, (_, lane) =>
    plans.filter((_plan, at) => at % LANES === lane),
  );
  const played = await inLanes(lanes.length, lanes, async (mine) => {
    const folder = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'handbill-workers-'));
    const server = await startPostgres(folder);
    try {
      const results: RoundResult[] = [];
      for (const plan of mine) results.push(await playRound(plan, api, server, await freshDatabaseOn(server.address)));
      return results;
    } finally {
      await removePostgres(server, folder);
    }
  });
  return played.flat();
}

it('J5, J6: several workers share a run, and one of them or the database fails: nobody is sent to twice, nobody forgotten', {
  timeout: 15 * 60_000,
}, async () => {
  const plans = FULL
    ? Array.from({ length: ROUNDS }, (_, at) => planRound(90_000 + at))
    : SAMPLE.map((given, at) => planRound(80_000 + at, given));
  const results = await playAll(plans);
  const found = results.flatMap(({ plan, violations }) =>
    violations.map((what) => `seed ${plan.seed}, ${plan.fault} of ${plan.victim}: ${what}`),
  );
  expect(found).toEqual([]);
  expect(results.length).toBe(plans.length);
  if (!FULL) return;
  // Of every kind; and the faults did hit somebody at work.
  const kinds = new Set<Fault>(results.map(({ plan }) => plan.fault));
  expect([...kinds].sort()).toEqual(['crash', 'cut', 'kill', 'leave', 'restart', 'stop']);
  expect(results.reduce((sum, { doubts }) => sum + doubts, 0)).toBeGreaterThan(10);
});
