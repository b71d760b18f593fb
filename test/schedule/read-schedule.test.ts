import { describe, expect, it, test } from 'vitest';
import { readCampaign } from '../../src/campaign/load.ts';
import { createProject } from '../helpers/project.ts';

const HEAD = 'name: hello\nchannel: sms\ntemplate: { text: Hi }\nrecipients: [{ msisdn: "+447700900001" }]\n';

async function read(lines: string, project = '{}\n') {
  using files = createProject({ 'handbill.yaml': project, 'campaigns/hello/campaign.yaml': `${HEAD}${lines}\n` });
  return await readCampaign('hello', { cwd: files.root, now: Date.UTC(2026, 10, 21) });
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

describe('what is wrong with one is said where it stands', () => {
  it.each<[lines: string, expected: string, hint: RegExp]>([
    ['schedule: { cron: 0 9 30 2 * }', 'invalid-value 5:19', /0 9 L \* \*/],
    ['schedule: { cron: 0 0 9 * * * }', 'invalid-value 5:19', /Leave out the seconds: 0 9 \* \* \*/],
    ['schedule: { cron: "@reboot" }', 'invalid-value 5:19', /@daily/],
    ['schedule: { cron: 0 9 * * *, timeZone: Europe/Lundon }', 'invalid-value 5:40', /Europe\/London/],
    ['schedule: { cron: 0 9 * * *, timeZone: "+01:00" }', 'invalid-value 5:40', /Europe\/London/],
    ['schedule: { cron: 0 9 * * *, missed: later }', 'invalid-value 5:38', /catch-up/],
    ['schedule: { timeZone: Europe/London }', 'missing-key 5:1', /./],
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
