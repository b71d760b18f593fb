import { hostname } from 'node:os';
import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunLock } from '../ledger/lock.ts';
import { openLedger } from '../ledger/open.ts';
import { forgetShared, hasSentWith, hasSentWithOther, rememberSendingWith } from '../ledger/place.ts';
import type { RunIdentity } from '../ledger/records.ts';
import { ALLOWABLE, type Allowable, type Project } from '../model.ts';
import { isPostgres, shownLedger } from '../util/ledger-address.ts';
import { iso } from '../util/time.ts';

interface LockOptions {
  readonly allow?: readonly Allowable[];
  readonly witness?: (ledger: Ledger) => void;
  /** See `LedgerOptions`. */
  readonly isCopy?: boolean;
  /** Also while workers continue a run whose `send` has died: the caller calls them back. */
  readonly despiteWorkers?: boolean;
}

/**
 * Takes the run's lock and opens its ledger, and releases both.
 * @throws HandbillError exit 2 when it would begin a second ledger, 6 when another process holds this run, 7 when the
 * ledger cannot be used
 */
export function lockRun(
  project: Pick<Project, 'root' | 'ledger' | 'otherLedger'>,
  identity: RunIdentity,
  nowMs: number,
  { despiteWorkers = false, ...opening }: LockOptions = {},
): { ledger: Ledger } & Disposable {
  const { root, ledger: path } = project;
  const ledger = openLedger(path, { mode: 'write', nowMs, mustExist: mustExist(project), ...opening });
  let lock: RunLock | null = null;
  try {
    const held = ledger.lock(identity, despiteWorkers);
    if (held === null) throw locked(ledger, identity);
    lock = held;
    // A copy knows what the ledger of the project knows.
    if (opening.isCopy !== true) {
      if (opening.allow?.includes('second-ledger') !== true) refuseSecond(ledger, project);
      if (!isPostgres(path) && opening.allow?.includes('second-ledger') === true) forgetShared(root);
      rememberSendingWith(root, path);
    }
    ledger.setLockOwner(identity, { pid: process.pid, host: hostname(), sinceMs: nowMs });
    return {
      ledger,
      [Symbol.dispose]() {
        try {
          ledger.setLockOwner(identity, null);
        } catch {
          // The failure to write the ledger was reported already; the kernel's lock is what counts.
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

/** A ledger without a sent run does not know the recipients of a ledger that this project has sent with. */
function refuseSecond(ledger: Ledger, { root, ledger: path, otherLedger }: Parameters<typeof lockRun>[0]): void {
  const other = otherLedger ?? (hasSentWithOther(root, path) ? 'another shared ledger' : null);
  if (other === null || ledger.runs().some(({ starts }) => starts > 0)) return;
  const message = `Nothing was ever sent with ${shownLedger(path)}, but this project has ${other}. The new one does not know its recipients.`;
  const hint = `Send with the one that knows them: see --ledger, HANDBILL_LEDGER and \`ledger\` in handbill.yaml. Only if the project moves to the new one for good: ${ALLOWABLE['second-ledger']}`;
  throw refuse(problem('second-ledger', message, { hint }));
}

/** A missing shared ledger that this project has sent with is not created again. */
export function mustExist({ root, ledger }: Pick<Project, 'root' | 'ledger'>): boolean {
  return isPostgres(ledger) && hasSentWith(root, ledger);
}

/** Another process holds the run: only one process sends a run (failures.md, H2, J3). */
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
