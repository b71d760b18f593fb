import { describe, expect, it, test } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import { preview } from '../../src/operations/preview.ts';
import { brief, type Folder, folderWith, visible } from '../campaign/helper.ts';

const START = Date.UTC(2026, 10, 21, 9, 0, 0, 5);

/** What `wire` once had settings for: other fields, other places, other names. */
const GATEWAY = `title: Gateway
vars: { account: { description: The account, example: A1 } }
secrets: { token: { description: The token of the account } }
url: https://gateway.example/accounts/{var.account}/send
auth: { header: { Authorization: "Bearer {secret.token}" } }
msisdn: digits
channels: { sms: TEXT, rcs: CHAT, email: MAIL }
messageTypes: { marketing: PROMO }
limits: { recipients: 100 }
requests:
  - channels: [email]
    json:
      kind: "{channel}"
      mail: { title: "{content.subject}", htmlBody: "{content.html}" }
      recipients: { $each: recipients, $do: { address: "{to}", metaData: { ref: "{reference}" } } }
  - kind: text
    json:
      kind: "{channel}"
      type: "{messageType}"
      until: "{validity.unix}"
      text: "{text}"
      richContent: { suggestions: { $each: content.buttons, $do: "{value}" } }
      recipients: { $each: recipients, $do: { number: "{to}", metaData: { ref: "{reference}" } } }
`;

const PRODUCTION = `environments:
  production:
    provider: ./providers/gateway.yaml
    vars: { account: "A 1/2" }
    secrets: { token: { env: GATEWAY_TOKEN } }
`;

const SMS = 'channel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\n';
const PEOPLE = 'msisdn,email,name\n+447700900123,ann@example.com,Ann\n+447700900124,bo@example.com,Bo\n';

interface Files {
  readonly settings?: string;
  readonly provider?: string;
  readonly campaign?: string;
}

function projectOf({ settings = PRODUCTION, provider = GATEWAY, campaign = SMS }: Files = {}): Promise<Folder> {
  return folderWith({
    'handbill.yaml': settings,
    'providers/gateway.yaml': provider,
    'hello/campaign.yaml': `name: hello\n${campaign}recipients: people.csv\n`,
    'hello/people.csv': PEOPLE,
    'hello/mail.html': '<p>Hi</p>',
  });
}

/** The requests that preview shows. */
async function requestsOf(campaign: string, files: Files = {}) {
  await using folder = await projectOf({ ...files, campaign });
  const shown = preview('hello', { cwd: folder.root, environment: 'production', now: () => START });
  const requests = [];
  for await (const row of shown.decisions)
    if (row.decision === 'send' && row.request !== null) requests.push(row.request);
  return requests;
}

const bodiesOf = async (campaign: string): Promise<unknown[]> =>
  (await requestsOf(campaign)).map(({ body }) => JSON.parse(body));

/** What is wrong with the files of a project, each with the file that it is in. */
async function faultsOf(files: Files): Promise<readonly Diagnostic[]> {
  await using folder = await projectOf(files);
  return (await folder.read('hello')).diagnostics;
}

const placed = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  brief(diagnostics).map((one, i) => `${diagnostics[i]?.at?.file} ${one}`);

