import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFilter } from '../../src/util/filter.ts';

describe('a filter', () => {
  test('has every text that was added, however many more than were expected', () => {
    const texts = fc.array(fc.string({ unit: 'binary' }), { maxLength: 200 });
    fc.assert(
      fc.property(texts, fc.nat(300), fc.integer(), (added, expected, seed) => {
        const filter = createFilter(expected, seed);
        for (const text of added) filter.add(text);
        expect(added.filter((text) => !filter.mayHave(text))).toEqual([]);
      }),
    );
  });

  test('is empty at first, also where nothing is expected', () => {
    expect(createFilter(0).mayHave('')).toBe(false);
    expect(createFilter(0).mayHave('+447700900123')).toBe(false);
    expect(createFilter(1000).mayHave('+447700900123')).toBe(false);
  });

  const count = 100_000;
  const shapes = {
    'numbers in a row': (n: number) => `+4477${String(n).padStart(8, '0')}`,
    'numbers far apart': (n: number) => `+${String((n * 7_368_787) % 899_999_999).padStart(9, '1')}`,
    'addresses of one domain': (n: number) => `person.${n}@example.com`,
    'one name in many domains': (n: number) => `info@company-${n}.example`,
    'single characters': (n: number) => String.fromCodePoint(n + 0x10_000),
    'numbers with zeros in front': (n: number) => String(n).padStart(64, '0'),
  };
  test.each(Object.entries(shapes))('takes fewer than one in a hundred strangers for its own: %s', (_, text) => {
    for (const seed of [undefined, 0, 1, -1]) {
      const filter = createFilter(count, seed);
      for (let n = 0; n < count; n++) filter.add(text(n));
      let taken = 0;
      for (let n = count; n < 2 * count; n++) if (filter.mayHave(text(n))) taken++;
      expect(taken / count).toBeLessThan(0.01);
    }
  });

  test('errs about other texts with another seed', () => {
    const [one, other] = [createFilter(1000, 1), createFilter(1000, 2)];
    for (let n = 0; n < 1000; n++) for (const filter of [one, other]) filter.add(`member ${n}`);
    const strangers = Array.from({ length: 100_000 }, (_, n) => `stranger ${n}`);
    const [taken, both] = [strangers.filter(one.mayHave), strangers.filter((t) => one.mayHave(t) && other.mayHave(t))];
    expect(taken.length).toBeGreaterThan(0);
    expect(both.length).toBeLessThan(taken.length / 2);
  });
});
