import { readFileSync } from 'node:fs';
import type { HaltRule } from '../../src/model.ts';

const SCHEMA = JSON.parse(readFileSync(new URL('../../schemas/report.schema.json', import.meta.url), 'utf8')) as {
  readonly definitions: { readonly halt: { readonly properties: { readonly rule: { readonly enum: HaltRule[] } } } };
};

export const HALT_RULES: readonly HaltRule[] = SCHEMA.definitions.halt.properties.rule.enum;
