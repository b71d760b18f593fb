import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { findProject } from '../../campaign/place.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A larger file holds something else. */
const MAX_BYTES = 64 * 1024;

/**
 * Variables that decide which programs are run, and how. A file that comes with a repository must not set them, because
 * handbill starts git and ssh-keygen.
 */
const NOT_FROM_FILES = /^(?:PATH|HOME|TMPDIR|XDG_.*|SSH_.*|GIT_.*|LD_.*|DYLD_.*|NODE_.*)$/i;

/**
 * The variables of the process with those of the file `.env` in the project's root. A variable that is set counts, also
 * where it is empty. A file that is not there or cannot be read is passed over: what is missing is said where it is
 * needed.
 */
export async function withEnvFile(env: Env, cwd: string): Promise<Env> {
  const text = await findProject(cwd).then(
    ({ root }) => textOf(join(root, '.env')),
    () => null,
  );
  if (text === null) return env;
  const found = Object.entries(parseEnv(text)).filter(([name]) => !NOT_FROM_FILES.test(name));
  return { ...Object.fromEntries(found), ...env };
}

function textOf(path: string): string | null {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
