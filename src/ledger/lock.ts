import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileError, isBusy, ledgerError } from './ledger-error.ts';
import { checkPrivateFile, createPrivateFile, ensurePrivateFolder } from './private-files.ts';
import type { RunIdentity } from './records.ts';

/** Held until it is released or the process ends: the kernel releases it. */
export type RunLock = NonNullable<ReturnType<typeof acquireRunLock>>;

/** Longer than a process that only checks holds the lock, and still short for the user. */
const TAKE_WAIT_MS = 500;
const ASK_WAIT_MS = 10;

/**
 * Takes the lock of one run. Null if another process, or another part of this one, has it (failures.md, J3). It is a
 * lock on a small database in `locks/` beside the ledger. The file is never deleted: two processes could hold locks of
 * the same name. If a user deletes it, the claims still decide who may send.
 * @throws HandbillError with exit status 7.
 */
export function acquireRunLock(ledgerPath: string, identity: RunIdentity) {
  const file = lockFile(ledgerPath, identity);
  try {
    ensurePrivateFolder(dirname(ledgerPath));
    ensurePrivateFolder(dirname(file));
    if (checkPrivateFile(file) === null) createPrivateFile(file);
  } catch (error) {
    throw fileError(error, file);
  }
  const db = lockExclusively(file, TAKE_WAIT_MS);
  if (db === null) return null;
  heldHere.add(file);
  return {
    /** Idempotent. */
    release(): void {
      if (!db.isOpen) return;
      heldHere.delete(file);
      db.close();
    },
  };
}

/** Files of the locks that this process holds: `isRunHeld` answers at once, without its wait. */
const heldHere = new Set<string>();

/** Creates nothing. */
export function isRunHeld(ledgerPath: string, identity: RunIdentity): boolean {
  const file = lockFile(ledgerPath, identity);
  if (!existsSync(file)) return false;
  if (heldHere.has(file)) return true;
  const db = lockExclusively(file, ASK_WAIT_MS);
  db?.close();
  return db === null;
}

function lockExclusively(file: string, timeout: number): DatabaseSync | null {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout, defensive: true });
    db.exec('BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    if (db?.isOpen === true) db.close();
    if (isBusy(error)) return null;
    throw ledgerError(error, file, 'open');
  }
}

function lockFile(ledgerPath: string, { environment, campaign, occurrence }: RunIdentity): string {
  const hash = createHash('sha256').update(JSON.stringify([basename(ledgerPath), environment, campaign, occurrence]));
  return join(dirname(ledgerPath), 'locks', `${hash.digest('hex').slice(0, 32)}.db`);
}
