import fc from 'fast-check';
import { expect, it } from 'vitest';
import { number } from '../../src/report/words.ts';
import { examples } from '../helpers/quick.ts';

const intl = new Intl.NumberFormat('en-GB');

it.each<[value: number, written: string]>([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1_234_567, '1,234,567'],
  [12_345.6, '12,345.6'],
  [1_000.125, '1,000.125'],
  [1_000.1254, '1,000.125'],
  [-1_234, '-1,234'],
  [1e21, '1,000,000,000,000,000,000,000'],
])('%s is written %s', (value, written) => {
  expect(number(value)).toBe(written);
});

it('every number is written as Intl writes it', () => {
  const tenths = fc.integer({ min: 0, max: 1e9 }).map((value) => value / 10);
  const any = fc.oneof(
    fc.maxSafeNat(),
    tenths,
    fc.double({ noNaN: true }),
    fc.double({ min: 0, max: 1e7, noNaN: true }),
  );
  fc.assert(
    fc.property(any, (value) => {
      expect(number(value)).toBe(intl.format(Object.is(value, -0) ? 0 : value));
    }),
    { numRuns: examples(2000) },
  );
});
