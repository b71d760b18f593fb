import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { OUTCOMES, type VariantResult, type WinnerMetric } from '../../src/model.ts';
import { compareShares, sampleOf, type VariantCount, variantResults, wilson } from '../../src/report/variants.ts';
import { significanceWords, variantsTable } from '../../src/report/variants-text.ts';
import { displayWidth } from '../../src/util/table.ts';

const compared = (variants: readonly VariantResult[], by: WinnerMetric = 'accepted') => ({
  variants,
  significance: compareShares(
    variants.map((one) => ({ name: one.name, ...sampleOf(by, one) })),
    by,
  ),
});

const compareVariants = (counts: readonly VariantCount[], names: readonly string[] = []) =>
  compared(variantResults(counts, names));

const COUNTS: readonly VariantCount[] = [
  { variant: 'B', outcome: 'accepted', count: 950 },
  { variant: 'A', outcome: 'accepted', count: 900 },
  { variant: 'A', outcome: 'rejected', count: 60 },
  { variant: 'A', outcome: 'rejected', count: 40 },
  { variant: 'B', outcome: 'rejected', count: 50 },
  { variant: 'B', outcome: 'in-doubt', count: 3 },
  { variant: 'B', outcome: 'pending', count: 4 },
  { variant: 'A', outcome: 'failed', count: 5 },
  { variant: 'A', outcome: 'skipped', count: 6 },
  { variant: 'A', outcome: 'deferred', count: 7 },
  { variant: null, outcome: 'skipped', count: 500 },
  { variant: null, outcome: 'deferred', count: 8000 },
];

describe('wilson', () => {
  // Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i', (part, whole, low, high) => {
    const interval = wilson({ part, whole });
    expect(interval?.low).toBeCloseTo(low, 4);
    expect(interval?.high).toBeCloseTo(high, 4);
  });

  it('knows nothing of a part of nothing', () => expect(wilson({ part: 0, whole: 0 })).toBeNull());

  const sample = fc
    .integer({ min: 1, max: 10_000_000 })
    .chain((whole) => fc.record({ part: fc.integer({ min: 0, max: whole }), whole: fc.constant(whole) }));

  test('lies within 0 and 1, around the rate, and mirrors what was not seen', () => {
    fc.assert(
      fc.property(sample, ({ part, whole }) => {
        const { rate, low, high } = wilson({ part, whole }) ?? { rate: -1, low: -1, high: -1 };
        expect(rate).toBe(part / whole);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(rate);
        expect(high).toBeGreaterThanOrEqual(rate);
        expect(high).toBeLessThanOrEqual(1);
        expect(high - low).toBeGreaterThan(0);
        const mirror = wilson({ part: whole - part, whole });
        expect(mirror?.low).toBeCloseTo(1 - high, 12);
        expect(mirror?.high).toBeCloseTo(1 - low, 12);
      }),
    );
  });

  test('its ends are the rates that lie 1.96 standard errors from what was seen', () => {
    fc.assert(
      fc.property(sample, ({ part, whole }) => {
        const { rate, low, high } = wilson({ part, whole }) ?? { rate: -1, low: -1, high: -1 };
        for (const end of [low, high]) {
          const deviations = 1.959963984540054 * Math.sqrt((end * (1 - end)) / whole);
          expect(Math.abs(rate - end)).toBeCloseTo(deviations, 9);
        }
      }),
    );
  });

  test('moves up with the part, and narrows with the whole', () => {
    fc.assert(
      fc.property(sample, ({ part, whole }) => {
        const own = wilson({ part, whole });
        const tenfold = wilson({ part: part * 10, whole: whole * 10 });
        expect((tenfold?.high ?? 1) - (tenfold?.low ?? 0)).toBeLessThan((own?.high ?? 0) - (own?.low ?? 1));
        if (part === whole) return;
        const more = wilson({ part: part + 1, whole });
        expect(more?.low).toBeGreaterThan(own?.low ?? 1);
        expect(more?.high).toBeGreaterThan(own?.high ?? 1);
      }),
    );
  });
});

