import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { HandbillError } from '../../src/errors.ts';
import { lateAt } from '../../src/plan/gate.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createWindowGate } from '../../src/plan/window.ts';
import { openList } from '../../src/recipients/read.ts';
import { isInvalidRow } from '../../src/recipients/recipient.ts';
import { createProject } from '../helpers/project.ts';

interface Written {
  readonly rows: readonly string[];
  readonly recipients?: string;
  readonly send?: string;
  readonly more?: string;
  readonly project?: string;
}

async function load({ rows, recipients = '', send = '', more = '', project = '{}' }: Written) {
  using here = createProject({
    'handbill.yaml': `${project}\n`,
    'visits/campaign.yaml': `name: visits\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: { csv: list.csv, key: id${recipients} }
send:\n  each: { column: visit, before: 2h }\n${send}${more}`,
    'visits/list.csv': `msisdn,id,visit,zone\n${rows.map((row, n) => `+4420794600${10 + n},c${n},${row}\n`).join('')}`,
  });
  const { campaign } = await loadCampaign('visits', { cwd: here.root });
  const plan = await createPlan(campaign, { environment: 'sandbox', occurrence: 'once', nowMs: 0 });
  const list = await openList(campaign.recipients);
  const read = [];
  for await (const batch of list.rows()) read.push(...batch.map((row) => plan.compiled.recipient(row)));
  await list.close();
  return { plan, read };
}

/** `c0|2026-12-01T09:00:00Z`, or what is wrong with the row, for each. */
async function keysOf(written: Written): Promise<readonly string[]> {
  const { read } = await load(written);
  return read.map((one) => {
    if (!isInvalidRow(one)) return one.key;
    const { code, message, at } = one.problem;
    return `${code} ${at?.file}:${at?.line} ${message}`;
  });
}

const problemsOf = async (written: Written): Promise<readonly string[]> => {
  const error = await load(written).catch((caught: unknown) => caught);
  if (!(error instanceof HandbillError)) throw new Error('it was not refused');
  return error.diagnostics.map(({ code, at, message }) => `${code} ${at?.line}:${at?.column} ${message}`);
};

const LONDON = 'timeZone: Europe/London\n';

describe('the time of a row', () => {
  it('is part of its key, to the second', async () => {
    const rows = [
      '2026-12-01T09:00:00Z,',
      '2026-12-01T09:00:00.900+01:00,',
      '2026-12-01 09:30,',
      '2026-07-01 9:30:15,',
    ];
    expect(await keysOf({ rows, more: LONDON })).toEqual([
      'c0|2026-12-01T09:00:00Z',
      'c1|2026-12-01T08:00:00Z',
      'c2|2026-12-01T09:30:00Z',
      'c3|2026-07-01T08:30:15Z',
    ]);
  });

  it('is read in the zone of the row, else of the campaign, else of its schedule, and not in that of the number', async () => {
    const rows = ['2026-12-01 09:00,America/New_York', '2026-12-01 09:00, ', '2026-12-01T09:00Z,Asia/Tokyo'];
    const schedule = 'schedule: { cron: 0 6 * * *, timeZone: Europe/Paris }\n';
    const keys = await keysOf({ rows, recipients: ', timeZone: zone', more: `${LONDON}${schedule}` });
    expect(keys).toEqual(['c0|2026-12-01T14:00:00Z', 'c1|2026-12-01T09:00:00Z', 'c2|2026-12-01T09:00:00Z']);
    expect(await keysOf({ rows: ['2026-12-01 09:00,'], more: schedule })).toEqual(['c0|2026-12-01T08:00:00Z']);
    expect(await keysOf({ rows: ['2026-12-01 09:00,'] })).toEqual(['c0|2026-12-01T09:00:00Z']);
  });

  it('that clocks show twice is the first, and one that they jump over comes after the jump', async () => {
    expect(await keysOf({ rows: ['2026-10-25 01:30,', '2027-03-28 01:30,'], more: LONDON })).toEqual([
      'c0|2026-10-25T00:30:00Z',
      'c1|2027-03-28T01:30:00Z',
    ]);
  });

  it('may have the format of its column', async () => {
    const recipients = ', columns: { visit: { type: date, format: "dd/MM/yyyy HH:mm" } }';
    const keys = await keysOf({ rows: ['01/12/2026 09:00,'], recipients, more: LONDON });
    expect(keys).toEqual(['c0|2026-12-01T09:00:00Z']);
  });

  it('that cannot be read makes the row invalid, with its place', async () => {
    const rows = ['2026-12-01,', ',', 'tomorrow,', '2026-02-30 09:00,', '2026-12-01 09:00,Europe/Londn'];
    const found = await keysOf({ rows, recipients: ', timeZone: zone' });
    const needs = 'it needs a date with a time of day.';
    expect(found).toEqual([
      `column-type visits/list.csv:2 The column "visit" (\`send.each\`) holds "2026-12-01": ${needs}`,
      `column-type visits/list.csv:3 The column "visit" (\`send.each\`) is empty: ${needs}`,
      `column-type visits/list.csv:4 The column "visit" (\`send.each\`) holds "tomorrow": ${needs}`,
      // With so many digits it could be a phone number.
      `column-type visits/list.csv:5 The column "visit" (\`send.each\`) holds "20••••••••••9:00": ${needs}`,
      expect.stringMatching(/^invalid-time-zone visits\/list\.csv:6 /),
    ]);
  });
});

