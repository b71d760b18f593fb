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
}

/**
 * Holds the run's lock and its ledger, and lets go of both.
 *
 * @throws HandbillError exit 6 when another process holds this run, 7 when the ledger cannot be used
 */
export function lockRun(
  { root, ledger: path }: Pick<Project, 'root' | 'ledger'>,
  identity: RunIdentity,
  nowMs: number,
  { despiteWorkers = false, ...opening }: LockOptions = {},
): { ledger: Ledger } & Disposable {
  const ledger = openLedger(path, { mode: 'write', nowMs, mustExist: mustExist({ root, ledger: path }), ...opening });
  let lock: RunLock | null = null;
  try {
    const held = ledger.lock(identity, despiteWorkers);
    if (held === null) throw locked(ledger, identity);
    lock = held;
    if (isPostgres(path)) rememberSendingWith(root, path);
    else if (opening.allow?.includes('second-ledger') === true) forgetShared(root);
    ledger.setLockOwner(identity, { pid: process.pid, host: hostname(), sinceMs: nowMs });
    return {
      ledger,
      [Symbol.dispose]() {
        try {
          ledger.setLockOwner(identity, null);
        } catch {
          // A ledger that cannot be written was reported already; the kernel's lock is what counts.
        }
        // A shared ledger keeps its locks with its connection.
        held.release();
        ledger.close();
      },
    };
  } catch (error) {
    ledger.close();
    lock?.release();
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
