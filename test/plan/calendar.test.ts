import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it, test } from 'vitest';
import type { WindowRule } from '../../src/model.ts';
import { createCalendar, openingOf } from '../../src/plan/calendar.ts';
import { examples } from '../helpers/quick.ts';
import { openMinutes } from './calendar-oracle.ts';

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];
const WEEKDAYS = [1, 2, 3, 4, 5];

function minuteOf(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number);
  return hour * 60 + minute;
}

function rule(from: string, to: string, days = EVERY_DAY, holidays: readonly string[] = []): WindowRule {
  return { hours: [{ fromMinute: minuteOf(from), toMinute: minuteOf(to), days }], holidays };
}

/** The changes that follow on an instant, as instants in UTC. */
function changes(one: WindowRule, zone: string, from: string, count: number): string[] {
  const calendar = createCalendar(one, zone);
  const found: string[] = [];
  for (let ms = Date.parse(from); found.length < count; ) {
    const { open, changesAtMs } = calendar.at(ms);
    found.push(`${open ? 'closes' : 'opens'} ${new Date(changesAtMs).toISOString().slice(0, 16)}`);
    ms = changesAtMs;
  }
  return found;
}

describe('a day like any other', () => {
  it('is open at its first millisecond, and not at its last minute', () => {
    const calendar = createCalendar(rule('09:00', '20:00'), 'UTC');
    const at = (text: string) => calendar.at(Date.parse(text)).open;
    expect([at('2026-11-23T08:59:59.999Z'), at('2026-11-23T09:00Z')]).toEqual([false, true]);
    expect([at('2026-11-23T19:59:59.999Z'), at('2026-11-23T20:00Z')]).toEqual([true, false]);
  });
});

describe('days', () => {
  it('opens after the weekend', () => {
    expect(changes(rule('09:00', '20:00', WEEKDAYS), 'UTC', '2026-11-20T21:00Z', 1)).toEqual([
      'opens 2026-11-23T09:00',
    ]);
  });
  it('names the day on which it opens: Friday night goes on until Saturday morning', () => {
    expect(changes(rule('21:00', '06:00', WEEKDAYS), 'UTC', '2026-11-20T20:00Z', 3)).toEqual([
      'opens 2026-11-20T21:00',
      'closes 2026-11-21T06:00',
      'opens 2026-11-23T21:00',
    ]);
  });
  it('does not open on a holiday, but the night before it goes on', () => {
    expect(changes(rule('21:00', '06:00', EVERY_DAY, ['2026-12-25']), 'UTC', '2026-12-24T22:00Z', 2)).toEqual([
      'closes 2026-12-25T06:00',
      'opens 2026-12-26T21:00',
    ]);
  });
  it('has one opening where one day touches the next', () => {
    expect(changes(rule('00:00', '24:00', WEEKDAYS), 'UTC', '2026-11-25T12:00Z', 2)).toEqual([
      'closes 2026-11-28T00:00',
      'opens 2026-11-30T00:00',
    ]);
  });
  it('never closes where it is open for all of every day', () => {
    const open = { open: true, changesAtMs: Number.POSITIVE_INFINITY };
    expect(createCalendar(rule('00:00', '24:00'), 'Europe/London').at(0)).toEqual(open);
    expect(createCalendar(rule('12:00', '12:00'), 'UTC').at(Date.UTC(2026, 1)).open).toBe(true);
  });
  it('knows that nothing opens for more than a year', () => {
    expect(createCalendar({ hours: [], holidays: [] }, 'UTC').at(0)).toEqual({
      open: false,
      changesAtMs: Number.POSITIVE_INFINITY,
    });
  });
});

