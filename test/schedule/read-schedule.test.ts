import { describe, expect, it, test } from 'vitest';
import { readCampaign } from '../../src/campaign/load.ts';
import { readScheduled } from '../../src/operations/schedule.ts';
import { createProject } from '../helpers/project.ts';

const HEAD = 'name: hello\nchannel: sms\ntemplate: { text: Hi }\nrecipients: [{ msisdn: "+447700900001" }]\n';

async function read(lines: string, project = '{}\n') {
  using files = createProject({ 'handbill.yaml': project, 'campaigns/hello/campaign.yaml': `${HEAD}${lines}\n` });
  return await readCampaign('hello', { cwd: files.root });
}

describe('a schedule is read', () => {
  it.each<[label: string, lines: string, project: string, expected: object]>([
    ['alone', 'schedule: { cron: 0 9 * * 1-5 }', '{}\n', { timeZone: 'UTC', missed: 'catch-up' }],
    [
      'in the zone of its campaign',
      'timeZone: Asia/Kolkata\nschedule: { cron: 0 9 * * 1-5 }',
      '{}\n',
      { timeZone: 'Asia/Kolkata' },
    ],
    [
      'in the zone of its project',
      'schedule: { cron: 0 9 * * 1-5 }',
      'timeZone: Europe/Paris\n',
      { timeZone: 'Europe/Paris' },
    ],
    [
      'in its own zone',
      'timeZone: Asia/Kolkata\nschedule: { cron: 0 9 * * 1-5, timeZone: Europe/London, missed: skip }',
      '{}\n',
      { timeZone: 'Europe/London', missed: 'skip' },
    ],
  ])('%s', async (_label, lines, project, expected) => {
    const { campaign, diagnostics } = await read(lines, project);
    expect(diagnostics).toEqual([]);
    expect(campaign?.schedule).toMatchObject({ cron: '0 9 * * 1-5', ...expected });
    expect(Object.isFrozen(campaign?.schedule)).toBe(true);
  });
});

describe('one time is read in the zone of the schedule', () => {
  it.each([
    ['2026-12-24T09:00', 'Europe/London', '2026-12-24T09:00:00.000Z'],
    ['2026-12-24 09:00:30', 'Europe/Berlin', '2026-12-24T08:00:30.000Z'],
    ['2026-12-24T09:00+01:00', 'Europe/London', '2026-12-24T08:00:00.000Z'],
    ['2026-12-24T09:00Z', 'Asia/Kolkata', '2026-12-24T09:00:00.000Z'],
    // As with cron: of two the first, and after the gap the first moment.
    ['2026-10-25T01:30', 'Europe/London', '2026-10-25T00:30:00.000Z'],
    ['2026-03-29T01:30', 'Europe/London', '2026-03-29T01:00:00.000Z'],
    ['2026-10-04T02:15', 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
  ])('%s in %s', async (at, timeZone, expected) => {
    const { campaign, diagnostics } = await read(`schedule: { at: "${at}", timeZone: ${timeZone} }`);
    expect(diagnostics).toEqual([]);
    expect(campaign?.schedule).toMatchObject({ cron: null, at: { written: at, ms: Date.parse(expected) } });
  });
});

describe('what is wrong with one is reported at its place', () => {
  it.each<[lines: string, expected: string, hint: RegExp]>([
    ['schedule: { cron: 0 9 30 2 * }', 'invalid-value 5:19', /0 9 L \* \*/],
    ['schedule: { cron: 0 0 9 * * * }', 'invalid-value 5:19', /Leave out the seconds: 0 9 \* \* \*/],
    ['schedule: { cron: "@reboot" }', 'invalid-value 5:19', /@daily/],
    ['schedule: { cron: 0 9 * * *, timeZone: Europe/Lundon }', 'invalid-value 5:40', /Europe\/London/],
    ['schedule: { cron: 0 9 * * *, timeZone: "+01:00" }', 'invalid-value 5:40', /Europe\/Paris/],
    ['schedule: { cron: 0 9 * * *, missed: later }', 'invalid-value 5:38', /catch-up/],
    ['schedule: { timeZone: Europe/London }', 'missing-key 5:11', /at: 2026-12-24T09:00 for one/],
    ['schedule: { at: 2026-12-24 }', 'invalid-value 5:17', /2026-12-24T09:00/],
    ['schedule: { at: tomorrow }', 'invalid-value 5:17', /not a date with a time/],
    ['schedule: { at: 2026-02-30T09:00 }', 'invalid-value 5:17', /not a date with a time/],
    ['schedule: { cron: 0 9 * * *, at: 2026-12-24T09:00 }', 'invalid-value 5:34', /Keep one of them/],
    ['schedule: 0 9 * * *', 'wrong-type 5:11', /./],
    ['schedule: { cron: 0 9 * * *, every: 5m }', 'unknown-key 5:30', /./],
    ['timeZone: Nowhere\nschedule: { cron: 0 9 * * * }', 'invalid-value 5:11', /./],
  ])('%s', async (lines, expected, hint) => {
    const { campaign, diagnostics } = await read(lines);
    expect(campaign).toBeNull();
    expect(diagnostics.map(({ code, at }) => `${code} ${at?.line}:${at?.column}`)).toEqual([expected]);
    expect(`${diagnostics[0]?.message} ${diagnostics[0]?.hint}`).toMatch(hint);
  });

  test('handbill.yaml has none for all', async () => {
    const { diagnostics } = await read('', 'defaults: { schedule: { cron: 0 9 * * * } }\n');
    expect(diagnostics.map(({ code }) => code)).toEqual(['unknown-key']);
  });
});

describe('many campaigns', () => {
  const scheduled = (name: string) => `${HEAD.replace('hello', name)}schedule: { cron: 0 9 * * 1-5 }\n`;

  it('share the project that was read once', async () => {
    using files = createProject({
      'handbill.yaml': '{}\n',
      'campaigns/one/campaign.yaml': scheduled('one'),
      'campaigns/two/campaign.yaml': scheduled('two'),
    });
    const { campaigns } = await readScheduled([], { cwd: files.root, env: {} });
    const [one, two] = campaigns.map(({ campaign }) => campaign.project);
    expect(one).toBeDefined();
    expect(two).toBe(one);
  });

  it('each have the faults of that project', async () => {
    using files = createProject({
      'handbill.yaml': 'defaultCountry: ZZ\n',
      'campaigns/one/campaign.yaml': scheduled('one'),
      'campaigns/two/campaign.yaml': scheduled('two'),
    });
    const { refused } = await readScheduled([], { cwd: files.root, env: {} });
    expect(refused.map(({ diagnostics }) => diagnostics.map(({ at }) => at?.file))).toEqual([
      ['handbill.yaml'],
      ['handbill.yaml'],
    ]);
  });
});
