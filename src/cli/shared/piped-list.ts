import { createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { makeTemporaryFolder, temporaryFault } from '../../util/files.ts';

/**
 * Copies the list of `--recipients -` from standard input into a file that only this user can read, because a list is
 * read more than once, and removes it afterwards, even after a signal. Throws exit 2 if the folder for temporary files
 * is not writable.
 */
export async function withPipedList<T>(
  recipients: string | undefined,
  use: (piped: { readonly pipedList?: string }) => Promise<T>,
): Promise<T> {
  if (recipients !== '-') return await use({});
  const folder = await makeTemporaryFolder('handbill-list-');
  const clear = (): void => rmSync(folder.root, { recursive: true, force: true });
  const leave = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) > 0) return;
    clear();
    process.kill(process.pid, signal);
  };
  process.once('exit', clear);
  for (const signal of SIGNALS) process.once(signal, leave);
  try {
    const pipedList = join(folder.root, 'list');
    await pipeline(process.stdin, createWriteStream(pipedList, { mode: 0o600 })).catch((error: unknown) => {
      throw temporaryFault(error, folder.root);
    });
    return await use({ pipedList });
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave);
    process.off('exit', clear);
    await folder.remove();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
