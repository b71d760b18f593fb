import { describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { useApi } from '../helpers/api.ts';
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
const MAIL = 'channel: email\nfrom: a@riverside.example\ncontent: { subject: Hi, html: mail.html }\n';
const META = 'WhatsApp Cloud API';
const UNSUBSCRIBE = 'unsubscribe: { url: "https://riverside.example/{{code}}", oneClick: true }';
const at = (line: number, column: number) => `hello/campaign.yaml:${line}:${column}`;

const lost = (place: string, title: string, key: string, channel: string): string =>
  `not-supported ${place} ${title}, the provider of live, has no place for "${key}" on ${channel}: messages would go out without it.`;

const CASES: readonly (readonly [what: string, Environment, campaign: string, ...found: readonly string[]])[] = [
  ['a text that is short enough', 'twilio', `${SMS.replace('Hi', LONG)}limits: { maxParts: 20 }\n`],
  [
    'a text of one template that is too long',
    'twilio',
    SMS.replace('Hi', 'x'.repeat(1601)),
    `content-limit ${at(4, 19)} The text has 1601 characters; Twilio takes at most 1600.`,
  ],
  [
    'a text that is too long for one recipient, in characters and not in units',
    'own',
    SMS.replace('Hi', '"😀😀😀 {{name}}, hello"'),
    'content-limit hello/people.csv:3 The text has 22 characters; Gateway takes at most 20.',
    'invalid-rows hello/people.csv 1 of 2 rows cannot be sent to.',
  ],
  [
    'a text of a fallback',
    'own',
    `${SMS.replace('sms', 'rcs').replace('from: Riverside\n', '')}fallback: { channel: sms, template: { text: "${'x'.repeat(21)}" } }\n`,
    `content-limit ${at(4, 46)} The text has 21 characters; Gateway takes at most 20.`,
  ],
  [
    'a name as the sender, which needs a messaging profile',
    'telnyx',
    SMS,
    `missing-key ${at(3, 7)} "from" as a phone number is missing: Telnyx, the provider of live, sends no message on sms without it.`,
  ],
  ['a number as the sender', 'telnyx', SMS.replace('Riverside', '"+447700900100"')],
  ['a short code as the sender', 'telnyx', SMS.replace('Riverside', '"12345"')],
  ['a name as the sender, with a messaging profile', 'profile', SMS],
  ['a validity inside of the limits', 'twilio', `${SMS}validity: 10h\n`],
  [
    'a validity that is too long',
    'twilio',
    `${SMS}validity: 2d\n`,
    `invalid-value ${at(5, 11)} Twilio, the provider of live, takes a validity from 1s to 10h, and not 2d.`,
  ],
  [
    'a validity that is too short',
    'vonage',
    `${SMS}validity: 10s\n`,
    `invalid-value ${at(5, 11)} Vonage SMS API, the provider of live, takes a validity from 20s to 7d, and not 10s.`,
  ],
  [
    'an end of the validity that is too late',
    'vonage',
    `${SMS}validity: 2026-12-01T09:00:00Z\n`,
    `invalid-value ${at(5, 11)} Vonage SMS API, the provider of live, takes a validity from 20s to 7d, and not 8d (until 2026-12-01T09:00:00.000Z).`,
  ],
  [
    'a validity for which there is no place',
    'whatsapp',
    `${APP}validity: 1h\n`,
    lost(at(4, 11), META, 'validity', 'messaging-app'),
  ],
  [
    'a channel that is not there',
    'whatsapp',
    SMS,
    `invalid-value ${at(2, 10)} WhatsApp Cloud API, the provider of live, has no channel sms.`,
  ],
  [
    'what the API cannot take beside the message',
    'whatsapp',
    `${APP}metaData: { a: b }\nrecipientMetaData: { c: name }\naccountReference: x\nmessageType: y\n`,
    lost(at(4, 11), META, 'metaData', 'messaging-app'),
    lost(at(5, 20), META, 'recipientMetaData', 'messaging-app'),
    lost(at(6, 19), META, 'accountReference', 'messaging-app'),
    lost(at(7, 14), META, 'messageType', 'messaging-app'),
  ],
  ['a character set, which handbill counts by', 'twilio', `${SMS}characterSet: unicode\n`],
  [
    'variables for which there is no place',
    'whatsapp',
    'channel: messaging-app\ntemplate: { id: t }\nvariables: { body: { n: name }, heading: name, x: code, url: { "0": name, "2": code } }\n',
    lost(at(4, 51), META, 'variables.x', 'messaging-app'),
    lost(at(4, 80), META, 'variables.url.2', 'messaging-app'),
  ],
  [
    'one variable in the place of a group',
    'whatsapp',
    'channel: messaging-app\ntemplate: { id: t }\nvariables: { body: name }\n',
    lost(at(4, 20), META, 'variables.body', 'messaging-app'),
  ],
  [
    'variables that a template needs',
    'whatsapp',
    'channel: messaging-app\ntemplate: { id: t, needs: [body.name, code] }\n',
    lost(at(3, 11), META, 'variables.code', 'messaging-app'),
  ],
  ['columns, which are only an offer', 'whatsapp', 'channel: messaging-app\ntemplate: { id: t }\n'],
  [
    'no sender',
    'twilio',
    SMS.replace('from: Riverside\n', ''),
    `missing-key ${at(2, 10)} "from" is missing: Twilio, the provider of live, sends no message on sms without it.`,
  ],
  ['a pool of senders', 'service', SMS.replace('from: Riverside\n', '')],
  [
    'a template where there are texts alone',
    'vonage',
    SMS.replace('text: Hi', 'id: t'),
    `invalid-value ${at(4, 11)} Vonage SMS API, the provider of live, takes no templates on sms.`,
  ],
  [
    'a text where there are templates alone',
    'notify',
    SMS.replace('from: Riverside\n', ''),
    `invalid-value ${at(3, 11)} GOV.UK Notify, the provider of live, takes no texts on sms.`,
  ],
  [
    'a list of contacts',
    'own',
    `${SMS}recipients: { csv: people.csv, contact: code }\n`,
    `invalid-value ${at(5, 13)} Gateway, the provider of live, takes no messages to contacts on sms.`,
  ],
  ['links to unsubscribe that are headers', 'postmark', MAIL.replace(' }', `, ${UNSUBSCRIBE} }`)],
  ['links to unsubscribe by name', 'mailgun', MAIL.replace(' }', `, ${UNSUBSCRIBE} }`)],
  [
    'content beside a template',
    'postmark',
    `channel: email\nfrom: a@riverside.example\ntemplate: { id: t }\ncontent: { subject: Hi, ${UNSUBSCRIBE} }\n`,
    lost(at(5, 21), 'Postmark', 'content.subject', 'email'),
    lost(at(5, 38), 'Postmark', 'content.unsubscribe', 'email'),
  ],
  [
    'parts of the content',
    'twilio',
    `${APP}from: "+447700900000"\ncontent:\n  header: { document: "https://riverside.example/a.pdf", filename: a.pdf }\n  footer: Bye\n`,
    lost(at(6, 68), 'Twilio', 'content.header.filename', 'messaging-app'),
    lost(at(7, 11), 'Twilio', 'content.footer', 'messaging-app'),
  ],
  [
    'all items of a repetition',
    'own',
    'channel: rcs\ntemplate: { text: Hi }\ncontent: { buttons: [{ text: a, reply: b }] }\n',
  ],
  [
    'a part of a card',
    'own',
    'channel: rcs\ncontent: { card: { title: a, description: b } }\n',
    lost(at(3, 43), 'Gateway', 'content.card.description', 'rcs'),
  ],
  [
    'the text or the template, and no variables',
    'own',
    'channel: sms\nfrom: R\ntemplate: { id: t }\nvariables: { a: name }\n',
    lost(at(5, 12), 'Gateway', 'variables', 'sms'),
  ],
];

describe('before anything is sent', () => {
  it.each(CASES)('%s', async (_what, environment, campaign, ...found) => {
    expect(await refusals(environment as Environment, campaign)).toEqual(found);
  });

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
  it.each(CASES)('finds what the only one cannot send: %s', async (_what, environment, campaign, ...found) => {
    const isAboutList = campaign.includes('recipients:');
    if (isAboutList) return;
    const all = await refusals(environment as Environment, campaign, 'validate');
    expect(all.filter((line) => found.includes(line))).toEqual(
      found.filter((line) => !line.startsWith('invalid-rows')),
    );
  });

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
