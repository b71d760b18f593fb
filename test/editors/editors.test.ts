import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { createAjv, type FileKind, SCHEMAS, type Schema } from '../../src/campaign/validators.ts';
import { check } from '../campaign/helper.ts';
import { type LanguageServer, startLanguageServer, type Underlined } from './language-server.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CAMPAIGN = '# yaml-language-server: $schema=../../schemas/campaign.schema.json\n';
const PROJECT = '# yaml-language-server: $schema=../../schemas/project.schema.json\n';

let server: LanguageServer;
beforeAll(async () => {
  // As docs/editors.md advises: a key alone, without everything that has a default below it.
  server = await startLanguageServer({ disableDefaultProperties: true });
});
afterAll(() => server.close());

let opened = 0;
/** A campaign that was not open before: what was said of a file that was closed would still be on its way. */
function fresh(): string {
  opened += 1;
  return join(ROOT, 'campaigns', `fresh-${opened}`, 'campaign.yaml');
}

async function labels(text: string): Promise<readonly string[]> {
  return (await server.complete(text)).map(({ label }) => label);
}

describe('completion', () => {
  it('lists every key of a campaign that is not there yet, with its description', async () => {
    const proposals = await server.complete(`${CAMPAIGN}name: hello\n▮`);
    const keys = Object.keys(SCHEMAS.campaign().properties ?? {}).filter((key) => key !== 'name');
    for (const key of keys) {
      const { documentation } = proposals.find(({ label }) => label === key) ?? {};
      expect(documentation, key).toBe(SCHEMAS.campaign().properties?.[key]?.description);
    }
    expect(proposals.map(({ label }) => label)).not.toContain('name');
  });

  it('lists the keys of send, of a window in it, of a fallback and of an item of a list', async () => {
    expect(await labels(`${CAMPAIGN}send:\n  concurrency: 4\n  ▮`)).toEqual(
      expect.arrayContaining(['rate', 'attempts', 'timeout', 'window', 'canary', 'notAfter']),
    );
    expect(await labels(`${CAMPAIGN}send:\n  window:\n    ▮`)).toEqual(
      expect.arrayContaining(['from', 'to', 'days', 'timeZone', 'unknown']),
    );
    expect(await labels(`${CAMPAIGN}fallback:\n  ▮`)).toEqual(expect.arrayContaining(['channel', 'template', 'from']));
    expect(await labels(`${CAMPAIGN}variants:\n  - name: A\n    ▮`)).toEqual(
      expect.arrayContaining(['weight', 'template', 'content']),
    );
  });

  test.each([
    ['channel: ▮', ['sms', 'rcs', 'messaging-app', 'email', 'voice']],
    ['characterSet: ▮', ['auto', 'gsm', 'unicode']],
    ['recipients:\n  csv: a.csv\n  onInvalid: ▮', ['refuse', 'skip']],
    ['winner:\n  by: ▮', ['manual', 'accepted', 'delivered', 'read', 'replied', 'optedOut']],
    ['fallback:\n  - channel: ▮', ['sms', 'rcs', 'messaging-app', 'email', 'voice']],
    ['transliterate: ▮', ['true', 'false']],
    ['recipients:\n  csv: a.csv\n  columns:\n    due: ▮', ['string', 'number', 'date', 'date with a format']],
    ['recipients:\n  csv: a.csv\n  columns:\n    due:\n      ▮', ['type', 'format']],
  ])('offers the values of %j', async (text, values) => {
    expect(await labels(CAMPAIGN + text)).toEqual(expect.arrayContaining(values));
  });

  it('says what each value means', async () => {
    const proposals = await server.complete(`${CAMPAIGN}channel: ▮`);
    expect(Object.fromEntries(proposals.map(({ label, documentation }) => [label, documentation]))).toMatchObject({
      sms: 'Text message, in parts of 160 or 70 characters.',
      voice: 'A call that speaks a text.',
    });
  });

  it('inserts only a key, so that no default is written down by accident', async () => {
    const proposals = await server.complete(`${CAMPAIGN}name: hello\n▮`);
    expect(proposals.find(({ label }) => label === 'send')?.insert).toBe('send:\n  ');
  });

  it('knows handbill.yaml as well', async () => {
    expect(await labels(`${PROJECT}▮`)).toEqual(
      expect.arrayContaining(['environments', 'defaults', 'new project file']),
    );
    expect(await labels(`${PROJECT}environments:\n  production:\n    ▮`)).toEqual(
      expect.arrayContaining(['baseUrl', 'apiKey', 'rate', 'wire']),
    );
    expect(await labels(`${PROJECT}environments:\n  test:\n    webhook:\n      scheme: ▮`)).toEqual(
      expect.arrayContaining(['standard', 'hmac', 'basic', 'bearer', 'path']),
    );
  });
});

/** What is there once every place has been left as it is proposed. */
function accepted(snippet: string): string {
  return snippet
    .replaceAll(/\$\{\d+\|([^,|]*)[^}]*\}/g, '$1')
    .replaceAll(/\$\{\d+:((?:[^}\\]|\\.)*)\}/g, '$1')
    .replaceAll(/\\([$}\\])/g, '$1');
}

