import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Ajv, Options, ValidateFunction } from 'ajv';
import { problem, refuse } from '../errors.ts';
import type { Json } from '../util/json.ts';
import { onDemand } from '../util/on-demand.ts';

export type FileKind = 'campaign' | 'project' | 'provider';

export function eachKind<T>(make: (kind: FileKind) => T): Readonly<Record<FileKind, T>> {
  return { campaign: make('campaign'), project: make('project'), provider: make('provider') };
}

export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly Json[];
  readonly propertyNames?: Schema;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly patternErrorMessage?: string;
}

/** `schemas/` is two levels up from both `src/campaign/` and `dist/campaign/`. */
const TEXTS = eachKind((kind) => readFileSync(new URL(`../../schemas/${kind}.schema.json`, import.meta.url), 'utf8'));

/** Shipped with the package, never loaded from elsewhere. Read when something is wrong: the built code needs none. */
export const SCHEMAS = eachKind((kind) => onDemand(() => JSON.parse(TEXTS[kind]) as Schema));

export const schemaFingerprint = onDemand((): string => hash('sha256', Object.values(TEXTS).join('\0')));

/** The schemas that dist/ was built with; sources have none. */
declare const BUILT_SCHEMAS: string | undefined;

// The code of another build would accept a key that it does not know, and ignore it.
if (typeof BUILT_SCHEMAS !== 'undefined' && BUILT_SCHEMAS !== schemaFingerprint()) {
  const message = 'The files in schemas/ changed after this handbill was built.';
  const hint = 'In a clone: npm run build. A package that was changed: install it again.';
  throw refuse(problem('other-build', message, { hint }));
}

export function resolveSchema(schema: Schema, kind: FileKind): { readonly schema: Schema; readonly kind: FileKind } {
  if (schema.$ref === undefined) return { schema, kind };
  const [file = '', fragment = ''] = schema.$ref.split('#');
  const target = file === '' ? kind : (file.slice(0, -'.schema.json'.length) as FileKind);
  let found: unknown = SCHEMAS[target]();
  for (const key of fragment.split('/').slice(1)) found = (found as Record<string, unknown>)[key];
  return resolveSchema(found as Schema, target);
}

export type Validators = (kind: FileKind) => ValidateFunction;

/** The output of `.scripts/validators.ts`: the validators, and the fingerprint of their schemas. */
type Built = Readonly<Record<'campaign' | 'project', ValidateFunction>> & { readonly fingerprint: string };

/**
 * The validators that the build has written as code. Loading them takes 12 ms of CPU; loading Ajv and compiling both
 * schemas took 200 ms on the same machine, at each start. Null: there are none, or the schemas have changed since.
 * @throws any error of existing code that fails to load
 */
export function builtValidators(file: string): Validators | null {
  try {
    const built = require(file) as Built;
    if (built.fingerprint !== schemaFingerprint()) return null;
    // Few projects have a provider file, whose validator would be read at every start.
    const compiled = onDemand(compiledValidators);
    return (kind) => (kind === 'provider' ? compiled()(kind) : built[kind]);
  } catch (error) {
    // The second: a build that runs now has removed it.
    if (error instanceof Error && 'code' in error && ABSENT.has(error.code)) return null;
    throw error;
  }
}

/** Compiles each validator when first needed: a campaign without handbill.yaml needs one of the two. */
export function compiledValidators(): Validators {
  // Build and tests check that the schemas are well-formed: at every start it would cost 25 ms.
  const ajv = createAjv({ meta: false, validateSchema: false });
  return (kind) => {
    const validate = ajv.getSchema(`${kind}.schema.json`);
    if (validate === undefined) throw new Error(`There is no schema for a ${kind}.`);
    return validate;
  };
}

/**
 * Strict, so that a slip in a schema is an error. Collects all errors: these files are small, and their depth and
 * number of values are limited before. `patternErrorMessage` is the sentence for a pattern, which editors show too.
 * The other sentences are those of `explain.ts`.
 */
export function createAjv(options: Options = {}): Ajv {
  const { Ajv } = require('ajv') as typeof import('ajv');
  const strict: Options = { strict: true, allErrors: true, verbose: true, messages: false, allowUnionTypes: true };
  const ajv = new Ajv({ ...strict, ...COMPILED_FAST, ...options });
  ajv.addVocabulary(['patternErrorMessage', ...FOR_EDITORS]);
  eachKind((kind) => ajv.addSchema(withoutAnnotations(SCHEMAS[kind]()), `${kind}.schema.json`));
  return ajv;
}

/** Keywords of yaml-language-server, without effect on validation. */
const FOR_EDITORS = ['defaultSnippets', 'enumDescriptions', 'errorMessage'];
const ANNOTATIONS: ReadonlySet<string> = new Set(['title', 'description', ...FOR_EDITORS]);
/** Keywords that hold schemas by name: the names are the user's, and one of them is `description`. */
const BY_NAME: ReadonlySet<string> = new Set(['properties', 'definitions']);

/**
 * Errors carry their schema: with annotations the built code would have 815 KB instead of 740 KB, read at each start.
 */
function withoutAnnotations(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (BY_NAME.has(keyword))
        return [
          keyword,
          Object.fromEntries(
            Object.entries(value as Readonly<Record<string, Schema>>).map(([name, schema]) => [
              name,
              withoutAnnotations(schema),
            ]),
          ),
        ];
      return [keyword, SUBSCHEMAS.has(keyword) && typeof value === 'object' ? withoutAnnotations(value) : value];
    }),
  );
}

const SUBSCHEMAS: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'propertyNames']);

/** For a file or two, optimized code costs more than it saves: 250 ms of CPU for both schemas, and 112 ms this way. */
const COMPILED_FAST: Options = { inlineRefs: false, code: { optimize: false } };
const ABSENT: ReadonlySet<unknown> = new Set(['MODULE_NOT_FOUND', 'ENOENT']);
/** Ajv is CommonJS, and so is the code that it writes. */
const require = createRequire(import.meta.url);
/** The same path from `dist/campaign/` and from `src/campaign/`: sources use the built code as well. */
export const BUILT = fileURLToPath(new URL('../../dist/campaign/validators.cjs', import.meta.url));
export const validatorOf: Validators = builtValidators(BUILT) ?? compiledValidators();
