import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, test } from 'vitest';
import { DEFAULT_WIRE } from '../../src/campaign/defaults.ts';
import { loadCampaign, readCampaign } from '../../src/campaign/load.ts';
import { builtIn, DEFAULT_PROVIDER } from '../../src/campaign/read-provider.ts';
import { HandbillError } from '../../src/errors.ts';
import type { Campaign } from '../../src/model.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';
import { brief, folderWith, hello, SMALLEST } from './helper.ts';

// Copied, because here they would belong to the project of this repository.
const SMALL = await fixture('smallest');
const FIXTURES = await fixture('everything');

async function fixture(name: string): Promise<string> {
  const copy = await folderWith({});
  afterAll(() => copy[Symbol.asyncDispose]());
  const original = fileURLToPath(new URL(`../fixtures/campaign/${name}`, import.meta.url));
  await cp(original, join(copy.root, name), { recursive: true });
  return copy.root;
}

const PROVIDER = builtIn(DEFAULT_PROVIDER).provider;

async function load(name: string): Promise<Campaign> {
  return (await loadCampaign(name, { cwd: name === 'smallest' ? SMALL : FIXTURES })).campaign;
}

/** What the name says of other names, which these campaigns do not have. */
const NAMES = {
  isIdWritten: false,
  namePlace: expect.objectContaining({ at: expect.anything() }),
  places: expect.objectContaining({ channel: expect.objectContaining({ at: expect.anything() }) }),
};

/** The smallest campaign as it is read: every default. */
const SMALLEST_READ = {
  ...NAMES,
  name: 'hello',
  id: 'hello',
  channel: 'sms',
  from: 'Riverside',
  accountReference: null,
  messageType: null,
  characterSet: 'auto',
  characterSetWritten: false,
  transliterate: false,
  locale: 'en-GB',
  timeZone: 'UTC',
  validity: null,
  metaData: null,
  topic: null,
  template: {
    kind: 'text',
    source: { text: 'Hi {{first_name}}, your table is ready.', file: 'smallest/hello.hbs', line: 1, column: 1 },
  },
  variables: null,
  content: null,
  variants: [],
  split: { seed: 'hello', holdout: 0, test: null, winner: null, decides: null },
  fallbacks: [],
  recipientMetaData: null,
  recipients: {
    path: join(SMALL, 'smallest/people.csv'),
    file: 'smallest/people.csv',
    inline: null,
    kind: 'msisdn',
    columns: {},
    where: null,
    to: 'msisdn',
    key: [],
    duplicates: null,
    headerRow: null,
    defaultCountry: null,
    delimiter: null,
    encoding: null,
    escaped: null,
    onInvalid: 'refuse',
    alsoInvalid: [],
    timeZone: null,
    each: null,
    display: null,
  },
  send: {
    concurrency: 16,
    ratePerSecond: null,
    attempts: 3,
    timeoutMs: 20_000,
    notAfterMs: null,
    window: null,
    canary: null,
    recipientsPerRequest: 1,
  },
  limits: { maxRecipients: null, maxParts: null, maxCost: null, stopAfterInDoubt: null, stopAfterRejected: null },
  schedule: null,
  suppressions: [],
  unreachable: null,
  after: null,
  exclude: [],
  frequency: [],
  guards: { maxAge: null, minRecipients: null, change: null },
  isCounted: true,
  file: 'smallest/campaign.yaml',
};

const SANDBOX_READ = {
  name: 'sandbox',
  identity: 'sandbox',
  provider: PROVIDER,
  vars: {},
  secrets: null,
  baseUrl: 'http://sandbox.invalid',
  url: 'http://sandbox.invalid/v2/messages',
  ratePerSecond: null,
  concurrency: null,
  proxy: null,
  fetch: false,
  webhook: {
    receiver: null,
    mapping: {
      events: null,
      fields: {},
      states: {},
      unsupported: [],
      permanent: [],
      optedOut: [],
      optOut: undefined,
    },
    fetches: [],
    url: undefined,
  },
  wire: DEFAULT_WIRE,
  approval: null,
  git: null,
  countries: null,
  budget: null,
  only: null,
  redirect: null,
};

