import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { createCoverage } from '../coverage.ts';
import type { Sabotage } from '../process.ts';
import { historiesOfTimes, quickSeeds, simulateSeeds } from '../sample.ts';
import { createStage, type Stage } from '../scene.ts';
import { watchSqlite } from '../sqlite.ts';
import { createDays, type Days } from './campaigns.ts';
import { simulateEach } from './history.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
const SEEDS = FULL ? { from: 1, count: 1000 } : quickSeeds(1, 40);

let stage: Stage;
let days: Days;
const watching = watchSqlite();
beforeAll(async () => {
  stage = await createStage();
  days = await createDays(stage);
});
afterAll(() => {
  stage[Symbol.dispose]();
  watching[Symbol.dispose]();
});

/** What never happened proves nothing. */
const NEEDED = [
  'each posted',
  'each posted earlier',
  'each:excluded',
  'each:expired',
  'each:outside-window',
  'each:removed',
  'each:too-early',
  'each:window-closed',
  'several mornings at a time',
  'taken over',
  'taken over in flight',
];

it(
  `a message for each time, once and in time, in ${SEEDS.count} histories of lists that are read every morning (A7)`,
  async () => {
    const coverage = createCoverage();
    expect((await simulateSeeds(SEEDS, historiesOfTimes(stage, days), coverage)).join('\n')).toBe('');
    expect(NEEDED.filter((kind) => !coverage.counts.has(kind))).toEqual([]);
  },
  FULL ? 3_600_000 : 180_000,
);

it('is the same history for the same seed', async () => {
  const record = async (seed: number): Promise<readonly string[]> =>
    (await simulateEach(seed, stage, days, { coverage: createCoverage(), recording: true })).log;
  const first = await record(5);
  await record(6);
  expect(await record(5)).toEqual(first);
  expect(first.length).toBeGreaterThan(100);
});

/** Broken on purpose, what the simulation says of each, and, where it is not among the first, the seed that says so. */
const BROKEN: readonly [label: string, sabotage: Sabotage, says: RegExp, from?: number][] = [
  [
    'the runs of the campaign itself are not asked',
    { ledger: (ledger) => ({ ...ledger, reach: (own, rules) => ledger.reach(own, { ...rules, sameSinceMs: null }) }) },
    /which day-\d reached|was sent to by/,
    9,
  ],
  [
    'a run begins and leaves the rows of earlier ones to them',
    {
      ledger: (ledger) => ({
        ...ledger,
        finishLoad: (run, facts) => ledger.finishLoad(run, { ...facts, takesOver: false }),
      }),
    },
    /left to be sent by two runs/,
  ],
  [
    'the claim asks for what was known when the list was read',
    { ledger: stale },
    /which day-\d reached|was sent to by/,
    34,
  ],
  [
    'rows are taken over after the run has begun, which a kill prevents',
    { ledger: takesOverLater },
    /left to be sent by two runs/,
  ],
];

describe('objects where', () => {
  it.each(BROKEN)('%s', async (_, sabotage, says, from = 1) => {
    for (let seed = from; seed < from + 60; seed++) {
      const { violations } = await simulateEach(seed, stage, days, { coverage: createCoverage(), sabotage });
      if (violations.length > 0) return expect(violations.join('\n')).toMatch(says);
    }
    return expect.fail('nothing was noticed');
  });
});

function stale(ledger: Ledger): Ledger {
  return {
    ...ledger,
    reach(own, rules) {
      const reach = ledger.reach(own, rules);
      return { ...reach, refresh: () => undefined };
    },
  };
}

function takesOverLater(ledger: Ledger): Ledger {
  return {
    ...ledger,
    finishLoad(run, facts) {
      const begun = ledger.finishLoad(run, { ...facts, takesOver: false });
      for (const one of ledger.runsOf(run)) if (one.number < run.number) ledger.closeRun(one, facts.nowMs);
      return begun;
    },
  };
}
