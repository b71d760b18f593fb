import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { WindowRule } from '../../src/model.ts';
import { plan } from '../../src/operations/plan.ts';
import { preview } from '../../src/operations/preview.ts';
import { createCalendar } from '../../src/plan/calendar.ts';
import { forecast } from '../../src/plan/forecast.ts';
import { createProject } from '../helpers/project.ts';
import { openMinutes } from './calendar-oracle.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-11-26T08:00:00Z');
const DAYS = 6;
const MINUTES = DAYS * 1440;

interface Group {
  readonly recipients: number;
  readonly rule: WindowRule;
  readonly zone: string;
}

/** Minute by minute: recipients whose window is open share what the rate allows. */
function simulate(groups: readonly Group[], perMinute: number, minutes: number) {
  const left = groups.map(({ recipients }) => recipients);
  const open = groups.map(({ rule, zone }) => openMinutes(rule, zone, START, minutes));
  let finished = 0;
  for (let minute = 0; minute < minutes; minute++) {
    const now = left.map((count, i) => (open[i]?.[minute] === true ? count : 0));
    const total = now.reduce((sum, count) => sum + count, 0);
    const share = total === 0 ? 0 : Math.min(1, perMinute / total);
    for (const [i, count] of now.entries())
      left[i] = share === 1 ? (left[i] ?? 0) - count : (left[i] ?? 0) - count * share;
    if (total > 0) finished = minute + Math.min(1, total / perMinute);
  }
  const rest = left.reduce((sum, count) => sum + count, 0);
  return rest < 1e-6 ? { finished, rest: 0 } : { finished: null, rest };
}

const anyGroup = fc.record({
  recipients: fc.integer({ min: 0, max: 3000 }),
  zone: fc.constantFrom('UTC', 'Asia/Tokyo', 'America/New_York', 'Asia/Kolkata'),
  rule: fc
    .record({
      from: fc.integer({ min: 0, max: 23 }),
      hours: fc.integer({ min: 1, max: 23 }),
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
    })
    .map(({ from, hours, days }) => ({
      hours: [
        { fromMinute: from * 60, toMinute: ((from + hours) % 24) * 60, days: days as WindowRule['hours'][0]['days'] },
      ],
      holidays: [],
    })),
});

test('it is what a simulation minute by minute comes to', () => {
  let expired = 0;
  let finished = 0;
  fc.assert(
    fc.property(
      fc.array(anyGroup, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: DAYS * 24 }),
      (groups, perMinute, hours) => {
        const bounds = { perSecond: perMinute / 60, startMs: START, endMs: START + hours * 60 * MINUTE };
        const made = groups.map(({ recipients, rule, zone }) => ({ recipients, calendar: createCalendar(rule, zone) }));
        const found = forecast(made, bounds);
        const slow = simulate(groups, perMinute, hours * 60);
        // Each time that a window opens, one goes at once.
        const slack = 2 + groups.length * DAYS * 2;
        if (found.finishedMs === null) {
          expect(Math.abs(found.expire - slow.rest)).toBeLessThanOrEqual(slack);
          expired += 1;
        } else {
          expect(slow.rest).toBeLessThanOrEqual(slack);
          if (slow.finished === null) return;
          finished += 1;
          expect((found.finishedMs - START) / MINUTE).toBeLessThanOrEqual(slow.finished + 2);
        }
        const total = groups.reduce((sum, { recipients }) => sum + recipients, 0);
        expect(found.expire).toBeLessThanOrEqual(total);
      },
    ),
  );
  expect(expired).toBeGreaterThan(0);
  expect(finished).toBeGreaterThan(0);
  expect(MINUTES).toBeGreaterThan(0);
});

describe('a forecast', () => {
  const always = { at: () => ({ open: true, changesAtMs: Number.POSITIVE_INFINITY }) };
  const endMs = Number.POSITIVE_INFINITY;

  it('takes no time without a rate, and the last one a moment less than all', () => {
    expect(forecast([{ recipients: 9, calendar: always }], { perSecond: null, startMs: 5, endMs }).finishedMs).toBe(5);
    expect(forecast([{ recipients: 11, calendar: always }], { perSecond: 1, startMs: 0, endMs }).finishedMs).toBe(
      10_000,
    );
  });

  it('is not known where a window never opens, or it takes more than a year', () => {
    const never = { at: () => ({ open: false, changesAtMs: Number.POSITIVE_INFINITY }) };
    for (const calendar of [never, always]) {
      const found = forecast([{ recipients: 1e9, calendar }], { perSecond: 1, startMs: 0, endMs });
      expect(found).toEqual({ finishedMs: null, expire: 0 });
    }
  });
});

describe('what is said of it', () => {
  const project = (send: string, rows = 100) =>
    createProject({
      'handbill.yaml': '{}\n',
      'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\nsend: ${send}\n`,
      'hello/people.csv': `msisdn\n${Array.from({ length: rows }, (_, i) => `+4474001${String(i).padStart(5, '0')}\n`).join('')}`,
    });
  const at = (root: string) => ({ cwd: root, now: () => START });

  it('preview and plan count the same recipients in the same hours', async () => {
    using here = project('{ rate: 10/h, window: { from: 09:00, to: 10:00, timeZone: UTC } }');
    const { estimate } = await preview('hello', at(here.root)).result();
    const planned = (await plan('hello', at(here.root))).estimate;
    // Ten an hour, and the first at nine o'clock: eleven a day.
    expect(estimate.forecast).toEqual({ finishesAt: '2026-12-05T09:00:00.000Z', recipients: 100, expire: 0 });
    expect(planned).toEqual(estimate);
    expect(planned).toMatchObject({ send: 0, deferred: { 'outside-window': 100 } });
  });

  it('more than a tenth that would expire is refused, a tenth is not', async () => {
    using here = project('{ rate: 60/h, notAfter: 2026-11-26T08:55:00Z }');
    await expect(plan('hello', at(here.root))).rejects.toMatchObject({
      exit: 2,
      diagnostics: [{ code: 'would-expire', message: expect.stringContaining('44 of 100 recipients') }],
    });
    using other = project('{ rate: 60/h, notAfter: 2026-11-26T09:29:00Z }');
    expect((await plan('hello', at(other.root))).estimate.forecast).toMatchObject({ expire: 10, finishesAt: null });
  });

  it('a run of less than a minute has none', async () => {
    using here = project('{ rate: 100/s }');
    expect((await plan('hello', at(here.root))).estimate.forecast).toBeUndefined();
  });
});