describe('a new file', () => {
  test.each([
    ['campaign', 'new SMS campaign'],
    ['campaign', 'new email campaign'],
    ['campaign', 'new RCS campaign with an SMS instead'],
    ['project', 'new project file'],
  ] as const)('%s: "%s" is one that handbill takes', async (kind, label) => {
    const proposals = await server.complete(`${kind === 'campaign' ? CAMPAIGN : PROJECT}▮`);
    const text = accepted(proposals.find((one) => one.label === label)?.insert ?? '');
    expect(text.length).toBeGreaterThan(30);
    expect(check(kind, text).diagnostics).toEqual([]);
  });

  it('offers nothing else that is not a key', () => {
    expect(SCHEMAS.campaign()).toHaveProperty('defaultSnippets.length', 3);
    expect(SCHEMAS.project()).toHaveProperty('defaultSnippets.length', 1);
  });
});

/** The value that a snippet of a schema comes to. */
function filledIn(body: unknown): unknown {
  if (typeof body === 'string') return parse(accepted(body)) as unknown;
  if (Array.isArray(body)) return body.map(filledIn);
  return Object.fromEntries(Object.entries(body as object).map(([key, inner]) => [accepted(key), filledIn(inner)]));
}

type Snippeted = Schema & { readonly defaultSnippets?: readonly { readonly label: string; readonly body: unknown }[] };

function snippetsOf(
  kind: FileKind,
  schema: Snippeted,
  path: string,
): readonly (readonly [string, FileKind, Snippeted])[] {
  const own = schema.defaultSnippets === undefined ? [] : [[`${kind} ${path}`, kind, schema] as const];
  const below = Object.entries(schema.properties ?? {});
  return [...own, ...below.flatMap(([key, inner]) => snippetsOf(kind, inner, `${path}/${key}`))];
}

describe('snippets', () => {
  const all = (['campaign', 'project'] as const).flatMap((kind) => snippetsOf(kind, SCHEMAS[kind](), ''));

  it('are found', () => expect(all.length).toBeGreaterThan(10));

  test.each(all)('%s: each is a value that the schema takes', (_label, kind, schema) => {
    const validate = createAjv().compile({
      ...schema,
      definitions: (SCHEMAS[kind]() as { definitions?: object }).definitions ?? {},
    });
    for (const { label, body } of schema.defaultSnippets ?? []) {
      expect(validate(filledIn(body)), `${label}: ${JSON.stringify([filledIn(body), validate.errors])}`).toBe(true);
    }
  });
});

describe('hover', () => {
  test.each([
    ['send:\n  concurr▮ency: 4', 'Requests in flight at once, 1 to 1024. Default: `16`.'],
    ['send:\n  time▮out: 5s', '1 second to 10 minutes. Default: `20s`.'],
    ['send:\n  rate: 50▮/s', 'Most requests per second, minute or hour over the whole run. Default: no limit.'],
    ['limits:\n  max▮Cost: 5', 'in the currency of the price list'],
    ['val▮idity: 24h', 'a duration from the first start of the run, or an instant'],
    ['fallback:\n  fr▮om: Riverside', 'Sender that the recipient sees.'],
  ])('%j says what it is, its unit and its default', async (text, says) => {
    expect(await server.hover(CAMPAIGN + text)).toContain(says);
  });

  it('shows an example as YAML, and what each value means', async () => {
    const text = await server.hover(`${CAMPAIGN}send:\n  ra▮te: 50/s`);
    expect(text).toContain('```yaml\n50/s\n```');
    expect(await server.hover(`${CAMPAIGN}cha▮nnel: sms`)).toContain('* `voice`: A call that speaks a text.');
  });

  test.each([
    ['environments:\n  production:\n    base▮Url: https://api.example.com', 'Address of the API'],
    ['environments:\n  production:\n    wire:\n      msi▮sdn: e164', 'How numbers are written'],
    ['defaults:\n  send:\n    concurr▮ency: 4', 'Requests in flight at once'],
    ['environments:\n  test:\n    webhook:\n      toler▮ance: 5m', 'Default: `5m`.'],
  ])('in handbill.yaml, %j as well', async (text, says) => {
    expect(await server.hover(PROJECT + text)).toContain(says);
  });
});

/** Several files at once, because the server waits a quarter of a second before it looks at one. */
async function diagnoseAll(
  files: readonly (readonly [label: string, text: string, path?: string])[],
): Promise<ReadonlyMap<string, readonly Underlined[]>> {
  const found = files.map(
    async ([label, text, path]) => [label, await server.diagnose(path ?? fresh(), text)] as const,
  );
  return new Map(await Promise.all(found));
}