it('a time that does not exist has a hint that says so: its form alone is right', async () => {
  const { read } = await load({ rows: ['2027-02-29 09:00,', '2027-02-28 24:00,'], more: LONDON });
  const hints = read.map((one) => (isInvalidRow(one) ? one.problem.hint : null));
  expect(hints).toEqual(Array(2).fill(expect.stringMatching(/^Write a day of the calendar and a time up to 23:59: /)));
});

describe('send.each', () => {
  it('is refused where it says nothing that can be done, with its place', async () => {
    const rows = ['2026-12-01 09:00,'];
    expect(await problemsOf({ rows, more: 'after: { campaign: other, wait: 3d }\n' })).toContainEqual(
      expect.stringMatching(/^invalid-value \d+:\d+ "after" and "send.each" both say when it goes out\.$/),
    );
  });

  it.each(['400d', '59s'])('goes out some time before that of the row, not %s', async (before) => {
    using here = createProject({
      'visits/campaign.yaml': `name: visits\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: list.csv\nsend: { each: { column: wisit, before: ${before} } }\n`,
      'visits/list.csv': 'msisdn,visit\n+442079460010,2026-12-01 09:00\n',
    });
    const error = await loadCampaign('visits', { cwd: here.root }).catch((caught: unknown) => caught);
    const message = `"${before}" is not a time from 1m to 366d.`;
    expect(error).toMatchObject({ diagnostics: [{ code: 'invalid-value', message, at: { line: 6 } }] });
  });

  it('names a column of the list', async () => {
    using here = createProject({
      'visits/campaign.yaml': `name: visits\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: list.csv\nsend: { each: { column: wisit, before: 2h } }\n`,
      'visits/list.csv': 'msisdn,visit\n+442079460010,2026-12-01 09:00\n',
    });
    const { campaign } = await loadCampaign('visits', { cwd: here.root });
    const refused = createPlan(campaign, { environment: 'sandbox', occurrence: 'once', nowMs: 0 });
    await expect(refused).rejects.toMatchObject({
      diagnostics: [
        {
          code: 'unknown-column',
          message: 'The list has no column "wisit" (`send.each.column`).',
          hint: expect.stringContaining('visit'),
        },
      ],
    });
  });
});

