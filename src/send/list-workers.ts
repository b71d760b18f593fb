import { type HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { iso } from '../util/time.ts';

/** A worker of a shared ledger. */
export interface WorkerShown {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly joinedAt: string;
  /** The last sign of life; a worker gives four a second. */
  readonly heardAt: string;
  /** Age of that, by the clock of the database. */
  readonly silentSeconds: number;
  /** It has reported within its lease. Otherwise it is dead, stopped or cut off, and its shards go to other workers. */
  readonly alive: boolean;
  /** Null: it waits. */
  readonly run: { readonly run: string; readonly environment: string; readonly occurrence: string } | null;
  readonly shards: readonly number[];
  readonly rows: number;
  /** Requests in this run so far. */
  readonly posted: number;
}

/** @throws HandbillError (exit 2): the ledger is a file */
export function listWorkers({ workers }: Ledger): readonly WorkerShown[] {
  if (workers === null) throw needsShared('Only a shared ledger has workers; this one is a file.');
  return workers
    .workers()
    .map(({ id, host, pid, joinedAtMs, heardAtMs, nowMs, isAlive, run, shards, rows, posted }) => ({
      id,
      host,
      pid,
      joinedAt: iso(joinedAtMs),
      heardAt: iso(heardAtMs),
      silentSeconds: Math.max(0, nowMs - heardAtMs) / 1000,
      alive: isAlive,
      run: run === null ? null : { run: run.id, environment: run.environment, occurrence: run.occurrence },
      shards,
      rows,
      posted,
    }));
}

/** The error where something needs a shared ledger, and this one is a file. Exit status 2. */
export function needsShared(message: string): HandbillError {
  const hint = 'Name one with --ledger postgres://... or HANDBILL_LEDGER: docs/shared-ledger.md has the rest.';
  return refuse(problem('usage', message, { hint }));
}