describe('compareVariants', () => {
  it('adds up each variant, and compares accepted only with rejected', () => {
    const { variants, significance } = compareVariants(COUNTS);
    expect(variants).toEqual([
      {
        name: 'A',
        recipients: 1018,
        accepted: 900,
        rejected: 100,
        failed: 5,
        skipped: 6,
        deferred: 7,
        inDoubt: 0,
        pending: 0,
        rate: 0.9,
        low: 0.879848,
        high: 0.917091,
      },
      {
        name: 'B',
        recipients: 1007,
        accepted: 950,
        rejected: 50,
        failed: 0,
        skipped: 0,
        deferred: 0,
        inDoubt: 3,
        pending: 4,
        rate: 0.95,
        low: 0.934686,
        high: 0.96187,
      },
    ]);
    expect(significance).toEqual({
      by: 'accepted',
      p: expect.closeTo(0.000027475, 9),
      test: 'fisher',
      enough: true,
      best: 'B',
    });
  });

  it('has the order of the campaign, and variants that no recipient has got yet', () => {
    expect(compareVariants(COUNTS, ['C', 'B']).variants.map(({ name }) => name)).toEqual(['C', 'B', 'A']);
    const [first] = compareVariants(COUNTS, ['C']).variants;
    expect(first).toMatchObject({ name: 'C', recipients: 0, rate: null, low: null, high: null });
  });

  it('says nothing where there is nothing to compare', () => {
    expect(compareVariants([{ variant: null, outcome: 'accepted', count: 9 }])).toEqual({
      variants: [],
      significance: null,
    });
    expect(compareVariants([{ variant: 'A', outcome: 'accepted', count: 9 }]).significance).toBeNull();
    const open = compareVariants([{ variant: 'A', outcome: 'pending', count: 9 }], ['A', 'B']);
    expect(open.significance).toEqual({ by: 'accepted', p: null, test: null, enough: false, best: null });
  });

  test('the outcomes of a variant add up to its recipients, and those to all that have one', () => {
    const count = fc.record({
      variant: fc.constantFrom(null, 'A', 'B', 'C'),
      outcome: fc.constantFrom(...OUTCOMES),
      count: fc.nat(1000),
    });
    fc.assert(
      fc.property(fc.array(count), (counts) => {
        const { variants } = compareVariants(counts);
        for (const v of variants) {
          expect(v.accepted + v.rejected + v.failed + v.skipped + v.deferred + v.inDoubt + v.pending).toBe(
            v.recipients,
          );
        }
        const all = counts.reduce((sum, c) => sum + (c.variant === null ? 0 : c.count), 0);
        expect(variants.reduce((sum, v) => sum + v.recipients, 0)).toBe(all);
      }),
    );
  });
});

describe('what decides the winner is what is compared', () => {
  // B is accepted less often, delivered as often as A, read and replied to more often, and opted out of more often.
  const figures = [
    { name: 'A', accepted: 1000, rejected: 0, delivered: 800, read: 300, replied: 20, optedOut: 4 },
    { name: 'B', accepted: 900, rejected: 100, delivered: 720, read: 400, replied: 60, optedOut: 40 },
  ];
  const variants = figures.map((one) => ({
    ...one,
    recipients: 1000,
    failed: 0,
    skipped: 0,
    deferred: 0,
    inDoubt: 0,
    pending: 0,
    rate: one.accepted / 1000,
    low: 0,
    high: 1,
  }));

  it.each<[by: WinnerMetric, words: RegExp]>([
    ['accepted', /^"A" is accepted more often, which is hardly chance: p < 0\.001/],
    ['delivered', /^Too early to tell a difference in deliveries: p = 1 /],
    ['read', /^"B" is read more often, which is hardly chance: p < 0\.001/],
    ['replied', /^"B" is replied to more often, which is hardly chance: p < 0\.001/],
    ['optedOut', /^"A" is followed by an opt-out less often, which is hardly chance: p < 0\.001/],
  ])('%s', (by, words) => {
    const comparison = compared(variants, by);
    expect(comparison.significance?.by).toBe(by);
    expect(significanceWords(comparison)).toMatch(words);
  });

  it('shows reports, replies and opt-outs in 80 columns', () => {
    const [titles = '', ...lines] = variantsTable(variants, 80).split('\n');
    expect(titles).toMatch(/ rate +delivered +read +replied +opted out$/);
    expect(Math.max(...[titles, ...lines].map(displayWidth))).toBeLessThanOrEqual(80);
  });

  it('needs no delivery reports: replies are shares of the accepted messages', () => {
    const [a, b] = variants;
    if (a === undefined || b === undefined) throw new Error('no variants');
    // The sum over the hypergeometric distribution, computed apart.
    const comparison = compared(
      [
        { ...a, name: 'a', accepted: 76, delivered: 3, replied: 3 },
        { ...b, name: 'b', accepted: 88, rejected: 0, delivered: 16, replied: 16 },
      ],
      'replied',
    );
    expect(comparison.significance).toMatchObject({ by: 'replied', best: 'b', enough: true });
    expect(comparison.significance?.p).toBeCloseTo(0.0059825772, 6);
    expect(significanceWords(comparison)).toBe(
      '"b" is replied to more often, which is hardly chance: p = 0.005 (Fisher\'s exact test).',
    );
  });

  it('is not known before anything was delivered', () => {
    const open = variants.map(({ delivered: _, read: __, replied: ___, optedOut: ____, ...rest }) => rest);
    expect(significanceWords(compared(open, 'replied'))).toBe(
      'Too few reports or replies came back to compare the variants.',
    );
  });
});

