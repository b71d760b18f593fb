import { describe, expect, it } from 'vitest';
import type { Campaign } from '../../src/model.ts';
import { createEstimator } from '../../src/plan/estimate.ts';
import { checkLimits } from '../../src/plan/limits.ts';

/** What is said of a plan that costs so much, in micro-units. */
function saidOf(maxCost: number, costMicros: number): string[] {
  const limits = { maxRecipients: null, maxParts: null, maxCost };
  const campaign = { file: 'c.yaml', recipients: { file: 'p.csv' }, limits, variants: [], fallbacks: [] };
  const trusted = campaign as unknown as Campaign;
  const estimate = { ...createEstimator(trusted, null).result(), send: 1, costMicros, currency: 'EUR' };
  const worst = { above: null, mostExpensive: { line: 2, costMicros }, unpriced: null, later: new Map() };
  return checkLimits(trusted, estimate, worst).map(({ message }) => message);
}

describe('limits.maxCost', () => {
  it('allows what costs exactly as much, whichever decimal no double holds', () => {
    for (let cents = 1; cents <= 2_000; cents += 1) {
      expect(saidOf(cents / 100, cents * 10_000), `${cents}`).toEqual([]);
      expect(saidOf(cents / 100, cents * 10_000 + 1), `${cents}`).toHaveLength(1);
    }
  });

  it('names a cost with all its decimals, so that it does not read like the limit', () => {
    expect(saidOf(10, 10_004_000)).toEqual(['The plan costs 10.004 EUR; limits.maxCost allows 10.00 EUR.']);
  });
});