describe('the gate of a row', () => {
  /** What it says at each of these moments, and until when a claim may be made. */
  const at = async (visit: string, moments: readonly string[], written: Partial<Written> = {}) => {
    const { plan, read } = await load({ rows: [`${visit},`], more: LONDON, ...written });
    const [recipient] = read;
    if (recipient === undefined || isInvalidRow(recipient)) throw new Error('the row is valid');
    let nowMs = 0;
    const gate = await createWindowGate(plan, { now: () => nowMs, lateAtMs: lateAt(plan, 0) });
    return moments.map((moment) => {
      nowMs = Date.parse(moment);
      const closed = gate?.closed(recipient) ?? null;
      const until = new Date(gate?.closesAtMs(recipient) ?? 0).toISOString().slice(0, 16);
      return closed === null ? `until ${until}` : `${closed.decision} ${closed.reason}: ${closed.detail}`;
    });
  };

  it('opens some time before it, and closes with it', async () => {
    const moments = ['2026-12-01T06:59:59Z', '2026-12-01T07:00Z', '2026-12-01T08:59:59Z', '2026-12-01T09:00Z'];
    expect(await at('2026-12-01 09:00', moments)).toEqual([
      'defer too-early: goes out 2026-12-01 07:00 in Europe/London',
      'until 2026-12-01T09:00',
      'until 2026-12-01T09:00',
      'skip expired: its time was 2026-12-01 09:00 in Europe/London',
    ]);
  });

  it('is open in the last hour of the window before, and whenever the window is open until its time', async () => {
    const send = '  window: { from: 08:00, to: 20:00, timeZone: Europe/London }\n';
    const moments = [
      '2026-11-30T18:59Z',
      '2026-11-30T19:00Z',
      '2026-11-30T20:00Z',
      '2026-12-01T08:00Z',
      '2026-12-01T09:00Z',
    ];
    expect(await at('2026-12-01 09:00', moments, { send })).toEqual([
      'defer too-early: goes out 2026-11-30 19:00 in Europe/London',
      'until 2026-11-30T20:00',
      'defer outside-window: opens 2026-12-01 08:00 in Europe/London',
      'until 2026-12-01T09:00',
      'skip expired: its time was 2026-12-01 09:00 in Europe/London',
    ]);
    const night = await at('2026-12-01 07:00', ['2026-11-30T20:00Z'], { send });
    expect(night).toEqual(['skip window-closed: opens 2026-12-01 08:00 in Europe/London, after its time']);
  });

  it('looks back over days on which the window does not open, and no further than two weeks', async () => {
    const send = '  window: { from: 09:00, to: 12:00, days: [wed], holidays: [2026-12-02], timeZone: Europe/London }\n';
    expect(await at('2026-12-08 09:00', ['2026-11-20T12:00Z'], { send })).toEqual([
      'defer too-early: goes out 2026-11-25 11:00 in Europe/London',
    ]);
    const shut =
      '  window: { from: 09:00, to: 12:00, days: [wed], holidays: [2026-11-25, 2026-12-02], timeZone: Europe/London }\n';
    expect(await at('2026-12-08 09:00', ['2026-11-20T12:00Z', '2026-12-08T07:30Z'], { send: shut })).toEqual([
      'defer too-early: goes out 2026-12-08 07:00 in Europe/London',
      'skip window-closed: opens 2026-12-09 09:00 in Europe/London, after its time',
    ]);
  });

  it('closes earlier with send.notAfter, and with a validity, which counts from when it is due unless it is an instant', async () => {
    const send = '  notAfter: 2026-12-01T06:00:00Z\n';
    expect(await at('2026-12-01 09:00', ['2026-11-30T12:00Z'], { send })).toEqual([
      'skip expired: goes out 2026-12-01 07:00 in Europe/London, after send.notAfter',
    ]);
    const until = `${LONDON}validity: 2026-12-01T06:00:00Z\n`;
    expect(await at('2026-12-01 09:00', ['2026-11-30T12:00Z'], { more: until })).toEqual([
      'skip expired: goes out 2026-12-01 07:00 in Europe/London, when the message is not valid any more',
    ]);
    const more = `${LONDON}validity: 30m\n`;
    expect(await at('2026-12-01 09:00', ['2026-12-01T07:29Z', '2026-12-01T07:30Z'], { more })).toEqual([
      'until 2026-12-01T07:30',
      'skip expired: its validity ended 2026-12-01 07:30 in Europe/London',
    ]);
  });
});