describe('the smallest campaign', () => {
  it('is loaded as it is written, with every default', async () => {
    const root = SMALL;
    const campaign = await load('smallest');
    const { inputs, partials, project, ...rest } = campaign;
    expect(rest).toEqual(SMALLEST_READ);
    expect(partials.size).toBe(0);
    expect(project).toMatchObject({ root, file: null, ledger: join(root, '.handbill/ledger.db'), prices: null });
    expect([...project.environments.keys()]).toEqual(['sandbox']);
    expect(project.environments.get('sandbox')).toEqual(SANDBOX_READ);
    expect(inputs.map(({ role, file }) => [role, file])).toEqual([
      ['campaign', 'smallest/campaign.yaml'],
      ['template', 'smallest/hello.hbs'],
    ]);
  });

  it('is frozen, however deep', async () => {
    const campaign = await load('smallest');
    for (const part of [
      campaign,
      campaign.send,
      campaign.template,
      campaign.recipients,
      campaign.inputs,
      campaign.project,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    const wire = (await load('everything/spring')).project.environments.get('production')?.wire;
    expect(Object.isFrozen(wire?.response.messageId)).toBe(true);
  });
});

describe('a campaign that says everything', () => {
  it('comes out over the defaults of its project', async () => {
    const { inputs, partials, project, ...rest } = await load('everything/spring');
    expect(rest).toEqual({
      ...SMALLEST_READ,
      template: {
        kind: 'text',
        source: {
          text: 'Hi {{first_name}},\nspring is here. {{> footer}}',
          file: 'everything/spring/campaign.yaml',
          line: 7,
          column: 5,
        },
      },
      name: 'spring',
      id: 'spring',
      from: '+447700900100',
      accountReference: '0042',
      messageType: 'marketing',
      characterSet: 'gsm',
      characterSetWritten: true,
      transliterate: true,
      locale: 'de-AT',
      timeZone: 'Europe/Vienna',
      validity: { kind: 'duration', ms: 86_400_000 },
      metaData: { team: 'crm', cost: 2, season: '0042' },
      split: { seed: 'spring', holdout: 0, test: null, winner: null, decides: null },
      recipientMetaData: {
        customer: { text: 'customer_id', file: 'everything/spring/campaign.yaml', line: 10, column: 13 },
        tier: { text: '{{upper tier}}', file: 'everything/spring/campaign.yaml', line: 11, column: 10 },
      },
      recipients: {
        ...SMALLEST_READ.recipients,
        path: join(FIXTURES, 'everything/spring/people.csv'),
        file: 'everything/spring/people.csv',
        to: 'mobile',
        key: ['customer_id'],
        defaultCountry: 'GB',
        delimiter: ';',
        encoding: 'windows-1252',
        onInvalid: 'skip',
      },
      send: {
        ...SMALLEST_READ.send,
        concurrency: 4,
        ratePerSecond: 10,
        attempts: 5,
        timeoutMs: 30_000,
        notAfterMs: Date.UTC(2026, 10, 21, 17, 0, 0, 123),
      },
      limits: {
        maxRecipients: 1000,
        maxParts: 3,
        maxCost: 12.5,
        stopAfterInDoubt: { count: 7 },
        stopAfterRejected: { share: 0.05 },
      },
      file: 'everything/spring/campaign.yaml',
    });
    expect([...partials.keys()].sort()).toEqual(['footer', 'stop', 'unused']);
    expect(project).toMatchObject({
      root: join(FIXTURES, 'everything'),
      file: 'everything/handbill.yaml',
      ledger: join(FIXTURES, 'everything/state/ledger.db'),
      prices: join(FIXTURES, 'everything/prices.csv'),
    });
    expect(inputs.map(({ role, file }) => [role, file])).toEqual([
      ['campaign', 'spring/campaign.yaml'],
      ['project', 'handbill.yaml'],
      ['partial', 'partials/footer.hbs'],
      ['partial', 'partials/stop.hbs'],
    ]);
  });

  it('knows the environments of its project', async () => {
    const { environments } = (await load('everything/spring')).project;
    expect([...environments.keys()]).toEqual(['sandbox', 'production', 'staging']);
    expect(environments.get('production')).toEqual({
      ...SANDBOX_READ,
      name: 'production',
      identity: 'production',
      url: 'https://api.example.com/base/v2/messages',
      secrets: { apiKey: { env: 'HANDBILL_API_KEY' } },
      baseUrl: 'https://api.example.com/base',
      provider: {
        ...PROVIDER,
        channels: { ...PROVIDER.channels, 'messaging-app': 'WhatsApp' },
        characterSets: { ...PROVIDER.characterSets, gsm: 'PLAIN' },
      },
      ratePerSecond: 100,
      concurrency: 8,
      proxy: 'http://proxy.example.com:3128',
      redirect: null,
      wire: {
        ...DEFAULT_WIRE,
        response: {
          ...DEFAULT_WIRE.response,
          messageId: ['/id'],
          messageIdRequired: true,
          error: ['/detail'],
          failed: ['/error'],
          accept: 'any',
        },
        answers: [{ statuses: [503], codeAt: null, codes: [], textAt: null, text: null, verdict: 'retry' }],
      },
    });
    expect(environments.get('staging')).toMatchObject({
      url: 'http://127.0.0.1:4010/v2/messages',
      secrets: { apiKey: { file: join(FIXTURES, 'everything/secrets/key') } },
      provider: PROVIDER,
      wire: DEFAULT_WIRE,
    });
    expect(environments.get('sandbox')).toMatchObject({ url: 'http://sandbox.invalid/v2/messages', ratePerSecond: 50 });
  });

  it('has the hashes of the bytes that were read', async () => {
    const { inputs, project } = await load('everything/spring');
    for (const { file, sha256 } of inputs) {
      expect(sha256).toBe(
        createHash('sha256')
          .update(await readFile(join(project.root, file)))
          .digest('hex'),
      );
    }
  });
});

describe('templates', () => {
  test.each([
    ['CRLF', 'a\r\nb\r\n', 'a\nb'],
    ['two newlines at the end', 'a\n\n', 'a\n'],
    ['a byte order mark', '\ufeffa', 'a'],
    ['a lone CR', 'a\rb', 'a\nb'],
  ])('are read with %s', async (_label, written, text) => {
    await using folder = await folderWith({ ...hello(), 'campaigns/hello/hello.hbs': written });
    const { campaign } = await folder.read('hello');
    expect(campaign?.template).toMatchObject({ kind: 'text', source: { text } });
  });

  test.each<[string, string | Uint8Array, readonly string[]]>([
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x0a, 0x62, 0xff]), ['invalid-encoding 2:2']],
    ['more than 64 KiB', 'x'.repeat(65_537), ['file-too-large 4:11']],
  ])('are refused with %s', async (_label, written, expected) => {
    await using folder = await folderWith({ ...hello(), 'campaigns/hello/hello.hbs': written });
    expect(brief((await folder.read('hello')).diagnostics)).toEqual(expected);
  });

  test.each([
    ['{ text: "Hi {{name}}" }', 'Hi {{name}}', 4, 20],
    ["{ text: 'Hi' }", 'Hi', 4, 20],
    ['{ text: Hi }', 'Hi', 4, 19],
    ['\n  text: |\n    Hi\n    there', 'Hi\nthere', 6, 5],
    ['\n  text: >-\n    Hi\n    there', 'Hi there', 6, 5],
  ])('may be in the campaign: %j', async (written, text, line, column) => {
    const base = SMALLEST.replace('hello.hbs', written);
    await using folder = await folderWith(hello('', base));
    const { campaign, diagnostics } = await folder.read('hello');
    expect(diagnostics).toEqual([]);
    const file = 'campaigns/hello/campaign.yaml';
    expect(campaign?.template).toEqual({ kind: 'text', source: { text, file, line, column } });
  });

  it('of the provider have an id, variables and nothing to read', async () => {
    const base = SMALLEST.replace('hello.hbs', '{ id: "0042" }');
    await using folder = await folderWith(hello('variables: { name: first_name, up: "{{upper x}}" }\n', base));
    const { campaign } = await folder.read('hello');
    expect(campaign?.template).toMatchObject({ kind: 'provider', id: '0042', needs: null, place: { at: { line: 4 } } });
    expect(campaign?.variables).toMatchObject({
      name: { text: 'first_name', line: 6, column: 20 },
      up: { text: '{{upper x}}' },
    });
  });

  it('are a file, a text or an id, and nothing else', async () => {
    await using folder = await folderWith(hello('', SMALLEST.replace('hello.hbs', '{ text: a, file: hello.hbs }')));
    expect((await folder.read('hello')).diagnostics).toMatchObject([
      { code: 'invalid-value', message: '"template" takes exactly one of "file", "text" and "id".', at: { line: 4 } },
    ]);
  });

  it('that are rendered here take no variables', async () => {
    await using folder = await folderWith(hello('variables: { name: first_name }\n'));
    expect(brief((await folder.read('hello')).diagnostics)).toEqual(['invalid-value 6:12']);
  });
});

