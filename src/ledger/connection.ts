import type { LedgerError } from './ledger-error.ts';
import type { RunLock } from './lock.ts';
import type { ClaimRequest, LoadRow, ResultRecord, RunIdentity, RunRecord, WorkerStore } from './records.ts';

/** Whole numbers come as numbers, true and false as 1 and 0. */
export type Value = null | number | bigint | string | Uint8Array;
export type Param = null | number | bigint | string | Uint8Array;

/** Rows are arrays, which cost less than objects. */
export interface Query {
  get(...params: readonly Param[]): readonly Value[] | undefined;
  all(...params: readonly Param[]): readonly (readonly Value[])[];
}

/** Returns how many rows it changed. */
export type Statement = (...params: readonly Param[]) => number;

/**
 * One open ledger in either database. The stores use the SQL that SQLite and PostgreSQL share; all else is a method
 * here.
 *
 * Parameters are `?`, or `?1`, `?2` ... if one is used twice. A parameter that is tested for NULL must be text.
 */
export interface Connection {
  readonly path: string;
  /** See Ledger. */
  readonly history: number | null;
  /** One text is prepared once, when it is first needed: most commands need few of them. */
  readonly query: (sql: string) => Query;
  /** As `query`. Inside `write`. */
  readonly statement: (sql: string) => Statement;
  exec(sql: string): void;
  /**
   * One transaction, durable when this returns; no other one writes meanwhile. `work` gets the time to record: never
   * before a time that the ledger holds already, even if the clock was set back meanwhile. `rows` says about how many
   * rows it writes.
   * @throws LedgerError, with everything undone unless it says `recorded`; any other error of `work` as it is.
   */
  write<T>(nowMs: number, rows: number, work: (nowMs: number) => T): T;
  /** See Ledger. */
  hold(): Disposable;
  /**
   * An error if the ledger's name leads to another file than the open one; null: it does not, or there is no file.
   * Checked once a second, or `now`; `last` also reads the whole file, which may be overwritten in place. After an
   * error, nothing may be done that relies on the ledger; later writes are in the copy that `close` saves.
   */
  displacement(when?: 'now' | 'last'): LedgerError | null;
  close(): void;

  /** Changes whenever another process may have written. */
  version(): number;
  expectMany(): void;
  /** References between tables are checked when the transaction ends. Inside `write`. */
  deferReferences(): void;
  lock(run: RunIdentity, despiteWorkers?: boolean): RunLock | null;
  isHeld(run: RunIdentity): boolean;
  /** Before the first claim of a start: makes everything durable that is not in the tables. */
  beginStart(): void;
  /** Tokens that all senders to an environment share; null for a file: each process has its own rate limiter. */
  turns(environment: string, ratePerSecond: number): SharedTurns | null;
  /** Runs that several workers share; null for a file. */
  workers(recordOf: (number: number) => RunRecord): WorkerStore | null;
  /** The disk is full: frees the space that was reserved for this. */
  makeRoom(): void;
  readonly purge: ConnectionPurge;
  /** The hot path for many recipients at once, where a statement for each would be a round trip for each; else null. */
  readonly many: ManyRows | null;
  copyTo(path: string): void;
}

export interface ManyRows {
  /** Adds rows to a list that is loading, durable once the next statement is answered: no need to wait for it. */
  load(list: number, rows: readonly LoadRow[], run: Pick<RunRecord, 'channel'>): void;
  /**
   * Writes outcomes and then claims of step 0 in one transaction, on disk when this returns. Each row is written only
   * if it is in the expected state. Nothing is written if the run has another list by now, nor if there are claims and
   * the run is not running, or the ledger holds hashes under another key. Rows missing from the answer have to be
   * written
   * one by one. Within `write`, it is part of that transaction.
   * @param forms other spellings under which a recipient to be claimed may be suppressed
   * @param held the shards of a worker in a shared run: nothing is written if another worker has one of them by now
   * @returns rows that were in the expected state (null: all, as nearly always); or null: a row belongs to another recipient; everything is undone, including the `write` around it
   * @throws LedgerError, with everything undone
   */
  commit(
    run: Pick<RunRecord, 'number' | 'list' | 'postedFrom'>,
    results: readonly ResultRecord[],
    claims: readonly ClaimRequest[],
    forms: SuppressionForms,
    nowMs: number,
    held: { readonly worker: string; readonly shards: readonly number[] } | null,
  ): { readonly recorded: ReadonlySet<number> | null; readonly claimed: ReadonlySet<number> | null } | null;
}

export interface SuppressionForms {
  readonly all: readonly { readonly row: number; readonly form: string; readonly hash: string | null }[];
  readonly hashKey: string | null;
}

export interface ConnectionPurge {
  isUnderWay(): boolean;
  begin(): void;
  /** Overwrites what the next transactions free. */
  overwrite(): void;
  /** See PurgeStore; `runs` are all runs and drafts. */
  rewrite(runs: () => readonly RunRecord[]): 'done' | 'in-use' | 'no-room';
}

/**
 * Tokens that all senders to an environment share, on any machine. Times are in ms from now, by the database's clock.
 */
export interface SharedTurns {
  /** Takes the next free tokens: the time of the first; the others follow at the interval. */
  take(count: number): {
    /** Negative for a late token; bounded, so that only a few late tokens may be made up for. */
    readonly inMs: number;
    /** How long all senders must wait; 0 or less: not at all. */
    readonly heldMs: number;
  };
  /** No token is valid before `ms` from now. Processes that hold tokens learn this when they take the next one. */
  hold(ms: number): void;
}

/** Nested transactions for reading: only the outermost begins and ends one. */
export function holder(begin: () => void, end: () => void): () => Disposable {
  let held = 0;
  return () => {
    if (held === 0) begin();
    held += 1;
    return {
      [Symbol.dispose]() {
        held -= 1;
        if (held === 0) end();
      },
    };
  };
}

export function lazily<T>(make: (sql: string) => T): (sql: string) => T {
  const made = new Map<string, T>();
  return (sql) => {
    const found = made.get(sql) ?? make(sql);
    made.set(sql, found);
    return found;
  };
}
