import { closeSync, existsSync, openSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HandbillError } from '../errors.ts';
import { temporaryFault } from '../util/files.ts';
import { isPostgres, shownLedger } from '../util/ledger-address.ts';
import { foldersUp } from '../util/paths.ts';
import { grants } from '../util/platform.ts';
import type { Connection } from './connection.ts';
import type { Ledger, LedgerFacts, LedgerOptions, PlaceFacts } from './ledger.ts';
import {
  checkClock,
  isDiskFailure,
  isGone,
  ledgerError,
  needsRollback,
  otherSchema,
  unusable,
} from './ledger-error.ts';
import { checkLog } from './log-check.ts';
import { besideRescued, hasMarker, ledgerMissing, refuseBesideRescued } from './place.ts';
import { examineShared, openExistingShared, openShared } from './postgres/open.ts';
import {
  checkPrivateFile,
  checkPrivateFolder,
  closeToReaders,
  createPrivateFile,
  ensurePrivateFolder,
  networkFileSystem,
  refuseNetworkFileSystem,
  refuseUnwritable,
  syncFoldersAbove,
  WRITABLE_HINT,
  writeFault,
} from './private-files.ts';
import { APPLICATION_ID, hasSchema, makeSchema, userVersion, VERSION } from './schema.ts';
import { BUSY_TIMEOUT_MS, connect, quickCheck, SqliteConnection } from './sqlite-connection.ts';
import { ledgerOver } from './stores.ts';
import { LEDGER_WARNINGS } from './warnings.ts';

/**
 * Opens the ledger at `path`; with mode `write`, makes it if there is none.
 * @throws HandbillError with exit status 7: `ledger-missing` (also when there is nothing to read), `ledger-unusable`,
 *   `ledger-permissions`, `ledger-filesystem`, `ledger-write`; with exit status 2: `clock`.
 */
export function openLedger(path: string, options: LedgerOptions): Ledger {
  if (isPostgres(path) && options.mode === 'write') return openShared(path, options);
  if (options.mode === 'write') return openForWriting(path, options);
  const ledger = openExistingLedger(path, options);
  if (ledger === null) throw unusable('ledger-missing', path, 'There is no ledger yet.', 'Send a campaign first.');
  return ledger;
}

/** Opens a ledger to read it, or null if there is none. Changes nothing. Throws as `openLedger` does. */
export function openExistingLedger(path: string, options: Omit<LedgerOptions, 'mode'>): Ledger | null {
  return openToRead(path, options, ledgerOver);
}

/** As `openExistingLedger`, for callers that also ask for rows by their place, which no command does. */
export function openToRead<T>(
  path: string,
  options: Omit<LedgerOptions, 'mode'>,
  over: (connection: Connection) => T,
): T | null {
  if (isPostgres(path)) return openExistingShared(path, options, over);
  checkRuntime(path);
  checkPrivateFolder(dirname(path));
  const facts = checkFiles(path);
  if (facts === null || facts.size === 0) return noLedger(path, options);
  refuseNetworkFileSystem(dirname(path));
  return guarded(path, () => {
    checkLog(path);
    const db = connect(path, options, true);
    try {
      if (inspect(db, path, facts, options) !== 'ours') {
        db.close();
        return noLedger(path, options);
      }
      const warning = besideRescued(path);
      if (warning !== null) LEDGER_WARNINGS.publish(warning);
      return over(new SqliteConnection(path, db));
    } catch (error) {
      if (db.isOpen) db.close();
      throw error;
    }
  });
}

/**
 * Makes a private copy of one moment of a ledger, also while other processes write: a SQLite file that only this user can
 * read, for work that must change nothing. Without a ledger, the copy is empty.
 * @returns whether there is a ledger
 * @throws HandbillError exit 7: the ledger cannot be read, or the copy not written
 */
