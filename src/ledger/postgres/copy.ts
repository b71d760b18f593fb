import { DatabaseSync } from 'node:sqlite';
import { problem } from '../../errors.ts';
import type { Connection } from '../connection.ts';
import { LedgerError } from '../ledger-error.ts';
import { MARKS, SCHEMA } from '../schema.ts';

/** Rows that are in memory at once. */
const PAGE_ROWS = 2000;

/** No rule asks for attempts that were not accepted. */
const LEFT_OUT = 'attempts';

/**
 * Writes one moment of a shared ledger to an empty SQLite file, for work that must change nothing. Indexes and triggers
 * are made at the end: the triggers would refuse rows as they are now.
 * @throws LedgerError: the file cannot be written, or the server not be read
 */
export function copyShared(source: Pick<Connection, 'exec' | 'query' | 'hold'>, path: string): void {
  using _ = source.hold();
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA synchronous = OFF; BEGIN');
    const tables = SCHEMA.filter((statement) => statement.startsWith('CREATE TABLE'));
    for (const statement of tables) db.exec(statement);
    for (const { name } of db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`).all()) {
      if (name !== LEFT_OUT) copyTable(source, db, String(name));
    }
    for (const statement of SCHEMA) if (!tables.includes(statement)) db.exec(statement);
    for (const mark of MARKS) db.exec(mark);
    db.exec('COMMIT');
  } catch (error) {
    if (error instanceof LedgerError || !(error instanceof Error)) throw error;
    const message = `The copy of the shared ledger cannot be made: ${error.message}.`;
    throw new LedgerError('other', problem('ledger-write', message, { at: { file: path } }));
  } finally {
    db.close();
  }
}

/** Names are those of the schema. */
function copyTable(source: Pick<Connection, 'exec' | 'query'>, db: DatabaseSync, table: string): void {
  const columns = db.prepare('SELECT name FROM pragma_table_info(?)').all(table);
  const names = columns.map(({ name }) => String(name)).join(', ');
  const marks = columns.map(() => '?').join(', ');
  const insertion = ['INSERT INTO', table, '(', names, ') VALUES (', marks, ')'].join(' ');
  const insert = db.prepare(insertion);
  const cursor = ['copy', table].join('_');
  const fetch = ['FETCH', PAGE_ROWS, 'FROM', cursor].join(' ');
  source.exec(['DECLARE', cursor, 'CURSOR FOR SELECT', names, 'FROM', table].join(' '));
  const next = source.query(fetch);
  for (let rows = next.all(); rows.length > 0; rows = next.all()) for (const row of rows) insert.run(...row);
}
