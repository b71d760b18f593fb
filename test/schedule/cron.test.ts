import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { readCron } from '../../src/util/cron.ts';
import { examples } from '../helpers/quick.ts';
import { CRONS, clock, INSTANTS, ZONES } from './clocks.ts';

/** Instants after one, as `10-25T00:30` in UTC. */
function after(cron: string, zone: string, from: string, count: number): string {
  const found: string[] = [];
  let at: number | null = Date.parse(from);
  while (found.length < count) {
    at = clock(cron, zone).next(at);
    if (at === null) break;
    found.push(new Date(at).toISOString().slice(5, 16));
  }
  return found.join(' ');
}

describe('the night on which the clock goes back', () => {
  it.each<[label: string, cron: string, zone: string, from: string, expected: string]>([
    ['01:30 comes twice and fires once', '30 1 * * *', 'Europe/London', '2026-10-24T12:00Z', '10-25T00:30 10-26T01:30'],
    ['so does each time of a list', '0,30 1,13 * * *', 'Europe/London', '2026-10-25T00:00Z', '10-25T00:30 10-25T13:00'],
    ['and of a step', '*/30 1 * * *', 'Europe/London', '2026-10-24T23:30Z', '10-25T00:00 10-25T00:30 10-26T01:00'],
    ['New York', '30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', '11-01T05:30 11-02T06:30'],
    [
      'New York, by steps',
      '*/20 1 * * *',
      'America/New_York',
      '2026-11-01T05:00Z',
      '11-01T05:20 11-01T05:40 11-02T06:00',
    ],
    ['half an hour, Lord Howe', '45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', '04-04T14:45 04-05T15:15'],
    [
      'every hour is every hour',
      '30 * * * *',
      'Europe/London',
      '2026-10-25T00:00Z',
      '10-25T00:30 10-25T01:30 10-25T02:30',
    ],
    ['@hourly too', '@hourly', 'Europe/London', '2026-10-24T23:30Z', '10-25T00:00 10-25T01:00 10-25T02:00'],
  ])('%s', (_label, cron, zone, from, expected) => {
    expect(after(cron, zone, from, expected.split(' ').length)).toBe(expected);
  });
});

describe('the night on which the clock goes forward', () => {
  it.each<[label: string, cron: string, zone: string, from: string, expected: string]>([
    ['01:30 is left out and moves', '30 1 * * *', 'Europe/London', '2026-03-28T12:00Z', '03-29T01:00 03-30T00:30'],
    ['02:30 in New York', '30 2 * * *', 'America/New_York', '2026-03-07T12:00Z', '03-08T07:00 03-09T06:30'],
    ['two of them move to one', '0,30 1 * * *', 'Europe/London', '2026-03-28T12:00Z', '03-29T01:00 03-30T00:00'],
    ['half an hour, Lord Howe', '15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', '10-03T15:30 10-04T15:15'],
    ['steps are left out', '*/30 1 * * *', 'Europe/London', '2026-03-28T12:00Z', '03-30T00:00 03-30T00:30'],
    ['every hour is every hour', '30 * * * *', 'Europe/London', '2026-03-29T00:00Z', '03-29T00:30 03-29T01:30'],
  ])('%s', (_label, cron, zone, from, expected) => {
    expect(after(cron, zone, from, expected.split(' ').length)).toBe(expected);
  });
});

test.each([
  ['the instant itself', '2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z'],
  ['half a second later', '2026-11-23T09:00:00.500Z', '2026-11-23T09:00:00.000Z'],
  ['a millisecond before', '2026-11-23T08:59:59.999Z', '2026-11-20T09:00:00.000Z'],
  ['over the weekend', '2026-11-22T12:00:00Z', '2026-11-20T09:00:00.000Z'],
])('the latest instant at %s', (_label, at, expected) => {
  expect(new Date(clock('0 9 * * 1-5').latest(Date.parse(at)) ?? 0).toISOString()).toBe(expected);
});

