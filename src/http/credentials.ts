import type { Diagnostic } from '../errors.ts';
import type { KeySource } from '../model.ts';
import { readSecret, type SecretWords } from '../util/secret.ts';
import { checkHeaderValue } from './headers.ts';

export type KeyOrProblem = { readonly key: string } | { readonly problem: Diagnostic };

const WORDS: SecretWords = {
  name: 'API key',
  missing: 'missing-api-key',
  setting: 'apiKey: { file: PATH }',
  leaked: 'If others may have read it, ask for a new key.',
};

/**
 * Reads the API key from where the environment says: a variable, or a file that nobody else can read (SECURITY S6, S9).
 * No message ever holds the key.
 *
 * @param env the process's variables
 * @param baseFolder where relative paths begin: the project's root
 */
export async function readKey(
  source: KeySource,
  env: Readonly<Record<string, string | undefined>>,
  baseFolder: string,
): Promise<KeyOrProblem> {
  const read = await readSecret(source, env, baseFolder, WORDS);
  if ('problem' in read) return read;
  const wrong = checkHeaderValue(`The API key in ${read.place}`, read.secret);
  return wrong === null ? { key: read.secret } : { problem: wrong };
}