describe('partials', () => {
  const files = {
    ...hello(),
    'handbill.yaml': 'partials: shared\n',
    'shared/a.hbs': 'shared a\n',
    'shared/b.hbs': 'shared b\n',
    'shared/c.hbs': 'shared c\n',
    'campaigns/hello/b.hbs': 'beside b\n',
    'campaigns/hello/c.hbs': 'beside c\n',
    'campaigns/hello/partials/c.hbs': 'own c\n',
    'campaigns/hello/partials/readme.txt': 'no partial',
  };

  it("come from the project and from the campaign, whose own come first; the campaign's template is none", async () => {
    await using folder = await folderWith(files);
    const { campaign } = await folder.read('hello');
    expect(Object.fromEntries([...(campaign?.partials ?? [])].map(([name, { text }]) => [name, text]))).toEqual({
      a: 'shared a',
      b: 'beside b',
      c: 'own c',
    });
    expect(campaign?.partials.get('c')).toMatchObject({ file: 'campaigns/hello/partials/c.hbs', line: 1, column: 1 });
  });

  test.each([
    ['{{> a}}', ['shared/a.hbs']],
    ['{{#> "a"}}x{{/a}}{{~> [b] ~}}', ['shared/a.hbs', 'campaigns/hello/b.hbs']],
    ['{{> (lookup . "x")}}', ['shared/a.hbs', 'campaigns/hello/b.hbs', 'campaigns/hello/partials/c.hbs']],
    ['{{a}} {{b}}', []],
  ])('are inputs when %s includes them', async (template, expected) => {
    await using folder = await folderWith({ ...files, 'campaigns/hello/hello.hbs': template });
    const { campaign } = await folder.read('hello');
    const partials = campaign?.inputs.filter((i) => i.role === 'partial').map((i) => i.file);
    expect([...(partials ?? [])].sort()).toEqual([...expected].sort());
  });

  it('that include each other end the search', async () => {
    const circle = {
      'shared/a.hbs': '{{> b}}',
      'campaigns/hello/b.hbs': '{{> a}}',
      'campaigns/hello/hello.hbs': '{{> a}}',
    };
    await using folder = await folderWith({ ...files, ...circle });
    expect((await folder.read('hello')).campaign?.inputs.filter((i) => i.role === 'partial')).toHaveLength(2);
  });

  it('that cannot be read matter to those who include them', async () => {
    const broken = { 'shared/a.hbs': Buffer.from([0xff]), 'shared/constructor.hbs': 'x' };
    await using folder = await folderWith({ ...files, ...broken });
    await symlink('/etc/passwd', join(folder.root, 'shared/passwd.hbs'));
    execFileSync('mkfifo', [join(folder.root, 'shared/pipe.hbs')]);
    expect((await folder.read('hello')).diagnostics).toEqual([]);
    await folder.write('campaigns/hello/hello.hbs', '{{> a}}{{> passwd}}{{> pipe}}{{> constructor}}');
    const { diagnostics, campaign } = await folder.read('hello');
    expect(campaign).toBeNull();
    expect(diagnostics.map((d) => [d.code, d.at?.file])).toEqual([
      ['invalid-encoding', 'shared/a.hbs'],
      ['yaml-forbidden-key', 'shared/constructor.hbs'],
      ['path-outside-project', 'shared/passwd.hbs'],
      ['file-not-regular', 'shared/pipe.hbs'],
    ]);
  }, 5000);

  it('of a folder that is not there', async () => {
    await using folder = await folderWith({ ...files, 'handbill.yaml': 'partials: sharde\n' });
    const { diagnostics } = await folder.read('hello');
    const at = { file: 'handbill.yaml', line: 1, column: 11 };
    expect(diagnostics).toMatchObject([{ code: 'file-not-found', at, hint: 'Did you mean "shared"?' }]);
  });
});

