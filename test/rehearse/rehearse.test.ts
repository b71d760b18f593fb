import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Ajv } from 'ajv';
import { describe, expect, it, test } from 'vitest';
import { due } from '../../src/operations/due.ts';
import { type RehearseOptions, rehearse } from '../../src/operations/rehearse.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';

/** A Monday. */
const START = Date.parse('2026-11-30T00:02:00Z');

const PEOPLE = `msisdn,name\n${Array.from({ length: 12 }, (_, i) => `+44770090${String(1000 + i)},N${i}`).join('\n')}\n`;

function campaign(name: string, more: string, recipients = 'people.csv'): ProjectFiles {
  return {
    [`campaigns/${name}/campaign.yaml`]: `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{name}}" }\nrecipients: ${recipients}\n${more}\n`,
    [`campaigns/${name}/people.csv`]: PEOPLE,
  };
}

const DAILY = 'schedule: { cron: "0 9 * * *", timeZone: UTC }';

function play({ root }: TestProject, more: Partial<RehearseOptions> = {}) {
  return rehearse([], { cwd: root, env: {}, now: () => START, days: 3, ...more });
}

function brief({ occurrences }: Awaited<ReturnType<typeof rehearse>>): string[] {
  return occurrences.map(({ campaign, state, begins, ends, messages }) =>
    [campaign, state, begins?.slice(8, 16), ends?.slice(8, 16), messages].join(' '),
  );
}

