import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCoverage, missing } from './coverage.ts';
import { historiesOf, quickSeeds, simulateSeeds } from './sample.ts';
import { createStage, type Stage } from './scene.ts';
import { watchSqlite } from './sqlite.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
/** The other half of the full set is in second-half.test.ts, so that two cores share them. */
const SEEDS = FULL ? { from: 1, count: 1500 } : quickSeeds(1, 150);

let stage: Stage;
const watching = watchSqlite();
beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => {
  stage[Symbol.dispose]();
  watching[Symbol.dispose]();
});

it(
  `${SEEDS.count} histories from seeds keep the promise (A1, A4, A5, A6, B1, C10, H1, I1, I2, I5, J1, J4, K1, K2, K3)`,
  async () => {
    const coverage = createCoverage();
    expect((await simulateSeeds(SEEDS, historiesOf(stage), coverage)).join('\n')).toBe('');
    // What never happened proves nothing.
    expect(missing(coverage.counts, FULL ? 'everything' : 'the usual')).toEqual([]);
  },
  FULL ? 3_600_000 : 600_000,
);
