import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { instantMs } from '../../src/util/time.ts';
import { durationMs, ratePerSecond, share } from '../../src/util/units.ts';

const HOUR = 3_600_000;

describe('durations', () => {
  test.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 24 * HOUR],
    ['7d', 168 * HOUR],
    ['0s', 0],
    ['PT30S', 30_000],
    ['PT0.5S', 500],
    ['PT1.2345S', 1235],
    ['P1DT12H', 36 * HOUR],
    ['P2W', 336 * HOUR],
    ['PT1H30M', 1.5 * HOUR],
  ])('%s', (text, ms) => expect(durationMs(text)).toBe(ms));

  test.each([
    '',
    's',
    '30',
    '30 s',
    '-30s',
    '1.5h',
    '30S',
    '1h30m',
    '5min',
    'P',
    'PT',
    'P1DT',
    'P1M',
    'P1Y',
    'PT1D',
    'pt30s',
    '30s\n',
    '٣s',
    `${'9'.repeat(40)}s`,
  ])('refuses %j', (text) => expect(durationMs(text)).toBeNull());
});

describe('rates', () => {
  test.each([
    ['50/s', 50],
    ['600/min', 10],
    ['3600/h', 1],
    ['0.5/s', 0.5],
  ])('%s', (text, rate) => expect(ratePerSecond(text)).toBe(rate));

  test.each(['', '50', '50/sec', '50 /s', '0/s', '-1/s', '1e3/s', '/s', '50/d', '50/s ', 'NaN/s'])(
    'refuses %j',
    (text) => expect(ratePerSecond(text)).toBeNull(),
  );
});

describe('shares', () => {
  test.each([
    ['5%', 0.05],
    ['0.5%', 0.005],
    ['100%', 1],
    ['0%', 0],
  ])('%s', (text, value) => expect(share(text)).toBeCloseTo(value, 12));

  test.each(['', '%', '5', '101%', '-1%', '5 %', '1e1%', '.5%'])('refuses %j', (text) =>
    expect(share(text)).toBeNull(),
  );
});

describe('instants', () => {
  test.each([
    ['2026-11-21T09:00:00Z', Date.UTC(2026, 10, 21, 9)],
    ['2026-11-21T09:00Z', Date.UTC(2026, 10, 21, 9)],
    ['2026-11-21T09:00:00+01:00', Date.UTC(2026, 10, 21, 8)],
    ['2026-11-21T00:30:00-05:30', Date.UTC(2026, 10, 21, 6)],
    ['2026-01-02T03:04:05.6780000+00:00', Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
    ['2026-01-02T03:04:05.1Z', Date.UTC(2026, 0, 2, 3, 4, 5, 100)],
    ['2026-01-02T03:04:05.123999999Z', Date.UTC(2026, 0, 2, 3, 4, 5, 123)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ])('%s', (text, ms) => expect(instantMs(text)).toBe(ms));

  test.each([
    ['no offset', '2026-11-21T09:00:00'],
    ['a date', '2026-11-21'],
    ['30 February', '2026-02-30T00:00:00Z'],
    ['29 February of a common year', '2026-02-29T00:00:00Z'],
    ['month 13', '2026-13-01T00:00:00Z'],
    ['hour 24', '2026-11-21T24:00:00Z'],
    ['a leap second', '2026-06-30T23:59:60Z'],
    ['ten fraction digits', '2026-11-21T09:00:00.1234567890Z'],
    ['an empty fraction', '2026-11-21T09:00:00.Z'],
    ['an offset of 15 hours', '2026-11-21T09:00:00+15:00'],
    ['an offset of 61 minutes', '2026-11-21T09:00:00+01:61'],
    ['a space', '2026-11-21 09:00:00Z'],
    ['the year 20', '0020-11-21T09:00:00Z'],
    ['nothing', ''],
  ])('refuses %s', (_label, text) => expect(instantMs(text)).toBeNull());

  it('agrees with the clock for every instant that it prints', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          expect(instantMs(date.toISOString())).toBe(date.getTime());
        },
      ),
    );
  });
});

it('never throws, and gives nothing but finite numbers', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9PTWDHMS.+:%/smhdin-]{0,30}$/));
  fc.assert(
    fc.property(texts, (text) => {
      for (const parse of [durationMs, instantMs, ratePerSecond, share]) {
        const value = parse(text);
        expect(value === null || Number.isFinite(value)).toBe(true);
      }
    }),
  );
});