describe('values that a schema cannot judge', () => {
  golden('what a schema cannot judge is refused at its place', 'campaign/load', async (line) => {
    const base = SMALLEST.split('\n').filter((one) => one.split(':')[0] !== line.split(':')[0]);
    await using folder = await folderWith(hello(`${line}\n`, base.join('\n')));
    return diagnosticLines((await folder.read('hello')).diagnostics, 'campaigns/hello/campaign.yaml');
  });

  test.each([
    ['validity: 2026-06-01T00:00:01Z', { validity: { kind: 'until', epochMs: Date.UTC(2026, 5, 1, 0, 0, 1) } }],
    ['validity: PT30M', { validity: { kind: 'duration', ms: 1_800_000 } }],
    ['timeZone: Asia/Kolkata', { timeZone: 'Asia/Kolkata' }],
    ['locale: EN-gb', { locale: 'en-GB' }],
    ['locale: es-419', { locale: 'es-419' }],
    ['characterSet: auto', { characterSet: 'auto', characterSetWritten: true }],
  ])('%s is good', async (line, expected) => {
    await using folder = await folderWith(hello(`${line}\n`));
    const { campaign, diagnostics } = await folder.read('hello');
    expect(diagnostics).toEqual([]);
    expect(campaign).toMatchObject(expected);
  });

  it("of other channels are the API's business", async () => {
    const base = SMALLEST.replace('sms', 'rcs').replace('Riverside', 'Riverside Restaurant Ltd');
    await using folder = await folderWith(hello('', base));
    expect((await folder.read('hello')).campaign?.from).toBe('Riverside Restaurant Ltd');
  });
});

