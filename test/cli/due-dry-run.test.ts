import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type Api, startApi } from '../processes/api.ts';
import { handbillHere } from './in-process.ts';

/** A dry run must say what the same call without `--dry-run` does. */

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const CAMPAIGN =
  'name: rent\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }\nrecipients: people.csv\nschedule: { cron: "30 8 * * *", timeZone: UTC, missed: catch-up }\n';
const PRICES = 'country,price,currency\nGB,1,EUR\n';
const TWO = 'msisdn\n+447400900001\n+447400900002\n';

let api: Api;
let project: TestProject;
beforeEach(async () => {
  api = await startApi();
  project = projectOf();
});
afterEach(async () => {
  project[Symbol.dispose]();
  await api[Symbol.asyncDispose]();
});

function projectOf(environment = '', files: Readonly<Record<string, string>> = {}): TestProject {
  return createProject({
    'handbill.yaml': `prices: prices.csv\nenvironments:\n  test: { baseUrl: "${api.url}", apiKey: { env: HANDBILL_TEST_KEY }${environment} }\n`,
    'prices.csv': PRICES,
    'campaigns/rent/campaign.yaml': CAMPAIGN,
    'campaigns/rent/people.csv': TWO,
    ...files,
  });
}

function other(environment: string, files: Readonly<Record<string, string>> = {}): void {
  project[Symbol.dispose]();
  project = projectOf(environment, files);
}

const due = (now: string, ...more: string[]) =>
  handbillHere(project.root, ['due', '--env', 'test', ...more], { env: KEY, now: () => Date.parse(now), width: 400 });

describe('a dry run refuses what a call refuses', () => {
  it.each<[label: string, change: () => void, said: string]>([
    [
      'a template with an unknown column',
      () => project.write('campaigns/rent/campaign.yaml', CAMPAIGN.replace('Hello', '"Hello {{nme}}"')),
      'nme',
    ],
    ['a row without a valid number', () => project.write('campaigns/rent/people.csv', `${TWO}x\n`), 'invalid-address'],
    [
      'more recipients than the campaign allows',
      () => project.write('campaigns/rent/campaign.yaml', `${CAMPAIGN}limits: { maxRecipients: 1 }\n`),
      'too-many-recipients',
    ],
  ])('%s', async (_label, change, said) => {
    change();
    const shown = await due('2026-11-23T08:30:05Z', '--dry-run');
    const called = await due('2026-11-23T08:30:05Z', '--yes');
    expect(shown.err).toContain(said);
    expect(shown).toEqual({ ...called, err: shown.err });
    expect(called.err).toContain(shown.err.trim().split('\n')[0]);
    expect(shown).toMatchObject({ status: 2, out: 'rent (2026-11-23T08:30:00Z): not sent.\n' });
    expect(api.received()).toBe(0);
  });

  it('a plan that is above the budget is left, as by a call', async () => {
    other(', budget: { max: 1, per: day }');
    const shown = await due('2026-11-23T08:30:05Z', '--dry-run');
    expect(shown.err).toContain('error[over-budget]: The plan may cost 2.00 EUR');
    expect(await due('2026-11-23T08:30:05Z', '--yes')).toMatchObject({ status: shown.status, out: shown.out });
    expect(shown.status).toBe(0);
  });

  it.each([
    ['that the validity of the run ends before', 'validity: 3h\n', 'is missed unless the budget is raised: the next'],
    ['that its validity reaches', 'validity: 6h\n', 'is due again when the next'],
    ['that notAfter ends before', 'send: { notAfter: "2026-11-23T23:30:00Z" }\n', 'is missed unless'],
  ])('what is left is sent in the next period, except in one %s', async (_, end, said) => {
    other(', budget: { max: 10, per: day }');
    project.write('campaigns/rent/campaign.yaml', CAMPAIGN.replace('8 *', '20 *') + end);
    const send = ['send', 'rent', '--env', 'test', '--yes', '--limit', '1', '--occurrence', '2026-11-23T20:30:00Z'];
    const now = () => Date.parse('2026-11-23T20:30:05Z');
    expect(await handbillHere(project.root, send, { env: KEY, now })).toMatchObject({ status: 0 });
    project.write('handbill.yaml', readFileSync(project.path('handbill.yaml'), 'utf8').replace('max: 10', 'max: 1'));
    const shown = await due('2026-11-23T20:40:00Z', '--dry-run');
    expect(shown.out).toContain(said);
    expect(await due('2026-11-23T20:40:00Z', '--yes')).toMatchObject({ status: shown.status, out: shown.out });
  });

  it('nothing else: what can be sent is what is sent', async () => {
    other(', budget: { max: 10, per: day }');
    const shown = await due('2026-11-23T08:30:05Z', '--dry-run');
    expect(shown).toMatchObject({ status: 0, out: 'rent (2026-11-23T08:30:00Z): would be sent to test.\n' });
    expect([...project.contents().keys()].some((path) => path.includes('.handbill'))).toBe(false);
    expect((await due('2026-11-23T08:30:05Z', '--yes')).status).toBe(0);
    expect(api.received()).toBe(2);
  });
});

