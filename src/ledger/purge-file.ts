import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { dropPurgeNote, hasPurgeNote, leavePurgeNote } from './companions.ts';
import type { Connection, ConnectionPurge, Param, Value } from './connection.ts';
import { fileError, LedgerError } from './ledger-error.ts';
import { isRunHeld } from './lock.ts';
import type { RunRecord } from './records.ts';

/** How large a ledger may be to be written anew while somebody else sends: who waits for the lock reads no answers. */
const SMALL_LEDGER_BYTES = 32 * 1024 * 1024;

/** What others write meanwhile. */
const ROOM_BYTES = 16 * 1024 * 1024;

/** The connection to the file, with what is no part of a transaction. */
interface FileConnection extends Pick<Connection, 'path' | 'write'> {
  outside(sql: string, ...params: readonly Param[]): Value | null;
}

/** What a purge does to the file of a ledger, and beside it. */
export function purgeOfFile(connection: FileConnection): ConnectionPurge {
  const { path } = connection;
  return {
    isUnderWay: () => hasPurgeNote(path),
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
  // A copy of it, and the log in which that comes back.
  if (bavail * bsize < 2 * bytes + ROOM_BYTES) return 'no-room';
  // The copy is made where the ledger lies, not in a folder for everybody's temporary files. It has no name from the
  // moment on when it is there, so that a kill leaves nothing of it.
  const folder = process.env['SQLITE_TMPDIR'];
  try {
    process.env['SQLITE_TMPDIR'] = dirname(path);
    connection.outside('VACUUM');
    // What was stands in the log too. It can be emptied once nobody reads from it.
    if (connection.outside('PRAGMA wal_checkpoint(TRUNCATE)') !== 0) return 'in-use';
  } catch (error) {
    if (error instanceof LedgerError && error.kind === 'busy') return 'in-use';
    throw error;
  } finally {
    if (folder === undefined) delete process.env['SQLITE_TMPDIR'];
    else process.env['SQLITE_TMPDIR'] = folder;
  }
  dropPurgeNote(path);
  return 'done';
}
