import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_WIRE } from '../../src/campaign/defaults.ts';
import { readEnvironments } from '../../src/campaign/environments.ts';
import { resolveSchema, SCHEMAS, type Schema } from '../../src/campaign/validators.ts';
import type { ProjectFile } from '../../src/campaign/written.ts';
import { compilePointers } from '../../src/http/answer.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { JsonObject, Wire } from '../../src/model.ts';
import { check } from '../campaign/helper.ts';

const PAGE = read('wire.md');
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

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);
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
const SETTINGS = settingsOf(WIRE, DEFAULT_WIRE);

test('every setting has a row, and every row is a setting', () => {
  expect(SETTINGS.length).toBeGreaterThan(30);
  expect([...TABLES.keys()].toSorted()).toEqual(SETTINGS.map(([name]) => name).toSorted());
  expect(SCHEMAS.project).toHaveProperty('definitions.wire');
});

test.each(SETTINGS)('%s: the default is the one in the code', (name, value) => {
  const cell = TABLES.get(name);
  if (cell === '[below](#default-places)') {
    expect(PLACES.get(name)).toBe((value as readonly string[]).map((place) => `\`${place}\``).join(' '));
  } else if (name === 'content') {
    expect(new Set(Object.values(DEFAULT_WIRE.content))).toEqual(new Set([cell?.replaceAll('`', '')]));
  } else if (name.startsWith('content.')) {
    expect(cell).toBe('that of `content`');
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

describe('the example that differs in every way', () => {
  const [, example = ''] = blocks('yaml');
  const [request = '', answer = ''] = blocks('json');
  const { value, diagnostics } = check('project', example);
  const read = readEnvironments(value as ProjectFile, null, '/');
  const wire = read.environments.get('other')?.wire;

  it('is a project file, and differs in nearly every setting', () => {
    expect([...diagnostics, ...read.diagnostics]).toEqual([]);
    const same = Object.entries(wire ?? {}).filter(([key, is]) => is === DEFAULT_WIRE[key as keyof Wire]);
    expect(same.map(([key]) => key).toSorted()).toEqual(['idempotencyHeader', 'retryStatuses', 'tooLargeStatuses']);
  });

  it('reads the answer as the page says', () => {
    if (wire === undefined) throw new Error('There is no such environment.');
    const { recipients, channel, messageType } = JSON.parse(request) as {
      recipients: { msisdn: string; metaData: Record<string, string> }[];
      channel: string;
      messageType: string;
    };
    expect([channel, messageType]).toEqual([wire.channels.rcs, wire.messageTypes['transactional']]);
    const addressees = recipients.map(({ msisdn, metaData }) => ({
      to: `+${msisdn}`,
      reference: metaData[wire.referenceName] ?? '',
    }));
    expect(addressees.map(({ reference }) => reference)).toEqual(['r-1', 'r-2']);
    const facts = { phase: 'P4', status: 200, error: null, contentType: null, retryAfter: null, latencyMs: 1 } as const;
    const context = { wire: compilePointers(wire), firstAnswer: true, nowMs: 0, stopping: false };
    expect(classifyMany({ ...facts, body: answer }, addressees, context)).toMatchObject([
      { outcome: 'accepted', messageId: 'm-1' },
      { outcome: 'rejected', reason: 'unsupported-channel', error: 'The device is an Android 4.4.' },
    ]);
  });
});
