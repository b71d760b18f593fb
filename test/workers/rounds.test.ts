import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { type KillsApi, startKillsApi } from '../kills/api.ts';
import { inLanes } from '../kills/lanes.ts';
import { freshDatabaseOn } from './databases.ts';
import { type Network, openNetwork, portOf } from './hosts.ts';
import { planRound, playRound, type RoundPlan, type RoundResult } from './round.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
/** So many rounds run at a time, each on its own server: the faults of one must not meet another. */
const LANES = 3;
/** `send` itself is lost with its host, and others and the next start go on. */
const LOST: Partial<RoundPlan> = { fault: 'lose', victim: 0, hosts: true, again: true };
/** One of each kind that is unlike the others, in the quick set. */
const SAMPLE: readonly Partial<RoundPlan>[] = [
  { ...LOST, workers: 2 },
  { fault: 'kill', victim: 1, workers: 2 },
  { fault: 'stop', victim: 2, workers: 2 },
  { fault: 'kill', victim: 0, workers: 2 },
];
/** Each fault of `send` and of a worker, half of them on hosts of their own; `npm run hunt:workers` plays more. */
const EVERY: readonly Partial<RoundPlan>[] = [
  LOST,
  { fault: 'lose', victim: 1, hosts: true },
  { fault: 'cut', victim: 0, hosts: true },
  { fault: 'cut', victim: 2 },
  { fault: 'stop', victim: 0, again: true },
  { fault: 'stop', victim: 3, hosts: true },
  { fault: 'kill', victim: 0 },
  { fault: 'kill', victim: 1, hosts: true },
  { fault: 'leave', victim: 0, hosts: true },
  { fault: 'leave', victim: 2 },
  { fault: 'restart' },
  { fault: 'crash', hosts: true },
];

let api: KillsApi;
/** Null where this machine allows no hosts of their own: then all processes are on this one, and it is said. */
let network: Network | null;
beforeAll(async () => {
  api = await startKillsApi();
  network = await openNetwork(portOf(api));
  if (network === null) process.stderr.write('No hosts of their own (Linux, as root): workers share this machine.\n');
});
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

/** Without hosts a machine cannot be lost: then its process is killed. */
function onThisMachine(plan: RoundPlan): RoundPlan {
  if (network !== null || !plan.hosts) return plan;
  return { ...plan, hosts: false, fault: plan.fault === 'lose' ? 'kill' : plan.fault };
}

async function playAll(plans: readonly RoundPlan[]): Promise<readonly RoundResult[]> {
  // Each takes the next plan that is left.
  const left = plans.values();
  const lanes = Array.from({ length: Math.min(LANES, plans.length) }, () => left);
  const played = await inLanes(lanes.length, lanes, async (mine) => {
    const folder = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'handbill-workers-'));
    const server = await startPostgres(folder, {}, network);
    try {
      const results: RoundResult[] = [];
      for (const plan of mine) {
        const database = await freshDatabaseOn(server.address);
        results.push(await playRound(plan, { api, server, database, network }));
      }
      return results;
    } finally {
      await removePostgres(server, folder);
    }
  });
  return played.flat();
}

it('several workers share a run, and one of them or the database fails: no recipient is sent to twice or forgotten (J5, J6)', {
  timeout: 15 * 60_000,
}, async () => {
  const plans = FULL
    ? EVERY.map((given, at) => planRound(90_000 + at, { workers: 3, ...given }))
    : SAMPLE.map((given, at) => planRound(80_000 + at, given));
  const results = await playAll(plans.map(onThisMachine));
  const found = results.flatMap(({ plan, violations }) =>
    violations.map((what) => `seed ${plan.seed}, ${plan.fault} of ${plan.victim}: ${what}`),
  );
  expect(found).toEqual([]);
  expect(results.length).toBe(plans.length);
  if (!FULL) return;
  // Faults did hit a process at work (how many requests it had on their way is up to the machine).
  expect(results.reduce((sum, { doubts }) => sum + doubts, 0)).toBeGreaterThan(0);
});
