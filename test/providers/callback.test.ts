import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { preview } from '../../src/operations/preview.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/* The URL for reports that a request holds: that of `webhook`, with the reference of the message. */

const NINE = Date.parse('2026-11-23T09:00:00Z');
const URL_OF = 'https://hooks.riverside.example/webhooks/live';
const WEBHOOK = `url: "${URL_OF}", secrets: [{ env: HOOK }]`;

const TWILIO = 'provider: twilio, vars: { account: AC0 }, secrets: { token: { env: KEY } }';
const VONAGE = 'provider: vonage-sms, vars: { key: abcd0000 }, secrets: { secret: { env: KEY } }';
const OWN = 'provider: ./gateway.yaml';

const GATEWAY = `title: Gateway
url: https://gateway.example/send
channels: { sms: sms }
limits: { recipients: 10 }
requests: [{ json: { callback: "{callback}", to: { $each: recipients, $do: "{to}" } } }]
`;

const MORE = 'send: { recipientsPerRequest: 2 }\n';

function project(environment: string, webhook: string, more = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments: { live: { ${environment}, webhook: { ${webhook} } } }\n`,
    'gateway.yaml': GATEWAY.replace('to: {', 'text: "{text}", to: {'),
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n${more}`,
    'hello/people.csv': 'msisdn\n+447700900123\n+447700900124\n',
  });
}

async function callbacks(here: TestProject): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for await (const row of preview('hello', { cwd: here.root, environment: 'live', now: () => NINE }).decisions) {
    if (row.decision !== 'send' || row.request === null) continue;
    const { body } = row.request;
    const fields = body.startsWith('{') ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
    found.push(fields.StatusCallback ?? fields.callback);
  }
  return found;
}

describe('the URL for reports', () => {
  it.each([
    [
      'twilio',
      TWILIO,
      `${WEBHOOK}, scheme: url-form, url-form: { header: X-Twilio-Signature, algorithm: sha1, encoding: base64 }`,
    ],
    ['vonage-sms, of another scheme', VONAGE, `${WEBHOOK}, scheme: bearer`],
    ['a file of the project', OWN, WEBHOOK],
  ])('has the reference of each message: %s', async (_what, environment, webhook) => {
    using here = project(environment, webhook);
    const found = await callbacks(here);
    expect(found).toHaveLength(2);
    for (const one of found)
      expect(one).toMatch(/^https:\/\/hooks\.riverside\.example\/webhooks\/live\?handbill=[\w-]{22,26}$/);
    expect(new Set(found).size).toBe(2);
  });

  it('has a query already', async () => {
    using here = project(OWN, WEBHOOK.replace('/live', '/live?from=gateway'));
    expect((await callbacks(here))[0]).toMatch(/\?from=gateway&handbill=[\w-]{22}$/);
  });

  it('has no reference where several recipients share a request', async () => {
    using here = project(OWN, WEBHOOK, MORE);
    expect(await callbacks(here)).toEqual([URL_OF]);
  });

  it.each([
    ['no URL', TWILIO, 'secrets: [{ env: HOOK }], scheme: bearer'],
    ['a secret in the path', VONAGE, WEBHOOK],
    ['a password', TWILIO, `${WEBHOOK}, scheme: basic`],
  ])('is absent: %s', async (_what, environment, webhook) => {
    using here = project(environment, webhook);
    expect(await callbacks(here)).toEqual([undefined, undefined]);
  });

  it('is no input of a plan', async () => {
    const inputsOf = async (webhook: string) => {
      using here = project(OWN, webhook);
      const { campaign } = await loadCampaign('hello', { cwd: here.root });
      return (await createPlan(campaign, { environment: 'live', occurrence: 'once', nowMs: NINE })).inputs;
    };
    expect(await inputsOf(WEBHOOK)).toEqual(await inputsOf(WEBHOOK.replace('/live', '/other')));
  });
});
