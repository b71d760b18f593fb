import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { validatorsSource } from '../../.scripts/validators.ts';
import {
  builtValidators,
  compiledValidators,
  type FileKind,
  SCHEMAS,
  type Validators,
} from '../../src/campaign/validators.ts';
import { examples } from '../helpers/quick.ts';
import { SMALLEST } from './helper.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');
/** Those that the build writes code for. */
const KINDS = ['campaign', 'project'] as const;

const TEXTS = new WeakMap<object, string>();

// Made anew, so that nothing here depends on when the last build was. The code looks for a part of Ajv.
const folder = mkdtempSync(join(tmpdir(), 'handbill-validators-'));
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'validators.cjs');
writeFileSync(file, validatorsSource());

const built = present(builtValidators(file));
const compiled = compiledValidators();

function present(validators: Validators | null): Validators {
  if (validators === null) throw new Error('The code that was made is not taken.');
  return validators;
}

/** Every violation that validators find, with all that is said about it. */
function errorsOf(validators: Validators, kind: FileKind, value: unknown) {
  const validate = validators(kind);
  const errors = validate(value) ? [] : (validate.errors ?? []);
  return errors.map((error) => ({ ...error, schema: textOf(error.schema), parentSchema: textOf(error.parentSchema) }));
}

/** Schemas as text: to compare whole schemas for each of thousands of errors would take 20 s. */
function textOf(schema: unknown): unknown {
  if (schema === null || typeof schema !== 'object') return schema;
  const text = TEXTS.get(schema) ?? JSON.stringify(schema);
  TEXTS.set(schema, text);
  return text;
}

function expectSame(kind: FileKind, value: unknown) {
  // Ajv first, which leaves the value as it is: code that changed it would not hide that from Ajv.
  const there = errorsOf(compiled, kind, value);
  const here = errorsOf(built, kind, value);
  // The slow comparison, which shows where they differ, only where they do.
  if (!isDeepStrictEqual(here, there)) expect(here).toEqual(there);
  return here;
}

const files = globSync(['campaigns/**/*.yaml', 'test/fixtures/**/{campaign,handbill}.yaml'], { cwd: ROOT }).map(
  (path): [path: string, kind: FileKind] => [path, basename(path) === 'handbill.yaml' ? 'project' : 'campaign'],
);

const read = (path: string): unknown => parse(readFileSync(join(ROOT, path), 'utf8'));

describe('the code that the build writes finds what Ajv finds', () => {
  it('in enough files', () => expect(files.length).toBeGreaterThan(15));

  test.each(files)('%s', (path, kind) => {
    expect(expectSame(kind, read(path))).toEqual([]);
    // As the other kind, everything is wrong with it.
    expect(expectSame(kind === 'campaign' ? 'project' : 'campaign', read(path))).not.toEqual([]);
  });

  test.each<[label: string, kind: FileKind, value: unknown]>([
    ['nothing', 'campaign', null],
    ['a list', 'project', []],
    ['a campaign without a name', 'campaign', {}],
    ['an unknown key', 'campaign', { ...parse(SMALLEST), chanel: 'sms' }],
    ['keys of every object', 'campaign', { name: 'a', toString: 1, constructor: 2, hasOwnProperty: 3 }],
    ['a prototype', 'campaign', JSON.parse('{ "name": "a", "__proto__": { "channel": 5 } }')],
    ['several mistakes', 'campaign', { name: '', from: 5, send: { rate: 50, attempts: 0, windw: {} }, template: {} }],
    ['two characters that are one', 'campaign', { name: 'a', seed: '😀'.repeat(200), from: '😀'.repeat(65_537) }],
    [
      'names of environments',
      'project',
      { environments: { 'a b': {}, sandbox: { apiKey: 'x' }, ['x'.repeat(99)]: 1 } },
    ],
    [
      'references into the other schema',
      'project',
      { defaults: { locale: '', validity: 'soon', send: { rate: 'x' } } },
    ],
  ])('%s', (_label, kind, value) => {
    expect(expectSame(kind, value)).not.toEqual([]);
  });
});

const MANY = Array.from({ length: 1_100 }, (_, n) => `item ${n}`);
const STRANGE: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e21, Number.NaN, '', ' ', '5%', '50/s', '7d', '+447700900123', '\u0000', '😀'],
  ...['x'.repeat(70_000), {}, [], [[]], ['a', 'a'], [{}, {}], MANY, { text: 'a', file: 'b', id: 'c' }, { '': 0 }],
  Object.fromEntries(MANY.map((key) => [key, 'refused'])),
  { [`${'n'.repeat(300)}`]: 'x' },
];

/** What files look like that use every key. */
const FULL: Readonly<Record<(typeof KINDS)[number], readonly unknown[]>> = {
  campaign: [...(SCHEMAS.campaign().examples ?? []), read('test/fixtures/campaign/everything/spring/campaign.yaml')],
  project: [...(SCHEMAS.project().examples ?? []), read('test/fixtures/campaign/everything/handbill.yaml')],
};

