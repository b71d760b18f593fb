import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/model.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { slowCommitClock } from '../helpers/slow-commit.ts';

const HOUR = 3_600_000;
/** Monday; 12:00 in London, 07:00 in New York, 17:30 in Kolkata, 01:00 on Tuesday in Auckland. */
const NOON = Date.parse('2026-11-23T12:00:00Z');

const LONDON = '+442079460000';
const NEW_YORK = '+12125550123';
const KOLKATA = '+913312345678';
const AUCKLAND = '+6493001234';
const EVERYBODY = [LONDON, NEW_YORK, KOLKATA, AUCKLAND];

function project(window: string, options: { rows?: readonly string[]; more?: string; columns?: string } = {}) {
  const { rows = EVERYBODY, more = '', columns = 'msisdn' } = options;
  return createProject({
    'handbill.yaml': '{}\n',
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: ${
      columns === 'msisdn' ? 'people.csv' : '{ csv: people.csv, timeZone: zone }'
    }\nsend: { window: ${window}, concurrency: 1 }\n${more}`,
    'hello/people.csv': `${columns}\n${rows.join('\n')}\n`,
  });
}

const at = (here: TestProject, nowMs: number, options: Partial<SendOptions> = {}) =>
  send('hello', { cwd: here.root, env: {}, now: () => nowMs, random: () => 0, ...options });

async function previewed(here: TestProject, nowMs: number): Promise<readonly Decision[]> {
  const shown = await previewRows('hello', { cwd: here.root, now: () => nowMs, at: nowMs });
  const found: Decision[] = [];
  for await (const batch of shown.batches) found.push(...batch.map(({ decision }) => decision));
  shown.close();
  return found;
}

/** `defer outside-window`, for each row. */
const brief = (decisions: readonly Decision[]) =>
  decisions.map((one) => ('reason' in one ? `${one.decision} ${one.reason}` : one.decision));

const NINE_TO_EIGHT = '{ from: 09:00, to: 20:00 }';

describe('in three zones and more', () => {
  it('previews for each recipient what it will do, and when their window opens', async () => {
    using here = project(NINE_TO_EIGHT);
    const decisions = await previewed(here, NOON);
    expect(brief(decisions)).toEqual(['send', 'defer outside-window', 'send', 'defer outside-window']);
    expect(decisions[1]).toMatchObject({
      detail: 'opens 2026-11-23 09:00 in America/New_York',
      untilMs: Date.parse('2026-11-23T14:00Z'),
    });
    expect(decisions[3]).toMatchObject({ untilMs: Date.parse('2026-11-23T20:00Z') });
  });

  it('sends what is open, and the rest at later starts', async () => {
    using here = project(NINE_TO_EIGHT);
    const first = await at(here, NOON);
    expect(first).toMatchObject({ exit: 0, posted: 2 });
    expect(first.report).toMatchObject({
      state: 'partial',
      totals: { accepted: 2, deferred: 2 },
      reasons: { deferred: { 'outside-window': 2 } },
      opensAt: '2026-11-23T14:00:00.000Z',
    });
    expect(await at(here, NOON + HOUR)).toMatchObject({ exit: 0, posted: 0, report: { state: 'partial' } });
    const second = await at(here, NOON + 2 * HOUR);
    expect(second.report.totals).toMatchObject({ accepted: 3, deferred: 1 });
    const third = await at(here, NOON + 8 * HOUR);
    expect(third.report).toMatchObject({ state: 'finished', totals: { accepted: 4, deferred: 0 } });
    expect(third.report.opensAt).toBeUndefined();
  });

  it('decides in preview what send decides at the same instant', async () => {
    for (const hour of [0, 2, 5, 8, 11, 15, 20]) {
      using here = project(NINE_TO_EIGHT, { more: 'validity: 8h\n' });
      const nowMs = NOON + hour * HOUR;
      const decisions = await previewed(here, nowMs);
      const { report } = await at(here, nowMs);
      const count = (word: string) => decisions.filter(({ decision }) => decision === word).length;
      expect(report.totals, `hour ${hour}`).toMatchObject({
        accepted: count('send'),
        deferred: count('defer'),
        skipped: count('skip'),
      });
    }
  });

  it('takes the column before the number, and the number where the cell is empty', async () => {
    const rows = [`${LONDON},Pacific/Auckland`, `${NEW_YORK}, Europe/London `, `${KOLKATA},`];
    using here = project(NINE_TO_EIGHT, { columns: 'msisdn,zone', rows });
    expect(brief(await previewed(here, NOON))).toEqual(['defer outside-window', 'send', 'send']);
  });

  it('refuses a row whose zone does not exist', async () => {
    using here = project(NINE_TO_EIGHT, {
      columns: 'msisdn,zone',
      rows: [`${LONDON},Europe/Londn`, `${KOLKATA},+01:00`],
    });
    await expect(at(here, NOON)).rejects.toMatchObject({
      exit: 2,
      diagnostics: [
        { code: 'invalid-time-zone', at: { line: 2 } },
        { code: 'invalid-time-zone', at: { line: 3 } },
        { code: 'invalid-rows', message: '2 of 2 rows cannot be sent to.' },
      ],
    });
    const { report } = await at(here, NOON, { allow: ['invalid-rows'] });
    expect(report.reasons).toEqual({ skipped: { 'bad-row': 2 } });
  });

  it('is one and the same for all recipients in a zone of its own', async () => {
    using here = project('{ from: 09:00, to: 13:00, timeZone: Europe/London }');
    expect(await at(here, NOON)).toMatchObject({ posted: 4 });
    using later = project('{ from: 09:00, to: 12:00, timeZone: Europe/London }');
    const decisions = await previewed(later, NOON);
    expect(brief(decisions)).toEqual(EVERYBODY.map(() => 'defer outside-window'));
    expect(decisions[1]).toMatchObject({ detail: 'opens 2026-11-24 09:00 in Europe/London' });
  });
});

describe('zones that are not known', () => {
  const TOLL_FREE = '+18005550123';

  it('holds them and says what to do', async () => {
    using here = project(NINE_TO_EIGHT, { rows: [LONDON, TOLL_FREE] });
    const [, held] = await previewed(here, NOON);
    expect(held).toMatchObject({
      decision: 'defer',
      reason: 'zone-unknown',
      detail: expect.stringMatching(/recipients\.timeZone/),
    });
    expect(held).not.toHaveProperty('untilMs');
    const { report } = await at(here, NOON, { wait: true });
    expect(report).toMatchObject({
      totals: { accepted: 1, deferred: 1 },
      reasons: { deferred: { 'zone-unknown': 1 } },
    });
  });

  it('takes the zone that the campaign gives them', async () => {
    using here = project('{ from: 09:00, to: 20:00, unknown: America/Chicago }', { rows: [TOLL_FREE] });
    expect(brief(await previewed(here, NOON))).toEqual(['defer outside-window']);
    expect(brief(await previewed(here, NOON + 3 * HOUR))).toEqual(['send']);
  });

  it('knows no zone of an email address', async () => {
    using here = createProject({
      'hello/campaign.yaml': `name: hello\nchannel: email\nfrom: a@b.example\ncontent: { subject: Hi }\ntemplate: { text: Hi }\nrecipients: people.csv\nsend: { window: ${NINE_TO_EIGHT} }\n`,
      'hello/people.csv': 'email\nada@c.example\n',
    });
    expect(brief(await previewed(here, NOON))).toEqual(['defer zone-unknown']);
  });

  it('sends to a number of several zones only when it is open in all of them', async () => {
    // A mobile number of Portugal may be in Lisbon or on the Azores, an hour behind.
    const rows = ['+351912345678'];
    using here = project(NINE_TO_EIGHT, { rows });
    expect(await previewed(here, NOON - 2.5 * HOUR)).toMatchObject([
      { decision: 'defer', detail: 'opens 2026-11-23 10:00 in Europe/Lisbon, in all 2 zones of the number' },
    ]);
    expect(brief(await previewed(here, NOON - 2 * HOUR))).toEqual(['send']);
    using never = project('{ from: 09:00, to: 10:00 }', { rows });
    expect(await previewed(never, NOON)).toMatchObject([
      { reason: 'zone-unknown', detail: expect.stringMatching(/no hour is inside/) },
    ]);
  });
});

describe('what comes too late', () => {
  it('is skipped where the window opens after notAfter', async () => {
    using here = project(`${NINE_TO_EIGHT}, notAfter: "2026-11-23T15:00:00Z"`);
    expect(brief(await previewed(here, NOON))).toEqual(['send', 'defer outside-window', 'send', 'skip window-closed']);
    const { report } = await at(here, NOON);
    expect(report.reasons).toEqual({ skipped: { 'window-closed': 1 }, deferred: { 'outside-window': 1 } });
    // A deferred recipient expires, too, when there was no start in time.
    const late = await at(here, NOON + 4 * HOUR);
    expect(late.report).toMatchObject({ state: 'finished', reasons: { skipped: { 'window-closed': 1, expired: 1 } } });
  });

  it('is skipped where the message is not valid any more when it opens', async () => {
    using here = project(NINE_TO_EIGHT, { more: 'validity: 2h\n' });
    const decisions = await previewed(here, NOON);
    expect(brief(decisions)).toEqual(['send', 'skip window-closed', 'send', 'skip window-closed']);
    expect(decisions[1]).toMatchObject({ detail: expect.stringMatching(/not valid any more/) });
    expect(await at(here, NOON)).toMatchObject({ report: { state: 'finished', totals: { accepted: 2, skipped: 2 } } });
  });

  it('counts the day of lateness from the opening that a recipient waited for', async () => {
    // Friday evening: it opens on Monday at 09:00.
    const friday = Date.parse('2026-11-20T21:00:00Z');
    const window = '{ from: 09:00, to: 20:00, days: weekdays, timeZone: UTC }';
    using here = project(window);
    expect(await at(here, friday)).toMatchObject({ posted: 0, report: { totals: { deferred: 4 } } });
    const monday = Date.parse('2026-11-23T09:00:00Z');
    expect(await at(here, monday, { limit: 1 })).toMatchObject({ posted: 1 });
    // Recipients without a turn on Monday was put off to Tuesday.
    expect(await at(here, monday + 48 * HOUR, { limit: 1 })).toMatchObject({ posted: 1 });
    using there = project(window);
    await at(there, friday);
    await expect(at(there, monday + 24 * HOUR + 1)).rejects.toMatchObject({ code: 'too-late', exit: 2 });
    expect(await at(there, monday + 24 * HOUR)).toMatchObject({ posted: 4 });
  });
});

describe('at the moment of claiming', () => {
  it('nothing goes out after the window closed while recipients waited for their turn', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `+4420794600${String(i).padStart(2, '0')}`);
    using here = project('{ from: 09:00, to: 20:00 }', { rows });
    const closes = Date.parse('2026-11-23T20:00:00Z');
    let posted = () => 0;
    // The clock goes on by ten minutes with each request.
    const now = () => closes - HOUR + posted() * 10 * 60_000;
    const { report } = await at(here, 0, {
      now,
      concurrency: 8,
      onEvent(event) {
        if (event.kind === 'sending') posted = () => event.figures.posted;
      },
    });
    expect(report.totals.accepted).toBe(6);
    expect(report).toMatchObject({
      totals: { deferred: 34, pending: 0, inDoubt: 0 },
      reasons: { deferred: { 'outside-window': 34 } },
      opensAt: '2026-11-24T09:00:00.000Z',
    });
  });
});

it('nothing goes out after the window closed during the commit of the claim', async () => {
  using here = project('{ from: 09:00, to: 20:00, timeZone: UTC }');
  const closes = Date.parse('2026-11-23T20:00:00Z');
  const now = slowCommitClock(here.root, closes - 60_000, closes);
  const { posted, report } = await at(here, 0, { now });
  expect(posted).toBe(0);
  expect(report).toMatchObject({
    totals: { accepted: 0, deferred: 4, inDoubt: 0 },
    reasons: { deferred: { 'outside-window': 4 } },
  });
});

it('leaves whose window closed out of a request that others share', async () => {
  // London closes at 20:00 UTC, the Azores an hour later.
  const rows = ['+442079460000', '+351292123456', '+442079460001', '+351292123457'];
  using here = project(`${NINE_TO_EIGHT}, recipientsPerRequest: 2`, { rows });
  const closes = Date.parse('2026-11-23T20:00:00Z');
  let posted = () => 0;
  const { report } = await at(here, 0, {
    now: () => closes - 60_000 + posted() * 120_000,
    onEvent(event) {
      if (event.kind === 'sending') posted = () => event.figures.posted;
    },
  });
  expect(posted()).toBe(2);
  expect(report).toMatchObject({ totals: { accepted: 3, deferred: 1 }, opensAt: '2026-11-24T09:00:00.000Z' });
});

describe('send --wait', () => {
  it('serves every zone in its turn, until no recipient waits', async () => {
    using here = project(NINE_TO_EIGHT);
    let nowMs = NOON;
    const waits: string[] = [];
    const slept: number[] = [];
    const { report, posted, exit } = await at(here, 0, {
      now: () => nowMs,
      wait: true,
      timers: {
        sleep: async (ms) => {
          slept.push(ms);
          nowMs += ms;
        },
      },
      onEvent(event) {
        if (event.kind === 'waits') waits.push(new Date(event.untilMs).toISOString());
      },
    });
    expect({ posted, exit, state: report.state }).toEqual({ posted: 4, exit: 0, state: 'finished' });
    expect(waits).toEqual(['2026-11-23T14:00:00.000Z', '2026-11-23T20:00:00.000Z']);
    // In slices, so that a machine that slept or a clock that was set is noticed.
    expect(Math.max(...slept)).toBeLessThanOrEqual(60_000);
  });

  it('ends in good order when it is told to, and no recipient is lost', async () => {
    using here = project(NINE_TO_EIGHT);
    const stop = new AbortController();
    const { report, exit } = await at(here, NOON, {
      wait: true,
      signal: stop.signal,
      timers: { sleep: async () => stop.abort() },
    });
    expect({ exit, state: report.state }).toEqual({ exit: 0, state: 'partial' });
    expect(report.totals).toMatchObject({ accepted: 2, deferred: 2 });
    expect(await at(here, NOON + 8 * HOUR)).toMatchObject({ posted: 2 });
  });

  it('keeps the lock while it waits', async () => {
    using here = project(NINE_TO_EIGHT);
    const stop = new AbortController();
    let second: Promise<unknown> | null = null;
    await at(here, NOON, {
      wait: true,
      signal: stop.signal,
      timers: {
        sleep: async () => {
          second = at(here, NOON).catch((error: unknown) => error);
          await second;
          stop.abort();
        },
      },
    });
    expect(await second).toMatchObject({ code: 'locked', exit: 6 });
  });

  it.each([
    { label: 'for one each', shared: '' },
    { label: 'that several share', shared: ', recipientsPerRequest: 2' },
  ])('counts a limit over all openings, in recipients: requests $label', async ({ shared }) => {
    using here = project(NINE_TO_EIGHT + shared);
    let nowMs = NOON;
    const { report } = await at(here, 0, {
      now: () => nowMs,
      wait: true,
      limit: 3,
      timers: {
        sleep: async (ms) => {
          nowMs += ms;
        },
      },
    });
    expect(report.totals.accepted).toBe(3);
  });
});
