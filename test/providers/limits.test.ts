import { describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { useApi } from '../helpers/api.ts';
import { golden } from '../helpers/golden.ts';
import { createProject } from '../helpers/project.ts';

/* What a provider cannot send, or would drop, is refused before anything is sent. */

const NINE = Date.parse('2026-11-23T09:00:00Z');
const api = useApi();
const LONG = 'x'.repeat(1590);

const SETTINGS = {
  twilio: 'provider: twilio, vars: { account: AC0 }, secrets: { token: { env: KEY } }',
  service: 'provider: twilio, vars: { account: AC0, service: MG0 }, secrets: { token: { env: KEY } }',
  vonage: 'provider: vonage-sms, vars: { key: abcd0000 }, secrets: { secret: { env: KEY } }',
  whatsapp: 'provider: whatsapp-cloud, vars: { phoneNumberId: "1", language: en }, secrets: { token: { env: KEY } }',
  postmark: 'provider: postmark, secrets: { token: { env: KEY } }',
  mailgun: 'provider: mailgun, vars: { domain: mg.riverside.example }, secrets: { key: { env: KEY } }',
  notify: 'provider: govuk-notify, vars: { service: s-1 }, secrets: { key: { env: KEY } }',
  telnyx: 'provider: telnyx, secrets: { key: { env: KEY } }',
  profile: 'provider: telnyx, vars: { profile: p-1 }, secrets: { key: { env: KEY } }',
  own: 'provider: ./gateway.yaml',
} as const;

const GATEWAY = `title: Gateway
url: https://gateway.example/send
channels: { sms: sms, rcs: rcs }
limits: { text: 20 }
requests:
  - channels: [sms]
    form: { to: "{to}", text: "{text|template.id}", from: "{from}", extra: "{metaData}" }
  - kind: text
    json: { to: "{to}", text: "{text}", card: "{content.card.title}", all: { $each: content.buttons, $do: "{value}" } }
`;

type Environment = keyof typeof SETTINGS;

async function refusals(
  environment: Environment,
  campaign: string,
  command = 'preview',
  severity = 'error',
): Promise<readonly string[]> {
  using here = createProject({
    'handbill.yaml': `environments: { live: { ${SETTINGS[environment]}, baseUrl: "${api.url}" } }\n`,
    'gateway.yaml': GATEWAY,
    'hello/campaign.yaml': `name: hello\n${campaign}${campaign.includes('recipients:') ? '' : 'recipients: people.csv\n'}`,
    'hello/people.csv':
      'msisdn,email,name,code\n+447700900123,ann@example.com,Ann,1\n+447700900124,bo@example.com,Bonaventura,2\n',
    'hello/hello.hbs': 'Hi {{name}}, ',
    'hello/mail.html': '<p>Hi</p>',
  });
  const about = command === 'validate' ? [] : ['--env', 'live'];
  const args = [command, 'hello', ...about, ...(command === 'send' ? ['--yes'] : [])];
  const { err, out } = await handbillHere(here.root, args, { env: { KEY: 'k3y' }, now: () => NINE, width: 500 });
  expect(api.bodies).toEqual([]);
  const lines = `${err}\n${out}`.split('\n');
  return lines.flatMap((line, i) => {
    const found = new RegExp(`^${severity}\\[([\\w-]+)\\]: (.*)$`).exec(line);
    if (found === null) return [];
    return [`${found[1]} ${/^ *(?:--> )?(\S+)/.exec(lines[i + 1] ?? '')?.[1]} ${found[2]}`];
  });
}

const SMS = 'channel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n';
const APP = 'channel: messaging-app\ntemplate: { text: Hi }\n';
const at = (line: number, column: number) => `hello/campaign.yaml:${line}:${column}`;

golden('what a provider cannot send is refused by preview, and by validate', 'providers/limits', async (input) => {
  const [environment, ...lines] = input.replace(/\{x \* (\d+)\}/g, (_, count) => 'x'.repeat(Number(count))).split('\n');
  const campaign = `${lines.join('\n')}\n`;
  const found = await refusals(environment as Environment, campaign);
  // A list of contacts is judged where an environment is named.
  if (campaign.includes('recipients:')) return found;
  const all = await refusals(environment as Environment, campaign, 'validate');
  const missed = found.filter((line) => !line.startsWith('invalid-rows') && !all.includes(line));
  return [...found, ...missed.map((line) => `not by validate: ${line}`)];
});

describe('before anything is sent', () => {
  it.each(['send', 'plan', 'preview'] as const)('by %s', async (command) => {
    expect(await refusals('twilio', `${SMS}validity: 2d\nmetaData: { a: b }\n`, command)).toHaveLength(2);
  });

  it('warns of a sender that is not sent', async () => {
    expect(await refusals('whatsapp', `${APP}from: Riverside\n`, 'preview', 'warning')).toEqual([
      `not-supported ${at(4, 7)} WhatsApp Cloud API takes no sender of a campaign: "from" is not sent.`,
    ]);
  });
});

const TWO = `environments:
  texts: { ${SETTINGS.twilio} }
  others: { ${SETTINGS.vonage} }
  mail: { ${SETTINGS.postmark} }
`;

/** What `validate` or `doctor` says about limits, as `severity message`. */
async function said(
  environments: string,
  campaign: string,
  command: readonly string[] = ['validate'],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  using here = createProject({
    'handbill.yaml': environments,
    'hello/campaign.yaml': `name: hello\n${campaign}recipients: people.csv\n`,
    'hello/people.csv':
      'msisdn,email,name\n+447400123456,ann@example.com,Ann\n+447400123457,bo@example.com,Bonaventura\n',
  });
  const args = [...command, 'hello', '--format', 'json'];
  const { out } = await handbillHere(here.root, args, { env: { ...env, KEY: 'k3y' }, now: () => NINE });
  type Said = { severity?: string; status?: string; code?: string; message: string };
  const { diagnostics, checks = diagnostics } = JSON.parse(out) as { diagnostics: Said[]; checks?: Said[] };
  const isLimit = ({ message }: Said): boolean => /the provider of|characters; .* takes at most/.test(message);
  return (checks ?? []).filter(isLimit).map(({ severity, status, message }) => `${severity ?? status} ${message}`);
}

const TOO_LONG = 'Twilio, the provider of texts, takes a validity from 1s to 10h, and not 2d.';
const NO_APP = (title: string, name: string): string => `${title}, the provider of ${name}, has no channel rcs.`;

describe('without naming an environment, validate', () => {
  it('warns of each of several, and keeps quiet about those without the channel', async () => {
    expect(await said(TWO, `${SMS}validity: 2d\n`)).toEqual([`warning ${TOO_LONG}`]);
    expect(await said(TWO, SMS)).toEqual([]);
    expect(await said(TWO, `channel: rcs\ntemplate: { text: Hi }\n`)).toEqual([
      `error "from" is missing: Twilio, the provider of texts, sends no message on rcs without it.`,
    ]);
    expect(await said(TWO.replace(/^ {2}texts.*\n/m, ''), `channel: rcs\ntemplate: { text: Hi }\n`)).toEqual([
      `warning ${NO_APP('Vonage SMS API', 'others')}`,
      `warning ${NO_APP('Postmark', 'mail')}`,
    ]);
  });

  it('takes the environment of HANDBILL_ENV for the one that is sent to', async () => {
    expect(await said(TWO, `${SMS}validity: 2d\n`, ['validate'], { HANDBILL_ENV: 'texts' })).toEqual([
      `error ${TOO_LONG}`,
    ]);
    expect(await said(TWO, `${SMS}validity: 2d\n`, ['validate'], { HANDBILL_ENV: 'others' })).toEqual([
      `warning ${TOO_LONG}`,
    ]);
  });

  it('judges the text of each row by the usual environment', async () => {
    const text = SMS.replace('Hi', `"${LONG} {{name}}"`);
    const one = TWO.replace(/^ {2}(?:others|mail).*\n/gm, '');
    expect(await said(one, text)).toEqual(['error The text has 1602 characters; Twilio takes at most 1600.']);
    expect(await said(TWO, text)).toEqual([]);
  });
});

describe('doctor with a campaign', () => {
  it.each<[args: readonly string[], found: readonly string[]]>([
    [['--env', 'texts'], [`problem hello/campaign.yaml:5:11: ${TOO_LONG}`]],
    [['--env', 'others'], []],
    [[], [`warning hello/campaign.yaml:5:11: ${TOO_LONG}`]],
  ])('says what the provider cannot send: %j', async (args, found) => {
    expect(await said(TWO, `${SMS}validity: 2d\n`, ['doctor', ...args])).toEqual(found);
  });
});

it('names content in a hint only where the channel has it', async () => {
  using here = createProject({
    'handbill.yaml': `environments: { live: { ${SETTINGS.twilio} } }\n`,
    'hello/campaign.yaml': `name: hello\n${SMS.replace('sms', 'rcs')}content: { buttons: [{ text: a, reply: b }] }\nrecipients: people.csv\n`,
    'hello/people.csv': 'msisdn\n+447400123456\n',
  });
  const preview = () => handbillHere(here.root, ['preview', 'hello', '--env', 'live'], { now: () => NINE, width: 500 });
  expect((await preview()).err).toMatch(
    /"content.buttons" on rcs[\s\S]*help: Remove it, or send in another environment\.\n/,
  );
  here.write('hello/campaign.yaml', `name: hello\n${APP}from: R\ncontent: { footer: a }\nrecipients: people.csv\n`);
  expect((await preview()).err).toContain('It takes "content.header.image",');
});
