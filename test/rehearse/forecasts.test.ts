import { describe, expect, it } from 'vitest';
import { compareForecast } from './forecasts.ts';

/** More of them: `npm run hunt:rehearse -- --forecasts --projects 500`. */
const SEEDS = [1, 2, 3, 4, 5, 6, 22, 45, 60];

describe('the forecast of plan is what rehearse plays', () => {
  const kinds = new Set<string>();
  it.each(SEEDS)('for the random campaign %i', async (seed) => {
    const { differences, kind } = await compareForecast(seed);
    expect(differences).toEqual([]);
    kinds.add(kind);
  });

  it('which finish, expire and take no time', () => {
    expect([...kinds]).toEqual(expect.arrayContaining(['expires', 'finishes', 'takes no time']));
  });
});