describe('--at', () => {
  it('counts the budget of the period of that time', async () => {
    other(', budget: { max: 3, per: day }');
    expect((await due('2026-11-23T08:30:05Z', '--yes')).status).toBe(0);
    const tomorrow = await due('2026-11-23T09:00:00Z', '--dry-run', '--at', '2026-11-24T08:30:00Z');
    expect(tomorrow).toMatchObject({ status: 0, out: 'rent (2026-11-24T08:30:00Z): would be sent to test.\n' });
    expect(tomorrow.err).toContain('0.00 of 3.00 EUR spent in 2026-11-24');
  });

  it('that is later: calls in between do what they can', async () => {
    const said = async (now: string, at: string) => (await due(now, '--dry-run', '--at', at)).out;
    const by = 'rent (2026-11-24T08:30:00Z): would be sent to test by an earlier call.\n';
    // The schedule is new, and a call sees it before its instant.
    expect(await said('2026-11-23T09:00:00Z', '2026-11-24T14:00:00Z')).toBe(by);
    project.write('campaigns/rent/campaign.yaml', CAMPAIGN.replace('catch-up', 'skip'));
    expect((await due('2026-11-23T09:00:00Z', '--yes')).status).toBe(0);
    expect(await said('2026-11-23T09:00:00Z', '2026-11-24T14:00:00Z')).toBe(by);
    expect(await said('2026-11-24T14:00:00Z', '2026-11-24T14:00:00Z')).toContain('missed, and not sent any more');
    project.write('campaigns/rent/campaign.yaml', CAMPAIGN.replace('30 8 * * *', '30 * * * *'));
    expect((await due('2026-11-24T09:00:00Z', '--yes')).status).toBe(0);
    // Those of the hours before it would have been sent, and are not missed.
    expect(await said('2026-11-24T09:00:00Z', '2026-11-24T14:30:00Z')).toBe(
      'rent (2026-11-24T14:30:00Z): would be sent to test.\n',
    );
  });

  it('that is later: a run that is open now goes on before it is too old', async () => {
    const some = ['send', 'rent', '--env', 'test', '--yes', '--quiet', '--limit', '1'];
    const at = ['--occurrence', '2026-11-23T08:30:00Z'];
    const now = () => Date.parse('2026-11-23T08:30:05Z');
    expect(await handbillHere(project.root, [...some, ...at], { env: KEY, now })).toMatchObject({ status: 0 });
    const { out } = await due('2026-11-23T09:00:00Z', '--dry-run', '--at', '2026-11-25T08:00:00Z');
    expect(out).toContain('rent (2026-11-23T08:30:00Z): its unfinished run would be continued by an earlier call.\n');
  });
});

