import { DatabaseSync } from 'node:sqlite';
import { isPostgres } from '../util/ledger-address.ts';
import type { Connection } from './connection.ts';
import { readAsNewest } from './migrations.ts';
import { openSharedRows } from './postgres/open.ts';
import { SqliteConnection } from './sqlite-connection.ts';

/**
 * A second connection to a ledger that is open and has been looked at by then, to ask for rows by their place, which no
 * command does. It cannot write.
 *
 * @throws as `openLedger`
 */
export function openRows(path: string, busyTimeoutMs: number): Connection {
  if (isPostgres(path)) return openSharedRows(path, busyTimeoutMs);
  const db = new DatabaseSync(path, {
    readOnly: true,
    timeout: busyTimeoutMs,
    allowExtension: false,
    defensive: true,
  });
  try {
    db.exec('PRAGMA trusted_schema = OFF');
    readAsNewest(db);
    return new SqliteConnection(path, db);
  } catch (error) {
    db.close();
    throw error;
  }
}
