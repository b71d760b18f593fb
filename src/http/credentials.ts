import { type Diagnostic, problem } from '../errors.ts';
import type { KeySource } from '../model.ts';
import { readSecret, type SecretWords } from '../util/secret.ts';

const WORDS: SecretWords = {
  name: 'API key',
  missing: 'missing-api-key',
  setting: 'apiKey: { file: PATH }',
  leaked: 'If others may have read it, ask for a new key.',
};

/**
 * Reads the API key from its place in the environment's settings: a variable, or a file that no other user can read.
 * The
 * key must be usable in a header. No message ever holds the key.
 * @param env the process's variables
 * @param baseFolder where relative paths begin: the project's root
 */
export async function readKey(
  source: KeySource,
  env: Readonly<Record<string, string | undefined>>,
  baseFolder: string,
): Promise<{ readonly key: string } | { readonly problem: Diagnostic }> {
  const read = await readSecret(source, env, baseFolder, WORDS);
  if ('problem' in read) return read;
  const wrong = checkHeaderValue(`The API key in ${read.place}`, read.secret);
  return wrong === null ? { key: read.secret } : { problem: wrong };
}

/** Printable ASCII without the space: a line break in the value could begin another header. */
const HEADER_VALUE = /^[\x21-\x7e]+$/;

/**
 * Null when the value can be used in a header; the diagnostic never repeats the value.
 * @param name as people know it: `API key`, `x-api-key`
 */
export function checkHeaderValue(name: string, value: string): Diagnostic | null {
  if (HEADER_VALUE.test(value)) return null;
  const why = value === '' ? 'is empty' : 'has characters that a header cannot hold';
  return problem('invalid-api-key', `${name} ${why}.`, {
    hint: 'Only printable ASCII without spaces is allowed; look for a newline or a space that was copied along.',
  });
}
