import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { CHANNELS } from '../../src/content/channels.ts';
import { OUTCOMES, type StepCount } from '../../src/model.ts';
import { stepsTable } from '../../src/report/format-text.ts';
import { buildReport, stepTotals } from '../../src/report/tally.ts';
import { count, REQUESTS, RUN, SPLIT } from './examples.ts';

/** Two steps: who fell back from the first is counted once more on the second. */
const anyCounts = fc.array(
  fc
    .record({
      step: fc.constantFrom(0, 1),
      fellBack: fc.boolean(),
      outcome: fc.constantFrom(...OUTCOMES),
      count: fc.nat(1e6),
      parts: fc.nat(1e6),
      costMicros: fc.option(fc.nat(1e9)),
    })
    .map(({ step, fellBack, outcome, ...rest }): StepCount => {
      const channel = step === 0 ? 'rcs' : 'sms';
      if (step === 1 || !fellBack) return count({ ...rest, step, channel, outcome });
      return count({ ...rest, step, channel, outcome: 'rejected', reason: 'fell-back', fellBack: true });
    }),
);

describe('stepTotals', () => {
  it('adds up to what became of the recipients, and to what was sent', () => {
    fc.assert(
      fc.property(anyCounts, (counts) => {
        const steps = stepTotals(counts);
        const { totals, sms } = buildReport(RUN, counts, REQUESTS);
        const sum = (of: (step: (typeof steps)[number]) => number) =>
          steps.reduce((total, step) => total + of(step), 0);
        for (const key of ['accepted', 'rejected', 'inDoubt', 'failed', 'pending'] as const) {
          expect(sum((step) => step[key])).toBe(totals[key]);
        }
        expect(sum(({ parts }) => parts)).toBe(sms.parts);
        expect(sum(({ cost }) => cost ?? 0)).toBeCloseTo(sms.cost ?? 0, 6);
        for (const step of steps) {
          const { attempted, accepted, rejected, inDoubt, failed, fellBack } = step;
          expect(attempted).toBe(accepted + rejected + inDoubt + failed + fellBack);
        }
      }),
    );
  });
  test.each([
    ['as they are, when nothing more is known', [], ['sms', 'email']],
    ['as the campaign has them', ['sms', 'email', 'voice'], ['sms', 'email', 'voice']],
    ['with those that an amended campaign has no more behind', ['email'], ['email', 'sms']],
  ] as const)('has the channels in order: %s', (_label, known, expected) => {
    const counts = [count({ channel: 'email', step: 1 }), count({ channel: 'sms', step: 0, fellBack: true })];
    expect(stepTotals(counts, known).map(({ channel }) => channel)).toEqual(expected);
  });
});

describe('stepsTable', () => {
  it('leaves out columns in which there is nothing', () => {
    const [first] = stepTotals([count({ channel: 'email', encoding: null, parts: 0 })]);
    const table = stepsTable(first === undefined ? [] : [first], { width: 200, currency: null });
    expect(table).toBe(
      '  channel  attempted  accepted  fell back  rejected\n  email            1         1          0         0\n',
    );
    expect(stepsTable([], { width: 80, currency: null })).toBe('');
  });
  it('has every figure where there is room', () => {
    const steps = (SPLIT.steps ?? []).map((step) => ({ ...step, failed: 3, pending: 4 }));
    expect(stepsTable(steps, { width: 120, currency: 'EUR' }).split('\n')[0]).toBe(
      '  channel  attempted  accepted  fell back  rejected  in doubt  failed  pending  parts  cost EUR',
    );
  });
  test.each([40, 50, 60, 70, 80, 100, 120])('is at most %i columns wide', (width) => {
    const most = 9_876_543;
    const steps = CHANNELS.map((channel) => ({
      ...{ channel, attempted: most, accepted: most, rejected: most, inDoubt: most, failed: most },
      ...{ fellBack: most, pending: most, parts: most, cost: 98_765.4321 },
    }));
    for (const line of stepsTable(steps, { width, currency: 'EUR' }).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(width);
    }
  });
});
