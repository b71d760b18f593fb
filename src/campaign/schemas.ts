import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

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

const TEXTS: Readonly<Record<FileKind, string>> = {
  campaign: readSchema('campaign.schema.json'),
  project: readSchema('project.schema.json'),
};

/** The schemas of the package, by kind of file. They are shipped with it, never loaded from elsewhere. */
export const SCHEMAS: Readonly<Record<FileKind, Schema>> = {
  campaign: JSON.parse(TEXTS.campaign) as Schema,
  project: JSON.parse(TEXTS.project) as Schema,
};

/** Tells whether something was made from these very schemas. */
export function schemaFingerprint(): string {
  return hash('sha256', `${TEXTS.campaign}\0${TEXTS.project}`);
}

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
function readSchema(name: string): string {
  return readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8');
}
