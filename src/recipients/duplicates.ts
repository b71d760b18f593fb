import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { AddressKind, Recipient } from '../model.ts';
import { listedForm } from '../util/address-form.ts';

/** What a duplicate is of: the first row with the same key, or the row of another person with the same address. */
export interface Duplicate {
  readonly of: 'key' | 'address';
  /** Line of the first row. */
  readonly line: number;
  /** Both rows have the same address, and the same cells wherever the message uses them. */
  readonly isSame: boolean;
}

/**
 * Finds recipients that a list names more than once. Keys are compared as they are, addresses in the form in which they
 * are listed: upper and lower case in email addresses reach the same mailbox, two spellings of a number the same phone.
 */
export interface Duplicates {
  /** What the recipient of a row is a duplicate of; null: nothing. Asked once for each row, in list order. */
  find(recipient: Recipient): Duplicate | null;
  /** Gives the memory back: the list has been read. */
  close(): void;
}

interface DuplicateOptions {
  readonly kind: AddressKind;
  /** Addresses are compared as well as keys: the key is not the address. */
  readonly byAddress: boolean;
  /** Columns that the messages use, by position: where they differ, the message does. */
  readonly used: readonly number[];
}

/**
 * Makes an empty set of recipients: SQLite in memory, off V8's heap. A phone number takes 20 bytes, and 30 as a text. A
 * Map of as many strings takes 100 or more, and cannot hold more than 16 million.
 */
export function createDuplicates({ kind, byAddress, used }: DuplicateOptions): Duplicates {
  const isNumber = kind === 'msisdn';
  const formOf = (text: string): string => (kind === 'contact' ? text : listedForm(text));
  const keys = createSeen(isNumber && !byAddress);
  const addresses = byAddress ? createSeen(isNumber) : null;

  /**
   * A checksum of the parts of a recipient that the messages use: it only says whether two rows with one key differ.
   */
  function contentOf({ to, values }: Recipient): number {
    let content = byAddress ? formOf(to) : '';
    for (const column of used) content += `\0${values[column] ?? ''}`;
    return crc32(content) | 0;
  }

  return {
    find(recipient) {
      const { key, to, line } = recipient;
      const content = contentOf(recipient);
      const samePerson = keys.first(byAddress ? key : formOf(key), line, content);
      if (samePerson !== null) return { of: 'key', ...samePerson };
      const sameAddress = addresses?.first(formOf(to), line, content) ?? null;
      return sameAddress === null ? null : { of: 'address', ...sameAddress };
    },
    close() {
      keys.close();
      addresses?.close();
    },
  };
}

interface Seen {
  /** The first row with a text; null: it is this one, which is remembered. */
  first(text: string, line: number, content: number): Omit<Duplicate, 'of'> | null;
  close(): void;
}

/** A database of its own for each set. Its one transaction never ends, because nothing here is written to a disk. */
function createSeen(isNumber: boolean): Seen {
  const database = new DatabaseSync(':memory:');
  database.exec(isNumber ? NUMBERS : TEXTS);
  database.exec('BEGIN');
  const add = database.prepare(ADD);
  const find = database.prepare(FIND);
  return {
    first(text, line, content) {
      const entry = isNumber ? Number(text) : text;
      if (add.run(entry, line, content).changes === 1) return null;
      const found = find.get(content, entry);
      return { line: Number(found?.['line']), isSame: found?.['isSame'] === 1 };
    },
    close: () => database.close(),
  };
}

// An INTEGER takes 3 or 4 bytes; without the type, each number would be a double. Phone numbers in E.164 are whole
// numbers of at most 15 digits, never with a leading zero, and so are keys of the table itself.
const NUMBERS = 'CREATE TABLE seen (entry INTEGER PRIMARY KEY, line INTEGER, content INTEGER)';
const TEXTS = 'CREATE TABLE seen (entry TEXT PRIMARY KEY, line INTEGER, content INTEGER) WITHOUT ROWID';
const ADD = 'INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const FIND = 'SELECT line, content = ? AS isSame FROM seen WHERE entry = ?';
