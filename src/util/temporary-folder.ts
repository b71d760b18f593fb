import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { problem, refuse } from '../errors.ts';
import { DISK_FAULTS } from './output-file.ts';

/** A folder that only this user can read (0700), in the folder for temporary files. */
export interface TemporaryFolder {
  /** Real path. */
  readonly root: string;
  remove(): Promise<void>;
}

/** @throws HandbillError exit 2 where none can be made */
export async function makeTemporaryFolder(prefix: string): Promise<TemporaryFolder> {
  const folder = tmpdir();
  const made = await mkdtemp(join(folder, prefix)).catch((error: unknown) => {
    throw temporaryFault(error, folder);
  });
  const root = await realpath(made);
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/**
 * The error to throw for one that came while a folder was written to. A fault of the disk is reported as such, with
 * what to do, and not as a bug; other errors are unchanged.
 */
export function temporaryFault(error: unknown, folder: string): unknown {
  const { code = '', path = folder } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (!path.startsWith(folder)) return error;
  const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  if (reason === undefined) return error;
  const message = `The folder for temporary files (${tmpdir()}) cannot be written to: ${reason}.`;
  return refuse(problem('output-exists', message, { hint: 'Make room there, or name another one in TMPDIR.' }));
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is not a folder',
  ...DISK_FAULTS,
};
