import { type Code, type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { iso } from '../util/time.ts';
import { VERSION } from './schema.ts';

export type LedgerErrorKind = 'busy' | 'full' | 'io' | 'readonly' | 'corrupt' | 'displaced' | 'other';

/** An error of SQLite on which the run can act. Exit status 7. */
export class LedgerError extends HandbillError {
  readonly kind: LedgerErrorKind;
  /** The failed commit still wrote the outcomes that it was given to the disk. */
  readonly recorded: boolean;

  constructor(kind: LedgerErrorKind, diagnostic: Diagnostic, recorded = false, cause?: unknown) {
    super(EXIT.ledger, [diagnostic]);
    this.kind = kind;
    this.recorded = recorded;
    this.cause = cause;
  }

  asRecorded(): LedgerError {
    const [first = problem('ledger-write', this.message)] = this.diagnostics;
    return new LedgerError(this.kind, first, true, this.cause);
  }
}

/** The ledger cannot be reached, or takes nothing at the moment; a server may recover soon. */
export function isGone(error: unknown): error is LedgerError {
  return error instanceof LedgerError && (error.kind === 'io' || error.kind === 'readonly');
}

/** A ledger that must not be used, for a reason that SQLite does not know. Exit status 7. */
export function unusable(code: Code, path: string, message: string, hint?: string): HandbillError {
  return new HandbillError(EXIT.ledger, [
    problem(code, message, { at: { file: path }, ...(hint === undefined ? {} : { hint }) }),
  ]);
}

/** The ledger has other tables than this handbill makes, and stays as it is. */
export function otherSchema(path: string, version: number): HandbillError {
  const message =
    version === VERSION
      ? 'The tables of this ledger are not those of this handbill: another build made it, or someone changed it.'
      : `Another version of handbill made this ledger (tables of version ${version}; this handbill uses version ${VERSION}).`;
  const hint =
    'Use the handbill that made it, or restore a backup. To start without what it knows, move it away and send with --allow ledger-missing: recipients who have their message could get it again.';
  return unusable('ledger-unusable', path, message, hint);
}

/** An error of SQLite as a LedgerError; anything else (a bug, a LedgerError) as it is. */
export function ledgerError(error: unknown, path: string, doing: 'open' | 'read' | 'write'): unknown {
  if (!isSqliteError(error)) return error;
  // The low byte is the error, the rest says where it happened (https://sqlite.org/rescode.html).
  const kind = KINDS.get(error.errcode & 0xff) ?? 'other';
  const code = doing === 'write' && kind !== 'corrupt' ? 'ledger-write' : 'ledger-unusable';
  const verb = doing === 'open' ? 'opened' : doing === 'read' ? 'read' : 'written';
  const detail = `${error.message} (SQLite error ${error.errcode})`;
  const message = `The ledger cannot be ${verb}: ${detail}.`;
  return new LedgerError(kind, problem(code, message, { at: { file: path }, hint: HINTS[kind] }), false, error);
}

/** The same for an error of the file system (marker, reserve) while the ledger is written. */
export function fileError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return error;
  const full = error.code === 'ENOSPC' || error.code === 'EDQUOT';
  const kind = full ? 'full' : error.code === 'EROFS' || error.code === 'EACCES' ? 'readonly' : 'io';
  const message = `Nothing can be written beside the ledger: ${error.message}.`;
  return new LedgerError(
    kind,
    problem('ledger-write', message, { at: { file: path }, hint: HINTS[kind] }),
    false,
    error,
  );
}

export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === 5;
}

/** After these a handle is not even closed, because closing would write and sync once more (failures.md, H1). */
export function isDiskFailure(error: unknown): boolean {
  if (!isSqliteError(error)) return error instanceof LedgerError && (error.kind === 'io' || error.kind === 'corrupt');
  const kind = KINDS.get(error.errcode & 0xff);
  return kind === 'io' || kind === 'corrupt';
}

/** SQLITE_READONLY_ROLLBACK: only a connection that may write can undo the journal. */
export function needsRollback(error: unknown): boolean {
  return isSqliteError(error) && error.errcode === 776;
}

function isSqliteError(error: unknown): error is Error & { readonly errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

/** After `busy` (30 s of waiting; failures.md, A4) or another kind (at once; failures.md, A5), no request is made. */
const KINDS: ReadonlyMap<number, LedgerErrorKind> = new Map([
  [5, 'busy'],
  [6, 'busy'],
  [8, 'readonly'],
  [10, 'io'],
  [11, 'corrupt'],
  [13, 'full'],
  [14, 'io'],
  [26, 'corrupt'],
]);

/** After these nothing more is written through a connection. */
export const LASTING: ReadonlySet<LedgerErrorKind> = new Set(['io', 'corrupt', 'readonly']);

const HINTS: Readonly<Record<LedgerErrorKind, string>> = {
  busy: 'Another process has been writing to it for long. Run the command again when it is done.',
  // SQLite does not say which of the two is full: long lists are sorted and compared in temporary files.
  full: 'Make room on this disk and in the folder for temporary files (TMPDIR), then run it again: it continues where it stopped.',
  io: 'Look at the disk and at the limits of this process, then run the command again: it continues where it stopped.',
  readonly: 'Make the ledger and its folder writable for this user.',
  corrupt: 'Move the file away for safe keeping and restore it from a backup.',
  displaced: 'Put the ledger back that this command was using.',
  other: 'Run `handbill doctor`.',
};

/** How far a clock may be set back between two commands, as time servers do. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Refuses to write after the clock was set back: the history would have wrong times (failures.md, I1). */
export function checkClock(
  { path, newestMs }: { readonly path: string; readonly newestMs: number },
  nowMs: number,
): void {
  if (nowMs >= newestMs - CLOCK_TOLERANCE_MS) return;
  const message = `The clock says ${iso(nowMs)}, but the ledger holds an entry of ${iso(newestMs)}.`;
  const hint =
    'Set the clock, then run it again. If it is right, a wrong clock wrote that entry: handbill writes to this ledger again from that time on.';
  throw refuse(problem('clock', message, { at: { file: path }, hint }));
}
