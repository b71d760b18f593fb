import { writeFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { createProject, type TestProject } from '../helpers/project.ts';
import { startApi } from '../processes/api.ts';
import { handbillHere } from './in-process.ts';

const DUE = Date.parse('2026-11-24T10:00:02Z');
const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };

function projectOf(url: string, more = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  test: { baseUrl: "${url}", apiKey: { env: HANDBILL_TEST_KEY } }\n`,
    'campaigns/news/campaign.yaml': `name: news\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }
recipients: [{ msisdn: "+447700900001" }]\n${more}`,
  });
}

async function handbill(project: TestProject, line: string, occurrence?: string) {
  const args = [...line.split(' '), ...(occurrence === undefined ? [] : ['--occurrence', occurrence])];
  return await handbillHere(project.root, args, { env: KEY, now: () => DUE });
}

const SEND = 'send news --env test --yes';
const SCHEDULE = 'schedule: { cron: "0 10 * * *", timeZone: UTC, missed: catch-up }\n';

describe('the instant that due sent, named again', () => {
  it.each([
    ['2026-11-24T10:00:00z', '2026-11-24t10:00:00Z', '2026-11-24 10:00:00+00:00', '2026-11-24T10:00:00+0000'],
    ['2026-11-24T10:00:00 Z', '2026-11-24T10:00:00', '2026-11-24T12:00+02:00', '2026-11-24T10:00:00.000Z'],
  ])('%s, %s, %s, %s: no recipient gets it twice', async (...spellings) => {
    await using api = await startApi();
    using project = projectOf(api.url, SCHEDULE);
    expect((await handbill(project, 'due --env test --yes')).status).toBe(0);
    expect(api.received()).toBe(1);
    for (const spelling of spellings) {
      const sent = await handbill(project, SEND, spelling);
      expect(sent.err).toContain('This occurrence is finished');
      const shown = await handbill(project, 'preview news --env test', spelling);
      expect(shown.out).toContain('done');
      const plan = await handbill(project, 'plan news --env test', spelling);
      expect(JSON.parse(plan.out)).toMatchObject({ occurrence: '2026-11-24T10:00:00Z' });
    }
    expect(api.received()).toBe(1);
  });
});

test('what looks like a date or a number and cannot be read is refused, with what to write', async () => {
  await using api = await startApi();
  using project = projectOf(api.url, SCHEDULE);
  for (const name of ['2026-11-24', '42', '24.11.2026 10:00', '1795514400', '2026-11-24T10:00:00 CET']) {
    for (const line of [SEND, 'preview news --env test', 'plan news --env test']) {
      const refused = await handbill(project, line, name);
      expect(refused).toMatchObject({ status: 2, out: '' });
      expect(refused.err).toMatch(/error\[usage\][\s\S]*2026-11-24T10:00:00Z/);
    }
  }
  expect(api.received()).toBe(0);
});

test('without a schedule too, an instant is one occurrence, and so is a day', async () => {
  await using api = await startApi();
  using project = projectOf(api.url);
  const names = ['2026-11-24', '20261124', '2026-11-24T10:00Z', '2026-11-24 11:00+01:00', '2026-11', '42'];
  for (const name of names) expect((await handbill(project, SEND, name)).status).toBe(0);
  expect(api.received()).toBe(4);
});

test('a name that differs only in case or width is said, and is another occurrence', async () => {
  await using api = await startApi();
  using project = projectOf(api.url);
  expect((await handbill(project, SEND, 'spring')).err).not.toContain('occurrence-similar');
  for (const line of ['preview news --env test', 'plan news --env test', SEND]) {
    const said = await handbill(project, line, 'Spring');
    expect(said.status).toBe(0);
    expect(said.err).toContain('warning[occurrence-similar]: The occurrence "Spring" is a new one');
  }
  expect((await handbill(project, SEND, 'Spring')).err).not.toContain('occurrence-similar');
});

test('a plan is sent for its occurrence, however the occurrence is written beside it', async () => {
  await using api = await startApi();
  using project = projectOf(api.url, SCHEDULE);
  const plan = await handbill(project, 'plan news --env test', '2026-11-24T10:00:00Z');
  writeFileSync(project.path('news.plan.json'), plan.out);
  const other = await handbill(project, 'send --plan news.plan.json --yes', '2026-11-25T10:00:00Z');
  expect(other).toMatchObject({ status: 2 });
  expect(other.err).toContain('The plan was made for occurrence "2026-11-24T10:00:00Z"');
  expect((await handbill(project, 'send --plan news.plan.json --yes', '2026-11-24 10:00Z')).status).toBe(0);
  expect(api.received()).toBe(1);
});

test('`exclude` names an occurrence in any spelling', async () => {
  await using api = await startApi();
  using project = projectOf(api.url, SCHEDULE);
  expect((await handbill(project, SEND, '2026-11-24T10:00:00Z')).status).toBe(0);
  const other = (exclude: string): void =>
    project.write(
      'campaigns/more/campaign.yaml',
      `name: more\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }
recipients: [{ msisdn: "+447700900001" }]\nexclude: ["news@${exclude}"]\n`,
    );
  other('2026-11-24 11:00+01:00');
  const shown = await handbill(project, 'preview more --env test --format jsonl');
  expect(shown.out).toContain('excluded');
  expect(shown.err).not.toContain('run-not-found');
  other('24.11.2026 10:00');
  const refused = await handbill(project, 'validate more');
  expect(refused.status).toBe(2);
  expect(refused.err + refused.out).toContain('looks like a date or a time');
});
