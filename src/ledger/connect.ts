import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { LedgerOptions } from './ledger.ts';
import { isBusy, isDiskFailure, unusable } from './ledger-error.ts';

/** How long a connection waits for others. */
export const BUSY_TIMEOUT_MS = 30_000;

/** A connection with all settings of handbill, and nothing looked at yet. */
export function connect(path: string, options: Omit<LedgerOptions, 'mode'>, readOnly: boolean): DatabaseSync {
  const leavesNothing = readOnly && options.leaveNothing === true && !existsSync(`${path}-wal`);
  const db = new DatabaseSync(leavesNothing ? unchanging(path) : path, {
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
    for (const { set, get, value } of [timeout, ...SETTINGS, ...(readOnly ? [] : WRITE_SETTINGS)]) {
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

/**
 * Who reads a ledger in the usual way leaves an empty log and its index beside it. Without a log nobody has it open, so
 * that it can be read as a file that does not change.
 */
function unchanging(path: string): URL {
  const url = pathToFileURL(path);
  url.search = '?immutable=1';
  return url;
}

/**
 * SQLite does not wait when the switch to the log meets another process that does the same, so it is tried again here
 * for two seconds: without it, 3 of 200 simultaneous first starts failed.
 */
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

/** Set and read back on every connection; the time to wait for others is set before, by the opening itself. */
const SETTINGS = [
  { set: 'PRAGMA foreign_keys = ON', get: 'PRAGMA foreign_keys', value: 1 },
  { set: 'PRAGMA trusted_schema = OFF', get: 'PRAGMA trusted_schema', value: 0 },
  { set: 'PRAGMA cell_size_check = ON', get: 'PRAGMA cell_size_check', value: 1 },
  { set: 'PRAGMA mmap_size = 0', get: 'PRAGMA mmap_size', value: 0 },
];

const WRITE_SETTINGS = [
  // C11: a commit that returned outlasts a power cut; with NORMAL, SQLite syncs the log only now and then.
  { set: 'PRAGMA synchronous = FULL', get: 'PRAGMA synchronous', value: 2 },
  // Only macOS knows the difference: there, a plain fsync leaves data in the cache of the disk.
  { set: 'PRAGMA fullfsync = ON', get: 'PRAGMA fullfsync', value: 1 },
  { set: 'PRAGMA checkpoint_fullfsync = ON', get: 'PRAGMA checkpoint_fullfsync', value: 1 },
  // Checkpoints are the connection's own, so that their errors are seen.
  { set: 'PRAGMA wal_autocheckpoint = 0', get: 'PRAGMA wal_autocheckpoint', value: 0 },
  { set: 'PRAGMA journal_size_limit = 67108864', get: 'PRAGMA journal_size_limit', value: 67108864 },
];
