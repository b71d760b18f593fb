import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { openExistingLedger } from '../ledger/open.ts';
import type { TemporaryFolder } from '../util/temporary-folder.ts';

/**
 * A copy of a ledger to try something on, as it is at this moment, whoever writes to it meanwhile; readable by this
 * user alone. Where there is no ledger yet, it is a place for a new one.
 *
 * @throws HandbillError (exit status 7): the ledger cannot be read, or the copy not be written
 */
export async function rehearsalOf(ledger: string, folder: TemporaryFolder, nowMs: number): Promise<string> {
  const path = join(folder.root, 'ledger.db');
  const original = openExistingLedger(ledger, { nowMs });
  if (original === null) return path;
  try {
    // SQLite would make a file that others can read; it takes one that is empty.
    await (await open(path, 'wx', 0o600)).close();
    original.copyTo(path);
    return path;
  } finally {
    original.close();
  }
}
