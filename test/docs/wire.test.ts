import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { MAPPINGS, PLACEHOLDERS } from '../../.scripts/docs-notation.ts';
import { DEFAULT_WIRE } from '../../src/campaign/defaults.ts';
import { readEnvironments } from '../../src/campaign/environments.ts';
import { builtIn, DEFAULT_PROVIDER, parseProvider, providerNames } from '../../src/campaign/read-provider.ts';
import { resolveSchema, SCHEMAS, type Schema } from '../../src/campaign/validators.ts';
import type { ProjectFile } from '../../src/campaign/written.ts';
import { compilePointers } from '../../src/http/answer.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { JsonObject } from '../../src/model.ts';
import { piecesOf } from '../../src/providers/text.ts';
import { isKnownName, VALUE_NAMES } from '../../src/providers/values.ts';
import { check } from '../campaign/helper.ts';
import { blocks, entryOf, example, formOf, PAGE, wireOfExample } from './provider-page.ts';

const REFERENCE = read('reference/wire-settings.md');
const DEFAULTS_AT = REFERENCE.indexOf('## Default places');
const TABLES = rowsOf(REFERENCE.slice(0, DEFAULTS_AT));
const PLACES = rowsOf(REFERENCE.slice(DEFAULTS_AT));

function read(page: string): string {
  return readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8');
}

/** The rows of tables that begin with a setting: its name, and the cell beside it. */
function rowsOf(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/^\| `([\w.-]+)` \| (.*?) \|/gm)].map(([, name = '', cell = '']) => [name, cell]));
}

/** Every setting of the schema that is no group of others, and what the code has for it. */
function settingsOf(schema: Schema, value: unknown, path: readonly string[] = []): readonly [string, unknown][] {
  return Object.entries(keysOf(schema)).flatMap(([key, inner]) => {
    const name = [...path, key];
    const own = (value as JsonObject)[key];
    const hasKeys = Object.keys(keysOf(inner)).length > 0;
    const isGroup = hasKeys && inner.default === undefined;
    const below = hasKeys ? settingsOf(inner, own, name) : [];
    return isGroup ? below : [[name.join('.'), own] as [string, unknown], ...below];
  });
}

/** The keys of a mapping; where its names are a list (the channels), those. */
function keysOf({ properties = {}, propertyNames, additionalProperties }: Schema): Readonly<Record<string, Schema>> {
  const names = propertyNames === undefined ? [] : (resolveSchema(propertyNames, 'project').schema.enum ?? []);
  return { ...properties, ...Object.fromEntries(names.map((name) => [String(name), additionalProperties as Schema])) };
}

const WIRE = resolveSchema({ $ref: '#/definitions/wire' }, 'project').schema;
const SETTINGS = settingsOf(WIRE, { ...builtIn(DEFAULT_PROVIDER).provider, ...DEFAULT_WIRE });

test('every setting has a row, and every row is a setting', () => {
  expect(SETTINGS.length).toBeGreaterThan(20);
  expect([...TABLES.keys()].toSorted()).toEqual(SETTINGS.map(([name]) => name).toSorted());
  expect(SCHEMAS.project()).toHaveProperty('definitions.wire');
});

test.each(SETTINGS)('%s: the default is the one in the code', (name, value) => {
  const cell = TABLES.get(name);
  if (cell === '[below](#default-places)') {
    expect(PLACES.get(name)).toBe((value as readonly string[]).map((place) => `\`${place}\``).join(' '));
  } else if (cell === 'none') {
    expect(value ?? []).toEqual([]);
  } else {
    expect(parse(cell?.replaceAll('`', '') ?? '')).toEqual(value);
  }
});

test('default places are those of settings that say so', () => {
  const said = [...TABLES].filter(([, cell]) => cell.includes('#default-places')).map(([name]) => name);
  expect([...PLACES.keys()].toSorted()).toEqual(said.toSorted());
});

describe('the provider file of the page', () => {
  const [request = '', answer = ''] = blocks('json');

  it('is one, and so are the settings beside it', () => {
    const [settings = ''] = blocks('yaml');
    const { value, diagnostics } = check('project', settings);
    const read = readEnvironments(value as ProjectFile, null, '/', new Map([['production', example()]]));
    expect([...diagnostics, ...read.diagnostics]).toEqual([]);
    expect(settings).toContain('provider: ./providers/other.yaml');
  });

  it('makes the request of the page', () => {
    const form = formOf(example().provider, 'rcs');
    const bytes = form.write([
      entryOf('+447700900124', 'r-1', { buttons: [{ text: 'Thanks' }] }),
      entryOf('+447700900844', 'r-2', { buttons: [{ text: 'Thanks' }] }),
    ]);
    expect(bytes).toBe(JSON.stringify(JSON.parse(request)));
    expect(form.addressesIn(bytes)).toEqual(['+447700900124', '+447700900844']);
  });

  it('reads the answer as the page says', () => {
    const addressees = [
      { to: '+447700900124', reference: 'r-1' },
      { to: '+447700900844', reference: 'r-2' },
    ];
    const facts = { phase: 'P4', status: 200, error: null, contentType: null, retryAfter: null, latencyMs: 1 } as const;
    const context = { wire: compilePointers(wireOfExample()), firstAnswer: true, nowMs: 0, stopping: false };
    expect(classifyMany({ ...facts, body: answer }, addressees, context)).toMatchObject([
      { outcome: 'accepted', messageId: 'm-1' },
      { outcome: 'rejected', reason: 'unsupported-channel', error: 'The device is an Android 4.4.' },
    ]);
  });
});

test('docs/provider-file.md has every placeholder, and the example of each mapping is one', () => {
  expect(Object.keys(PLACEHOLDERS).toSorted()).toEqual(VALUE_NAMES.toSorted());
  const mappings = Object.entries(MAPPINGS);
  expect(mappings.length).toBeGreaterThan(3);
  for (const [key, [form]] of mappings) {
    const tree = parse(form.replace('TREE', '"{to}"')) as JsonObject;
    expect(Object.keys(tree)).toContain(key);
    const json = { to: '{to}', tree: key === '$do' ? { $each: 'recipients', ...tree } : tree };
    const file = { title: 'T', url: 'https://t.example/', channels: { sms: 'sms' }, requests: [{ json }] };
    const read = parseProvider('t', Buffer.from(JSON.stringify(file)), 't.yaml');
    expect('diagnostics' in read ? read.diagnostics : []).toEqual([]);
  }
});

describe('the placeholders of the page', () => {
  const [, table = ''] = PAGE.split('\n## Placeholders\n');
  const names = [...(table.split('\n## ')[0] ?? '').matchAll(/`\{([\w.]+)\}`/g)].map(([, name = '']) => name);

  it.each(names.filter((name) => !/^(?:var|secret|a$|b$)/.test(name)))('%s exists', (name) => {
    expect(name === 'baseUrl' || isKnownName(name)).toBe(true);
  });

  it.each(providerNames())('are all that %s has', (name) => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'src', 'providers', `${name}.yaml`), 'utf8');
    const { url, auth = null, headers = {}, requests } = parse(text) as JsonObject;
    const used = textsIn({ url, auth, headers, requests }).flatMap((one) =>
      (piecesOf(one) ?? []).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name])),
    );
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((one) => !isOnPage(one))).toEqual([]);
  });

  function isOnPage(name: string): boolean {
    return names.includes(name) || /^(?:var|secret|variables|content)\./.test(name);
  }

  function textsIn(value: unknown): readonly string[] {
    if (typeof value === 'string') return [value];
    if (value === null || typeof value !== 'object') return [];
    return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
  }
});
