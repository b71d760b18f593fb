import { describe, expect, it } from 'vitest';
import { compare, startOracleApi } from './oracle.ts';

/** More of them, and for more days: `npm run hunt:rehearse`. */
const SEEDS = Array.from({ length: 8 }, (_, i) => i + 1);
const DAYS = 2;

describe('what rehearse says is what due then does', () => {
  let compared = 0;
  it.each(SEEDS)(
    'in the random project %i',
    async (seed) => {
      await using api = await startOracleApi();
      const { differences, counts } = await compare(seed, api, DAYS);
      expect(differences).toEqual([]);
      compared += counts.size;
    },
    240_000,
  );

  it('which is more than nothing', () => {
    expect(compared).toBeGreaterThan(0);
  });
});