describe('the coming days', () => {
  test('have each occurrence of a schedule, and each follow-up at the time of its recipients', async () => {
    using project = createProject({
      ...campaign('hello', DAILY),
      ...campaign('nudge', 'after: { campaign: hello, wait: 1d }'),
    });
    const found = await play(project);
    expect(brief(found)).toEqual([
      'hello finished 30T09:00 30T09:00 12',
      'hello finished 01T09:00 01T09:00 12',
      'nudge finished 01T09:00 01T09:00 12',
      'hello finished 02T09:00 02T09:00 12',
      'nudge finished 02T09:00 02T09:00 12',
    ]);
    expect(found.days.map(({ day, messages }) => [day, messages])).toEqual([
      ['2026-11-30', 12],
      ['2026-12-01', 24],
      ['2026-12-02', 24],
    ]);
    expect(found.busiest).toBe(5);
  });

  test('a slow campaign takes its time, and another one begins meanwhile', async () => {
    using project = createProject({
      ...campaign('slow', `${DAILY}\nsend: { rate: 6/h }`),
      ...campaign('quick', 'schedule: { cron: "30 9 * * *", timeZone: UTC }'),
    });
    expect(brief(await play(project, { days: 1 }))).toEqual([
      'slow finished 30T09:00 30T10:50 12',
      'quick finished 30T09:30 30T09:30 12',
    ]);
  });

  test('a campaign begins its next occurrence while the one before is being sent', async () => {
    using project = createProject(
      campaign('often', 'schedule: { cron: "2,4,6 6 * * *", timeZone: UTC }\nsend: { rate: 2/min }'),
    );
    expect(brief(await play(project, { days: 1, everyMs: 60_000 }))).toEqual([
      'often finished 30T06:02 30T06:07 12',
      'often finished 30T06:04 30T06:09 12',
      'often finished 30T06:06 30T06:11 12',
    ]);
  });

  test('a follow-up begins while the campaign before it is being sent', async () => {
    using project = createProject({
      ...campaign('slow', `${DAILY}\nsend: { rate: 6/h }`),
      ...campaign('nudge', 'after: { campaign: slow, wait: 30m }'),
    });
    expect(brief(await play(project, { days: 1 }))).toEqual([
      'slow finished 30T09:00 30T10:50 12',
      'nudge finished 30T09:30 30T11:20 12',
    ]);
  });

  test('a campaign that takes longer than its schedule allows is named with the next instant', async () => {
    using project = createProject(
      campaign('slow', 'schedule: { cron: "0 * * * *", timeZone: UTC }\nsend: { rate: 6/h }'),
    );
    const { occurrences } = await play(project, { days: 1 });
    expect(occurrences[0]).toMatchObject({
      occurrence: '2026-11-30T00:00:00Z',
      overlaps: '2026-11-30T01:00:00Z',
      messages: 12,
    });
  });

  test('a window moves messages, and a cap leaves people out', async () => {
    using project = createProject({
      ...campaign(
        'night',
        `${DAILY.replace('0 9', '0 22')}\nsend: { window: { from: 08:00, to: 20:00, timeZone: UTC } }\nfrequency: { max: 1, per: 2d }`,
      ),
    });
    const { occurrences } = await play(project);
    expect(occurrences.map(({ begins, reasons, messages }) => [begins, reasons, messages])).toEqual([
      ['2026-12-01T08:00:00.000Z', {}, 12],
      [null, { skipped: { 'frequency-cap': 12 } }, 0],
      [null, { deferred: { 'outside-window': 12 } }, 0],
    ]);
    expect(occurrences[2]?.opensAt).toBe('2026-12-03T08:00:00.000Z');
  });

  test('a budget that is spent is said with its day', async () => {
    using project = createProject({
      'handbill.yaml': `prices: prices.csv\nenvironments:\n  test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY }, budget: { max: 0.9, per: month } }\n`,
      'prices.csv': 'channel,country,price,currency\nsms,*,0.04,GBP\n',
      ...campaign('dear', DAILY),
    });
    const { occurrences, days, currency } = await play(project, { environment: 'test' });
    expect([currency, days.map(({ cost }) => cost)]).toEqual(['GBP', [0.48, 0.48]]);
    expect(occurrences.at(-1)).toMatchObject({ state: 'refused', messages: 0 });
    expect(occurrences.at(-1)?.diagnostics.map(({ code }) => code)).toContain('over-budget');
  });

  test('a list that is too old by then refuses its occurrence', async () => {
    using project = createProject(campaign('old', DAILY, '{ csv: people.csv, maxAge: 36h }'));
    const now = Date.now();
    const at = Math.ceil(now / 86_400_000) * 86_400_000;
    const { occurrences, exit } = await play(project, { now: () => at });
    expect(occurrences.map(({ state }) => state)).toEqual(['finished', 'refused', 'refused']);
    expect(exit).toBe(2);
  });

  test('names the people with too many messages', async () => {
    using project = createProject(campaign('hello', DAILY));
    const { most, busiest } = await play(project, { most: 2 });
    expect([busiest, most?.people, most?.first[0]]).toEqual([3, 12, { to: '+447700901000', messages: 3 }]);
  });

  test('are shown from a later day on, with all that came before played', async () => {
    using project = createProject(campaign('hello', `${DAILY}\nfrequency: { max: 1, per: 2d }`));
    const found = await play(project, { from: START + 2 * 86_400_000, days: 1 });
    expect(brief(found)).toEqual(['hello finished 02T09:00 02T09:00 12']);
    expect((await play(project, { from: START + 86_400_000, days: 1 })).occurrences[0]?.reasons).toEqual({
      skipped: { 'frequency-cap': 12 },
    });
  });
});

describe('nothing but a private copy is written', () => {
  test('the project and its ledger stay as they are, and the copy is gone', async () => {
    using project = createProject(campaign('hello', DAILY));
    const options = { cwd: project.root, env: {}, confirm: true } as const;
    await due([], { ...options, now: () => START });
    await due([], { ...options, now: () => START + 10 * 3_600_000 });
    const before = project.contents();
    const found = await play(project, { now: () => START + 11 * 3_600_000 });
    expect(brief(found)).toEqual(['hello finished 01T09:00 01T09:00 12', 'hello finished 02T09:00 02T09:00 12']);
    expect(project.contents()).toEqual(before);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`handbill-rehearse-${process.pid}.`))).toEqual([]);
  });

  test('also where there is no ledger yet', async () => {
    using project = createProject(campaign('hello', DAILY));
    await play(project);
    expect(existsSync(project.path('.handbill'))).toBe(false);
  });

  it('ends when it is told to', async () => {
    using project = createProject(campaign('hello', DAILY));
    const signal = AbortSignal.abort();
    await expect(play(project, { signal })).rejects.toMatchObject({ exit: 130 });
  });
});

