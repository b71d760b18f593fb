import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Sample } from '../../src/report/variants.ts';
import { chiSquare, chiSquareTail, exactTest, significanceOf } from '../../src/report/variants.ts';

const samplesOf = (...pairs: readonly (readonly [part: number, whole: number])[]): readonly Sample[] =>
  pairs.map(([part, whole]) => ({ part, whole }));

/** Numbers between 0 and 1, the same ones every time. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Samples of some size, and a part of each: 0 and everything among them. */
const anySample = (most: number) =>
  fc
    .integer({ min: 1, max: most })
    .chain((whole) => fc.record({ part: fc.integer({ min: 0, max: whole }), whole: fc.constant(whole) }));

describe('chiSquareTail', () => {
  // The critical values that every table has: 5%, 1%, 0.1%.
  it.each([
    [1, 3.841, 6.635, 10.828],
    [2, 5.991, 9.21, 13.816],
    [3, 7.815, 11.345, 16.266],
    [4, 9.488, 13.277, 18.467],
    [5, 11.07, 15.086, 20.515],
    [6, 12.592, 16.812, 22.458],
    [7, 14.067, 18.475, 24.322],
    [8, 15.507, 20.09, 26.124],
    [9, 16.919, 21.666, 27.877],
  ])('%i degrees of freedom', (df, five, one, tenth) => {
    expect(chiSquareTail(five, df)).toBeCloseTo(0.05, 4);
    expect(chiSquareTail(one, df)).toBeCloseTo(0.01, 5);
    expect(chiSquareTail(tenth, df)).toBeCloseTo(0.001, 6);
  });

  test('is exp(-x / 2) for two degrees of freedom', () => {
    for (let x = 0; x < 1400; x += 0.37) {
      const expected = Math.exp(-x / 2);
      expect(Math.abs(chiSquareTail(x, 2) - expected)).toBeLessThanOrEqual(1e-12 * expected + 1e-15);
    }
  });

  test('falls from 1 towards 0, and rises with the degrees of freedom', () => {
    for (let df = 1; df <= 9; df++) {
      expect(chiSquareTail(0, df)).toBe(1);
      let last = 1;
      for (let x = 0.01; x < 200; x += 0.13) {
        const p = chiSquareTail(x, df);
        expect(p).toBeLessThan(last);
        expect(p).toBeGreaterThan(df === 1 ? 0 : chiSquareTail(x, df - 1));
        last = p;
      }
    }
    expect(chiSquareTail(1e6, 1)).toBe(0);
  });
});

describe('chiSquare', () => {
  // Fleiss (1981), p. 139, as in the manual of R's prop.test: X-squared = 12.6, df = 3, p-value = 0.005585.
  it('finds what is in print of smokers among patients', () => {
    const { statistic, p } = chiSquare(samplesOf([83, 86], [90, 93], [129, 136], [70, 82]));
    expect(statistic).toBeCloseTo(12.6, 2);
    expect(p).toBeCloseTo(0.005585, 6);
  });

  test('of two samples is the square of the two-proportion z', () => {
    const z = (0.45 - 0.4) / Math.sqrt(0.425 * 0.575 * (2 / 1000));
    expect(chiSquare(samplesOf([450, 1000], [400, 1000])).statistic).toBeCloseTo(z * z, 10);
  });
});

describe('exactTest', () => {
  it.each<[label: string, samples: readonly Sample[], p: number, digits: number]>([
    ['the lady who tastes tea (Fisher 1935)', samplesOf([3, 4], [1, 4]), 0.4857, 4],
    ['convictions of twins (Fisher 1962, in the manual of R: 0.0005367)', samplesOf([2, 12], [15, 18]), 0.0005367, 7],
    ['no recipient was refused', samplesOf([7, 7], [9, 9], [3, 3]), 1, 12],
  ])('%s', (_label, samples, p, digits) => expect(exactTest(samples)).toBeCloseTo(p, digits));

  test('adds up to what counting all ways gives', () => {
    fc.assert(
      fc.property(fc.array(anySample(9), { minLength: 2, maxLength: 4 }), (samples) => {
        expect(exactTest(samples)).toBeCloseTo(countedP(samples), 10);
      }),
    );
  });

  it('gives up where there are too many ways, but not where there are few among many', () => {
    const many = samplesOf(...Array.from({ length: 10 }, (): [number, number] => [40, 80]));
    expect(exactTest(many)).toBeNull();
    const rare = Array.from({ length: 10 }, (_, i): [number, number] => [i === 0 ? 3 : 0, 1_000_000]);
    // All three of the same one of ten variants of a million each.
    expect(exactTest(samplesOf(...rare))).toBeCloseTo(10 * 0.1 ** 3, 5);
    const common = rare.map(([part, whole]): [number, number] => [whole - part, whole]);
    expect(exactTest(samplesOf(...common))).toBeCloseTo(10 * 0.1 ** 3, 5);
  });
});

