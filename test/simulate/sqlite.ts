import { DatabaseSync } from 'node:sqlite';

/** Who is asked before and after the words of SQLite that decide: BEGIN IMMEDIATE, COMMIT, checkpoints. */
export interface SqliteWatch {
  opened(db: DatabaseSync): void;
  /** `run` does what was asked; an error instead of it is what the ledger sees. */
  decide(word: Word, run: () => void): void;
}

export type Word = 'begin' | 'commit' | 'rollback' | 'checkpoint';

const WORDS: ReadonlyMap<string, Word> = new Map([
  ['BEGIN IMMEDIATE', 'begin'],
  ['COMMIT', 'commit'],
  ['ROLLBACK', 'rollback'],
  ['PRAGMA wal_checkpoint(PASSIVE)', 'checkpoint'],
]);

const watches = new WeakMap<DatabaseSync, SqliteWatch>();
let opening: SqliteWatch | null = null;
let installed: typeof DatabaseSync.prototype.exec | null = null;

/**
 * Puts itself between the ledger and SQLite for as long as `using` lasts. At the one method through which all
 * transactions go, so that everything in src/ledger runs as it is.
 */
export function watchSqlite(): Disposable {
  if (installed !== null) throw new Error('SQLite is being watched already.');
  const real = DatabaseSync.prototype.exec;
  installed = real;
  DatabaseSync.prototype.exec = function (sql) {
    // The first that a ledger says on a connection that it is going to write through.
    if (opening !== null && sql.startsWith('PRAGMA synchronous')) {
      watches.set(this, opening);
      opening.opened(this);
    }
    const word = WORDS.get(sql);
    const watch = word === undefined ? undefined : watches.get(this);
    if (word === undefined || watch === undefined) return real.call(this, sql);
    watch.decide(word, () => real.call(this, sql));
  };
  return {
    [Symbol.dispose]: () => {
      DatabaseSync.prototype.exec = real;
      installed = null;
    },
  };
}

/** Everything that `work` opens for writing is this watch's. */
export function openedFor<T>(watch: SqliteWatch, work: () => T): T {
  opening = watch;
  try {
    return work();
  } finally {
    opening = null;
  }
}

/** An error as node:sqlite throws it. */
export function sqliteError(kind: FaultKind): Error {
  const [errcode, message] = ERRORS[kind];
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode, errstr: message });
}

const ERRORS = {
  full: [13, 'database or disk is full'],
  'io-write': [778, 'disk I/O error'],
  'io-fsync': [1034, 'disk I/O error'],
  busy: [5, 'database is locked'],
  readonly: [8, 'attempt to write a readonly database'],
  corrupt: [11, 'database disk image is malformed'],
} as const;

export type FaultKind = keyof typeof ERRORS;
export const FAULT_KINDS = Object.keys(ERRORS) as readonly FaultKind[];
