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
});
