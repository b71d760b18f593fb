import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { backoffMs, retryAfterMs } from '../../src/http/waits.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 0, 0);
const MINUTE = 60_000;

describe('Retry-After', () => {
  test.each([
    ['absent', null, null],
    ['empty', '', null],
    ['seconds', '120', 120_000],
    ['zero', '0', 0],
    ['white space around', ' 5 ', 5_000],
    ['negative', '-1', null],
    ['with a sign', '+5', null],
    ['a fraction', '1.5', null],
    ['hexadecimal', '0x10', null],
    ['an exponent', '1e3', null],
    ['a word', 'tomorrow', null],
    ['several', '5, 7', null],
    ['two hours', '7200', 7_200_000],
    ['more than a year', '99999999', null],
    ['more digits than fit', '9'.repeat(400), null],
    ['a date', 'Sat, 21 Nov 2026 09:01:00 GMT', MINUTE],
    ['a date in another case', 'sat, 21 nov 2026 09:01:00 gmt', MINUTE],
    ['a date in the form of RFC 850', 'Saturday, 21-Nov-26 09:01:00 GMT', MINUTE],
    ['a date in the form of asctime', 'Sat Nov 21 09:01:00 2026', MINUTE],
    ['a date in the form of asctime, one digit', 'Tue Dec  1 09:00:00 2026', 10 * 24 * 60 * MINUTE],
    ['now', 'Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['a date in the past', 'Sat, 21 Nov 2026 08:59:59 GMT', null],
    ['a date in the past, two digits', 'Sunday, 06-Nov-94 08:49:37 GMT', null],
    ['a date far off', 'Fri, 31 Dec 9999 23:59:59 GMT', null],
    ['a date in another zone', 'Sat, 21 Nov 2026 09:01:00 +0100', null],
    ['a date with an unknown month', 'Sat, 21 Foo 2026 09:01:00 GMT', null],
    ['ISO 8601', '2026-11-21T09:01:00Z', null],
  ])('%s', (_label, value, ms) => {
    expect(retryAfterMs(value, NOW)).toBe(ms);
  });

  it('is never negative, infinite or not a number', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer().map(String), fc.date().map(String)), (value) => {
        const ms = retryAfterMs(value, NOW);
        if (ms !== null) expect(ms >= 0 && Number.isFinite(ms)).toBe(true);
      }),
    );
  });
});

describe('backoff', () => {
  test.each([
    [0, 500],
    [1, 1_000],
    [2, 2_000],
    [6, 32_000],
    [7, 60_000],
    [2_000, 60_000],
  ])('retry %i waits between 0 and %i ms', (retry, most) => {
    expect(backoffMs(retry, () => 0)).toBe(0);
    expect(backoffMs(retry, () => 0.5)).toBe(most / 2);
    expect(backoffMs(retry, () => 1)).toBe(most);
  });
});
