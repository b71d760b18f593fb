import { describe, expect, it } from 'vitest';
import type { WindowRule } from '../../src/model.ts';
import { plan } from '../../src/operations/plan.ts';
import { preview } from '../../src/operations/preview.ts';
import { createCalendar } from '../../src/plan/calendar.ts';
import { forecast } from '../../src/plan/forecast.ts';
import { createProject } from '../helpers/project.ts';

const START = Date.parse('2026-11-26T08:00:00Z');

/** `test/rehearse/forecasts.test.ts` compares it with what `rehearse` plays. */
describe('a forecast', () => {
  const always = { at: () => ({ open: true, changesAtMs: Number.POSITIVE_INFINITY }) };
  const never = { at: () => ({ open: false, changesAtMs: Number.POSITIVE_INFINITY }) };
  const bounds = { perRequest: 1, inFlight: 1, startMs: 0, endMs: Number.POSITIVE_INFINITY };

  it('takes no time without a rate, and the last request a moment less than all', () => {
    const of = (recipients: number, perSecond: number, perRequest = 1) =>
      forecast([{ recipients, calendar: always }], { ...bounds, perSecond, perRequest, startMs: 5 }).finishedMs;
    expect([of(9, Number.POSITIVE_INFINITY), of(11, 1), of(11, 1, 4)]).toEqual([5, 10_005, 2005]);
  });

  it('is not known where a window never opens, or it takes more than a year', () => {
    for (const calendar of [never, always]) {
      const found = forecast([{ recipients: 1e9, calendar }], { ...bounds, perSecond: 1 });
      expect(found).toEqual({ finishedMs: null, expire: 0 });
    }
  });

  it('takes turns from who waits when a window closes, as deliveries under way do', () => {
    const closes = { at: (ms: number) => ({ open: ms < 2500, changesAtMs: ms < 2500 ? 2500 : 1e9 }) };
    const rows = [
      { recipients: 9, calendar: closes },
      { recipients: 10, calendar: always },
    ];
    const expired = (inFlight: number) => forecast(rows, { ...bounds, perSecond: 1, inFlight, endMs: 10_000 }).expire;
    // Of ten turns the first row has three, and one or four more go unused.
    expect([expired(1), expired(4)]).toEqual([19 - 9, 19 - 6]);
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
    // Ten an hour, the first at nine and the last six minutes before ten.
    expect(estimate.forecast).toEqual({ finishesAt: '2026-12-05T09:54:00.000Z', recipients: 100, expire: 0 });
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

  it('in a long list of several zones, rows that are near each other count as one', async () => {
    const zones = ['Europe/London', 'America/New_York', 'Asia/Kolkata'];
    const rows = Array.from({ length: 4500 }, (_, i) => `+4474001${String(i).padStart(5, '0')},${zones[i % 3]}\n`);
    using here = createProject({
      'handbill.yaml': '{}\n',
      'hello/campaign.yaml':
        'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: { csv: people.csv, timeZone: zone }\nsend: { rate: 200/h, window: { from: 09:00, to: 17:00 } }\n',
      'hello/people.csv': `msisdn,zone\n${rows.join('')}`,
    });
    const { estimate } = await preview('hello', at(here.root)).result();
    const hours: WindowRule['hours'] = [{ fromMinute: 9 * 60, toMinute: 17 * 60, days: [1, 2, 3, 4, 5, 6, 7] }];
    const calendars = zones.map((zone) => createCalendar({ hours, holidays: [] }, zone));
    const each = Array.from({ length: 1500 }, () => calendars.map((calendar) => ({ recipients: 1, calendar }))).flat();
    const endMs = Number.POSITIVE_INFINITY;
    const exact = forecast(each, { perSecond: 200 / 3600, perRequest: 1, inFlight: 16, startMs: START, endMs });
    const offMs = Date.parse(estimate.forecast?.finishesAt ?? '') - (exact.finishedMs ?? 0);
    expect(Math.abs(offMs)).toBeLessThan(30 * 60_000);
  });

  it('a run of less than a minute has none', async () => {
    using here = project('{ rate: 100/s }');
    expect((await plan('hello', at(here.root))).estimate.forecast).toBeUndefined();
  });
});