export function copyLedger(ledger: string, path: string, nowMs: number): boolean {
  try {
    // SQLite would make a file that others can read; it takes one that is empty.
    closeSync(openSync(path, 'wx', 0o600));
    using original = openExistingLedger(ledger, { nowMs });
    original?.copyTo(path);
    openForWriting(path, { mode: 'write', nowMs, isCopy: true }).close();
    return original !== null;
  } catch (error) {
    if (!(error instanceof HandbillError)) throw temporaryFault(error, dirname(path));
    // The reader knows the ledger, and not its copy.
    const { exit, diagnostics } = error;
    const file = shownLedger(ledger);
    throw new HandbillError(
      exit,
      diagnostics.map((one) => (one.at?.file === path ? { ...one, at: { file } } : one)),
    );
  }
}

function openForWriting(path: string, options: LedgerOptions): Ledger {
  checkRuntime(path);
  return guarded(path, () => {
    const folder = dirname(path);
    refuseUnwritable(path);
    ensurePrivateFolder(folder);
    refuseNetworkFileSystem(folder);
    refuseBesideRescued(path);
    const facts = checkFiles(path);
    if (facts !== null && facts.size > 0) checkLog(path);
    // Through a connection that cannot write: a file that is not ours stays as it is, to the last byte.
    let found = inspectFile(path, options, facts);
    if (found === 'half-made') {
      undoFirstPage(path);
      found = inspectFile(path, options, checkFiles(path));
    }
    if (found !== 'ours' && hasMarker(path) && options.allow?.includes('ledger-missing') !== true)
      throw ledgerMissing(path);
    if (facts === null) createPrivateFile(path);
    else closeToReaders(path, facts);
    // Also if an earlier process made the folder: a kill may have come before this.
    if (found !== 'ours') syncFoldersAbove(folder);
    const db = connect(path, options, false);
    try {
      makeSchema(db, options.nowMs);
      const connection = new SqliteConnection(path, db, options.isCopy);
      checkClock(connection, options.nowMs);
      return ledgerOver(connection);
    } catch (error) {
      if (!isDiskFailure(error)) db.close();
      throw error;
    }
  });
}

/** The files of SQLite beside the ledger must be as private as it. */
function checkFiles(path: string): Stats | null {
  for (const suffix of ['-wal', '-shm', '-journal']) checkPrivateFile(path + suffix);
  return checkPrivateFile(path);
}

/** `half-made`: a kill or a power failure came while SQLite wrote the first page of a new file. */
type Found = 'empty' | 'half-made' | 'ours';

/** Lets SQLite roll back to the empty file in its journal: only the first page was ever written. */
function undoFirstPage(path: string): void {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, defensive: true });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
  } finally {
    db.close();
  }
}

function inspectFile(path: string, options: LedgerOptions, facts: Stats | null): Found {
  if (facts === null || facts.size === 0) return 'empty';
  const db = connect(path, options, true);
  try {
    return inspect(db, path, facts, options);
  } finally {
    db.close();
  }
}

