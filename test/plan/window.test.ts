import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { HandbillError } from '../../src/errors.ts';
import type { Recipient, SendWindow } from '../../src/model.ts';
import { lateAt } from '../../src/plan/gate.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createWindowGate, lastOpeningAfter } from '../../src/plan/window.ts';
import { createProject } from '../helpers/project.ts';

const NOON = Date.parse('2026-11-22T12:00:00Z');

interface Written {
  readonly window?: string;
  readonly project?: string;
}

async function load({ window = 'none', project = '{}' }: Written) {
  using here = createProject({
    'handbill.yaml': `${project}\n`,
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\nsend:\n  window: ${window}\n`,
    'hello/people.csv': 'msisdn\n+442079460000\n',
  });
  const { campaign } = await loadCampaign('hello', { cwd: here.root });
  return await createPlan(campaign, { environment: 'sandbox', occurrence: 'once', nowMs: 0 });
}

async function windowOf(written: Written): Promise<SendWindow | null> {
  return (await load(written)).campaign.send.window;
}

async function problemsOf(written: Written): Promise<readonly string[]> {
  const error = await load(written).catch((caught: unknown) => caught);
  if (!(error instanceof HandbillError)) throw new Error('it was not refused');
  return error.diagnostics.map(({ code, at }) => `${code} ${at?.file}:${at?.line}:${at?.column}`);
}

const someone = (to: string, country: string | null): Recipient => ({
  row: 0,
  line: 2,
  key: to,
  to,
  kind: 'msisdn',
  country,
  assigned: true,
  values: [to],
});

describe('send.window', () => {
  it('is read with its defaults', async () => {
    expect(await windowOf({ window: '{ from: 9:00, to: 20:00 }' })).toEqual({
      hours: { fromMinute: 540, toMinute: 1200, days: [1, 2, 3, 4, 5, 6, 7] },
      holidays: [],
      timeZone: 'recipient',
      unknown: null,
      countries: false,
    });
  });

  it('is merged key by key with the one of the project', async () => {
    const project =
      'defaults: { send: { window: { from: "21:00", to: "06:00", holidays: [2026-12-25], days: weekdays } } }';
    expect(
      await windowOf({ window: '{ from: 20:00, timeZone: Europe/London, unknown: Asia/Kolkata }', project }),
    ).toEqual({
      hours: { fromMinute: 1200, toMinute: 360, days: [1, 2, 3, 4, 5] },
      holidays: ['2026-12-25'],
      timeZone: 'Europe/London',
      unknown: 'Asia/Kolkata',
      countries: false,
    });
  });

  it.each(['none', 'always'])('is taken back by %s', async (window) => {
    const project = 'defaults: { send: { window: { from: 09:00, to: 20:00 } } }';
    expect(await windowOf({ window, project })).toBeNull();
  });

  it.each([
    ['{ from: 09:00 }', ['missing-key hello/campaign.yaml:7:11']],
    ['{ from: 09:00, to: 9:00 }', ['invalid-value hello/campaign.yaml:7:30']],
    ['{ from: 09:00, to: 20:00, timeZone: Europe/Londn }', ['invalid-value hello/campaign.yaml:7:47']],
    ['{ from: 09:00, to: 20:00, unknown: nobody }', ['invalid-value hello/campaign.yaml:7:46']],
    ['{ from: 09:00, to: 20:00, holidays: [2026-02-30] }', ['invalid-value hello/campaign.yaml:7:48']],
    ['{ from: 09:00, to: 20:00, days: [mon, mon] }', ['invalid-value hello/campaign.yaml:7:43']],
    ['{ from: 09:00, to: 20:00, days: [] }', ['invalid-value hello/campaign.yaml:7:43']],
    ['{ countries: true, days: weekdays }', ['missing-key hello/campaign.yaml:7:36']],
    ['{ from: 24:00, to: 20:00 }', ['invalid-value hello/campaign.yaml:7:19']],
  ])('%s is refused', async (window, problems) => {
    expect(await problemsOf({ window })).toEqual(problems);
  });
});

describe('windows of handbill.yaml', () => {
  it.each([
    ['windows: { XX: { from: 09:00, to: 20:00 } }', ['invalid-value handbill.yaml:1:16']],
    ['windows: { GB: { from: 09:00 } }', ['missing-key handbill.yaml:1:12']],
    ['windows: { GB: { from: 09:00, to: 09:00 } }', ['invalid-value handbill.yaml:1:35']],
    ['windows: { gb: { from: 09:00, to: 20:00 } }', ['invalid-value handbill.yaml:1:12']],
  ])('%s is refused', async (project, problems) => {
    expect(await problemsOf({ project })).toEqual(problems);
  });
});

describe('hours of countries', () => {
  const FRANCE = someone('+33123456789', 'FR');
  const INDIA = someone('+913312345678', 'IN');
  const PORTUGAL = someone('+351212345678', 'PT');

  const opens = async (written: Written, who: Recipient, at: string) => {
    const plan = await load(written);
    const gate = await createWindowGate(plan, { now: () => Date.parse(at), lateAtMs: lateAt(plan, NOON) });
    return gate?.closed(who)?.detail ?? 'open';
  };

  it('are asked for, never by themselves', async () => {
    expect(await opens({ window: '{ from: 09:00, to: 20:00 }' }, FRANCE, '2026-11-22T12:00Z')).toBe('open');
  });

  it.each([
    ['no Sundays in France', FRANCE, '2026-11-22T12:00Z', 'opens 2026-11-23 08:00 in Europe/Paris'],
    ['from 10:00 in India', INDIA, '2026-11-22T04:00Z', 'opens 2026-11-22 10:00 in Asia/Kolkata'],
    ['elsewhere until 20:00', PORTUGAL, '2026-11-22T20:00Z', 'opens 2026-11-23 08:00 in Europe/Lisbon'],
  ])('%s', async (_, who, at, expected) => {
    expect(await opens({ window: '{ countries: true }' }, who, at)).toBe(expected);
  });

  it('hold beside the hours of the campaign', async () => {
    const window = '{ from: 07:00, to: 11:00, countries: true }';
    expect(await opens({ window }, INDIA, '2026-11-22T03:00Z')).toBe('opens 2026-11-22 10:00 in Asia/Kolkata');
    expect(await opens({ window }, INDIA, '2026-11-22T05:30Z')).toBe('opens 2026-11-23 10:00 in Asia/Kolkata');
    expect(await opens({ window }, PORTUGAL, '2026-11-22T07:30Z')).toBe('open');
  });

  it('are what the project says, where it says something', async () => {
    const project = 'windows: { FR: [{ from: 09:00, to: 12:00 }, { from: 14:00, to: 18:00, holidays: [2026-11-22] }] }';
    const window = '{ countries: true }';
    expect(await opens({ window, project }, FRANCE, '2026-11-23T10:30Z')).toBe('open');
    expect(await opens({ window, project }, FRANCE, '2026-11-23T12:00Z')).toBe(
      'opens 2026-11-23 14:00 in Europe/Paris',
    );
    // A holiday of one part of the day is one of all of it.
    expect(await opens({ window, project }, FRANCE, '2026-11-22T09:00Z')).toBe(
      'opens 2026-11-23 09:00 in Europe/Paris',
    );
  });

  it('that never meet the campaign hold without end, and say so', async () => {
    const window = '{ from: 22:00, to: 23:00, countries: true }';
    expect(await opens({ window }, INDIA, '2026-11-22T12:00Z')).toBe('it never opens');
  });
});

describe('until when a recipient may be claimed', () => {
  it('is the moment at which the window closes, and never where it is closed', async () => {
    let now = '2026-11-22T12:00Z';
    const plan = await load({ window: '{ from: 09:00, to: 20:00 }' });
    const gate = await createWindowGate(plan, { now: () => Date.parse(now), lateAtMs: lateAt(plan, NOON) });
    const london = someone('+442079460000', 'GB');
    expect(gate?.closesAtMs(london)).toBe(Date.parse('2026-11-22T20:00Z'));
    now = '2026-11-22T20:00Z';
    expect(gate?.closesAtMs(london)).toBe(0);
    expect(gate?.closed(london)?.detail).toBe('opens 2026-11-23 09:00 in Europe/London');
    // The clock is set back.
    now = '2026-11-22T19:59Z';
    expect(gate?.closed(london)).toBeNull();
    expect(gate?.closesAtMs(someone('+18005550123', null))).toBe(0);
  });
});

describe('the last opening that a recipient may have waited for', () => {
  it.each([
    ['{ from: 09:00, to: 20:00, days: weekdays, timeZone: UTC }', '2026-11-20T21:00Z', '2026-11-23T09:00Z'],
    // Open: recipients who are left at its end wait for the next day.
    ['{ from: 09:00, to: 20:00, timeZone: UTC }', '2026-11-20T12:00Z', '2026-11-21T09:00Z'],
    ['{ from: 00:00, to: 24:00, timeZone: UTC }', '2026-11-20T12:00Z', '2026-11-20T12:00Z'],
    // Where it is still Friday when it is Saturday in London.
    ['{ from: 09:00, to: 20:00, days: [mon] }', '2026-11-20T21:00Z', '2026-11-23T21:00Z'],
    // In most zones some country's hours never meet these; in those that they meet, France has no Sunday.
    ['{ from: 20:00, to: 21:00, timeZone: UTC, countries: true }', '2026-11-21T22:00Z', '2026-11-23T20:00Z'],
    // In March, after the change of the clocks, one more zone has hours in common: no recipient waits for that.
    [
      '{ from: 09:00, to: 18:00, days: weekdays, timeZone: Europe/London, countries: true }',
      '2026-11-20T21:00Z',
      '2026-11-23T17:00Z',
    ],
    // A holiday puts an opening off by a day, or by a week.
    [
      '{ from: 09:00, to: 20:00, timeZone: UTC, days: [mon], holidays: [2026-12-07] }',
      '2026-11-30T20:00Z',
      '2026-12-14T09:00Z',
    ],
    [
      `{ from: 09:00, to: 20:00, timeZone: UTC, holidays: [${Array.from({ length: 9 }, (_, i) => `2026-12-0${i + 1}`)}] }`,
      '2026-11-30T20:00Z',
      '2026-12-10T09:00Z',
    ],
  ])('%s after %s is %s', async (window, since, expected) => {
    const found = await lastOpeningAfter(await load({ window }), Date.parse(since));
    expect(new Date(found ?? 0).toISOString()).toBe(new Date(Date.parse(expected)).toISOString());
  });

  it('is none without a window', async () => {
    expect(await lastOpeningAfter(await load({}), NOON)).toBeNull();
  });
});
