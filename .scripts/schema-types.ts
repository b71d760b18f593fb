/**
 * Writes src/campaign/schema-types.d.ts: the types of campaign and project files, from their schemas. `npm run build` and
 * `npm run types` write it; it is not in git. It knows the keywords that these schemas use, and no others.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type FileKind, resolveSchema, SCHEMAS, type Schema } from '../src/campaign/validators.ts';

const FILE = new URL('../src/campaign/schema-types.d.ts', import.meta.url);

/** The text of the file. */
export function schemaTypes(): string {
  return `import type { Json } from '../util/json.ts';

export type CampaignSchema = ${typeOf(SCHEMAS.campaign(), 'campaign')};

export type ProjectSchema = ${typeOf(SCHEMAS.project(), 'project')};

export type ProviderSchema = ${typeOf(SCHEMAS.provider(), 'provider')};
`;
}

export function typeOf(written: Schema, of: FileKind): string {
  const { schema, kind } = resolveSchema(written, of);
  const unknown = ['anyOf', 'oneOf', 'allOf', 'const', 'not', 'patternProperties'].filter((word) => word in schema);
  if (unknown.length > 0) throw new Error(`The types of a file cannot say "${unknown.join('", "')}".`);
  const words = schema.enum ?? wordsOf(schema.pattern);
  const names = [schema.type ?? 'string'].flat();
  return names.map((name) => (SCALARS.has(name) ? scalar(name, words) : other(name, schema, kind))).join(' | ');
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'boolean', 'null']);

function scalar(name: string, words: Schema['enum']): string {
  return words === undefined ? name : words.map((word) => JSON.stringify(word)).join(' | ');
}

/** `^(?:none|always)$` allows two words. */
function wordsOf(pattern = ''): readonly string[] | undefined {
  return /^\^(?:\(\?:)?([a-z|-]+)\)?\$$/.exec(pattern)?.[1]?.split('|');
}

function other(name: string, schema: Schema, kind: FileKind): string {
  if (name === 'array') return `readonly (${schema.items === undefined ? 'Json' : typeOf(schema.items, kind)})[]`;
  return name === 'object' ? mapping(schema, kind) : 'number';
}

function mapping(schema: Schema, kind: FileKind): string {
  const {
    additionalProperties: rest,
    properties = {},
    propertyNames,
    required = [],
    minProperties,
    maxProperties,
  } = schema;
  if (typeof rest === 'object') {
    const keys = propertyNames === undefined ? 'string' : typeOf(propertyNames, kind);
    return `{ readonly [K in ${keys}]${keys === 'string' ? '' : '?'}: ${typeOf(rest, kind)} }`;
  }
  if (rest === true) return '{ readonly [key: string]: Json }';
  const entries = Object.entries(properties);
  const typed = (key: string, mark: string, value: Schema) => `readonly ${nameOf(key)}${mark}: ${typeOf(value, kind)}`;
  // Exactly one of the keys.
  if (minProperties === 1 && maxProperties === 1) {
    return entries.map(([key, value]) => `{ ${typed(key, '', value)} }`).join(' | ');
  }
  return `{ ${entries.map(([key, value]) => typed(key, required.includes(key) ? '' : '?', value)).join('; ')} }`;
}

function nameOf(key: string): string {
  return /^\w+$/.test(key) ? key : JSON.stringify(key);
}

/** An unchanged file stays as it is: a build that is younger than it stays fresh. */
export function writeSchemaTypes(): void {
  const text = schemaTypes();
  if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) writeFileSync(FILE, text);
}

if (import.meta.main) writeSchemaTypes();