type Path = readonly (string | number)[];

function pathsIn(value: unknown): readonly Path[] {
  if (value === null || typeof value !== 'object') return [[]];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[], ...entries.flatMap(([key, inner]) => pathsIn(inner).map((path): Path => [key, ...path]))];
}

/** A copy with another value at a path; `undefined` leaves the key out. */
function withAt(value: unknown, [key, ...rest]: Path, put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? withAt(item, rest, put) : item));
  const entries = Object.entries(value as object);
  const changed = entries.map(([name, inner]) => [name, name === key ? withAt(inner, rest, put) : inner] as const);
  return Object.fromEntries(changed.filter(([, inner]) => inner !== undefined));
}

/** Examples of every key of the schema at their places, each in a file of its own. */
function keysOf(kind: FileKind): readonly unknown[] {
  return Object.entries(SCHEMAS[kind]().properties ?? {}).flatMap(([key, { examples = [] }]) =>
    examples.map((example) => ({ name: 'hello', [key]: example })),
  );
}

it('the same with each value in turn replaced by something strange, which violates every keyword in use', () => {
  const violated = new Set<string>();
  for (const kind of KINDS) {
    for (const value of [...FULL[kind], ...keysOf(kind)]) {
      for (const path of pathsIn(value)) {
        for (const put of [undefined, ...STRANGE]) {
          for (const { keyword } of expectSame(kind, withAt(value, path, put))) violated.add(keyword);
        }
      }
    }
  }
  const used = new Set(KINDS.flatMap((kind) => keywordsIn(SCHEMAS[kind]())));
  expect([...violated].sort()).toEqual([...used].filter((keyword) => !SAYS_NOTHING.has(keyword)).sort());
});

function keywordsIn(schema: unknown): readonly string[] {
  if (schema === null || typeof schema !== 'object') return [];
  return Object.entries(schema).flatMap(([keyword, inner]) => {
    if (NAMES.has(keyword)) return Object.values(inner as object).flatMap(keywordsIn);
    return SCHEMAS_IN.has(keyword) ? [keyword, ...keywordsIn(inner)] : [keyword];
  });
}

const NAMES: ReadonlySet<string> = new Set(['properties', 'definitions']);
const SCHEMAS_IN: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'propertyNames']);
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  ...['$schema', '$ref', 'title', 'description', 'examples', 'default', 'patternErrorMessage', 'items'],
  // What editors show.
  ...['defaultSnippets', 'enumDescriptions', 'errorMessage'],
]);

test.each(KINDS)('%s: several mistakes at once', (kind) => {
  const mutation = fc.record({ at: fc.nat(), put: fc.oneof(fc.constantFrom(undefined, ...STRANGE), fc.jsonValue()) });
  const start = fc.constantFrom(...FULL[kind]);
  fc.assert(
    fc.property(start, fc.array(mutation, { minLength: 1, maxLength: 6 }), (value, mutations) => {
      let mutated: unknown = value;
      for (const { at, put } of mutations) {
        const paths = pathsIn(mutated);
        mutated = withAt(mutated, paths[at % paths.length] ?? [], put);
      }
      expectSame(kind, mutated);
    }),
    { numRuns: examples(300) },
  );
});

describe('where the code cannot be used, there is none', () => {
  it('when nothing was built', () => expect(builtValidators(join(folder, 'missing.cjs'))).toBeNull());

  it('when the schemas have changed since', () => {
    const stale = join(folder, 'stale.cjs');
    writeFileSync(stale, validatorsSource().replace(/exports\.fingerprint = '\w+'/, "exports.fingerprint = '0'"));
    expect(builtValidators(stale)).toBeNull();
  });

  it('but code that is broken is said to be', () => {
    const broken = join(folder, 'broken.cjs');
    writeFileSync(broken, validatorsSource().slice(0, 10_000));
    expect(() => builtValidators(broken)).toThrow(SyntaxError);
  });
});

it('compiles the schema of provider files once a process', () => expect(built('provider')).toBe(built('provider')));

it('neither makes code at run time nor loads the compiler', () => {
  const script = `const made = require(${JSON.stringify(file)});
    const valid = [made.campaign({ name: 'a' }), made.campaign({ name: 5 }), made.project({})];
    console.log(JSON.stringify({ valid, loaded: Object.keys(require.cache).map((path) => path.replace(/.*node_modules./, '')) }));`;
  const said = execFileSync(NODE, ['--disallow-code-generation-from-strings', '-e', script], { encoding: 'utf8' });
  const { valid, loaded } = JSON.parse(said) as { valid: readonly boolean[]; loaded: readonly string[] };
  expect(valid).toEqual([true, false, true]);
  expect(loaded.filter((path) => path !== createRequire(file).resolve(file))).toEqual([
    'ajv/dist/runtime/ucs2length.js',
  ]);
});
