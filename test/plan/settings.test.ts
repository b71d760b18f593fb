import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createProject } from '../helpers/project.ts';

const CAMPAIGN = `name: hello
channel: sms
template: { id: welcome }
recipients: people.csv
variants: [{ name: A, template: { id: a } }, { name: B }]
`;

/** The hash of the settings that go into a plan, with these lines under `defaults:` of handbill.yaml. */
async function settingsWith(defaults: string): Promise<string | undefined> {
  using here = createProject({
    'handbill.yaml': `defaults: { ${defaults} }\n`,
    'hello/campaign.yaml': CAMPAIGN,
    'hello/people.csv': 'msisdn,name,city\n+447700900123,Ann,Bath\n',
  });
  const { campaign } = await loadCampaign('hello', { cwd: here.root });
  const { inputs } = await createPlan(campaign, { environment: 'sandbox', occurrence: 'once', nowMs: 0 });
  return inputs.find(({ role }) => role === 'settings')?.sha256;
}

const DECIDING = {
  from: ['from: Riverside', 'from: Lakeside'],
  accountReference: ['accountReference: a-1', 'accountReference: a-2'],
  messageType: ['messageType: marketing', 'messageType: service'],
  characterSet: ['', 'characterSet: unicode'],
  transliterate: ['', 'transliterate: true'],
  locale: ['', 'locale: de'],
  timeZone: ['', 'timeZone: Europe/Berlin'],
  validity: ['validity: 1h', 'validity: 2h'],
  metaData: ['metaData: { a: 1 }', 'metaData: { a: 2 }'],
  'a variable': ['variables: { city: city }', 'variables: { city: name }'],
  'the name of a variable': ['variables: { city: city }', 'variables: { town: city }'],
  'a variable in a group': ['variables: { body: { city: city } }', 'variables: { body: { city: name } }'],
  recipientMetaData: ['', 'recipientMetaData: { a: name }'],
  'a value of recipientMetaData': ['recipientMetaData: { a: name }', 'recipientMetaData: { a: city }'],
  'recipients.onInvalid': ['', 'recipients: { onInvalid: skip }'],
} as const satisfies Record<string, readonly [string, string]>;

describe('a default of the project decides about messages, so that a run notices its change', () => {
  it.each(Object.entries(DECIDING))('%s', async (_label, [before, after]) => {
    expect(await settingsWith(after)).not.toBe(await settingsWith(before));
  });
});

const OTHER = {
  pace: ['send: { concurrency: 1 }', 'send: { concurrency: 2 }'],
  limits: ['', 'limits: { maxRecipients: 10 }'],
  'the order of variables': ['variables: { a: name, b: city }', 'variables: { b: city, a: name }'],
  'the line of a variable': ['variables: { a: name }', '\n  variables: { a: name }'],
} as const satisfies Record<string, readonly [string, string]>;

describe('what decides nothing may change', () => {
  it.each(Object.entries(OTHER))('%s', async (_label, [before, after]) => {
    expect(await settingsWith(after)).toBe(await settingsWith(before));
  });
});