describe('what is read', () => {
  it.each([
    ['0 9 * * SAT-SUN', '01-03T09:00'],
    ['0 9 * * 7', '01-04T09:00'],
    ['0 9 L * *', '01-31T09:00'],
    ['0 9 * * MON#1', '01-05T09:00'],
    ['0 9 13 * FRI', '01-02T09:00'],
    ['@daily', '01-02T00:00'],
    ['@Monthly', '02-01T00:00'],
    ['  0   9 * * *', '01-01T09:00'],
    ['0 0 29 2 *', '02-29T00:00'],
  ])('%s', (cron, first) => {
    expect(after(cron, 'UTC', '2026-01-01T00:00Z', 1)).toBe(first);
  });
});

describe('what is refused', () => {
  it.each([
    ['0 9 30 2 *', 'never fires', 'L'],
    ['0 0 31 4,6 *', 'never fires', 'L'],
    ['0 0 9 * * *', '6 fields', '0 9 * * *'],
    ['0 9 * *', '4 of the 5 fields', '0 9 * * 1-5'],
    ['', '0 of the 5 fields', '0 9 * * 1-5'],
    ['* * * * * * *', '7 of the 5 fields', '0 9 * * 1-5'],
    ['60 9 * * *', 'Invalid value for minute: 60', '0 9 * * 1-5'],
    ['5/15 * * * *', 'numeric prefix', '0 9 * * 1-5'],
    ['H 9 * * *', 'illegal characters', '0 9 * * 1-5'],
    ['@reboot', 'not a time that repeats', '@daily'],
    ['@every_minute', 'not a time that repeats', '@daily'],
    ['2026-12-01T09:00:00', '1 of the 5 fields', '0 9 * * 1-5'],
  ])('%s', (cron, message, hint) => {
    const reading = readCron(cron, 'UTC');
    if (!('message' in reading)) throw new Error('it was taken');
    expect(reading.message).toContain(message);
    expect(reading.message).not.toContain('CronPattern');
    expect(reading.hint).toContain(hint);
  });
});

test('forwards and backwards name the same instants, each once and in order', () => {
  fc.assert(
    fc.property(CRONS, ZONES, INSTANTS, (cron, zone, from) => {
      const { next, latest } = clock(cron, zone);
      const walked: number[] = [];
      for (let at = next(from); at !== null && walked.length < 12; at = next(at)) walked.push(at);
      expect(walked).toEqual([...new Set(walked)].toSorted((a, b) => a - b));
      for (const [i, at] of walked.entries()) {
        expect(at % 60_000).toBe(0);
        expect(latest(at)).toBe(at);
        expect(latest(at + 59_999)).toBe(at);
        if (i > 0) expect(latest(at - 1)).toBe(walked[i - 1]);
      }
    }),
    { numRuns: examples(300) },
  );
});

test('an answer does not depend on what was asked before', () => {
  let readings = 0;
  // Spaces do not count, and make another reading, which has not been asked anything.
  const fresh = (cron: string, zone: string) => {
    readings += 1;
    return clock(`${' '.repeat(readings)}${cron}`, zone);
  };
  const questions = fc.array(
    fc.tuple(fc.constantFrom('next' as const, 'latest' as const), fc.integer({ min: -7_200_000, max: 7_200_000 })),
    { minLength: 2, maxLength: 5 },
  );
  fc.assert(
    fc.property(CRONS, ZONES, INSTANTS, questions, (cron, zone, around, asked) => {
      const { next, latest } = fresh(cron, zone);
      const instant = next(around) ?? around;
      for (const [which, offsetMs] of asked) {
        for (const at of [instant, instant + offsetMs]) {
          expect((which === 'next' ? next : latest)(at)).toBe(fresh(cron, zone)[which](at));
        }
      }
    }),
    { numRuns: examples(100) },
  );
});

test('no time of the wall clock fires twice, unless every hour does', () => {
  fc.assert(
    fc.property(
      CRONS.filter((cron) => !/^\S+ \*/.test(cron)),
      ZONES,
      INSTANTS,
      (cron, zone, from) => {
        const { next } = clock(cron, zone);
        const wall = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
        const shown: string[] = [];
        for (let at = next(from); at !== null && shown.length < 40; at = next(at)) shown.push(wall.format(at));
        expect(new Set(shown).size).toBe(shown.length);
      },
    ),
    { numRuns: examples(200) },
  );
});
