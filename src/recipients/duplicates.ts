import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Recipient } from '../model.ts';

/** What a duplicate is of: the first row with the same key, or the row of another person with the same address. */
export interface Duplicate {
  readonly of: 'key' | 'address';
  /** Line of the first row. */
  readonly line: number;
  /** Both rows have the same address, and the same cells wherever the message uses them. */
  readonly isSame: boolean;
}

/** Finds recipients that a list names more than once. Exact: keys and addresses are compared as they are. */
export interface Duplicates {
  /** What the recipient of a row is a duplicate of; null: nothing. Asked once for each row, in list order. */
  find(recipient: Recipient): Duplicate | null;
  /** Gives the memory back: the list has been read. */
  close(): void;
}

interface DuplicateOptions {
  /** Addresses are compared as well as keys: the key is not the address. */
  readonly byAddress: boolean;
  /** Columns that the messages use, by position: where they differ, the message does. */
  readonly used: readonly number[];
}

/**
 * Makes an empty set of recipients: SQLite in memory, off V8's heap, some 40 bytes a row. A Map of as many strings takes
 * three times that, and cannot hold more than 16 million.
 */
export function createDuplicates({ byAddress, used }: DuplicateOptions): Duplicates {
  const database = new DatabaseSync(':memory:');
  database.exec(TABLES);
  const keys = createSeen(database.prepare(ADD_KEY), database.prepare(FIND_KEY));
  const addresses = byAddress ? createSeen(database.prepare(ADD_ADDRESS), database.prepare(FIND_ADDRESS)) : null;

  /**
   * A checksum of the parts of a recipient that the messages use: it only says whether two rows with one key differ.
   */
  function contentOf({ to, values }: Recipient): number {
    const content = [byAddress ? to : '', ...used.map((column) => values[column] ?? '')].join('\0');
    return crc32(content) | 0;
  }

  return {
    find(recipient) {
      const { key, to, line } = recipient;
      const content = contentOf(recipient);
      const samePerson = keys(key, line, content);
      if (samePerson !== null) return { of: 'key', ...samePerson };
      const sameAddress = addresses?.(to, line, content) ?? null;
      return sameAddress === null ? null : { of: 'address', ...sameAddress };
    },
    close: () => database.close(),
  };
}

/** The first row with a text; null: it is this one, which is remembered. */
type Seen = (text: string, line: number, content: number) => Omit<Duplicate, 'of'> | null;

function createSeen(add: StatementSync, find: StatementSync): Seen {
  return (text, line, content) => {
    if (add.run(text, line, content).changes === 1) return null;
    const first = find.get(content, text);
    return { line: Number(first?.['line']), isSame: first?.['isSame'] === 1 };
  };
}

// One transaction that never ends, because nothing here is written to a disk. An INTEGER takes 3 or 4 bytes; without
// the type, each number would be a double.
const TABLES = `CREATE TABLE keys (entry TEXT PRIMARY KEY, line INTEGER, content INTEGER) WITHOUT ROWID;
  CREATE TABLE addresses (entry TEXT PRIMARY KEY, line INTEGER, content INTEGER) WITHOUT ROWID;
  BEGIN`;

const ADD_KEY = 'INSERT INTO keys VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const ADD_ADDRESS = 'INSERT INTO addresses VALUES (?, ?, ?) ON CONFLICT DO NOTHING';

const FIND_KEY = 'SELECT line, content = ? AS isSame FROM keys WHERE entry = ?';
const FIND_ADDRESS = 'SELECT line, content = ? AS isSame FROM addresses WHERE entry = ?';