/** A file, the line that is underlined, and what is said of it. */
const MISTAKES: readonly (readonly [text: string, line: number, message: string])[] = [
  ['name: hello\nchanel: sms', 3, 'Property chanel is not allowed.'],
  ['name: hello\nsend: { concurency: 4 }', 3, 'Property concurency is not allowed.'],
  ['name: Hello', 2, 'Use lower-case letters, digits and hyphens (not first), at most 64.'],
  [
    'name: hello\nchannel: fax',
    3,
    'Value is not accepted. Valid values: "sms", "rcs", "messaging-app", "email", "voice".',
  ],
  ['name: hello\nfrom: 447700900100', 3, 'Write text. Put numbers in quotes, so that it keeps a + or a 0 in front.'],
  ['name: hello\nsend: { concurrency: many }', 3, 'Write a whole number from 1 to 1024.'],
  ['name: hello\nsend: { rate: 50 }', 3, 'Write a number per second, minute or hour: 50/s, 600/min, 1000/h.'],
  [
    'name: hello\nsend: { timeout: 30 }',
    3,
    'Write a duration with its unit: 30s, 5m, 24h, 7d, or ISO 8601 such as PT30S.',
  ],
  ['name: hello\ntransliterate: maybe', 3, 'Write true or false.'],
  ['channel: sms', 2, 'Missing property "name".'],
];

describe('errors', () => {
  let all: ReadonlyMap<string, readonly Underlined[]>;
  beforeAll(async () => {
    all = await diagnoseAll(MISTAKES.map(([text]) => [text, CAMPAIGN + text]));
  });

  test.each(MISTAKES)('%j, line %i: %s', (text, line, message) => {
    expect(all.get(text)).toEqual([{ line, message }]);
  });

  it('finds what handbill finds, in a file with several mistakes', async () => {
    const text = 'name: Hello\nchanel: sms\nsend: { concurrency: many, rate: fast }\nlimits: { maxParts: none }\n';
    const found = await server.diagnose(fresh(), CAMPAIGN + text);
    const own = check('campaign', CAMPAIGN + text).diagnostics;
    expect(found.map(({ line }) => line)).toEqual(own.map(({ at }) => at?.line).toSorted((a = 0, b = 0) => a - b));
  });
});

/** Campaigns of guides: whole ones begin with their name. What docs/diagnostics shows is wrong on purpose. */
const PAGES = globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => !page.startsWith('docs/diagnostics'));
const GUIDES = PAGES.flatMap((page) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```yaml\n((?:#.*\n)*name: [\s\S]*?)^```/gm)].map(
    ([, text = ''], index) => [`${page} ${index + 1}`, CAMPAIGN + text] as const,
  ),
);
const EXAMPLES = globSync('campaigns/**/*.yaml', { cwd: ROOT }).map(
  (file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const,
);

/** A mistake at the end, because nothing is said of a file that has none, nor of one whose schema was not found. */
const WRONG = 'planted: 1\n';
function onlyThat(text: string): readonly Underlined[] {
  return [{ line: text.split('\n').length, message: 'Property planted is not allowed.' }];
}

describe('no false error', () => {
  it('is tried on something', () => {
    expect(EXAMPLES.length).toBeGreaterThan(13);
    expect(GUIDES.length).toBeGreaterThan(20);
  });

  let all: ReadonlyMap<string, readonly Underlined[]>;
  beforeAll(async () => {
    all = await diagnoseAll([
      ...EXAMPLES.map(([file, text]) => [file, text + WRONG, join(ROOT, file)] as const),
      ...GUIDES.map(([label, text]) => [label, text + WRONG] as const),
    ]);
  });

  test.each(EXAMPLES)('%s', (file, text) => {
    expect(text).toMatch(/^# yaml-language-server: \$schema=/);
    expect(all.get(file)).toEqual(onlyThat(text));
  });

  test.each(GUIDES)('%s', (label, text) => {
    expect(all.get(label)).toEqual(onlyThat(text));
  });
});

describe('without a line in the file, by the setting yaml.schemas', () => {
  let settled: LanguageServer;
  beforeAll(async () => {
    // What the page tells people to write; in a clone the schemas lie at the root.
    const [, text = ''] =
      /^```json\n([\s\S]*?)^```/m.exec(readFileSync(join(ROOT, 'docs', 'editors.md'), 'utf8')) ?? [];
    const written = JSON.parse(text.replaceAll('./node_modules/handbill/', './')) as Readonly<Record<string, unknown>>;
    const settings = Object.entries(written).map(([key, value]) => [key.replace(/^yaml\./, ''), value] as const);
    settled = await startLanguageServer(Object.fromEntries(settings));
  });
  afterAll(() => settled.close());

  it('both kinds of file are known by where they lie', async () => {
    expect(await settled.diagnose(fresh(), 'name: hello\nchanel: sms\n')).toEqual([
      { line: 2, message: 'Property chanel is not allowed.' },
    ]);
    expect(await settled.diagnose(join(ROOT, 'handbill.yaml'), 'enviroments: {}\n')).toEqual([
      { line: 1, message: 'Property enviroments is not allowed.' },
    ]);
    expect(await settled.diagnose(join(ROOT, 'other.yaml'), 'anything: 1\n')).toEqual([]);
    const keys = await settled.complete('name: a\nsend:\n  ▮', fresh());
    expect(keys.map(({ label }) => label)).toContain('concurrency');
  });
});