describe('handbill rehearse', () => {
  it('says the answer first, in words', async () => {
    using project = createProject({
      ...campaign('hello', DAILY),
      ...campaign('slow', `${DAILY}\nsend: { rate: 6/h }`),
    });
    const { stdout, status } = await runHere(['rehearse', '--days', '2', '--most', '3'], {
      cwd: project.root,
      now: () => START,
    });
    expect(stdout).toMatchInlineSnapshot(`
      "48 messages from Mon 30 Nov 00:02 to Wed 2 Dec 00:00 (UTC), in 4 occurrences of 2 campaigns. The person with the most gets 4.

        Mon 30 Nov  24 messages  24 parts
        Tue 1 Dec   24 messages  24 parts

        Mon 30 Nov 09:00            hello  12 messages  12 parts
        Mon 30 Nov 09:00  to 10:50  slow   12 messages  12 parts
        Tue 1 Dec 09:00             hello  12 messages  12 parts
        Tue 1 Dec 09:00   to 10:50  slow   12 messages  12 parts

      12 people would get more than 3 messages:
        +44••••••1000  4
        +44••••••1001  4
        +44••••••1002  4
        +44••••••1003  4
        +44••••••1004  4
        +44••••••1005  4
        +44••••••1006  4
        +44••••••1007  4
        +44••••••1008  4
        +44••••••1009  4
        +44••••••1010  4
        +44••••••1011  4

      Assumed: \`handbill due\` is called every 5 min. Files and lists stay as they are now. The API accepts every message. Where no rate is set, it takes them all at once.
      "
    `);
    expect(status).toBe(0);
  });

  it('has a schema for its JSON', async () => {
    using project = createProject({
      ...campaign('hello', DAILY),
      ...campaign('old', `${DAILY}\nlimits: { minRecipients: 50 }`),
      'campaigns/broken/campaign.yaml': 'name: broken\nschedule: { cron: never }\n',
    });
    const args = ['rehearse', '--days', '2', '--most', '1', '--format', 'json'];
    const { stdout, status } = await runHere(args, { cwd: project.root, now: () => START });
    const schema: unknown = JSON.parse(readFileSync('schemas/rehearsal.schema.json', 'utf8'));
    const validate = new Ajv({ strict: false }).compile(schema as object);
    expect([validate(JSON.parse(stdout)), validate.errors]).toEqual([true, null]);
    expect(status).toBe(2);
  });

  it('refuses what it cannot play', async () => {
    using project = createProject({ 'handbill.yaml': '' });
    const { status, stderr } = await runHere(['rehearse'], { cwd: project.root });
    expect([status, stderr]).toEqual([2, expect.stringContaining('No campaign here has a schedule')]);
  });
});

describe('other forms', () => {
  const files = { ...campaign('hello', DAILY), ...campaign('few', `${DAILY}\nlimits: { minRecipients: 50 }`) };

  it('is a page without a script that holds no address in clear', async () => {
    using project = createProject(files);
    const args = ['rehearse', '--days', '2', '--most', '1', '--format', 'html'];
    const { stdout } = await runHere(args, { cwd: project.root, now: () => START });
    expect(stdout).not.toMatch(/<script|\+4477009|NaN|undefined/);
    expect(stdout).toContain('cannot begin');
  });

  it('is a calendar whose lines are short, with one event an occurrence', async () => {
    using project = createProject(files);
    const args = ['rehearse', '--days', '2', '--format', 'ics'];
    const { stdout } = await runHere(args, { cwd: project.root, now: () => START });
    expect(stdout.match(/^UID:.*$/gm)).toEqual([
      'UID:sandbox/few/2026-11-30T09:00:00Z@handbill',
      'UID:sandbox/hello/2026-11-30T09:00:00Z@handbill',
      'UID:sandbox/few/2026-12-01T09:00:00Z@handbill',
      'UID:sandbox/hello/2026-12-01T09:00:00Z@handbill',
    ]);
    expect(stdout).toContain('DTSTART:20261130T090000Z\r\nDTEND:20261130T090000Z\r\nSUMMARY:hello: 12 messages\r\n');
    expect(stdout.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
  });
});