describe('an occurrence that is above the budget', () => {
  const DAILY = CAMPAIGN;
  const WEEKLY = CAMPAIGN.replace('30 8 * * *', '30 8 * * 1');
  it.each<[label: string, campaign: string, per: string, words: string]>([
    [
      'is due again where the next period begins in time',
      WEEKLY,
      'day',
      'It is due again when the next period begins, on 2026-11-24.',
    ],
    [
      'is missed where it begins more than 24 h later',
      WEEKLY,
      'month',
      'It is missed unless the budget is raised: the next period begins on 2026-12-01.',
    ],
    [
      'is missed where the campaign skips what is an hour late',
      WEEKLY.replace('catch-up', 'skip'),
      'day',
      'It is missed unless the budget is raised: the next period begins on 2026-11-24.',
    ],
    [
      'is missed where a later instant comes before it',
      DAILY.replace('30 8 * * *', '30 */8 * * *'),
      'day',
      'It is missed unless the budget is raised: the next period begins on 2026-11-24.',
    ],
  ])('%s', async (_label, campaign, per, words) => {
    other(`, budget: { max: 1, per: ${per} }`, { 'campaigns/rent/campaign.yaml': campaign });
    // A call sees the new schedule before the instant.
    await due('2026-11-23T08:20:00Z', '--yes');
    for (const how of ['--dry-run', '--yes']) {
      const { status, out } = await due('2026-11-23T08:30:05Z', how);
      expect([status, out]).toEqual([
        0,
        `rent (2026-11-23T08:30:00Z): not sent, because the budget has no room for it. ${words}\n`,
      ]);
    }
  });

  it.each(['skip', 'catch-up'])('is reported once when a later one replaces it: %s', async (missed) => {
    other(', budget: { max: 1, per: month }', {
      'campaigns/rent/campaign.yaml': DAILY.replace('catch-up', missed),
    });
    const call = async (now: string) => await due(now, '--yes', '--quiet');
    // A call sees the new schedule before the instant.
    expect((await call('2026-11-23T08:00:00Z')).status).toBe(0);
    expect(await call('2026-11-23T08:30:05Z')).toEqual({ status: 0, out: '', err: '' });
    const times = ['09:45:00', '12:00:00'].map((time) => `2026-11-23T${time}Z`);
    const statuses: (number | null)[] = [];
    let out = '';
    for (const now of [...times, '2026-11-24T08:31:00Z', '2026-11-24T08:36:00Z']) {
      const called = await call(now);
      statuses.push(called.status);
      out += called.out;
    }
    expect(statuses.toSorted()).toEqual([0, 0, 0, 8]);
    expect(out).toMatch(/2026-11-23T08:30:00Z/);
    const listed = await handbillHere(project.root, ['schedule'], {
      env: KEY,
      now: () => Date.parse('2026-11-24T08:40:00Z'),
    });
    expect(listed.out).toContain('rent  missed in test: 2026-11-23T08:30:00Z');
  });
});

it('an occurrence that was paused is reported once when a later one replaces it', async () => {
  const at = (now: string) => ({ env: KEY, now: () => Date.parse(now) });
  expect((await due('2026-11-22T08:30:05Z', '--yes')).status).toBe(0);
  const pausing = await handbillHere(
    project.root,
    ['pause', '--env', 'test', '--reason', 'a fault in the list', '--by', 'ann@ops-1'],
    at('2026-11-22T09:00:00Z'),
  );
  expect(pausing).toMatchObject({ status: 0 });
  expect((await due('2026-11-23T08:31:00Z', '--yes')).status).toBe(0);
  const replaced = await due('2026-11-24T08:31:00Z', '--yes');
  expect(replaced).toMatchObject({
    status: 8,
    out: expect.stringContaining('Missed before it: 2026-11-23T08:30:00Z.'),
  });
  expect((await due('2026-11-24T08:36:00Z', '--yes')).status).toBe(0);
});

it('an occurrence that was refused is reported once when a later one is sent', async () => {
  expect((await due('2026-11-22T08:30:05Z', '--yes')).status).toBe(0);
  project.write('campaigns/rent/people.csv', 'msisdn\nx\n');
  for (const now of ['2026-11-23T08:31:00Z', '2026-11-24T08:31:00Z']) expect((await due(now, '--yes')).status).toBe(2);
  project.write('campaigns/rent/people.csv', TWO);
  expect(await due('2026-11-25T08:31:00Z', '--yes')).toMatchObject({
    status: 8,
    out: expect.stringContaining('Missed before it: 2 instants, 2026-11-23T08:30:00Z to 2026-11-24T08:30:00Z.'),
  });
  expect((await due('2026-11-25T08:36:00Z', '--yes')).status).toBe(0);
});