describe('everything that is wrong', () => {
  it.each([
    [
      'holidays',
      'send: { window: { from: "09:00", to: "20:00", holidays: [2026-12-2x, 2026-02-30, 2026-12-25, 2026-02-31] } }\n',
      '',
      ['invalid-value 6:58', 'invalid-value 6:70', 'invalid-value 6:94'],
    ],
    [
      'holidays of a country',
      '',
      'windows:\n  GB: { from: "09:00", to: "20:00", holidays: [x, 2026-02-30] }\n',
      ['invalid-value 2:48', 'invalid-value 2:51'],
    ],
    [
      'hours of a country',
      '',
      'windows:\n  GB: [{ from: "9" }, 5, { from: "09:00", to: "09:00" }]\n',
      ['missing-key 2:8', 'invalid-value 2:16', 'wrong-type 2:23', 'invalid-value 2:47'],
    ],
  ])('%s: each of two mistakes in one list is shown at its own place', async (_, lines, project, expected) => {
    await using folder = await folderWith({ ...hello(lines), 'handbill.yaml': project });
    expect(brief((await folder.read('hello')).diagnostics)).toEqual(expected);
  });

  it('is said at once, across files, in order', async () => {
    await using folder = await folderWith({
      'handbill.yaml': 'prices: none.csv\nenvironments:\n  p: { baseUrl: "http://evil.example", apiKey: { env: K } }\n',
      'campaigns/bad/campaign.yaml': [
        'name: bad',
        'chanel: sms',
        'from: Riverside Restaurant',
        'template: gone.hbs',
        'recipients: { csv: ../../../x.csv, defaultCountry: XX }',
        'validity: 0s',
        'send: { rate: quick }',
        '',
      ].join('\n'),
    });
    const { campaign, diagnostics } = await folder.read('bad');
    expect(campaign).toBeNull();
    expect(brief(diagnostics)).toEqual([
      'unknown-key 2:1',
      'sender-format 3:7',
      'file-not-found 4:11',
      'path-outside-project 5:20',
      'invalid-value 5:52',
      'invalid-value 6:11',
      'invalid-value 7:15',
      'file-not-found 1:9',
      'invalid-base-url 3:17',
    ]);
    for (const { at, source } of diagnostics) {
      expect(at?.file).toMatch(/^(campaigns\/bad\/campaign|handbill)\.yaml$/);
      expect(source).toBeDefined();
    }
  });

  it('is one error with exit status 2 for those who need the campaign', async () => {
    await using folder = await folderWith(hello('frm: x\nsnd: y\n'));
    const error = await loadCampaign('hello', { cwd: folder.root }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(HandbillError);
    expect(error).toMatchObject({ exit: 2, code: 'unknown-key', total: 2 });
  });

  it('of a file that is not YAML is reported with what is wrong in handbill.yaml', async () => {
    await using folder = await folderWith({ ...hello('', 'name: [\n'), 'handbill.yaml': 'x: 1\n' });
    expect((await folder.read('hello')).diagnostics.map((d) => d.code)).toEqual(['yaml-syntax', 'unknown-key']);
  });

  test.each([
    ['channel', 'name: hello\ntemplate: hello.hbs\nrecipients: people.csv\n', 'missing-key', /"channel" is missing/],
    ['recipients', 'name: hello\nchannel: rcs\ntemplate: hello.hbs\n', 'missing-key', /"recipients" is missing/],
    [
      'the file of the list',
      'name: hello\nchannel: rcs\ntemplate: hello.hbs\nrecipients: { to: x }\n',
      'missing-key',
      /"recipients.csv"/,
    ],
    ['template', 'name: hello\nchannel: rcs\nrecipients: people.csv\n', 'missing-key', /"template" is missing/],
    ['name', 'channel: rcs\ntemplate: hello.hbs\nrecipients: people.csv\n', 'missing-key', /"name" is missing/],
  ])('%s is missed once', async (_label, base, code, message) => {
    await using folder = await folderWith(hello('', base));
    const { diagnostics } = await folder.read('hello');
    expect(diagnostics.map((d) => d.code)).toEqual([code]);
    expect(diagnostics[0]?.message).toMatch(message);
  });

  it('does not call missing what was written wrongly', async () => {
    await using folder = await folderWith(hello('', 'name: hello\nchannel: smss\ntemplate: 5\nrecipients: [x]\n'));
    expect(brief((await folder.read('hello')).diagnostics)).toEqual([
      'invalid-value 2:10',
      'wrong-type 3:11',
      'wrong-type 4:14',
    ]);
  });

  it.each([
    ['{ list: ["+447400123456"] }', 'wrong-type', /msisdn: "\+447700900123"/],
    ['["+447400123456"]', 'wrong-type', /msisdn: "\+447700900123"/],
    ['{ list: people.csv }', 'wrong-type', /list: \[\{ msisdn/],
    ['{ list: [] }', 'invalid-value', /at least one/],
    ['{ path: people.csv }', 'unknown-key', /called "csv" here/],
  ])('is said of %s once, with what to write', async (list, code, hint) => {
    await using folder = await folderWith(
      hello('', `name: hello\nchannel: sms\ntemplate: hello.hbs\nrecipients: ${list}\n`),
    );
    const { diagnostics } = await folder.read('hello');
    expect(diagnostics.map((d) => d.code)).toEqual([code]);
    expect(diagnostics[0]?.hint).toMatch(hint);
  });

  it('may come from the defaults, and then points there', async () => {
    await using folder = await folderWith({ ...hello(), 'handbill.yaml': 'defaults:\n  timeZone: Europe/Londn\n' });
    expect((await folder.read('hello')).diagnostics).toMatchObject([
      { code: 'invalid-value', at: { file: 'handbill.yaml', line: 2, column: 13 } },
    ]);
  });
});

describe('paths in a campaign', () => {
  const template = (written: string) => SMALLEST.replace('hello.hbs', written);
  const list = (written: string) => SMALLEST.replace('people.csv', written);

  test.each(['"Hi {{name}}, your table is ready"', 'Your table is ready', '"{{name}}: https://example.com/a.html"'])(
    'a template that is a text, %s, is told how to write it',
    async (written) => {
      await using folder = await folderWith(hello('', template(written)));
      const { diagnostics } = await folder.read('hello');
      expect(diagnostics).toMatchObject([{ hint: expect.stringContaining('`template: { text: "Hi {{name}}" }`') }]);
    },
  );

  test.each([
    ['../../../../../../etc/passwd', 'path-outside-project'],
    ['/etc/passwd', 'path-outside-project'],
    ['"a\\0b"', 'path-outside-project'],
    ['passwd', 'path-outside-project'],
    ['outside/passwd', 'path-outside-project'],
    ['/dev/zero', 'path-outside-project'],
    ['zero', 'path-outside-project'],
    ['pipe', 'file-not-regular'],
    ['sub', 'file-not-regular'],
    ['HELLO.HBS', 'file-not-found'],
    ['gone', 'file-not-found'],
  ])(
    '%s',
    async (written, code) => {
      for (const base of [template(written), list(written)]) {
        await using folder = await folderWith({ ...hello('', base), 'campaigns/hello/sub/x': '' });
        const here = join(folder.root, 'campaigns/hello');
        await symlink('/etc/passwd', join(here, 'passwd'));
        await symlink('/etc', join(here, 'outside'));
        await symlink('/dev/zero', join(here, 'zero'));
        execFileSync('mkfifo', [join(here, 'pipe')]);
        const { campaign, diagnostics } = await folder.read('hello');
        expect(campaign).toBeNull();
        expect(diagnostics.map((d) => d.code)).toEqual([code]);
        expect(diagnostics[0]?.at?.line).toBe(base.includes('hello.hbs') ? 5 : 4);
      }
    },
    10_000,
  );

  it('may name what other campaigns share', async () => {
    await using folder = await folderWith({ ...hello('', list('../shared.csv')), 'campaigns/shared.csv': 'msisdn\n' });
    expect((await folder.read('hello')).campaign?.recipients.file).toBe('campaigns/shared.csv');
  });
});

describe('a list on the command line', () => {
  it('replaces the one of the campaign, which need not be there', async () => {
    await using folder = await folderWith({
      ...hello('', 'name: hello\nchannel: sms\nfrom: A1\ntemplate: hello.hbs\n'),
    });
    await using elsewhere = await folderWith({ 'list.csv': 'msisdn\n' });
    const path = join(elsewhere.root, 'list.csv');
    const { campaign, diagnostics } = await folder.read('hello', { recipients: path });
    expect(diagnostics).toEqual([]);
    expect(campaign?.recipients.path).toBe(path);
    const gone = await folder.read('hello', { recipients: 'gone.csv' });
    expect(gone.diagnostics).toMatchObject([{ code: 'file-not-found' }]);
    const forPlan = await folder.read('hello', { recipients: 'gone.csv', withoutList: true });
    expect(forPlan.diagnostics).toEqual([]);
    expect(forPlan.campaign?.recipients.missing).toMatchObject({ code: 'file-not-found' });
    expect((await folder.read('hello', { recipients: '/dev/zero' })).diagnostics).toMatchObject([
      { code: 'file-not-regular' },
    ]);
  });
});

it('says that the list is not there beside what else is wrong with the campaign', async () => {
  const text = SMALLEST.replace('people.csv', 'gone.csv').replace('channel: sms', 'channel: smss');
  await using folder = await folderWith(hello('', text));
  for (const withoutList of [true, false]) {
    const { campaign, diagnostics } = await folder.read('hello', { withoutList });
    expect(campaign).toBeNull();
    expect(diagnostics.map((d) => d.code)).toEqual(['invalid-value', 'file-not-found']);
  }
});

it('names files as the user would, from the current folder', async () => {
  await using folder = await folderWith({ ...hello('frm: x\n'), 'handbill.yaml': 'x: 1\n' });
  const files = async (cwd: string) => (await readCampaign('.', { cwd })).diagnostics.map((d) => d.at?.file);
  expect(await files(join(folder.root, 'campaigns/hello'))).toEqual(['../../handbill.yaml', 'campaign.yaml']);
});
