/**
 * Writes types from schemas: those of campaign and project files to src/campaign/schema-types.d.ts, those of results to
 * src/model/result-types.ts. `npm run build` and `npm run types` write them; they are not in git. It knows the keywords
 * that these schemas use, and no others.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type FileKind, resolveSchema, SCHEMAS, type Schema } from '../src/campaign/validators.ts';

const FILES = [
  { file: new URL('../src/campaign/schema-types.d.ts', import.meta.url), make: schemaTypes },
  { file: new URL('../src/model/result-types.ts', import.meta.url), make: resultTypes },
];

/** The schemas of results whose types are made. */
const RESULTS = [
  'diff',
  'doctor',
  'doubts',
  'due',
  'erasure',
  'log',
  'person',
  'purge',
  'reconciliation',
  'rehearsal',
  'replies',
  'report',
  'suppression-check',
] as const;
type Kind = FileKind | (typeof RESULTS)[number];

interface AnySchema extends Schema {
  readonly const?: unknown;
  readonly anyOf?: readonly AnySchema[];
  readonly oneOf?: readonly AnySchema[];
  readonly allOf?: readonly AnySchema[];
}

/** The text of the file with the types of inputs. */
export function schemaTypes(): string {
  return `import type { Json } from '../util/json.ts';

export type CampaignSchema = ${typeOf(SCHEMAS.campaign(), 'campaign')};

export type ProjectSchema = ${typeOf(SCHEMAS.project(), 'project')};

export type ProviderSchema = ${typeOf(SCHEMAS.provider(), 'provider')};
`;
}

/**
 * The text of the file with the types of results: one for each schema (`Report`) and for each of its definitions
 * (`ReportHalt`), a line each.
 */
export function resultTypes(): string {
  const declarations = RESULTS.flatMap((kind) => {
    const { definitions, oneOf, ...root } = resultSchema(kind);
    // The command line adds warnings about the ledger to any result.
    const { warnings: _, ...properties } = root.properties ?? {};
    const all = Object.entries<AnySchema>({ '': { ...root, properties }, ...definitions });
    const declared = all.map(
      ([name, schema]) => `${docOf(schema)}${declaration(nameOfType(kind, name), typeOf(schema, kind))}\n`,
    );
    return oneOf === undefined ? declared : [...declared, fieldsBy(nameOfType(kind), oneOf)];
  });
  return `import type { Code } from '../errors.ts';\nimport type { Json } from '../util/json.ts';\n${declarations.join('')}`;
}

export function resultSchema(kind: (typeof RESULTS)[number]) {
  const text = readFileSync(new URL(`../schemas/${kind}.schema.json`, import.meta.url), 'utf8');
  return JSON.parse(text) as AnySchema & { readonly definitions?: Readonly<Record<string, AnySchema>> };
}

/** `LogFields`: for each event, the fields that its records have beside the common ones. */
function fieldsBy(name: string, branches: readonly AnySchema[]): string {
  const fields = branches.map(({ properties = {}, required = [] }) => {
    const [word] = Object.values<AnySchema>(properties).map((one) => JSON.stringify(one.const));
    return `readonly ${word}: Required<Pick<${name}, ${required.map((one) => JSON.stringify(one)).join(' | ') || 'never'}>>`;
  });
  return `export interface ${name}Fields { ${fields.join('; ')} }\n`;
}

/** The same for users of the library: the compiler loses a docstring that does not begin a line. */
export function publicResultTypes(): string {
  return resultTypes().replaceAll(/ ?(\/\*\* .*? \*\/) /g, '\n$1\n');
}

/** `report` and `halt` make `ReportHalt`. */
function nameOfType(...words: readonly string[]): string {
  return words
    .flatMap((word) => word.split('-'))
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function declaration(name: string, type: string): string {
  const isInterface = type.startsWith('{') && !type.startsWith('{ readonly [');
  return isInterface ? `export interface ${name} ${type}` : `export type ${name} = ${type};`;
}

function docOf({ description }: Schema): string {
  return description === undefined ? '' : `/** ${description.replaceAll('*/', '*\\/')} */ `;
}

export function typeOf(written: AnySchema, of: Kind): string {
  const either = written.anyOf ?? written.oneOf;
  if (either !== undefined) return either.map((one) => typeOf(one, of)).join(' | ');
  if (written.allOf !== undefined) {
    const { allOf, ...own } = written;
    return [...allOf, { type: 'object', ...own }].map((one) => typeOf(one, of)).join(' & ');
  }
  const local = /^#\/definitions\/(.*)/.exec(written.$ref ?? '')?.[1];
  if (local !== undefined && !(of in SCHEMAS)) return nameOfType(of, local);
  const { schema, kind }: { readonly schema: AnySchema; readonly kind: Kind } =
    written.$ref === undefined ? { schema: written, kind: of } : resolveSchema(written, of as FileKind);
  const unknown = ['not', 'patternProperties'].filter((word) => word in schema);
  if (unknown.length > 0) throw new Error(`The types of a file cannot say "${unknown.join('", "')}".`);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const words = schema.enum ?? wordsOf(schema.pattern);
  const names = [schema.type ?? 'string'].flat();
  if (schema.enum !== undefined && names.every((name) => SCALARS.has(name))) return scalar('', words);
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

function other(name: string, schema: Schema, kind: Kind): string {
  if (name === 'array') return `readonly (${schema.items === undefined ? 'Json' : typeOf(schema.items, kind)})[]`;
  return name === 'object' ? mapping(schema, kind) : (schema.enum?.join(' | ') ?? 'number');
}

function mapping(schema: Schema, kind: Kind): string {
  const { additionalProperties: rest, properties, propertyNames, required = [], minProperties, maxProperties } = schema;
  if (typeof rest === 'object') {
    const keys = propertyNames === undefined ? 'string' : typeOf(propertyNames, kind);
    return `{ readonly [K in ${keys}]${keys === 'string' ? '' : '?'}: ${typeOf(rest, kind)} }`;
  }
  if (rest === true || properties === undefined) return '{ readonly [key: string]: Json }';
  const entries = Object.entries(properties);
  const typed = (key: string, mark: string, value: Schema) => {
    if (kind in SCHEMAS) return `readonly ${nameOf(key)}${mark}: ${typeOf(value, kind)}`;
    // Schemas of results do not list the codes of diagnostics.
    const type = key === 'code' ? typeOf(value, kind).replace('string', 'Code') : typeOf(value, kind);
    return `${docOf(value)}readonly ${nameOf(key)}${mark}: ${type}`;
  };
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
  for (const { file, make } of FILES) {
    const text = make();
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  }
}

if (import.meta.main) writeSchemaTypes();
