import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCoverage, missing } from '../coverage.ts';
import { historiesOfSeveral, quickSeeds, simulateSeeds } from '../sample.ts';
import { createStage, type Stage } from '../scene.ts';
import { watchSqlite } from '../sqlite.ts';
import { type Cast, createCast } from './campaigns.ts';
import { simulateSeveral } from './history.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
const SEEDS = FULL ? { from: 1, count: 600 } : quickSeeds(70, 14);

let stage: Stage;
let cast: Cast;
const watching = watchSqlite();
beforeAll(async () => {
  stage = await createStage();
  cast = await createCast(stage);
});
afterAll(() => {
  stage[Symbol.dispose]();
  watching[Symbol.dispose]();
});

it(
  `no rule is broken and outcomes add up in ${SEEDS.count} histories of several campaigns (A7)`,
  async () => {
    const coverage = createCoverage();
    expect((await simulateSeeds(SEEDS, historiesOfSeveral(stage, cast), coverage)).join('\n')).toBe('');
    // What never happened proves nothing.
    expect(missing(coverage.counts, FULL ? 'all rules' : 'rules')).toEqual([]);
  },
  FULL ? 3_600_000 : 180_000,
);

it('is the same history for the same seed', async () => {
  const record = async (seed: number): Promise<readonly string[]> =>
    (await simulateSeveral(seed, stage, cast, { coverage: createCoverage(), recording: true })).log;
  const first = await record(5);
  await record(6);
  expect(await record(5)).toEqual(first);
  expect(first.length).toBeGreaterThan(100);
});
