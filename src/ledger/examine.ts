import { existsSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isPostgres } from '../util/ledger-address.ts';
import type { LedgerFacts, PlaceFacts } from './ledger.ts';
import { ledgerError, unusable } from './ledger-error.ts';
import { NEWEST_VERSION, userVersion } from './migrations.ts';
import { openExistingLedger } from './open.ts';
import { examineShared } from './postgres/open.ts';
import { networkFileSystem } from './private-files.ts';
import { connect } from './sqlite-connection.ts';

/**
 * Examines a whole ledger, all of its pages (1 ms a megabyte), and changes nothing and makes no file. Null if there
 * never was one.
 *
 * @throws HandbillError exit 7, as `openLedger`
 */
export function examineLedger(path: string, nowMs: number): LedgerFacts | null {
  const ledger = openExistingLedger(path, { nowMs, leaveNothing: true });
  if (ledger === null) return null;
  try {
    const runs = ledger.runs();
    const held = runs.filter((run) => ledger.isHeld(run));
    return {
      ...(isPostgres(path) ? examineShared(path) : examineFile(path, nowMs)),
      runs: runs.length,
      held: held.map((run) => ({ run, holder: ledger.holder(run) })),
      broken: runs.filter((run) => run.state === 'running' && !held.includes(run)),
      hashKeyId: ledger.hashKeyId(),
      isPurgeUnfinished: ledger.purge.isUnderWay(),
    };
  } finally {
    ledger.close();
  }
}

function examineFile(path: string, nowMs: number): PlaceFacts {
  const permissions = readPermissions(statSync(path));
  return { ...readPages(path, nowMs), newestVersion: NEWEST_VERSION, serverMs: null, ...permissions };
}

function readPages(path: string, nowMs: number): Pick<LedgerFacts, 'version' | 'newestMs' | 'bytes'> {
  try {
    const db = connect(path, { nowMs, leaveNothing: true }, true);
    try {
      const first = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
      if (first !== 'ok') {
        const hint = 'Move it away for safe keeping and restore a backup.';
        throw unusable('ledger-unusable', path, `The ledger is damaged: ${String(first)}.`, hint);
      }
      const newest = db.prepare('SELECT newest_at FROM ledger').get()?.['newest_at'];
      return { version: userVersion(db), newestMs: Number(newest), bytes: statSync(path).size };
    } finally {
      db.close();
    }
  } catch (error) {
    throw ledgerError(error, path, 'read');
  }
}

function readPermissions({ mode }: Stats): Pick<LedgerFacts, 'isReadable'> {
  return { isReadable: process.platform !== 'win32' && (mode & 0o077) !== 0 };
}

/** The disk of a ledger, or of the place for one. */
export interface DiskFacts {
  /** The nearest folder that exists. */
  readonly folder: string;
  /** What this user may still write. */
  readonly freeBytes: number;
  /** Name of a network file system, whose locks cannot be trusted; null for any other. */
  readonly network: string | null;
}

/** @throws the system's error if the disk cannot be examined */
export function examineDisk(ledger: string): DiskFacts {
  let folder = dirname(ledger);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const { bavail, bsize, type } = statfsSync(folder);
  return { folder, freeBytes: bavail * bsize, network: networkFileSystem(type) };
}
