import { readFileSync } from 'node:fs';
import { Ajv, type Options, type ValidateFunction } from 'ajv';

export type FileKind = 'campaign' | 'project';

/** As much of a JSON Schema as is looked at here. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly patternErrorMessage?: string;
}

/** The schemas of the package, by kind of file. They are shipped with it, never loaded from elsewhere. */
export const SCHEMAS: Readonly<Record<FileKind, Schema>> = {
  campaign: readSchema('campaign.schema.json'),
  project: readSchema('project.schema.json'),
};

/** The compiled schema, compiled when it is first needed: a campaign without handbill.yaml needs one of the two. */
export function validatorOf(kind: FileKind): ValidateFunction {
  const validate = AJV.getSchema(`${kind}.schema.json`);
  if (validate === undefined) throw new Error(`There is no schema for a ${kind}.`);
  return validate;
}

/**
 * Strict, so that a slip in a schema is an error and not a hole. All errors are collected: these files are small, and
 * their depth and number of values are limited before. `patternErrorMessage` is the sentence for a pattern, which
 * editors show too. (SECURITY S13)
 */
export function createAjv(options: Options = {}): Ajv {
  const strict: Options = { strict: true, allErrors: true, verbose: true, coerceTypes: false, allowUnionTypes: true };
  const ajv = new Ajv({ ...strict, ...COMPILED_FAST, ...options });
  ajv.addVocabulary(['patternErrorMessage']);
  ajv.addSchema(SCHEMAS.campaign, 'campaign.schema.json');
  ajv.addSchema(SCHEMAS.project, 'project.schema.json');
  return ajv;
}

/**
 * A command compiles the schemas for one file or two. Better code for them costs more than it saves: 250 ms of CPU for
 * both schemas, and 112 ms this way.
 */
const COMPILED_FAST: Options = { inlineRefs: false, code: { optimize: false } };

/** Follows `$ref` inside the package's schemas. */
export function resolveSchema(schema: Schema, kind: FileKind): { readonly schema: Schema; readonly kind: FileKind } {
  if (schema.$ref === undefined) return { schema, kind };
  const [file = '', fragment = ''] = schema.$ref.split('#');
  const target: FileKind = file === 'campaign.schema.json' ? 'campaign' : kind;
  let found: unknown = SCHEMAS[target];
  for (const key of fragment.split('/').slice(1)) found = (found as Record<string, unknown>)[key];
  return resolveSchema(found as Schema, target);
}

/** `schemas/` lies two levels up, seen from `src/campaign/` and from `dist/campaign/`. */
function readSchema(name: string): Schema {
  return JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8')) as Schema;
}

// That the schemas themselves are well-formed is what the tests check: at every start it would cost 25 ms.
const AJV = createAjv({ meta: false, validateSchema: false });