/** Examines one state of the file, even while another process makes the ledger. */
function inspect(db: DatabaseSync, path: string, facts: Stats, options: Pick<LedgerOptions, 'isCopy'>): Found {
  db.exec('BEGIN');
  try {
    const found = identify(db, path, facts);
    if (found === 'ours' && options.isCopy !== true && facts.size <= QUICK_CHECK_BYTES) quickCheck(db, path);
    return found;
  } catch (error) {
    if (needsRollback(error) && facts.size <= PAGE_BYTES) return 'half-made';
    throw error;
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}

/** Whether the file is a complete ledger of handbill, and nothing else (failures.md, H3). */
function identify(db: DatabaseSync, path: string, facts: Stats): 'empty' | 'ours' {
  // SQLite takes such a file for an empty database and would write over it.
  if (facts.size < SMALLEST_DATABASE_BYTES) {
    throw unusable('ledger-unusable', path, 'The file is not a database.', 'Name another file with --ledger.');
  }
  const application = Number(db.prepare('PRAGMA application_id').get()?.['application_id']);
  const objects = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n']);
  // A kill in the first milliseconds of a new ledger leaves this.
  if (application === 0 && objects === 0) return 'empty';
  if (application !== APPLICATION_ID) {
    throw unusable(
      'ledger-unusable',
      path,
      'This is a database of another program.',
      'Name another file with --ledger.',
    );
  }
  const version = userVersion(db);
  if (version !== VERSION || !hasSchema(db)) throw otherSchema(path, version);
  return 'ours';
}

function noLedger(path: string, options: Omit<LedgerOptions, 'mode'>): null {
  refuseBesideRescued(path);
  if (hasMarker(path) && options.allow?.includes('ledger-missing') !== true) throw ledgerMissing(path);
  return null;
}

/** Before 3.51.3 two processes that reset the log at once could damage the file. */
function checkRuntime(path: string): void {
  const version = process.versions['sqlite'] ?? '0';
  if (isAtLeast(version, [3, 51, 3])) return;
  const message = `This Node.js brings SQLite ${version}; the ledger needs 3.51.3 or newer.`;
  throw unusable('ledger-unusable', path, message, 'Run handbill with Node.js 24 in its newest version.');
}

export function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [i, n] of wanted.entries()) {
    const part = parts[i] ?? 0;
    if (part !== n) return part > n;
  }
  return true;
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const translated = ledgerError(error, path, 'open');
    const fault = isGone(translated) ? writeFault(dirname(path)) : null;
    if (fault !== null) throw unusable('ledger-unusable', path, fault, WRITABLE_HINT);
    if (translated !== error || !(error instanceof Error) || !('syscall' in error)) throw translated;
    throw unusable('ledger-unusable', path, `The ledger cannot be opened: ${error.message}.`, WRITABLE_HINT);
  }
}

const SMALLEST_DATABASE_BYTES = 512;

/** SQLite's own default. A new ledger is not larger before it has its write-ahead log. */
const PAGE_BYTES = 4096;

/** About 20 ms (1 ms a megabyte, measured). Damage in larger files shows on use of the page: they must open at once. */
const QUICK_CHECK_BYTES = 16 * 1024 * 1024;

/**
 * Examines all pages of a ledger (1 ms a megabyte), and whether a start could use it; changes nothing and makes no
 * file. Null if there never was one.
 * @throws HandbillError exit 7, as `openLedger`
 */
export function examineLedger(path: string, nowMs: number): LedgerFacts | null {
  if (!isPostgres(path)) {
    refuseUnwritable(path);
    refuseBesideRescued(path);
  }
  const ledger = openExistingLedger(path, { nowMs, leaveNothing: true });
  if (ledger === null) return null;
  try {
    const runs = ledger.runs();
    const held = runs.filter((run) => ledger.isHeld(run));
    return {
      ...(isPostgres(path) ? examineShared(path) : examineFile(path, nowMs)),
      runs: runs.length,
      held: held.map((run) => ({ run, lockOwner: ledger.lockOwner(run) })),
      broken: runs.filter((run) => run.state === 'running' && !held.includes(run)),
      hashKeyId: ledger.hashKeyId(),
      isPurgeUnfinished: ledger.purge.isUnderWay(),
      pauses: ledger.pauses(),
    };
  } finally {
    ledger.close();
  }
}

function examineFile(path: string, nowMs: number): PlaceFacts {
  try {
    const db = connect(path, { nowMs, leaveNothing: true }, true);
    try {
      quickCheck(db, path);
      const newest = db.prepare('SELECT newest_at FROM ledger').get()?.['newest_at'];
      const { mode, size } = statSync(path);
      return { newestMs: Number(newest), bytes: size, serverMs: null, isReadable: grants(mode, 0o077) };
    } finally {
      db.close();
    }
  } catch (error) {
    throw ledgerError(error, path, 'read');
  }
}

/**
 * The bytes that this user may still write, and the name of a network file system, whose locks cannot be trusted; null
 * for any other. Throws the system's error if the disk cannot be examined.
 */
export function examineDisk(ledger: string) {
  const folder = foldersUp(dirname(ledger)).find((one) => existsSync(one)) ?? ledger;
  const { bavail, bsize, type } = statfsSync(folder);
  return { freeBytes: bavail * bsize, network: networkFileSystem(type) };
}