describe('a provider file of the project', () => {
  it('says where requests go, and what they look like', async () => {
    const [first, second] = await requestsOf(`${SMS}messageType: marketing\nvalidity: 1h\n`);
    expect(first).toMatchObject({
      method: 'POST',
      url: 'https://gateway.example/accounts/A%201%2F2/send',
      headers: { 'content-type': 'application/json' },
    });
    expect(JSON.parse(first?.body ?? '')).toEqual({
      kind: 'TEXT',
      type: 'PROMO',
      until: Math.floor(START / 1000) + 3600,
      text: 'Hi Ann',
      recipients: [{ number: '447700900123', metaData: { ref: expect.stringMatching(/^[\w-]{22}$/) } }],
    });
    expect(JSON.parse(second?.body ?? '')).toMatchObject({ text: 'Hi Bo', recipients: [{ number: '447700900124' }] });
  });

  it('gives rich content other names and another place', async () => {
    const campaign = `channel: rcs
from: Riverside
template: { text: Hi }
content: { buttons: [{ text: "Yes", reply: "yes" }] }
`;
    expect((await bodiesOf(campaign))[0]).toMatchObject({
      kind: 'CHAT',
      richContent: { suggestions: [{ text: 'Yes', reply: 'yes' }] },
    });
  });

  it('has another word for a sender, and a URL that names it: wire of the environment goes over the file', async () => {
    const provider = GATEWAY.replace('{var.account}/send', '{var.account}/{sender|var.account}')
      .replace('messageTypes:', 'senders: { Riverside: "id 1", Other: id-9 }\nmessageTypes:')
      .replace('text: "{text}"\n', 'text: "{text}"\n      from: "{from}"\n      sender: "{sender}"\n');
    const requestOf = async (from: string, settings = PRODUCTION) => {
      const files = { provider, settings };
      const [first] = await requestsOf(SMS.replace('Riverside', from), files);
      const { from: sent, sender } = JSON.parse(first?.body ?? '') as { from: string; sender?: string };
      return [first?.url.split('/').at(-1), sent, sender];
    };
    const own = `${PRODUCTION}    wire: { senders: { Riverside: id-2 } }\n`;
    expect(await requestOf('Riverside')).toEqual(['id%201', 'id 1', 'id 1']);
    expect(await requestOf('Riverside', own)).toEqual(['id-2', 'id-2', 'id-2']);
    expect(await requestOf('Other', own)).toEqual(['id-9', 'id-9', 'id-9']);
    // No word: the sender itself, and the var in the URL. A name of every object is a name like any other.
    expect(await requestOf('Shop')).toEqual(['A%201%2F2', 'Shop', undefined]);
    expect(await requestOf('toString')).toEqual(['A%201%2F2', 'toString', undefined]);
  });

  it('gives email addresses another field', async () => {
    const campaign = 'channel: email\ncontent: { subject: "News, {{name}}", html: mail.html }\n';
    expect((await bodiesOf(campaign.replace('content', 'from: shop@example.com\ncontent')))[0]).toMatchObject({
      kind: 'MAIL',
      mail: { title: 'News, Ann', htmlBody: expect.stringContaining('<p>Hi</p>') },
      recipients: [{ address: 'ann@example.com' }],
    });
  });

  it('takes several recipients in a request, each with its reference', async () => {
    const campaign = `${SMS.replace(' {{name}}', '')}send: { recipientsPerRequest: 2 }\n`;
    const [one, ...more] = (await bodiesOf(campaign)) as {
      recipients: { number: string; metaData: { ref: string } }[];
    }[];
    expect(more).toEqual([]);
    expect(one?.recipients.map(({ number }) => number)).toEqual(['447700900123', '447700900124']);
    expect(new Set(one?.recipients.map(({ metaData }) => metaData.ref)).size).toBe(2);
  });

  it('never shows a secret', async () => {
    const provider = GATEWAY.replace('text: "{text}"', 'text: "{text}", token: "{secret.token}"').replace(
      '      text: "{text}", token',
      '      text: "{text}"\n      token',
    );
    const [first] = await requestsOf(SMS, { provider });
    expect(JSON.parse(first?.body ?? '')).toMatchObject({ token: '***' });
  });

  it('may have a query in its URL, which stays with another base URL', async () => {
    const provider = GATEWAY.replace('/send\n', '/send?v=2\n');
    const settings = `${PRODUCTION}    baseUrl: http://127.0.0.1:4010\n`;
    expect((await requestsOf(SMS, { provider }))[0]?.url).toBe('https://gateway.example/accounts/A%201%2F2/send?v=2');
    const [there] = await requestsOf(SMS, { provider, settings });
    expect(there?.url).toBe('http://127.0.0.1:4010/accounts/A%201%2F2/send?v=2');
  });

  it('posts to the base URL of the environment in the place of its origin', async () => {
    const settings = `${PRODUCTION}    baseUrl: http://127.0.0.1:4010\n`;
    const [first] = await requestsOf(SMS, { settings });
    expect(first?.url).toBe('http://127.0.0.1:4010/accounts/A%201%2F2/send');
  });
});

