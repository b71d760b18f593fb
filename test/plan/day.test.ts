import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { JsonObject, ListSpec, Where } from '../../src/model.ts';
import { type DayFacts, whereDay } from '../../src/plan/day.ts';
import { columnTypes } from '../../src/recipients/query.ts';
import { compileSegment } from '../../src/recipients/segment.ts';
import { addDays, createDayOf, dayMs, dayText, isAnniversary, readDayStep } from '../../src/util/time.ts';

const AT = { file: 'campaign.yaml', line: 1 };
const ZONES = ['UTC', 'Europe/London', 'America/St_Johns', 'Pacific/Apia', 'Africa/Casablanca', 'Australia/Lord_Howe'];

const asRecipients = (where: Where) => ({ where }) as unknown as ListSpec;

/** The day that `where: { visit: { $on: today } }` counts from. */
function dayOf(timeZone: string, facts: Partial<DayFacts>): string | undefined {
  const where = { query: { visit: { $on: 'today' } }, at: AT, timeZone };
  return whereDay({ recipients: asRecipients(where) }, { occurrence: 'once', nowMs: 0, ...facts })?.text;
}

function judge(query: JsonObject, today: string, cell: string, timeZone = 'Europe/London') {
  const where = { query, at: AT, timeZone };
  const found = compileSegment(where, ['visit'], columnTypes({ columns: {}, where }), dayMs(today) ?? Number.NaN);
  if (!('segment' in found)) throw new Error(found.map(({ message, hint }) => `${message} ${hint}`).join('\n'));
  return { verdict: found.segment.judge([cell]), why: found.segment.why([cell]) };
}

