import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Diagnostic, problem } from '../errors.ts';
import type { KeySource } from '../model.ts';
import { checkHeaderValue } from './headers.ts';

export type KeyOrProblem = { readonly key: string } | { readonly problem: Diagnostic };

/** A key has some dozen characters; whatever is longer is another file. */
const MAX_KEY_BYTES = 4 * 1024;

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
  if ('env' in source) return keyFromVariable(source.env, env[source.env]);
  return await keyFromFile(source.file, resolve(baseFolder, source.file));
}

function keyFromVariable(name: string, value: string | undefined): KeyOrProblem {
  if (value === undefined || value === '') {
    return no('missing-api-key', `The environment variable ${name}, which should hold the API key, is not set.`, {
      hint: `Set it for this command, or name a private file instead: apiKey: { file: PATH }.`,
    });
  }
  return checked(`The API key in ${name}`, value);
}

async function keyFromFile(file: string, path: string): Promise<KeyOrProblem> {
  let handle: FileHandle;
  try {
    // Non-blocking: a pipe without a writer would wait for ever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return no(
      'missing-api-key',
      `The file ${file}, which should hold the API key, ${missing ? 'does not exist' : 'cannot be read'}.`,
      {
        hint: 'Write the key into it and nothing else, then: chmod 600.',
      },
    );
  }
  try {
    // The open file is what is looked at, so that it cannot be another one by the time it is read.
    return (await refusePermissions(file, handle)) ?? checked(`The API key in ${file}`, await readLine(handle));
  } finally {
    await handle.close();
  }
}

async function refusePermissions(file: string, handle: FileHandle): Promise<KeyOrProblem | null> {
  const stat = await handle.stat();
  if (!stat.isFile()) {
    return no('file-not-regular', `${file}, which should hold the API key, is not a regular file.`, {
      hint: 'Name a file that holds the key and nothing else.',
    });
  }
  if (stat.size > MAX_KEY_BYTES) {
    return no('file-too-large', `${file} is too large to hold an API key.`, {
      hint: 'Name a file that holds the key and nothing else.',
    });
  }
  const user = process.getuid?.();
  if (user === undefined) return null;
  if (stat.uid !== user) {
    return no('key-file-permissions', `${file}, which holds the API key, belongs to another user.`, {
      hint: 'Make it yours (chown) and private (chmod 600).',
    });
  }
  if ((stat.mode & 0o077) !== 0) {
    return no('key-file-permissions', `Other users can read ${file}, which holds the API key.`, {
      hint: `Make it private: chmod 600 ${file}. If others may have read it, ask for a new key.`,
    });
  }
  return null;
}

async function readLine(handle: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(MAX_KEY_BYTES + 1);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return bytes.toString('latin1', 0, bytesRead).replace(/\r?\n$/, '');
}

function checked(what: string, key: string): KeyOrProblem {
  const wrong = checkHeaderValue(what, key);
  return wrong === null ? { key } : { problem: wrong };
}

function no(...args: Parameters<typeof problem>): KeyOrProblem {
  return { problem: problem(...args) };
}
