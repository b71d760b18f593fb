import { describe, expect, it, test } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import { preview } from '../../src/operations/preview.ts';
import { brief, type Folder, folderWith, visible } from '../campaign/helper.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';

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

golden(
  'a mistake is found at its place, in the file or in the settings, and no secret is shown',
  'providers/own-file',
  async (input, label) => {
    const [from, to] = label.startsWith('handbill.yaml')
      ? []
      : input.split('\n').map((line) => JSON.parse(line) as string);
    if (from !== undefined && !GATEWAY.includes(from)) throw new Error('The file has no such text.');
    const provider = from === undefined ? GATEWAY : GATEWAY.replace(from, to ?? '');
    const faults = await faultsOf(from === undefined ? { settings: settingsWith(input) } : { provider });
    return visible(faults).includes('SEKRET') ? 'the secret is shown' : diagnosticLines(faults);
  },
);

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

  it('tells once that a var is misspelt, and not that it is missing', async () => {
    const faults = await faultsOf({ settings: settingsWith(`${NAMED}\nvars: { acount: A1 }\n${SECRETS}`) });
    expect(placed(faults)).toEqual(['handbill.yaml unknown-key 4:13']);
    expect(faults[0]?.hint).toBe('Did you mean "account"?');
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
