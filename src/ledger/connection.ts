import type { LedgerError } from './ledger-error.ts';
import type { RunLock } from './lock.ts';
import type { ClaimRequest, LoadRow, ResultRecord, RunIdentity, RunRecord, WorkerStore } from './records.ts';

/** What a database gives back: numbers for whole numbers, and 0 or 1 for what is true or false. */
export type Value = null | number | bigint | string | Uint8Array;
export type Param = null | number | bigint | string | Uint8Array;

/** A prepared query; its rows are arrays, which cost less than objects. */
export interface Query {
  get(...params: readonly Param[]): readonly Value[] | undefined;
  all(...params: readonly Param[]): readonly (readonly Value[])[];
}

/** A prepared statement; returns how many rows it changed. */
export type Statement = (...params: readonly Param[]) => number;

/**
 * One open ledger in either database: its transactions and prepared statements. The stores beside this file use the SQL
 * that SQLite and PostgreSQL have in common; other operations are methods here.
 *
 * Parameters are `?`, or `?1`, `?2` ... if one is used more than once. A parameter that is tested for NULL must be
 * text.
 */
export interface Connection {
  /** The file or address of the ledger, as people may see it. */
  readonly path: string;
  /** See Ledger. */
  readonly history: number | null;
  query(sql: string): Query;
  /** To be called inside `write`. */
  statement(sql: string): Statement;
  /** For statements that are too rare to be kept prepared. */
  exec(sql: string): void;
  /**
   * One transaction, durable when this returns; no other one writes meanwhile. `work` gets the time to record: never
   * before a time that the ledger holds already, even if the clock was set back meanwhile. `rows` says about how many
   * rows it writes.
   *
   * @throws LedgerError, with everything undone unless it says `recorded`; any other error of `work` as it is.
   */
  write<T>(nowMs: number, rows: number, work: (nowMs: number) => T): T;
  /** See Ledger. */
  hold(): Disposable;
  /**
   * An error if the name of the ledger leads to another file than the open one; null: it does not, or there is no file.
   * Checked once a second, or `now`; `last` also reads all of the file, because it may be overwritten in place. After an
   * error, nothing may be done that relies on the ledger; later writes are in the copy that `close` saves.
   */
  displacement(when?: 'now' | 'last'): LedgerError | null;
  close(): void;

  /** Changes whenever another process may have written. */
  version(): number;
  /** Keeps more of the ledger in memory from here on. */
  expectMany(): void;
  /** References between tables are looked at when the transaction ends. Inside `write`. */
  deferReferences(): void;
  /** The lock of a run. Null if another process has it or, without `despiteWorkers`, workers are active in the run. */
  lock(run: RunIdentity, despiteWorkers?: boolean): RunLock | null;
  /** Some process is at this run now. */
  isHeld(run: RunIdentity): boolean;
  /** Before the first claim of a start: makes everything durable that is not in the tables. */
  beginStart(): void;
  /**
   * Tokens that all senders to an environment share; null for a file, whose processes each have their own rate limiter.
   */
  turns(environment: string, ratePerSecond: number): SharedTurns | null;
  /** Runs that several workers share; null: those of a file are one process's. */
  workers(recordOf: (number: number) => RunRecord): WorkerStore | null;
  /** The disk is full: frees the space that was reserved for this. */
  makeRoom(): void;
  readonly purge: ConnectionPurge;
  /** The hot path for many recipients at once, where a statement for each would be a journey for each; else null. */
  readonly many: ManyRows | null;
  copyTo(path: string): void;
}

/** What the stores do row by row, for all rows at once. */
export interface ManyRows {
  /**
   * Adds rows to a list that is loading, durably once the next statement was answered: it need not be waited for.
   */
  load(list: number, rows: readonly LoadRow[], run: Pick<RunRecord, 'channel'>): void;
  /**
   * Writes outcomes and then claims of step 0 in one transaction, on disk when this returns. Each row is written only
   * if it is in the expected state. Nothing is written if the run has another list by now. Nothing is written either if
   * there are claims and the run is not running, or if the ledger holds hashes under another key. Rows missing from the
   * answer have to be written one by one. Within `write`, it is part of that transaction.
   *
   * @param forms other spellings under which a recipient to be claimed may be suppressed
   * @param held the shards of a worker in a shared run: nothing is written if another worker has one of them by now
   * @returns null: a row belongs to another recipient; everything is undone, including the `write` around it
   * @throws LedgerError, with everything undone
   */
  commit(
    run: Pick<RunRecord, 'number' | 'list' | 'postedFrom'>,
    results: readonly ResultRecord[],
    claims: readonly ClaimRequest[],
    forms: SuppressionForms,
    nowMs: number,
    held: ShardsInUse | null,
  ): CommittedRows | null;
}

/** The spellings under which recipients to be claimed may be suppressed. */
export interface SuppressionForms {
  readonly all: readonly { readonly row: number; readonly form: string; readonly hash: string | null }[];
  /** The key of the hashes; null: there is none. */
  readonly hashKey: string | null;
}

/** The rows that were as they were expected; null: all of them, as nearly always. */
interface CommittedRows {
  readonly recorded: ReadonlySet<number> | null;
  readonly claimed: ReadonlySet<number> | null;
}

/** A worker, and the shards in which it claims. */
interface ShardsInUse {
  readonly worker: string;
  readonly shards: readonly number[];
}

/** What a purge needs beside the tables. */
export interface ConnectionPurge {
  isUnderWay(): boolean;
  begin(): void;
  /** What the next transactions free is overwritten. */
  overwrite(): void;
  /** See PurgeStore; `runs` are all runs and drafts. */
  rewrite(runs: () => readonly RunRecord[]): 'done' | 'in-use' | 'no-room';
}

/**
 * Tokens of the rate limiter that all senders to an environment take from one row of a shared ledger. So the
 * environment's rate holds for all of them together, on any machine. Times are in ms from now, by the database's clock,
 * which is the same for all machines.
 */
export interface SharedTurns {
  /** Takes the next free tokens: the time of the first one; the others follow at the interval. */
  take(count: number): Taken;
  /**
   * No token is valid before `ms` from now. Processes that already hold tokens learn this when they take the next one.
   */
  hold(ms: number): void;
}

interface Taken {
  /** Negative for a late token; bounded, so that only a few late tokens may be made up for. */
  readonly inMs: number;
  /** How long all senders must wait. 0 or less: they need not. */
  readonly heldMs: number;
}

/** Transactions for reading, one within the other: only the outermost begins and ends one. */
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

/** Makes each once, when it is first asked for. */
export function lazily<T>(make: (sql: string) => T): (sql: string) => T {
  const made = new Map<string, T>();
  return (sql) => {
    const found = made.get(sql) ?? make(sql);
    made.set(sql, found);
    return found;
  };
}
