import { expect, it } from 'vitest';
import { builtIn } from '../../src/campaign/read-provider.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject } from '../helpers/project.ts';

const GATEWAY = `title: Gateway
url: https://gateway.example/send
channels: { sms: sms }
limits: { recipients: 10 }
requests: [{ json: { ref: "{reference}", ttl: "{validity.seconds}", text: "{text}", to: { $each: recipients, $do: "{to}" } } }]
`;

const secrets = (name: string): string => `secrets: { ${name}: { env: NOT_SET } }`;

it.each([
  [
    `provider: twilio, vars: { account: AC0 }, ${secrets('token')}`,
    'Twilio has limits: our reference in reports by webhook.url alone, one recipient in each request, at most 1600 characters in a text.',
  ],
  [
    `provider: vonage-sms, vars: { key: 1f2e3d4c }, ${secrets('secret')}`,
    'Vonage SMS API has limits: one recipient in each request.',
  ],
  [
    `provider: whatsapp-cloud, vars: { phoneNumberId: "1", language: en }, ${secrets('token')}`,
    'WhatsApp Cloud API has limits: no validity of a message, one recipient in each request, at most 4096 characters in a text.',
  ],
  ['provider: ./gateway.yaml', null],
])('doctor says what the provider cannot do, and which secret is missing: %s', async (environment, limits) => {
  using here = createProject({
    'handbill.yaml': `environments: { live: { ${environment} } }\n`,
    'gateway.yaml': GATEWAY,
  });
  const { out } = await handbillHere(here.root, ['doctor', '--env', 'live', '--format', 'json'], { width: 400 });
  const { checks } = JSON.parse(out) as { checks: { check: string; status: string; message: string }[] };
  const said = checks.filter(({ check }) => check === 'environment').map(({ message }) => message);
  expect(said.slice(1)).toEqual(limits === null ? [] : [limits]);
  const keys = checks.filter(({ check }) => check === 'key');
  expect(keys.map(({ status }) => status)).toEqual(environment.includes('NOT_SET') ? ['problem'] : []);
  for (const { message } of keys) expect(message).toContain('NOT_SET');
});

it.each([
  ['provider: twilio, vars: { account: AC00000000000000000000000000000000 }', ['vars.account', 'Account SID']],
  ['provider: infobip, vars: { host: xxxxx.api.infobip.com }', ['vars.host', 'Host of the account']],
  ['provider: mailgun, vars: { domain: mg.riverside.example }', ['vars.domain', 'Domain that sends']],
  ['provider: sinch, vars: { region: eu, plan: 4fd0 }', null],
  ['provider: whatsapp-cloud, vars: { phoneNumberId: "104", language: en_GB }', null],
])('doctor says which value is still that of the example: %s', async (environment, wrong) => {
  using here = createProject({ 'handbill.yaml': `environments: { live: { ${environment}, secrets: {} } }\n` });
  const { provider } = builtIn(/provider: ([\w-]+)/.exec(environment)?.[1] ?? '');
  const all = Object.keys(provider.secrets).map((name) => `${name}: { env: KEY }`);
  here.write('handbill.yaml', `environments: { live: { ${environment}, secrets: { ${all.join(', ')} } } }\n`);
  const env = { KEY: 'k'.repeat(20) };
  const { out, status } = await handbillHere(here.root, ['doctor', '--env', 'live', '--format', 'json'], { env });
  const { checks } = JSON.parse(out) as { checks: { check: string; status: string; message: string; hint?: string }[] };
  const found = checks.filter((one) => one.check === 'environment' && one.status === 'problem');
  expect(found.map(({ message, hint }) => `${message} ${hint}`)).toEqual(
    wrong === null ? [] : [expect.stringMatching(new RegExp(`^"${wrong[0]}" is still the example .*: ${wrong[1]}`))],
  );
  expect(status).toBe(wrong === null ? 0 : 2);
});
