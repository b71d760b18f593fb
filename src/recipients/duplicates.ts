import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { AddressKind, Recipient } from '../model.ts';
import { listedForm } from '../util/address-form.ts';

export interface Duplicate {
  readonly of: 'key' | 'address';
  readonly line: number;
  /** The cells that the message uses are the same, too. */
  readonly isSame: boolean;
}

/** Finds recipients that a list names twice, by exact key or normalised address. */
export type Duplicates = ReturnType<typeof createDuplicates>;

interface DuplicateOptions {
  readonly kind: AddressKind;
  /** Compares addresses as well as keys: the key is not the address. */
  readonly byAddress: boolean;
  readonly used: readonly number[];
}

/**
 * Makes an empty set of recipients: SQLite in memory, off V8's heap. A phone number takes 20 bytes, and 30 as a text. A
 * Map of as many strings takes 100 or more, and cannot hold more than 16 million.
 */
export function createDuplicates({ kind, byAddress, used }: DuplicateOptions) {
  const isNumber = kind === 'msisdn';
  const formOf = (text: string): string => (kind === 'contact' ? text : listedForm(text));
  const keys = createSeen(isNumber && !byAddress);
  const addresses = byAddress ? createSeen(isNumber) : null;

  /** A checksum, which only decides whether two rows with one key differ. */
  function contentOf({ to, values }: Recipient): number {
    let content = byAddress ? formOf(to) : '';
    for (const column of used) content += `\0${values[column] ?? ''}`;
    return crc32(content) | 0;
  }

  return {
    /** Null: no duplicate. Call it once for each row, in list order. */
    find(recipient: Recipient): Duplicate | null {
      const { key, to, line } = recipient;
      const content = contentOf(recipient);
      const samePerson = keys.first(byAddress ? key : formOf(key), line, content);
      if (samePerson !== null) return { of: 'key', ...samePerson };
      const sameAddress = addresses?.first(formOf(to), line, content) ?? null;
      return sameAddress === null ? null : { of: 'address', ...sameAddress };
    },
    close(): void {
      keys.close();
      addresses?.close();
    },
  };
}

/** The one transaction never ends: nothing is written to a disk. */
function createSeen(isNumber: boolean) {
  const database = new DatabaseSync(':memory:');
  database.exec(isNumber ? NUMBERS : TEXTS);
  database.exec('BEGIN');
  const add = database.prepare(ADD);
  const find = database.prepare(FIND);
  return {
    /** The first row with a text; null: this row is the first. */
    first(text: string, line: number, content: number): Omit<Duplicate, 'of'> | null {
      const entry = isNumber ? Number(text) : text;
      if (add.run(entry, line, content).changes === 1) return null;
      const found = find.get(content, entry);
      return { line: Number(found?.['line']), isSame: found?.['isSame'] === 1 };
    },
    close: () => database.close(),
  };
}

// An INTEGER takes 3 or 4 bytes, a double 8. E.164 numbers are integers of at most 15 digits without a leading zero.
const NUMBERS = 'CREATE TABLE seen (entry INTEGER PRIMARY KEY, line INTEGER, content INTEGER)';
const TEXTS = 'CREATE TABLE seen (entry TEXT PRIMARY KEY, line INTEGER, content INTEGER) WITHOUT ROWID';
const ADD = 'INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const FIND = 'SELECT line, content = ? AS isSame FROM seen WHERE entry = ?';