describe('nights on which the clocks change', () => {
  // Europe: 29 March 2026, 01:00 UTC, +1 h; 25 October 2026, 01:00 UTC. New York: 8 March and 1 November, at 02:00.
  test.each([
    ['a beginning that is missing moves forward', 'Europe/Berlin 02:30 06:00', '2026-03-29T01:30', '2026-03-29T04:00'],
    [
      'an end that is missing is where clocks jump',
      'Europe/Berlin 01:00 02:30',
      '2026-03-29T00:00',
      '2026-03-29T01:00',
    ],
    ['the night is an hour shorter', 'America/New_York 22:00 08:00', '2026-03-08T03:00', '2026-03-08T12:00'],
    ['of two beginnings it is the first', 'Europe/London 01:30 03:00', '2026-10-25T00:30', '2026-10-25T03:00'],
    ['of two ends it is the first', 'Europe/London 00:30 01:30', '2026-10-24T23:30', '2026-10-25T00:30'],
    ['the repeated hour is inside', 'America/New_York 00:30 02:30', '2026-11-01T04:30', '2026-11-01T07:30'],
    ['half an hour is missing', 'Australia/Lord_Howe 02:15 04:00', '2026-10-03T15:45', '2026-10-03T17:00'],
    ['half an hour is repeated', 'Australia/Lord_Howe 01:45 02:30', '2026-04-04T14:45', '2026-04-04T16:00'],
    ['midnight is missing', 'Africa/Cairo 00:00 06:00', '2026-04-23T22:00', '2026-04-24T03:00'],
  ])('%s: %s', (_, written, opens, closes) => {
    const [zone = '', from = '', to = ''] = written.split(' ');
    const start = new Date(Date.parse(`${opens}Z`) - 6 * 3_600_000).toISOString();
    const found = changes(rule(from, to), zone, start, 3).filter((_, i, all) => i > 0 || all[0]?.startsWith('opens'));
    expect(found.slice(0, 2)).toEqual([`opens ${opens}`, `closes ${closes}`]);
  });

  it('opens once on the night on which the hour comes twice', () => {
    expect(changes(rule('01:15', '01:45'), 'Europe/London', '2026-10-24T12:00Z', 3)).toEqual([
      'opens 2026-10-25T00:15',
      'closes 2026-10-25T00:45',
      'opens 2026-10-26T01:15',
    ]);
  });

  it('does not open on a day that a country left out', () => {
    // Samoa went from 29 to 31 December 2011.
    expect(changes(rule('09:00', '20:00', [5]), 'Pacific/Apia', '2011-12-28T00:00Z', 1)).toEqual([
      'opens 2012-01-05T19:00',
    ]);
  });
});

it('answers the same when its clock is set back, or far ahead', () => {
  const one = rule('09:00', '20:00', WEEKDAYS);
  const calendar = createCalendar(one, 'Europe/London');
  for (const text of ['2026-11-23T12:00Z', '2027-06-01T12:00Z', '2026-11-20T21:00Z', '2026-11-20T12:00Z']) {
    expect(calendar.at(Date.parse(text))).toEqual(createCalendar(one, 'Europe/London').at(Date.parse(text)));
  }
});

const ZONES = [
  ...['Europe/London', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'Australia/Lord_Howe', 'Africa/Cairo'],
  ...['America/St_Johns', 'Pacific/Chatham', 'America/Havana', 'Atlantic/Azores', 'Asia/Beirut', 'Africa/Casablanca'],
];
const MINUTE = 60_000;
const anyHours = fc
  .record({
    fromMinute: fc.integer({ min: 0, max: 1439 }),
    toMinute: fc.integer({ min: 1, max: 1440 }),
    days: fc.subarray(EVERY_DAY, { minLength: 1 }),
  })
  .filter(({ fromMinute, toMinute }) => fromMinute !== toMinute);
/** Mostly around the nights on which clocks change somewhere. */
const anyMinute = fc.oneof(
  fc.integer({ min: Date.UTC(2024, 0) / MINUTE, max: Date.UTC(2028, 0) / MINUTE }),
  fc
    .tuple(
      fc.constantFrom('2026-03-29', '2026-10-25', '2026-03-08', '2026-11-01', '2026-10-04', '2026-04-05', '2026-04-24'),
      fc.integer({ min: -2000, max: 2000 }),
    )
    .map(([day, minutes]) => Date.parse(day) / MINUTE + minutes),
);

test('opens and closes in the very minute that a walk over all minutes finds', () => {
  const LOOK = 2 * 1440;
  fc.assert(
    fc.property(
      fc.array(anyHours, { minLength: 1, maxLength: 2 }),
      fc.array(fc.constantFrom('2026-03-29', '2026-10-25', '2026-11-01'), { maxLength: 2 }),
      fc.uniqueArray(fc.constantFrom(...ZONES), { minLength: 1, maxLength: 2 }),
      anyMinute,
      (hours, holidays, zones, minute) => {
        const start = minute * MINUTE;
        const slow = zones.map((zone) => openMinutes({ hours, holidays }, zone, start, LOOK));
        const open = Array.from({ length: LOOK }, (_, i) => slow.every((one) => one[i] === true));
        const change = open.findIndex((one) => one !== open[0]);
        const found = openingOf(
          zones.map((zone) => createCalendar({ hours, holidays }, zone)),
          start,
        );
        expect(found.open).toBe(open[0]);
        if (change === -1) expect(found.changesAtMs).toBeGreaterThanOrEqual(start + LOOK * MINUTE);
        else expect(found.changesAtMs).toBe(start + change * MINUTE);
      },
    ),
    { numRuns: examples(60) },
  );
});

test('the zones of one day add up: nowhere is it open before or after its hours', () => {
  const one = rule('09:00', '20:00');
  for (const zone of ZONES) {
    const { open, changesAtMs } = createCalendar(one, zone).at(Date.UTC(2026, 10, 21, 12));
    const shown = Temporal.Instant.fromEpochMilliseconds(changesAtMs).toZonedDateTimeISO(zone);
    expect([shown.hour, shown.minute]).toEqual([open ? 20 : 9, 0]);
  }
});
