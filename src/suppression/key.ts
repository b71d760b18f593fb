import { type Diagnostic, problem } from '../errors.ts';
import type { KeySource } from '../model.ts';
import { readSecret, type SecretWords } from '../util/secret.ts';
import { createHasher, type Hasher } from './hash.ts';

/** The hasher of a project, or why there is none. */
export type HasherReading = { readonly hasher: Hasher } | { readonly problem: Diagnostic };

/** NIST SP 800-107, 5.3.2: less than the strength that is asked for is no key. Numbers can be tried one by one. */
const MIN_KEY_BYTES = 16;

const WORDS: SecretWords = {
  name: 'suppression key',
  missing: 'missing-suppression-key',
  setting: 'suppressionKey: { file: PATH }',
  leaked: 'A person with the key and a list can find out whose numbers are on it.',
};

/**
 * Reads the key of the hashes in suppression lists from where handbill.yaml says, and makes the hasher. The key is the
 * exact text in the variable or the file, without the line end. No message ever holds it.
 *
 * @param source what `suppressionKey` says; null: nothing
 */
export async function readHasher(
  source: KeySource | null,
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): Promise<HasherReading> {
  if (source === null) {
    const hint = 'Write suppressionKey: { env: HANDBILL_SUPPRESSION_KEY } into handbill.yaml, and put the key there.';
    return {
      problem: problem('missing-suppression-key', 'handbill.yaml does not say where the suppression key is.', { hint }),
    };
  }
  const read = await readSecret(source, env, root, WORDS);
  if ('problem' in read) return read;
  // A file is read byte by byte, a variable is text: both are the bytes that were written.
  const key = Buffer.from(read.secret, 'env' in source ? 'utf8' : 'latin1');
  if (key.length >= MIN_KEY_BYTES) return { hasher: createHasher(key) };
  const message = `The suppression key in ${read.place} has fewer than ${MIN_KEY_BYTES} bytes.`;
  const hint = 'Make one with: openssl rand -hex 32. Hashes that were made with the short one are of no use with it.';
  return { problem: problem('invalid-suppression-key', message, { hint }) };
}
