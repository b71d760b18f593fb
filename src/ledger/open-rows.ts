import { DatabaseSync } from 'node:sqlite';
import { isPostgres } from '../util/ledger-address.ts';
import type { Connection } from './connection.ts';
import { NEWEST_VERSION, readAsNewest, userVersion } from './migrations.ts';
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
    const connection = new SqliteConnection(path, db);
    if (userVersion(db) === NEWEST_VERSION) return connection;
    // Views stand before the tables of an older ledger, and have no index of their own.
    const query = connection.query.bind(connection);
    return Object.assign(connection, { query: (sql: string) => query(sql.replaceAll(/ INDEXED BY \w+/g, '')) });
  } catch (error) {
    db.close();
    throw error;
  }
}
