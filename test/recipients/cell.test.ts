import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { readCell } from '../../src/recipients/columns.ts';

describe('numbers', () => {
  test.each([
    ['0', 0],
    ['-0', 0],
    ['18', 18],
    [' 18\t', 18],
    ['007', 7],
    ['-1.50', -1.5],
    ['123456789012345', 123456789012345],
    ['0.12345678901234', 0.12345678901234],
  ])('%s', (cell, value) => {
    expect(readCell('number', cell)).toBe(value);
  });

  test.each([
    '+1',
    '.5',
    '5.',
    '1,5',
    '1 000',
    "1'000",
    '1e3',
    '0x10',
    '#N/A',
    'Infinity',
    '１８',
    '1234567890123456',
    '--1',
    '1.2.3',
  ])('%s is none', (cell) => {
    expect(readCell('number', cell)).toBeNull();
  });

  it.each([' ', '\u200b', 'NULL', 'NaN', '\\N', ' None ', 'n/a', '(null)'])('%j is absent', (cell) => {
    expect(readCell('number', cell)).toBeUndefined();
    expect(readCell('date', cell)).toBeUndefined();
  });

  it('two that differ are never taken for one', () => {
    const digits = fc.tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 999_999 }));
    const text = digits.map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);
    fc.assert(fc.property(text, text, (a, b) => (readCell('number', a) === readCell('number', b)) === (a === b)));
  });
});

describe('dates', () => {
  test.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    [' 2026-11-21 ', '2026-11-21T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['1926-12-31', '1926-12-31T00:00:00.000Z'],
    ['2026-11-21T09:00Z', '2026-11-21T09:00:00.000Z'],
    ['2026-11-21T09:00:00.5+01:00', '2026-11-21T08:00:00.500Z'],
    ['2026-11-21 09:00:00-05:00', '2026-11-21T14:00:00.000Z'],
    ['2026-11-21T09:00', '2026-11-21T09:00:00.000Z'],
    ['2026-11-21 9:00:05.25', '2026-11-21T09:00:05.250Z'],
  ])('%s', (cell, instant) => {
    expect(readCell('date', cell)).toBe(Date.parse(instant));
  });

  test.each([
    ...'2026-02-29 2026-04-31 2026-13-01 2026-00-10 2026-01-00 0050-01-01 21.11.2026 11/21/2026 2026-11'.split(' '),
    ...'20261121 2026-11-21T9:00 2026-11-21T24:00Z today 45000'.split(' '),
  ])('%s is none', (cell) => {
    expect(readCell('date', cell)).toBeNull();
  });

  it('every day of four centuries', () => {
    for (let ms = Date.UTC(1800, 0, 1); ms < Date.UTC(2200, 0, 1); ms += 86_400_000) {
      const day = new Date(ms).toISOString().slice(0, 10);
      if (readCell('date', day) !== ms) throw new Error(day);
    }
  });
});
