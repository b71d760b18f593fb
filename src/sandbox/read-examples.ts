import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { problem, refuse, thrownText } from '../errors.ts';
import type { ProviderExamples } from './provider-api.ts';
import SHAPE from './provider-examples.json' with { type: 'json' };

/**
 * Reads `NAME.examples.yaml`, or answers that were captured, which need no requests.
 * @throws HandbillError (exit 2) where the file cannot be read, or is wrong
 */
export function readExamples(path: string): ProviderExamples {
  const fail = (code: 'file-unreadable' | 'invalid-value', what: string): never => {
    const hint = 'docs/sandbox.md says how examples are written.';
    throw refuse(problem(code, `The examples ${what}`, { at: { file: path }, hint }));
  };
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return fail('file-unreadable', `cannot be read: ${thrownText(error)}`);
  }
  const ajv = new Ajv({ strict: true, allErrors: true });
  if (ajv.validate<ProviderExamples>(SHAPE, value)) return value;
  return fail('invalid-value', `are wrong: ${ajv.errorsText(ajv.errors, { dataVar: '' })}.`);
}
