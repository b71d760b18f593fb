import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type Code, problem, refuse } from '../errors.ts';
import type { ListSpec } from '../model.ts';

/** Larger lists are refused: 4 GiB, about a hundred million rows. */
export const MAX_LIST_BYTES = 4 * 1024 ** 3;

/**
 * Opens the list for reading, once: whoever reads it keeps this handle and never goes back to the path.
 * Only regular files are opened. The path is looked at first, because opening a device can already have an effect;
 * O_NONBLOCK keeps a pipe that was put there in between from blocking for ever, and is without effect on files.
 * @throws HandbillError (exit 2): file-not-found, file-unreadable, file-not-regular, file-too-large
 */
export async function openListFile(spec: Pick<ListSpec, 'path' | 'file'>): Promise<FileHandle> {
  check(spec.file, await stat(spec.path).catch((error: unknown) => failed(spec.file, error)));
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await open(spec.path, flags).catch((error: unknown) => failed(spec.file, error));
  try {
    check(spec.file, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The refusal of a list that is larger than handbill reads. */
export function tooLarge(file: string): Error {
  return refuse(
    problem('file-too-large', `The list ${file} is larger than 4 GiB.`, {
      at: { file },
      hint: 'Split it into several lists, with a campaign for each.',
    }),
  );
}

function check(file: string, stats: { isFile(): boolean; readonly size: number }): void {
  if (!stats.isFile()) {
    const message = `The list ${file} is not a regular file.`;
    throw refuse(problem('file-not-regular', message, { at: { file }, hint: 'Give the path of a CSV file.' }));
  }
  if (stats.size > MAX_LIST_BYTES) throw tooLarge(file);
}

/** Turns an error of the file system into a refusal. */
export function failed(file: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const missing = code === 'ENOENT' || code === 'ENOTDIR';
  const reason: Code = missing ? 'file-not-found' : 'file-unreadable';
  const message = missing ? `The list ${file} does not exist.` : `The list ${file} cannot be read (${code}).`;
  const hint = missing ? 'Check `recipients.csv`, or name the list with --recipients.' : 'Check its permissions.';
  throw refuse(problem(reason, message, { at: { file }, hint }));
}