/** The same with whole numbers: every way to spread the parts, with its number of cases. */
function countedP(samples: readonly Sample[]): number {
  const total = samples.reduce((sum, { part }) => sum + part, 0);
  const seen = samples.reduce((product, { part, whole }) => product * choose(whole, part), 1n);
  let all = 0n;
  let extreme = 0n;
  const spread = (at: number, left: number, cases: bigint): void => {
    const sample = samples[at];
    if (sample === undefined) {
      if (left !== 0) return;
      all += cases;
      if (cases <= seen) extreme += cases;
      return;
    }
    for (let part = 0; part <= Math.min(left, sample.whole); part++) {
      spread(at + 1, left - part, cases * choose(sample.whole, part));
    }
  };
  spread(0, total, 1n);
  return Number((extreme * 10n ** 18n) / all) / 1e18;
}

function choose(n: number, k: number): bigint {
  let result = 1n;
  for (let i = 1; i <= k; i++) result = (result * BigInt(n - k + i)) / BigInt(i);
  return result;
}

describe('significanceOf', () => {
  it.each<[label: string, samples: readonly Sample[], test: 'chi-square' | 'fisher' | null]>([
    ['nothing', [], null],
    ['one group', samplesOf([9, 10]), null],
    ['one group that has recipients', samplesOf([9, 10], [0, 0]), null],
    ['two groups', samplesOf([95, 100], [95, 100]), 'fisher'],
    ['two groups, too large for the exact test', samplesOf([450_000, 500_000], [450_100, 500_000]), 'fisher'],
    ['two groups, far too large for it', samplesOf([400_000, 800_000], [400_100, 800_000]), 'chi-square'],
    ['two groups, less than 5 expected somewhere', samplesOf([96, 100], [95, 100]), 'fisher'],
    ['three groups, a fifth or fewer below 5', samplesOf([50, 60], [50, 60], [15, 20]), 'chi-square'],
    ['three groups, many below 5', samplesOf([58, 60], [57, 60], [19, 20]), 'fisher'],
    ['three groups, a third below 5', samplesOf([420, 600], [420, 600], [3, 5]), 'fisher'],
    ['three groups, one below 1', samplesOf([510, 600], [510, 600], [5, 6]), 'fisher'],
    ['all accepted', samplesOf([1000, 1000], [900, 900], [1, 1]), 'fisher'],
    [
      'too small for the one, too large for the other',
      samplesOf(...Array.from({ length: 10 }, (): [number, number] => [3, 6])),
      null,
    ],
  ])('%s', (_label, samples, test) => {
    const { p, test: own, enough } = significanceOf(samples);
    expect(own).toBe(test);
    expect(enough).toBe(test !== null);
    expect(p === null).toBe(test === null);
  });

  test('lies within 0 and 1, and does not care about the order, or which kind is called the part', () => {
    fc.assert(
      fc.property(fc.array(anySample(400), { minLength: 2, maxLength: 3 }), (samples) => {
        const { p } = significanceOf(samples);
        if (p === null) return;
        expect(p).toBeGreaterThanOrEqual(0);
        expect(p).toBeLessThanOrEqual(1);
        const others = [
          samples.toReversed(),
          samples.map(({ part, whole }) => ({ part: whole - part, whole })),
          [...samples, { part: 0, whole: 0 }],
        ];
        for (const other of others)
          expect(Math.abs((significanceOf(other).p ?? 2) - p)).toBeLessThan(1e-5 * p + 1e-300);
      }),
    );
  });

  test.each([
    ['chi-square', 400_000, 400_050],
    ['fisher', 60, 116],
  ] as const)('falls with the difference: %s', (test, whole, total) => {
    let last = 2;
    for (let part = total / 2; part <= Math.min(whole, total, total / 2 + 300); part++) {
      const found = significanceOf(samplesOf([part, whole], [total - part, whole]));
      expect(found.test).toBe(test);
      expect(found.p).toBeLessThan(last);
      last = found.p ?? 2;
    }
  });

  describe('of equal groups is below 0.05 once in twenty times at most, by chance', () => {
    it.each<[label: string, groups: number, whole: number, rate: number, from: number, to: number]>([
      ['two groups of 500', 2, 500, 0.9, 0.03, 0.05],
      ['four groups of 300', 4, 300, 0.8, 0.04, 0.06],
      // The exact test is careful where there are few ways: it keeps well below.
      ['two groups of 40', 2, 40, 0.95, 0, 0.03],
      ['three groups of 20', 3, 20, 0.9, 0, 0.05],
    ])('%s', (_label, groups, whole, rate, from, to) => {
      const random = createRandom(groups * whole);
      const draw = () => Array.from({ length: whole }, random).filter((u) => u < rate).length;
      const runs = 3000;
      let wrong = 0;
      for (let run = 0; run < runs; run++) {
        const { p } = significanceOf(Array.from({ length: groups }, () => ({ part: draw(), whole })));
        if (p !== null && p < 0.05) wrong++;
      }
      expect(wrong / runs).toBeGreaterThanOrEqual(from);
      expect(wrong / runs).toBeLessThanOrEqual(to);
    });
  });

  test('finds a difference that is there', () => {
    const random = createRandom(7);
    const draw = (rate: number) => Array.from({ length: 1000 }, random).filter((u) => u < rate).length;
    let found = 0;
    for (let run = 0; run < 200; run++) {
      const { p } = significanceOf(samplesOf([draw(0.9), 1000], [draw(0.84), 1000]));
      if (p !== null && p < 0.05) found++;
    }
    expect(found).toBeGreaterThan(180);
  });
});
