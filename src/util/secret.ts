import { hash, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Code, type Diagnostic, problem } from '../errors.ts';

export type KeySource = { readonly env: string } | { readonly file: string };

type SecretOrProblem =
  | { readonly secret: string /** Where it was found, for a sentence about it. */; readonly place: string }
  | { readonly problem: Diagnostic };

export interface SecretWords {
  /** Follows on "the": `API key`. */
  readonly name: string;
  /** Code of the diagnostic for a missing secret. */
  readonly missing: Code;
  /** The setting that names a file: `apiKey: { file: PATH }`. */
  readonly setting: string;
  /** The hint for a file that others may have read. */
  readonly leaked: string;
}

/** A secret has some dozen characters; a longer file is not a secret. */
const MAX_SECRET_BYTES = 4 * 1024;

/** From a variable, or a file that other users cannot read; relative to `baseFolder`. No message ever contains it. */
export async function readSecret(
  source: KeySource,
  env: Readonly<Record<string, string | undefined>>,
  baseFolder: string,
  words: SecretWords,
): Promise<SecretOrProblem> {
  if ('file' in source) return await fromFile(source.file, resolve(baseFolder, source.file), words);
  const name = source.env;
  const value = env[name] ?? '';
  if (value !== '') return { secret: value, place: name };
  return no(words.missing, `The environment variable ${name}, which should hold the ${words.name}, is not set.`, {
    hint: `Set it for this command, or name a private file instead: ${words.setting}.`,
  });
}

async function fromFile(file: string, path: string, words: SecretWords): Promise<SecretOrProblem> {
  let handle: FileHandle;
  try {
    // Non-blocking: a pipe without a writer would block without end.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const state = missing ? 'does not exist' : 'cannot be read';
    return no(words.missing, `The file ${file}, which should hold the ${words.name}, ${state}.`, {
      hint: 'Write the key into it and nothing else, then: chmod 600.',
    });
  }
  try {
    // The open file is checked, so that it cannot be replaced before it is read.
    const refused = await refusePermissions(file, handle, words);
    if (refused !== null) return refused;
    const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return { secret: bytes.toString('latin1', 0, bytesRead).replace(/\r?\n$/, ''), place: file };
  } finally {
    await handle.close();
  }
}

async function refusePermissions(
  file: string,
  handle: FileHandle,
  words: SecretWords,
): Promise<SecretOrProblem | null> {
  const stat = await handle.stat();
  if (!stat.isFile()) {
    return no('file-not-regular', `${file}, which should hold the ${words.name}, is not a regular file.`, {
      hint: 'Name a file that holds the key and nothing else.',
    });
  }
  if (stat.size > MAX_SECRET_BYTES) {
    const article = /^[aeiou]/i.test(words.name) ? 'an' : 'a';
    return no('file-too-large', `${file} is too large to hold ${article} ${words.name}.`, {
      hint: 'Name a file that holds the key and nothing else.',
    });
  }
  const [fault] = notPrivate(file, stat, `the ${words.name}`, words);
  return fault === undefined ? null : { problem: fault };
}

/**
 * Why other users could have read or written a file of secrets: its owner, or its mode. None on Windows.
 *
 * @param options `forbidden`: rights that no other user may have (default: all); `leaked`: what to do when others may have read it
 */
export function notPrivate(
  file: string,
  stat: { readonly uid: number; readonly mode: number },
  holds: string,
  { forbidden = 0o077, leaked = 'If others may have read it, ask for new ones.' },
): readonly Diagnostic[] {
  const user = process.getuid?.();
  if (user === undefined) return [];
  if (stat.uid !== user) {
    const hint = 'Make it yours (chown) and private (chmod 600).';
    return [problem('key-file-permissions', `${file}, which holds ${holds}, belongs to another user.`, { hint })];
  }
  if ((stat.mode & forbidden) === 0) return [];
  const can = (stat.mode & 0o044) === 0 ? 'change' : 'read';
  const hint = `Make it private: chmod 600 ${file}. ${leaked}`;
  return [problem('key-file-permissions', `Other users can ${can} ${file}, which holds ${holds}.`, { hint })];
}

function no(...args: Parameters<typeof problem>): SecretOrProblem {
  return { problem: problem(...args) };
}

/** In a time that does not show where they differ. Compares hashes: `timingSafeEqual` throws where lengths differ. */
export function isSame(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
}

/** Compares all of them, so that the time does not show which it was. */
export function isOneOf(given: string | Uint8Array, expected: readonly (string | Uint8Array)[]): boolean {
  return expected.reduce<boolean>((found, one) => isSame(given, one) || found, false);
}