describe('variantsTable', () => {
  const { variants } = compareVariants(COUNTS, ['A', 'B', 'C']);

  it('shows everything on a usual terminal', () => {
    expect(variantsTable(variants, 80)).toBe(
      [
        '  variant  recipients  accepted  rejected  other   rate    95% interval',
        '  A             1,018       900       100     18  90.0%  88.0% to 91.7%',
        '  B             1,007       950        50      7  95.0%  93.5% to 96.2%',
        '  C                 0         0         0      0      -               -',
        '',
      ].join('\n'),
    );
  });

  it('is what docs/variants.md shows', () => {
    const comparison = compareVariants(COUNTS);
    const page = readFileSync(new URL('../../docs/variants.md', import.meta.url), 'utf8');
    const shown = `${variantsTable(comparison.variants, 80)}\n${significanceWords(comparison)}\n`;
    expect(/## Reading the report\n\n```text\n([^`]*)```/.exec(page)?.[1]).toBe(shown);
  });

  it('leaves out what matters least on a narrow one', () => {
    expect(variantsTable(variants, 79).split('\n')[0]).toBe('  variant  recipients  accepted  rejected  other   rate');
    expect(variantsTable(variants, 63).split('\n')[0]).toBe('  variant  recipients  accepted  rejected   rate');
  });

  it('is nothing without variants', () => expect(variantsTable([], 80)).toBe(''));

  it.each([50, 60, 63, 64, 79, 80, 120])('is at most %i columns wide', (width) => {
    const counts = ['x'.repeat(64), 'B'].flatMap((variant): readonly VariantCount[] => [
      { variant, outcome: 'accepted', count: 9_876_543 },
      { variant, outcome: 'rejected', count: 1_234_567 },
    ]);
    const lines = variantsTable(compareVariants(counts).variants, width).split('\n');
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });
});

describe('significanceWords', () => {
  const words = (...groups: readonly (readonly [accepted: number, rejected: number])[]) =>
    significanceWords(
      compareVariants(
        groups.flatMap(([accepted, rejected], index): readonly VariantCount[] => [
          { variant: 'ABC'.charAt(index), outcome: 'accepted', count: accepted },
          { variant: 'ABC'.charAt(index), outcome: 'rejected', count: rejected },
        ]),
      ),
    );

  it.each<[label: string, groups: [number, number][], text: string]>([
    ['one variant', [[10, 1]], ''],
    [
      'no recipient yet',
      [
        [0, 0],
        [0, 0],
      ],
      'Too few recipients were accepted or rejected to compare the variants.',
    ],
    [
      'one has no recipient yet',
      [
        [10, 1],
        [0, 0],
      ],
      'Too few recipients were accepted or rejected to compare the variants.',
    ],
    [
      'just alike',
      [
        [900, 100],
        [925, 75],
      ],
      "Too early to tell a difference in what the API accepts: p = 0.06 (Fisher's exact test).",
    ],
    [
      'just different',
      [
        [900, 100],
        [926, 74],
      ],
      '"B" is accepted more often, which is hardly chance: p = 0.047 (Fisher\'s exact test).',
    ],
    [
      'very different',
      [
        [950, 50],
        [900, 100],
      ],
      '"A" is accepted more often, which is hardly chance: p < 0.001 (Fisher\'s exact test).',
    ],
    [
      'three',
      [
        [950, 50],
        [960, 40],
        [900, 100],
      ],
      'The variants differ by more than chance would make them, "B" is accepted most often: p < 0.001 (chi-square test).',
    ],
  ])('%s', (_label, groups, text) => expect(words(...groups)).toBe(text));
});
