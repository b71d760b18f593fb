import { existsSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { problem } from '../errors.ts';
import { onDemand } from '../util/on-demand.ts';
import {
  type Connection,
  type ConnectionPurge,
  holder,
  lazily,
  type Param,
  type Query,
  type Statement,
  type Value,
} from './connection.ts';
import type { LedgerOptions } from './ledger.ts';
import { fileError, isBusy, isDiskFailure, LASTING, LedgerError, ledgerError, unusable } from './ledger-error.ts';
import { acquireRunLock, isRunHeld, type RunLock } from './lock.ts';
import { noteClosed, noteOpen } from './log-check.ts';
import {
  type Displacement,
  displaced,
  holdOff,
  keepReserve,
  leaveMarker,
  leavePurgeNote,
  nameOfCopy,
  purgeNoteOf,
  rememberPlace,
  reserveOf,
} from './place.ts';
import type { RunIdentity, RunRecord } from './records.ts';

export const BUSY_TIMEOUT_MS = 30_000;

/** A connection with all settings of handbill, and nothing checked yet. */
export function connect(path: string, options: Omit<LedgerOptions, 'mode'>, readOnly: boolean): DatabaseSync {
  const leavesNothing = readOnly && options.leaveNothing === true && !existsSync(`${path}-wal`);
  // Without a log, no process has the ledger open: reading it as an unchanging file leaves no log and index behind.
  const place = leavesNothing ? new URL('?immutable=1', pathToFileURL(path)) : path;
  const db = new DatabaseSync(place, {
    readOnly,
    timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    allowExtension: false,
    defensive: true,
  });
  try {
    const timeout = { set: '', get: 'PRAGMA busy_timeout', value: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS };
    if (!readOnly) useWriteAheadLog(db, path);
    for (const { set, get, value } of [
      timeout,
      ...SETTINGS,
      ...(readOnly ? [] : options.isCopy === true ? COPY_SETTINGS : WRITE_SETTINGS),
    ]) {
      db.exec(set);
      const answer = Object.values(db.prepare(get).get() ?? {})[0];
      if (answer !== value) throw unusable('ledger-unusable', path, `SQLite answers "${get}" with ${String(answer)}.`);
    }
    return db;
  } catch (error) {
    if (!isDiskFailure(error)) db.close();
    throw error;
  }
}

/** @throws LedgerError if a page of the file is damaged: 1 ms a megabyte */
export function quickCheck(db: DatabaseSync, path: string): void {
  const first = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (first === 'ok') return;
  const hint = 'Move it away for safe keeping and restore a backup.';
  const message = `The ledger is damaged: ${String(first)}.`;
  throw new LedgerError('corrupt', problem('ledger-unusable', message, { at: { file: path }, hint }));
}

/** SQLite does not wait if two processes switch to the log at once: 3 of 200 simultaneous first starts failed. */
function useWriteAheadLog(db: DatabaseSync, path: string): void {
  for (let attempt = 0; ; attempt++) {
    try {
      const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
      if (mode === 'wal') return;
      throw unusable('ledger-unusable', path, `SQLite cannot keep a write-ahead log here (${String(mode)}).`);
    } catch (error) {
      if (!isBusy(error) || attempt >= 100) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

/** Set and read back on every connection, after the time to wait for others, which is set on opening. */
const SETTINGS = [
  { set: 'PRAGMA foreign_keys = ON', get: 'PRAGMA foreign_keys', value: 1 },
  { set: 'PRAGMA trusted_schema = OFF', get: 'PRAGMA trusted_schema', value: 0 },
  { set: 'PRAGMA cell_size_check = ON', get: 'PRAGMA cell_size_check', value: 1 },
  { set: 'PRAGMA mmap_size = 0', get: 'PRAGMA mmap_size', value: 0 },
];

const COPY_SETTINGS = [{ set: 'PRAGMA synchronous = OFF', get: 'PRAGMA synchronous', value: 0 }];

const WRITE_SETTINGS = [
  // A commit that returned survives a power failure (failures.md, C11). With NORMAL, SQLite syncs the log only now and
  // then.
  { set: 'PRAGMA synchronous = FULL', get: 'PRAGMA synchronous', value: 2 },
  // Only macOS knows the difference: there, a plain fsync leaves data in the cache of the disk.
  { set: 'PRAGMA fullfsync = ON', get: 'PRAGMA fullfsync', value: 1 },
  { set: 'PRAGMA checkpoint_fullfsync = ON', get: 'PRAGMA checkpoint_fullfsync', value: 1 },
  // Checkpoints are the connection's own, so that their errors are seen.
  { set: 'PRAGMA wal_autocheckpoint = 0', get: 'PRAGMA wal_autocheckpoint', value: 0 },
  { set: 'PRAGMA journal_size_limit = 67108864', get: 'PRAGMA journal_size_limit', value: 67108864 },
];

/**
 * One open ledger file: its transactions and prepared statements, and what must happen when the disk fails.
 *
 * After an I/O error nothing more is written through it, and it is not even closed: closing would write and sync once
 * more, and a second sync after a failed one reports success although the data are lost (failures.md, H1).
 */
export class SqliteConnection implements Connection {
  readonly path: string;
  readonly history = null;
  readonly purge: ConnectionPurge;
  readonly many = null;
  readonly hold = holder(
    () => this.#read(() => this.#db.exec('BEGIN')),
    () => {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('COMMIT');
    },
  );
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
  readonly #isCopy: boolean;

  constructor(path: string, db: DatabaseSync, isCopy = false) {
    this.path = path;
    this.#isCopy = isCopy;
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

  readonly query = lazily((sql): Query => {
    const prepared = onDemand(() => this.#db.prepare(sql, { returnArrays: true }));
    // The types of node:sqlite know rows as objects only.
    const asRow = (row: unknown) => row as readonly Value[] | undefined;
    const asRows = (rows: unknown) => rows as readonly (readonly Value[])[];
    return {
      get: (...params) => this.#read(() => asRow(prepared().get(...params))),
      all: (...params) => this.#read(() => asRows(prepared().all(...params))),
    };
  });

  readonly statement = lazily((sql): Statement => {
    let prepared: StatementSync | undefined;
    return (...params) => {
      prepared ??= this.#db.prepare(sql);
      return Number(prepared.run(...params).changes);
    };
  });

  /** For statements that are too rare to be kept prepared. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /**
   * Runs a statement outside a transaction: VACUUM, a checkpoint, a pragma. Returns the first value of the answer.
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

  displacement(when?: 'now' | 'last'): LedgerError | null {
    const clockMs = performance.now();
    if (this.#displaced !== null || (when === undefined && clockMs < this.#lookedMs + LOOK_MS)) return this.#displaced;
    this.#lookedMs = clockMs;
    const how = this.#place();
    if (how === null) return when === 'last' && !this.#isCopy ? this.#damage() : null;
    this.#displaced = displaced(this.path, how);
    try {
      holdOff(this.path);
    } catch {
      // Then the copy cannot be made either, and `close` reports that.
    }
    return this.#displaced;
  }

  /** Reads every page as the next process will: this connection has many in memory. */
  #damage(): LedgerError | null {
    if (this.#failure !== null || (statSync(this.path, { throwIfNoEntry: false })?.size ?? 0) > LAST_LOOK_BYTES)
      return null;
    try {
      const db = connect(this.path, { nowMs: this.#newestMs }, true);
      try {
        quickCheck(db, this.path);
      } finally {
        db.close();
      }
      return null;
    } catch (error) {
      const found = ledgerError(error, this.path, 'read');
      if (!(found instanceof LedgerError)) throw found;
      if (found.kind !== 'corrupt' && found.kind !== 'io') return null;
      const message = `The ledger was overwritten while this command was using it. ${found.message}`;
      const hint =
        'Move the ledger and the files beside it away for safe keeping and restore a backup. The backup may lack ' +
        'recipients of this start: compare it with what the API knows before anything is sent from it.';
      const damage = new LedgerError('corrupt', problem('ledger-unusable', message, { at: { file: this.path }, hint }));
      // Nothing is written any more, not even by closing: that would put the damaged log into the file.
      this.#failure = damage;
      return damage;
    }
  }

  version(): number {
    return Number(this.outside('PRAGMA data_version'));
  }

  // Ids are scattered over their index, and SQLite's own cache of 2 MB holds little of it: a look-up took three times
  // as long, and storing an event half as long again.
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
    rmSync(reserveOf(this.path), { force: true });
  }

  copyTo(path: string): void {
    this.outside('VACUUM INTO ?', path);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // Once these files are closed, they cannot be opened again: their names are gone.
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
      // On a full disk, or while a reader is active, the log only stays a while longer.
      if (failure instanceof LedgerError && !LASTING.has(failure.kind)) return;
      this.#noted(failure);
      // The transaction before it is on disk, later ones will not be: the stored failure must not have `recorded` set.
      throw failure instanceof LedgerError ? failure.asRecorded() : failure;
    }
  }

  #undo(error: unknown): unknown {
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    } catch {
      // The first error is reported; the next process that opens the ledger rolls back the rest.
    }
    return this.#noted(ledgerError(error, this.path, 'write'));
  }

  #noted(error: unknown): unknown {
    if (error instanceof LedgerError && LASTING.has(error.kind)) this.#failure = error;
    return error;
  }
}

/** How often the names of the files are compared with the open files. */
const LOOK_MS = 1000;

/** The `last` check reads at most a quarter of a second. */
const LAST_LOOK_BYTES = 256 * 1024 * 1024;

/** As SQLite's own default. */
const CHECKPOINT_PAGES = 1000;

/** Up to this size a ledger is written anew while another process sends, which reads no answers meanwhile. */
const SMALL_LEDGER_BYTES = 32 * 1024 * 1024;

/** For what others write meanwhile. */
const ROOM_BYTES = 16 * 1024 * 1024;

type FileConnection = Pick<SqliteConnection, 'path' | 'outside'>;

/** A purge's work on the file of a ledger, and beside it. */
function purgeOfFile(connection: FileConnection): ConnectionPurge {
  const { path } = connection;
  return {
    isUnderWay: () => existsSync(purgeNoteOf(path)),
    begin() {
      try {
        leavePurgeNote(path);
      } catch (error) {
        throw fileError(error, path);
      }
    },
    overwrite: () => void connection.outside('PRAGMA secure_delete = ON'),
    rewrite: (runs) => rewrite(connection, runs),
  };
}

function rewrite(connection: FileConnection, runs: () => readonly RunRecord[]): 'done' | 'in-use' | 'no-room' {
  const { path } = connection;
  const bytes = Number(connection.outside('PRAGMA page_count')) * Number(connection.outside('PRAGMA page_size'));
  const isAtWork = ({ state }: RunRecord) => state === 'running' || state === 'loading';
  if (bytes > SMALL_LEDGER_BYTES && runs().some((run) => isAtWork(run) && isRunHeld(path, run))) return 'in-use';
  const { bavail, bsize } = statfsSync(dirname(path));
  // Room for the copy, and the log through which it is written back.
  if (bavail * bsize < 2 * bytes + ROOM_BYTES) return 'no-room';
  // The copy is made in the folder of the ledger, not in one that all users share. Its name is removed at once, so that
  // a kill leaves nothing of it.
  const folder = process.env['SQLITE_TMPDIR'];
  try {
    process.env['SQLITE_TMPDIR'] = dirname(path);
    connection.outside('VACUUM');
    // The old content is in the log too. The log can be emptied once no process reads from it.
    if (connection.outside('PRAGMA wal_checkpoint(TRUNCATE)') !== 0) return 'in-use';
  } catch (error) {
    if (error instanceof LedgerError && error.kind === 'busy') return 'in-use';
    throw error;
  } finally {
    if (folder === undefined) delete process.env['SQLITE_TMPDIR'];
    else process.env['SQLITE_TMPDIR'] = folder;
  }
  rmSync(purgeNoteOf(path), { force: true });
  return 'done';
}