const settingsWith = (lines: string): string => `environments:\n  production:\n${lines.replace(/^/gm, '    ')}\n`;
const NAMED = 'provider: ./providers/gateway.yaml';
const VARS = 'vars: { account: A1 }';
const SECRETS = 'secrets: { token: { env: GATEWAY_TOKEN } }';

describe('what is wrong with the settings', () => {
  it('hides a password in the base URL', async () => {
    const settings = settingsWith('baseUrl: https://me:SEKRET@a.example\napiKey: { env: KEY }');
    const faults = await faultsOf({ settings });
    expect(brief(faults)).toEqual(['invalid-base-url 3:14']);
    expect(visible(faults)).not.toContain('SEKRET');
  });

  it('names the provider that is meant', async () => {
    const settings = settingsWith('provider: twillio\nvars: { account: AC0000 }\nsecrets: { token: { env: T } }');
    const faults = await faultsOf({ settings });
    expect(placed(faults)).toEqual(['handbill.yaml invalid-value 3:15']);
    expect(faults[0]).toMatchObject({ message: 'There is no provider "twillio".', hint: 'Did you mean "twilio"?' });
  });

  it('lists the providers where none is meant', async () => {
    const faults = await faultsOf({ settings: settingsWith('provider: acme') });
    expect(placed(faults)).toEqual(['handbill.yaml invalid-value 3:15']);
    expect(faults[0]?.hint).toMatch(/46elks, .*messages-v2, .*whatsapp-cloud; a path names a file of yours/);
  });

  test.each([
    ['is not there', './providers/other.yaml', 'file-not-found'],
    ['is a folder', './providers', 'file-not-regular'],
    ['is outside of the project', '../gateway.yaml', 'path-outside-project'],
    ['has a path of another system', 'providers\\gateway.yaml', 'path-outside-project'],
  ])('tells that the file %s, at its name', async (_, path, code) => {
    const settings = settingsWith(`provider: ${path}\n${VARS}\n${SECRETS}`);
    expect(placed(await faultsOf({ settings }))).toEqual([`handbill.yaml ${code} 3:15`]);
  });

  test.each([
    ['no vars', [NAMED, SECRETS], 'missing-key', 3, /"vars\.account" is missing: The account\./],
    ['no secrets', [NAMED, VARS], 'missing-key', 3, /"secrets\.token" is missing: The token of the account\./],
    ['another var', [NAMED, 'vars: { account: A1, acount: A2 }', SECRETS], 'unknown-key', 4, /"vars\.acount"/],
    [
      'another secret',
      [NAMED, VARS, 'secrets: { token: { env: A }, key: { env: B } }'],
      'unknown-key',
      5,
      /"secrets\.key"/,
    ],
    ['apiKey', [NAMED, VARS, SECRETS, 'apiKey: { env: KEY }'], 'invalid-value', 6, /"apiKey" is for messages-v2 alone/],
    ['a number', [NAMED, 'vars: { account: 12 }', SECRETS], 'wrong-type', 4, /./],
    [
      'a base URL with a path',
      [NAMED, VARS, SECRETS, 'baseUrl: https://eu.gateway.example/api'],
      'invalid-base-url',
      6,
      /has a path/,
    ],
  ])('%s', async (_, lines, code, line, message) => {
    const faults = await faultsOf({ settings: settingsWith(lines.join('\n')) });
    expect(faults.map((one) => [one.code, one.at?.file, one.at?.line])).toEqual([[code, 'handbill.yaml', line]]);
    expect(faults[0]?.message).toMatch(message);
    expect(faults[0]?.hint).toMatch(/^[A-Z].*$/);
  });

  it('tells once that a var is misspelt, and not that it is missing', async () => {
    const faults = await faultsOf({ settings: settingsWith(`${NAMED}\nvars: { acount: A1 }\n${SECRETS}`) });
    expect(placed(faults)).toEqual(['handbill.yaml unknown-key 4:13']);
    expect(faults[0]?.hint).toBe('Did you mean "account"?');
  });

  test.each([
    ['twilio', 'vars: { account: A, token: SEKRET-1 }', 'literal-key', /secrets: \{ token: \{ env: TWILIO_TOKEN \} \}/],
    ['infobip', 'vars: { host: a.example, key: SEKRET-1, x: 1 }', 'literal-key', /secrets: \{ key:/],
    ['./providers/gateway.yaml', 'vars: { account: A, token: SEKRET-1 }', 'literal-key', /GATEWAY_TOKEN/],
    ['46elks', 'vars: { user: a }\nsecrets: { password: [SEKRET-1] }', 'literal-key', /password: \{ env: PASSWORD \}/],
    ['46elks', 'vars: { user: a }\nsecrets: { env: SEKRET-1 }', 'literal-key', /secrets: \{ token: \{ env: TOKEN/],
    ['46elks', 'vars: { user: a }\nsecrets: { SEKRET-1 }', 'wrong-type', /secrets: \{ token: \{ env: TOKEN/],
    ['46elks', 'vars: { user: a }\nsecrets: [SEKRET-1]', 'wrong-type', /secrets: \{ token: \{ env: TOKEN/],
    ['46elks', 'vars: { user: a }\nsecrets: { password: { env: { a: SEKRET-1 } } }', 'invalid-value', /PASSWORD/],
  ])('never shows a secret that is written into the file: %s, %s', async (provider, lines, code, hint) => {
    const faults = await faultsOf({ settings: settingsWith(`provider: ${provider}\n${lines}`) });
    expect(visible(faults)).not.toContain('SEKRET');
    expect(faults.find((one) => one.code === code)?.hint).toMatch(hint);
  });

  it('messages-v2 has a key, every other provider has secrets', async () => {
    const secrets = await faultsOf({
      settings: settingsWith('baseUrl: https://a.example\nsecrets: { apiKey: { env: K } }'),
    });
    expect(secrets.map(({ message, hint }) => `${message} ${hint}`)).toEqual([
      'messages-v2 has "apiKey" and no "secrets". Write instead: apiKey: { env: HANDBILL_API_KEY }',
    ]);
    const key = await faultsOf({ settings: settingsWith(`${NAMED}\n${VARS}\napiKey: { env: K }`) });
    expect(key.map(({ message, hint }) => `${message} ${hint}`)).toEqual([
      '"apiKey" is for messages-v2 alone; Gateway has "secrets". Write instead: secrets: { token: { env: GATEWAY_TOKEN } }',
    ]);
  });

  test.each([
    ['twilio', 'account', 'token'],
    ['vonage-messages', 'key', 'secret'],
    ['46elks', 'user', 'password'],
  ])('%s asks for its own names', async (provider, name, secret) => {
    const missing = await faultsOf({ settings: settingsWith(`provider: ${provider}`) });
    expect(brief(missing)).toEqual(['missing-key 3:5', 'missing-key 3:5']);
    expect(missing.map(({ message }) => message.split(' ')[0])).toEqual([`"vars.${name}"`, `"secrets.${secret}"`]);
    const whole = settingsWith(`provider: ${provider}\nvars: { ${name}: x1 }\nsecrets: { ${secret}: { env: S } }`);
    expect(await faultsOf({ settings: whole })).toEqual([]);
  });

  it('asks messages-v2 for a base URL and a key, and takes a path in the base URL', async () => {
    for (const provider of ['', 'provider: messages-v2\n']) {
      const none = await faultsOf({ settings: settingsWith(`${provider}rate: 5/s`) });
      expect(brief(none)).toEqual(['missing-key 3:5', 'missing-key 3:5']);
      expect(none.map(({ message }) => message).toSorted()).toEqual(['"apiKey" is missing.', '"baseUrl" is missing.']);
      const whole = `${provider}baseUrl: https://api.example.com/base\napiKey: { env: KEY }`;
      expect(await faultsOf({ settings: settingsWith(whole) })).toEqual([]);
    }
  });
});

describe('what is wrong with the file', () => {
  const faultsIn = async (from: string, to: string) => {
    if (!GATEWAY.includes(from)) throw new Error('The file has no such text.');
    return await faultsOf({ provider: GATEWAY.replace(from, to) });
  };

  test.each([
    ['a misspelt placeholder', 'number: "{to}"', 'number: "{tto}"', 'invalid-value 23:55', /no value \{tto\}/],
    ['a var that it does not have', '{var.account}', '{var.acount}', 'invalid-value 4:6', /\{var\.acount\}/],
    ['a secret that it does not have', '{secret.token}', '{secret.key}', 'invalid-value 5:34', /\{secret\.key\}/],
    ['a brace of no placeholder', 'text: "{text}"', 'text: "{text"', 'invalid-value 21:13', /brace/],
    ['a header of HTTP', 'msisdn: digits', 'headers: { Host: a }', 'invalid-value 6:12', /needed for something else/],
    ['a key in it', 'msisdn: digits', 'idempotency: { header: X-Api-Key }', 'invalid-value 6:24', /needed for/],
    ['a header with a space', 'msisdn: digits', 'idempotency: { header: A B }', 'invalid-value 6:24', /A B/],
    ['an unknown key', 'msisdn: digits', 'msisdns: digits', 'unknown-key 6:1', /msisdns/],
    ['an unknown channel', 'sms: TEXT', 'smss: TEXT', 'unknown-key 7:13', /smss/],
    ['an unknown word', 'msisdn: digits', 'msisdn: plus', 'invalid-value 6:9', /plus|msisdn/],
    ['no title', 'title: Gateway\n', '', 'missing-key 1:1', /title/],
  ])('%s', async (_, from, to, expected, message) => {
    const faults = await faultsIn(from, to);
    expect(placed(faults)).toEqual([`providers/gateway.yaml ${expected}`]);
    expect(faults[0]?.message).toMatch(message);
    expect(faults[0]?.hint).toMatch(/\S/);
  });

  it('suggests the placeholder that is meant', async () => {
    expect((await faultsIn('{var.account}', '{var.acount}'))[0]?.hint).toBe('Did you mean "var.account"?');
    expect((await faultsIn('{reference}', '{refrence}'))[0]?.hint).toBe('Did you mean "reference"?');
  });

  it('refuses a request with neither json nor form, and one with both', async () => {
    const provider = (body: string) =>
      `title: Gateway\nurl: https://a.example/\nchannels: { sms: s }\nrequests:\n  - kind: text\n${body}`;
    const settings = settingsWith(NAMED);
    for (const body of ['', '    json: { to: "{to}" }\n    form: { to: "{to}" }\n']) {
      const faults = await faultsOf({ settings, provider: provider(body) });
      expect(placed(faults)).toEqual(['providers/gateway.yaml invalid-value 5:5']);
      expect(faults[0]?.message).toBe('A request has a body: "json" or "form".');
    }
  });

  test.each([
    [
      'a repetition over nothing that there is',
      '$each: recipients, $do: { address',
      '$each: recipient, $do: { address',
    ],
    [
      'a mapping with a meaning that there is not',
      '$each: recipients, $do: { address',
      '$every: recipients, $do: { address',
    ],
    ['a repetition of nothing', '$each: recipients, $do: { address', '$each: recipients, do: { address'],
  ])('refuses %s', async (_, from, to) => {
    const faults = await faultsIn(from, to);
    expect(faults.map(({ code, at }) => [code, at?.file, at?.line])).toEqual([
      ['invalid-value', 'providers/gateway.yaml', 15],
    ]);
  });

  it('refuses a channel of a request that it does not have', async () => {
    const faults = await faultsIn('channels: [email]', 'channels: [voice]');
    expect(placed(faults)).toEqual(['providers/gateway.yaml invalid-value 11:16']);
  });

  it('refuses a form whose field is a mapping', async () => {
    const provider =
      'title: G\nurl: https://a.example/\nchannels: { sms: s }\nrequests:\n  - form: { to: { number: "{to}" } }\n';
    const faults = await faultsOf({ settings: settingsWith(NAMED), provider });
    expect(placed(faults)).toEqual(['providers/gateway.yaml invalid-value 5:17']);
  });

  it('refuses a URL that requests cannot be posted to', async () => {
    const faults = await faultsIn('https://gateway.example/', 'gateway.example/');
    expect(faults.map(({ code, at }) => [code, at?.file, at?.line])).toEqual([
      ['invalid-value', 'providers/gateway.yaml', 4],
    ]);
  });

  test.each([
    ['plain http', 'https://gateway.example/', 'http://gateway.example/', 4],
    ['another host for some requests', '  - kind: text\n', '  - kind: text\n    url: https://other.example/send\n', 17],
  ])('refuses %s', async (_, from, to, line) => {
    expect((await faultsIn(from, to)).map(({ at }) => [at?.file, at?.line])).toEqual([
      ['providers/gateway.yaml', line],
    ]);
  });

  test.each([
    [
      'a value of a message in a header',
      '"Bearer {secret.token}"',
      '"Bearer {secret.token}{to}"',
      /\{to\} has no value here/,
    ],
    [
      'a base URL inside of a URL',
      'https://gateway.example/',
      'https://gateway.example/{baseUrl}/',
      /only at the start/,
    ],
    ['a base URL without a slash', 'https://gateway.example/', '"{baseUrl}x/', null],
    [
      'a password in the URL',
      'https://gateway.example/',
      'https://me:SEKRET-1@gateway.example/',
      /user name or password/,
    ],
    ['a path that means another', '/send\n', '/../send\n', /spelt in an unusual way/],
    ['a name outside of a repetition', 'type: "{messageType}"', 'type: "{name}"', /no value \{name\}/],
    ['a misspelt part of the content', '{content.subject}', '{contents.subject}', /\{contents\.subject\}/],
    [
      'another meaning beside a repetition',
      '$do: "{value}" }',
      '$do: "{value}", x: 1 }',
      /"x" cannot be beside "\$each"/,
    ],
    ['an item without its repetition', '$each: content.buttons, $do', '$do', /"\$do" is without/],
    ['a joined mapping', '$each: recipients, $do: { address', '$join: recipients, $do: { address', /item is a text/],
    [
      'a merge of no list',
      'metaData: { ref: "{reference}" } } }\n  - kind',
      'metaData: { $merge: "{metaData}" } } }\n  - kind',
      /takes a list/,
    ],
    ['a placeholder without quotes', 'number: "{to}"', 'number: {to}', /\{to\} without quotes/],
    ['a placeholder without quotes, in a header', '"Bearer {secret.token}"', '{secret.token}', /must be text/],
    ['the place of a secret', '{ description: The token of the account }', '{ description: T, env: SEKRET }', /"env"/],
    ['no recipient', '$do: { number: "{to}", metaData', '$do: { metaData', /names no recipient/],
    [
      'one recipient of many',
      '{ $each: recipients, $do: { number: "{to}", metaData: { ref: "{reference}" } } }',
      '["{to}"]',
      /up to 100 recipients/,
    ],
    [
      'a channel that no request is for',
      '  - kind: text\n',
      '  - channels: [sms]\n',
      /No request is for the channel rcs/,
    ],
    [
      'a secret that no request holds',
      '{ description: The token of the account }',
      '{ description: The token of the account }, tok: { description: Another }',
      /No request holds the secret "tok"/,
    ],
    ['a rule for every answer', 'requests:', 'answers: [{ then: accepted }]\nrequests:', /matches every answer/],
    ['a code without its place', 'requests:', 'answers: [{ code: [1], then: stop }]\nrequests:', /go together/],
    ['a text without its place', 'requests:', 'answers: [{ text: no, then: stop }]\nrequests:', null],
    ['a key in the file', '"Bearer {secret.token}"', '"Bearer SEKRET-1"', /written into the file/],
    [
      'a key in the file, of basic',
      '{ header: { Authorization: "Bearer {secret.token}" } }',
      '{ basic: [me, SEKRET-1] }',
      /written into the file/,
    ],
    [
      'a secret in the file',
      '{ description: The token of the account }',
      'SEKRET-1',
      /"secrets\.token" must be a mapping/,
    ],
    [
      'a secret in the file, by another key',
      '{ description: The token of the account }',
      '{ description: T, value: SEKRET-1 }',
      /value/,
    ],
  ])('refuses %s', async (_, from, to, message) => {
    const faults = await faultsIn(from, to);
    expect(faults.length).toBeGreaterThan(0);
    for (const { at, hint } of faults) {
      expect(at).toMatchObject({ file: 'providers/gateway.yaml', line: expect.any(Number) });
      expect(hint).toMatch(/\S/);
    }
    if (message !== null) expect(faults.map((one) => one.message)).toEqual([expect.stringMatching(message)]);
    expect(visible(faults)).not.toContain('SEKRET');
  });

  it('tells all of it at once', async () => {
    const provider = GATEWAY.replace('https://', 'http://')
      .replace('{secret.token}', '{secret.tokn}')
      .replace('$each: content.buttons', '$each: content.buttons, $dont')
      .replace('msisdn: digits', 'msisdn: digit');
    const faults = await faultsOf({ provider });
    expect(
      placed(faults)
        .map((one) => Number(one.split(' ')[2]?.split(':')[0]))
        .toSorted((a, b) => a - b),
    ).toEqual([4, 5, 6, 22]);
  });

  it('tells it once where two environments name the file', async () => {
    const settings = `${PRODUCTION}${PRODUCTION.replace('environments:\n', '').replace('production', 'staging')}`;
    const faults = await faultsOf({ settings, provider: GATEWAY.replace('"{to}", metaData', '"{tto}", metaData') });
    expect(placed(faults)).toEqual(['providers/gateway.yaml invalid-value 15:56']);
  });

  it('asks for no values of a request that was refused by the schema', async () => {
    const faults = await faultsIn('secrets: { token: { description: The token of the account } }', 'secrets: [token]');
    expect(placed(faults)).toEqual(['providers/gateway.yaml wrong-type 3:10']);
  });

  it('refuses what is no YAML', async () => {
    expect(placed(await faultsOf({ provider: 'title: [' }))[0]).toMatch(/^providers\/gateway\.yaml \S+ 1:/);
    expect(placed(await faultsOf({ provider: '' }))[0]).toMatch(/^providers\/gateway\.yaml /);
  });
});

describe('what the provider cannot send', () => {
  const refusalsOf = async (campaign: string, provider = GATEWAY): Promise<readonly Diagnostic[]> => {
    const error: unknown = await requestsOf(campaign, { provider }).catch((thrown: unknown) => thrown);
    return (error as { diagnostics: readonly Diagnostic[] }).diagnostics;
  };

  it('refuses a channel that it does not have', async () => {
    const found = await refusalsOf('channel: voice\nfrom: "+447700900000"\ntemplate: { text: Hi }\n');
    expect(found.map(({ code, at }) => [code, at?.file])).toEqual([['invalid-value', 'hello/campaign.yaml']]);
    expect(found[0]).toMatchObject({
      message: 'Gateway, the provider of production, has no channel voice.',
      hint: 'It has sms, rcs, email.',
    });
  });

  it('refuses the channel of a fallback that it does not have', async () => {
    const found = await refusalsOf(
      `${SMS.replace('sms', 'rcs')}fallback: { channel: messaging-app, template: { text: Hi } }\n`,
    );
    expect(found.map(({ message }) => message)).toEqual([
      'Gateway, the provider of production, has no channel messaging-app.',
    ]);
  });

  it('refuses a template where it takes texts alone', async () => {
    const found = await refusalsOf('channel: sms\nfrom: Riverside\ntemplate: { id: welcome }\n');
    expect(found.map(({ code }) => code)).toEqual(['invalid-value']);
    expect(found[0]?.message).toBe('Gateway, the provider of production, takes no templates on sms.');
    expect(found[0]?.hint).not.toMatch(/Use a template/);
  });

  it('refuses contacts where it takes numbers alone', async () => {
    const list = 'channel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n';
    await using folder = await folderWith({
      'handbill.yaml': PRODUCTION,
      'providers/gateway.yaml': GATEWAY,
      'hello/campaign.yaml': `name: hello\n${list}recipients: { csv: people.csv, contact: id }\n`,
      'hello/people.csv': 'id\nc-1\n',
    });
    const shown = preview('hello', { cwd: folder.root, environment: 'production', now: () => START });
    await expect(shown.result()).rejects.toMatchObject({
      diagnostics: [{ message: expect.stringContaining('takes no messages to contacts on sms') }],
    });
  });

  it('refuses more recipients in a request than it takes', async () => {
    const found = await refusalsOf(`${SMS}send: { recipientsPerRequest: 101 }\n`);
    expect(found.map(({ message }) => message)).toEqual([
      '"send.recipientsPerRequest" is 101; Gateway, the provider of production, takes at most 100.',
    ]);
  });
});
