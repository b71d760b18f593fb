import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { KeySource } from '../model.ts';
import { createRedactor } from '../util/redact.ts';
import { readSecret, type SecretWords } from '../util/secret.ts';

function wordsOf(name: string): SecretWords {
  return {
    name: name === 'apiKey' ? 'API key' : `secret "${name}"`,
    missing: 'missing-api-key',
    setting: name === 'apiKey' ? 'apiKey: { file: PATH }' : `${name}: { file: PATH }`,
    leaked: 'If others may have read it, ask for a new one.',
  };
}

/**
 * Reads a secret of an API from its place in the environment's settings: a variable, or a file that no other user can
 * read. It must be usable in a header. No message ever holds it.
 * @param name as the provider file has it: `apiKey`, `token`
 * @param env the process's variables
 * @param baseFolder where relative paths begin: the project's root
 */
export async function readKey(
  name: string,
  source: KeySource,
  env: Readonly<Record<string, string | undefined>>,
  baseFolder: string,
): Promise<{ readonly key: string } | { readonly problem: Diagnostic }> {
  const words = wordsOf(name);
  const read = await readSecret(source, env, baseFolder, words);
  if ('problem' in read) return read;
  // A scheme is written in the provider's file, never in the secret: a space was copied along.
  const wrong = checkHeaderValue(`The ${words.name} in ${read.place}`, read.secret, /^[\x21-\x7e]+$/);
  return wrong === null ? { key: read.secret } : { problem: wrong };
}

/** All of them by their names, as `readKey`. Throws `HandbillError` (exit 2) with everything that is wrong. */
export async function readKeys(
  sources: Readonly<Record<string, KeySource>>,
  env: Readonly<Record<string, string | undefined>>,
  baseFolder: string,
): Promise<Readonly<Record<string, string>>> {
  const keys: Record<string, string> = {};
  const problems: Diagnostic[] = [];
  for (const [name, source] of Object.entries(sources)) {
    const read = await readKey(name, source, env, baseFolder);
    if ('problem' in read) problems.push(read.problem);
    else keys[name] = read.key;
  }
  if (problems.length > 0) throw refuse(...problems);
  return keys;
}

/** A key of a few letters (`test`) is no secret, and would match other text by chance. */
export function hiding(keys: Readonly<Record<string, string>>): (text: string) => string {
  return createRedactor(Object.values(keys).filter((key) => key.length >= SHORTEST_KEY));
}

const SHORTEST_KEY = 8;

/** Printable ASCII: a line break in the value could begin another header. A scheme such as `Bearer` has a space after it. */
const HEADER_VALUE = /^(?:[A-Za-z]+ )?[\x21-\x7e]+$/;

/**
 * Null when the value can be used in a header; the diagnostic never repeats the value.
 * @param name as people know it: `API key`, `x-api-key`
 */
export function checkHeaderValue(name: string, value: string, allowed = HEADER_VALUE): Diagnostic | null {
  if (allowed.test(value)) return null;
  const why = value === '' ? 'is empty' : 'has characters that a header cannot hold';
  return problem('invalid-api-key', `${name} ${why}.`, {
    hint: 'Only printable ASCII without spaces is allowed; look for a newline or a space that was copied along.',
  });
}
