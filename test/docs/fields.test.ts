import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Json, JsonObject } from '../../src/model.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { compileMessageCheck, readDescription } from '../../src/sandbox/form.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DOCS = join(ROOT, 'docs');
const PAGE = readFileSync(join(DOCS, 'fields.md'), 'utf8');

interface Row {
  readonly what: string;
  /** Keys of a campaign file. */
  readonly written: JsonObject;
  readonly tests: readonly string[];
}

/** The rows of one of the tables, by what its first column is called. */
function rowsOf(head: string): readonly Row[] {
  const table = new RegExp(`^\\| ${head} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm').exec(PAGE)?.[1] ?? '';
  return table
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, what = '', written = '', tests = ''] = /^\| (.*?) \| (.*) \| (.*?) \|$/.exec(line) ?? [];
      const parts = [...written.matchAll(/`([^`]+)`/g)].map(([, yaml = '']) => parse(yaml) as JsonObject);
      return {
        what: what.replaceAll('`', ''),
        written: Object.assign({}, ...parts) as JsonObject,
        tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => join(ROOT, 'test', `${name}.test.ts`)),
      };
    });
}

const FIELDS = rowsOf('field');
const CHANNELS = rowsOf('what is sent');
const FEATURES = rowsOf('feature');

const PEOPLE = [
  'msisdn,mobile,email,contact_id,customer_id,first_name,city,photo',
  ...Array.from(
    { length: 20 },
    (_, i) =>
      `+4477009001${i + 10},07700 9002${i + 10},p${i}@example.com,c-${i},${i},Ada,Bath,https://riverside.example/${i}.jpg`,
  ),
].join('\n');

const FILES: Readonly<Record<string, string>> = {
  'handbill.yaml': '{}\n',
  'hello/people.csv': PEOPLE,
  'hello/optouts.csv': 'msisdn\n+447700900999\n',
  'hello/mail.html': '<p>Hello {{first_name}}</p>',
  'hello/mail.mjml':
    '<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>',
};

const SMALLEST = { name: 'hello', channel: 'sms', from: 'Riverside', recipients: 'people.csv' };
const MESSAGE = { template: { text: 'Hello {{first_name}}' } };

/** What the campaign of a row would post: the smallest one, with what the row says. */
async function requestsOf({ written }: Row): Promise<readonly JsonObject[]> {
  const says = 'content' in written || 'template' in written || 'variants' in written;
  const folder = mkdtempSync(join(tmpdir(), 'handbill-fields-'));
  try {
    const campaign = stringify({ ...SMALLEST, ...(says ? {} : MESSAGE), ...written });
    for (const [path, text] of Object.entries({ ...FILES, 'hello/campaign.yaml': campaign })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const bodies: string[] = [];
    const shown = await previewRows('hello', { cwd: folder, now: () => Date.UTC(2026, 10, 21) });
    for await (const batch of shown.batches) {
      for (const { request, fallbacks } of batch) {
        bodies.push(...[...(request === null ? [] : [request]), ...fallbacks].map(({ body }) => body));
      }
    }
    return bodies.map((body) => JSON.parse(body) as JsonObject);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The values at a field, such as `recipients[].msisdn`; none where it is not. */
function valuesAt(value: Json | undefined, [name, ...rest]: readonly string[]): readonly Json[] {
  if (value === undefined) return [];
  if (name === undefined) return [value];
  if (name === '[]') return Array.isArray(value) ? value.flatMap((item: Json) => valuesAt(item, rest)) : [];
  return valuesAt((value as JsonObject)[name], rest);
}

function segmentsOf(field: string): readonly string[] {
  return field.replaceAll('[]', '.[]').split('.');
}

const { isMessage, faults } = compileMessageCheck();

describe('every row makes a message that the API takes', () => {
  const rows = [...FIELDS, ...CHANNELS, ...FEATURES];

  test.each(rows)('$what', async (row) => {
    const requests = await requestsOf(row);
    expect(requests.length).toBeGreaterThan(0);
    for (const body of requests) expect(isMessage(body), JSON.stringify([faults(), body])).toBe(true);
  });

  test.each(rows)('$what: has tests', ({ tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    for (const path of tests) expect(readFileSync(path, 'utf8'), path).toMatch(/^\s*(?:it|test|golden)\b/m);
  });
});

describe('the fields', () => {
  test.each(FIELDS)('$what is in the request, and the first of its tests speaks of it', async (row) => {
    expect(readFileSync(row.tests[0] ?? '', 'utf8')).toContain(segmentsOf(row.what).at(-1));
    const without = await requestsOf({ ...row, written: {} });
    const requests = await requestsOf(row);
    const place = segmentsOf(row.what);
    for (const body of requests) expect(valuesAt(body, place).length, JSON.stringify(body)).toBeGreaterThan(0);
    // What the smallest campaign has too proves nothing by being there.
    if (!['name', 'from', 'body.text'].includes(row.what)) {
      expect(requests.map((body) => valuesAt(body, place))).not.toEqual(without.map((body) => valuesAt(body, place)));
    }
  });

  it('are all that the description of the API has', () => {
    const { components } = readDescription() as unknown as { components: { schemas: Record<string, Described> } };
    const message = components.schemas['Message'];
    const own = Object.keys(message?.properties ?? {}).filter(
      (name) => !['body', 'recipients', 'addressBook'].includes(name),
    );
    const listed = FIELDS.map(({ what }) => what);
    expect(listed).toEqual(expect.arrayContaining(own));
    expect(listed.filter((what) => !/[.[]/.test(what)).toSorted()).toEqual(own.toSorted());
  });
});

interface Described {
  readonly properties?: Readonly<Record<string, unknown>>;
}

it('the tables have every channel', () => {
  const channels = [...FIELDS, ...CHANNELS].map(({ written }) => written['channel'] ?? 'sms');
  expect([...new Set(channels)].toSorted()).toEqual(['email', 'messaging-app', 'rcs', 'sms', 'voice']);
});