const instants = fc.date({ min: new Date('1990-01-01'), max: new Date('2060-01-01'), noInvalidDate: true });
const days = fc
  .date({ min: new Date('1600-01-01'), max: new Date('2400-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

describe('the day of an occurrence', () => {
  it('is that of the zone, around midnight and on days of 23 and 25 hours', () => {
    expect(dayOf('Europe/London', { occurrence: '2026-06-30T23:00:00Z' })).toBe('2026-07-01');
    expect(dayOf('Europe/London', { occurrence: '2026-12-31T23:59:59Z' })).toBe('2026-12-31');
    expect(dayOf('America/New_York', { nowMs: Date.parse('2026-11-25T04:59:59.999Z') })).toBe('2026-11-24');
    // This zone had no 30 December 2011.
    expect(dayOf('Pacific/Apia', { occurrence: '2011-12-30T09:59:59Z' })).toBe('2011-12-29');
    expect(dayOf('Pacific/Apia', { occurrence: '2011-12-30T10:00:00Z' })).toBe('2011-12-31');
    fc.assert(
      fc.property(instants, fc.constantFrom(...ZONES), (at, zone) => {
        const expected = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone).toPlainDate();
        expect(dayText(createDayOf(zone)(at.getTime()))).toBe(expected.toString());
      }),
    );
  });

  it('is the same at a late start, whatever the clock says', () => {
    const late = Date.parse('2026-11-26T03:00:00Z');
    expect(dayOf('Europe/London', { occurrence: '2026-11-24T09:00:00Z', nowMs: late })).toBe('2026-11-24');
    expect(dayOf('Europe/London', { occurrence: '2026-11-24', nowMs: late })).toBe('2026-11-24');
    const run = { inputs: [], createdAtMs: Date.parse('2026-11-24T23:50:00Z') };
    expect(dayOf('Europe/London', { nowMs: late, run })).toBe('2026-11-24');
    const inputs = [{ role: 'day', file: '2026-11-20', sha256: '' }] as const;
    expect(dayOf('Europe/London', { nowMs: late, run: { ...run, inputs } })).toBe('2026-11-20');
  });

  it('is not asked for where no date is relative', () => {
    const about = (query: JsonObject) =>
      whereDay({ recipients: asRecipients({ query, at: AT, timeZone: 'UTC' }) }, { occurrence: 'once', nowMs: 0 });
    expect(about({ visit: { $lt: '2026-11-24' }, name: 'today', plan: { $in: ['today'] } })).toBeNull();
    expect(about({ $or: [{ name: 'x' }, { visit: { $not: { $gte: '-P1Y' } } }] })).not.toBeNull();
  });
});

describe('steps between days', () => {
  it('are those of the calendar, and end with the month', () => {
    expect(dayText(addDays(dayMs('2026-01-31') ?? 0, { months: 1, days: 0 }))).toBe('2026-02-28');
    fc.assert(
      fc.property(days, fc.integer({ min: -30, max: 30 }), fc.integer({ min: -500, max: 500 }), (day, months, more) => {
        const expected = Temporal.PlainDate.from(day).add({ months }).add({ days: more });
        expect(dayText(addDays(dayMs(day) ?? 0, { months, days: more }))).toBe(expected.toString());
      }),
    );
  });

  it('are read as ISO 8601 writes them, of whole days only', () => {
    expect(readDayStep('P1Y2M3W4D')).toEqual({ months: 14, days: 25 });
    expect(readDayStep('-P2W')).toEqual({ months: 0, days: -14 });
    for (const other of ['P', 'PT3H', 'P1DT1H', 'P1.5D', '3d', 'p3d', '+P1D', '', '14'])
      expect(readDayStep(other)).toBeNull();
  });
});

describe('what a cell is asked', () => {
  it('$on: is it that day, in the zone of the campaign', () => {
    const on = { visit: { $on: 'tomorrow' } };
    for (const cell of ['2026-11-25', ' 2026-11-25 ', '2026-11-25T00:00:00Z', '2026-11-24T20:00:00-05:00']) {
      expect(judge(on, '2026-11-24', cell).verdict, cell).toBe('in');
    }
    for (const cell of ['', '2026-11-24', '2026-11-25T23:00:00-05:00']) {
      expect(judge(on, '2026-11-24', cell).verdict, cell).toBe('out');
    }
    expect(judge(on, '2026-11-24', '25/11/2026').verdict).toBe('unreadable');
    expect(judge({ visit: { $on: '2026-12-24' } }, '2026-11-24', '2026-12-24').verdict).toBe('in');
    expect(judge(on, '2026-11-24', '2026-11-28').why).toBe('visit is 2026-11-28, not on 2026-11-25 (tomorrow)');
  });

  it('$within: today, the last day and all between; back with a minus', () => {
    const verdicts = (span: string, ...cells: string[]) =>
      cells.map((cell) => judge({ visit: { $within: span } }, '2026-11-24', cell).verdict);
    expect(verdicts('P14D', '2026-11-23', '2026-11-24', '2026-12-08', '2026-12-09')).toEqual([
      'out',
      'in',
      'in',
      'out',
    ]);
    expect(verdicts('-P1M', '2026-10-23', '2026-10-24', '2026-11-24', '2026-11-25')).toEqual([
      'out',
      'in',
      'in',
      'out',
    ]);
    expect(judge({ visit: { $within: 'P14D' } }, '2026-11-24', '').why).toBe(
      'visit is empty, not within 2026-11-24 to 2026-12-08 (P14D)',
    );
  });

  it('orders: days are compared as days', () => {
    const verdict = (operator: string, cell: string) => {
      const where = { query: { visit: { [operator]: 'today' } }, at: AT, timeZone: 'Europe/London' };
      const found = compileSegment(where, ['visit'], { visit: 'date' }, dayMs('2026-07-01') ?? 0);
      return 'segment' in found ? found.segment.judge([cell]) : found;
    };
    // 23:30 UTC is half past midnight in London.
    expect(['$lt', '$lte', '$gt', '$gte'].map((name) => verdict(name, '2026-06-30T23:30:00Z'))).toEqual([
      'out',
      'in',
      'out',
      'in',
    ]);
  });

  it('$anniversary: the same day of a later year; 29 February is kept on 28 February', () => {
    const verdict = (today: string, cell: string) => judge({ visit: { $anniversary: 'today' } }, today, cell).verdict;
    expect(verdict('2026-11-24', '1990-11-24')).toBe('in');
    expect(verdict('2026-11-24', '2026-11-24')).toBe('out');
    expect(verdict('2026-02-28', '2000-02-29')).toBe('in');
    expect(verdict('2026-02-28', '2000-02-28')).toBe('in');
    expect(verdict('2026-03-01', '2000-02-29')).toBe('out');
    expect(verdict('2028-02-28', '2000-02-29')).toBe('out');
    expect(verdict('2028-02-29', '2000-02-29')).toBe('in');
    fc.assert(
      fc.property(days, fc.integer({ min: 1, max: 200 }), (born, years) => {
        const of = dayMs(born) ?? 0;
        const then = addDays(of, { months: 12 * years, days: 0 });
        expect(isAnniversary(then, of)).toBe(true);
        for (const days of [-1, 1]) expect(isAnniversary(addDays(then, { months: 0, days }), of)).toBe(false);
      }),
    );
  });
});

describe('what is refused', () => {
  const refused = (query: JsonObject, columns: Parameters<typeof columnTypes>[0]['columns'] = {}) => {
    const where = { query, at: AT, timeZone: 'UTC' };
    const found = compileSegment(where, ['visit'], columnTypes({ columns, where }), 0);
    return 'segment' in found ? [] : found.map(({ code, message, hint }) => `${code}: ${message} ${hint ?? ''}`);
  };

  it.each<readonly [JsonObject, Record<string, 'number' | 'string' | 'date'>, RegExp]>([
    [{ visit: { $on: 'soon' } }, {}, /`recipients.where.visit.\$on` needs a day\. Write today, tomorrow, yesterday/],
    [{ visit: { $on: 3 } }, {}, /needs a day/],
    [{ visit: { $within: 'tomorrow' } }, {}, /needs a duration in days\. For example \$within: P14D/],
    [{ visit: { $within: 'PT36H' } }, {}, /needs a duration in days/],
    [{ visit: { $on: 'today' } }, { visit: 'number' }, /asks for a date, but "visit" holds numbers/],
    [{ visit: { $on: 'today' } }, { visit: 'string' }, /holds text\. Say what it holds: .*\{ visit: date \}/],
    [{ visit: 'tomorrow' }, { visit: 'date' }, /For a day write \{ \$on: tomorrow \}/],
    [{ $on: 'today' }, {}, /is outside a column/],
  ])('%j', (query, columns, expected) => {
    expect(refused(query, columns)).toEqual([expect.stringMatching(expected)]);
  });
});
