import { hostname } from 'node:os';
import { EXIT, HandbillError, problem } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunLock } from '../ledger/lock.ts';
import { openLedger } from '../ledger/open.ts';
import { forgetShared, hasSentWith, rememberSendingWith } from '../ledger/place.ts';
import type { RunIdentity } from '../ledger/records.ts';
import type { Allowable, Project } from '../model.ts';
import { isPostgres } from '../util/ledger-address.ts';
import { iso } from '../util/time.ts';

interface LockOptions {
  /** See LedgerOptions. */
  readonly allow?: readonly Allowable[];
  readonly witness?: (ledger: Ledger) => void;
  /** Also while workers go on with a run whose `send` has died: the caller calls them back. */
  readonly despiteWorkers?: boolean;
  /** All names of the campaign: a process with an older file would begin the occurrence under another one. */
  readonly names?: readonly string[];
}

/**
 * Holds the run's lock and its ledger, and lets go of both. Of a campaign that was renamed, it is the lock of the
 * occurrence under every name. They are taken in the order of the names, so that of two processes one gets them all.
 *
 * @throws HandbillError exit 6 when another process holds this run, 7 when the ledger cannot be used
 */
export function lockRun(
  { root, ledger: path }: Pick<Project, 'root' | 'ledger'>,
  identity: RunIdentity,
  nowMs: number,
  { despiteWorkers = false, names = [], ...opening }: LockOptions = {},
): { ledger: Ledger } & Disposable {
  const ledger = openLedger(path, { mode: 'write', nowMs, mustExist: mustExist({ root, ledger: path }), ...opening });
  const all = [...new Set([identity.campaign, ...names])].sort().map((campaign) => ({ ...identity, campaign }));
  const locks: RunLock[] = [];
  try {
    for (const one of all) {
      const lock = ledger.lock(one, despiteWorkers);
      if (lock === null) throw locked(ledger, one);
      locks.push(lock);
    }
    if (isPostgres(path)) rememberSendingWith(root, path);
    else if (opening.allow?.includes('second-ledger') === true) forgetShared(root);
    for (const one of all) ledger.setLockOwner(one, { pid: process.pid, host: hostname(), sinceMs: nowMs });
    return {
      ledger,
      [Symbol.dispose]() {
        try {
          for (const one of all) ledger.setLockOwner(one, null);
        } catch {
          // A ledger that cannot be written was reported already; the kernel's lock is what counts.
        }
        // A shared ledger keeps its locks with its connection.
        for (const lock of locks) lock.release();
        ledger.close();
      },
    };
  } catch (error) {
    ledger.close();
    for (const lock of locks) lock.release();
    throw error;
  }
}

/** A shared ledger that this project has sent with is not created again if it is gone. */
export function mustExist({ root, ledger }: Pick<Project, 'root' | 'ledger'>): boolean {
  return isPostgres(ledger) && hasSentWith(root, ledger);
}

/** The error when another process holds the run: only one process sends a run (failures.md, H2, J3). */
export function locked(ledger: Ledger, identity: RunIdentity): HandbillError {
  const lockOwner = ledger.lockOwner(identity);
  const who =
    lockOwner === null ? '' : ` (process ${lockOwner.pid} on ${lockOwner.host}, since ${iso(lockOwner.sinceMs)})`;
  return new HandbillError(EXIT.locked, [
    problem('locked', `Another process is sending this run${who}.`, {
      hint: 'Wait for it to end. With `send --if-locked skip`, this is not an error.',
    }),
  ]);
}
