import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { keepReserve, leaveMarker, releaseReserve } from './companions.ts';
import type { Connection, ConnectionPurge, Param, Query, Statement, Value } from './connection.ts';
import { fileError, LedgerError, type LedgerErrorKind, ledgerError } from './ledger-error.ts';
import { acquireRunLock, isRunHeld, type RunLock } from './lock.ts';
import { noteClosed, noteOpen } from './log-check.ts';
import { type Displacement, displaced, holdOff, nameOfCopy, rememberPlace } from './place.ts';
import { purgeOfFile } from './purge-file.ts';
import type { RunIdentity } from './records.ts';

/**
 * One open ledger file: its transactions and prepared statements, and what must happen when the disk fails.
 *
 * H1: after an I/O error nothing more is written through it, and it is not even closed: closing would write and sync once
 * more, and a second sync after a failed one reports success although the data are lost.
 */
export class SqliteConnection implements Connection {
  readonly path: string;
  readonly history = null;
  readonly purge: ConnectionPurge;
  readonly many = null;
  readonly #db: DatabaseSync;
  readonly #saveNewest: Statement;
  #newestMs: number;
  #savedMs: number;
  /** Estimate of the pages in the log since the last checkpoint. */
  #logPages = 0;
  #failure: LedgerError | null = null;
  #closed = false;
  readonly #place: () => Displacement;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #displaced: LedgerError | null = null;

  constructor(path: string, db: DatabaseSync) {
    this.path = path;
    this.#db = db;
    noteOpen(path);
    this.#place = rememberPlace(path);
    this.purge = purgeOfFile(this);
    this.#newestMs = Number(this.query('SELECT newest_at FROM ledger').get()?.[0]);
    this.#savedMs = this.#newestMs;
    this.#saveNewest = this.statement('UPDATE ledger SET newest_at = ?1 WHERE newest_at < ?1');
  }

  /** The newest time that the ledger holds, to about a second. */
  get newestMs(): number {
    return this.#newestMs;
  }

  query(sql: string): Query {
    const prepared = this.#db.prepare(sql, { returnArrays: true });
    // The types of node:sqlite know rows as objects only.
    const asRow = (row: unknown) => row as readonly Value[] | undefined;
    const asRows = (rows: unknown) => rows as readonly (readonly Value[])[];
    return {
      get: (...params) => this.#read(() => asRow(prepared.get(...params))),
      all: (...params) => this.#read(() => asRows(prepared.all(...params))),
    };
  }

  /** To be called inside `write`. Prepared when it is needed: who only reads may have an older ledger before him. */
  statement(sql: string): Statement {
    let prepared: StatementSync | null = null;
    return (...params) => {
      prepared ??= this.#db.prepare(sql);
      return Number(prepared.run(...params).changes);
    };
  }

  /** For statements that are too rare to be kept prepared. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /**
   * Something that is no part of a transaction: VACUUM, a checkpoint, a pragma. Returns the first value that it answers.
   *
   * @throws LedgerError
   */
  outside(sql: string, ...params: readonly Param[]): Value | null {
    if (this.#failure !== null) throw this.#failure;
    try {
      return Object.values(this.#db.prepare(sql).get(...params) ?? {})[0] ?? null;
    } catch (error) {
      throw this.#noted(ledgerError(error, this.path, 'write'));
    }
  }

  /**
   * One transaction, on the disk when this returns. `work` gets the time to record: never before a time that the
   * ledger holds already, even if the clock was set back meanwhile. `rows` says about how many rows it writes.
   *
   * @throws LedgerError, with everything undone unless it says `recorded`; any other error of `work` as it is.
   */
  write<T>(nowMs: number, rows: number, work: (nowMs: number) => T): T {
    if (this.#failure !== null) throw this.#failure;
    const now = Math.max(nowMs, this.#newestMs);
    // Once a second is enough: the clock is compared with a tolerance of minutes.
    const save = now >= this.#savedMs + 1000;
    let result: T;
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      if (save) this.#saveNewest(now);
      result = work(now);
      this.#db.exec('COMMIT');
    } catch (error) {
      throw this.#undo(error);
    }
    this.#newestMs = now;
    if (save) this.#savedMs = now;
    this.#logPages += 4 + rows / 8;
    if (this.#logPages >= CHECKPOINT_PAGES) this.#checkpoint();
    return result;
  }

  displacement(now?: 'now'): LedgerError | null {
    const clockMs = performance.now();
    if (this.#displaced !== null || (now === undefined && clockMs < this.#lookedMs + LOOK_MS)) return this.#displaced;
    this.#lookedMs = clockMs;
    const how = this.#place();
    if (how === null) return null;
    this.#displaced = displaced(this.path, how);
    try {
      holdOff(this.path);
    } catch {
      // The copy cannot be made either then, and `close` says so.
    }
    return this.#displaced;
  }

  version(): number {
    return Number(this.outside('PRAGMA data_version'));
  }

  // Ids are scattered over their index. SQLite's own cache of 2 MB holds little of it: a look-up cost three times as
  // much, and holding an event half as much again.
  expectMany(): void {
    this.exec('PRAGMA cache_size = -16384');
  }

  deferReferences(): void {
    this.exec('PRAGMA defer_foreign_keys = ON');
  }

  lock(run: RunIdentity): RunLock | null {
    return acquireRunLock(this.path, run);
  }

  workers(): null {
    return null;
  }

  isHeld(run: RunIdentity): boolean {
    return isRunHeld(this.path, run);
  }

  beginStart(): void {
    try {
      leaveMarker(this.path);
      keepReserve(this.path);
    } catch (error) {
      throw fileError(error, this.path);
    }
  }

  turns(): null {
    return null;
  }

  makeRoom(): void {
    releaseReserve(this.path);
  }

  copyTo(path: string): void {
    this.outside('VACUUM INTO ?', path);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // Nobody can come by these files again once they are closed.
    if (this.#displaced !== null && this.#failure === null) this.copyTo(nameOfCopy(this.path));
    if (this.#failure !== null && this.#failure.kind !== 'readonly') return;
    this.#db.close();
    noteClosed(this.path);
  }

  #read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#noted(ledgerError(error, this.path, 'read'));
    }
  }

  /**
   * Moves the log into the database. Done here and not by SQLite's own checkpoints, because those keep their errors to
   * themselves, and an I/O error must stop everything.
   */
  #checkpoint(): void {
    this.#logPages = 0;
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch (error) {
      const failure = ledgerError(error, this.path, 'write');
      // A full disk or a reader only mean that the log stays a while longer.
      if (failure instanceof LedgerError && !LASTING.has(failure.kind)) return;
      this.#noted(failure);
      // The transaction before it is on the disk. Those after it will not be, so the failure that is kept does not say so.
      throw failure instanceof LedgerError ? failure.asRecorded() : failure;
    }
  }

  #undo(error: unknown): unknown {
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    } catch {
      // The first error says what is wrong; whatever is left of the transaction is undone by the next who opens it.
    }
    return this.#noted(ledgerError(error, this.path, 'write'));
  }

  #noted(error: unknown): unknown {
    if (error instanceof LedgerError && LASTING.has(error.kind)) this.#failure = error;
    return error;
  }
}

const LASTING: ReadonlySet<LedgerErrorKind> = new Set(['io', 'corrupt', 'readonly']);

/** How often the names of the files are compared with those that are open. */
const LOOK_MS = 1000;

/** As SQLite's own default. */
const CHECKPOINT_PAGES = 1000;
