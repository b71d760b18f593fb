import type { Recipient } from '../model.ts';
import { createKeyHash, type KeyHash } from './key-hash.ts';
import { createNumberTable } from './number-table.ts';

/** What a duplicate is of: the first row with the same key, or another person's row with the same address. */
export interface Duplicate {
  readonly of: 'key' | 'address';
  /** Line of the first row. */
  readonly line: number;
  /** Both rows have the same address, and the same cells wherever the message uses them. */
  readonly isSame: boolean;
}

/** Finds recipients that a list names more than once. Exact: no two keys or addresses are ever taken for one. */
export interface Duplicates {
  /**
   * What the recipient of a row is a duplicate of; null: nothing. Asked once for each row, in list order.
   * @throws UnsureKey where only another look at the list can say; at most once, and the row is asked about again then
   */
  find(recipient: Recipient): Duplicate | null;
  /** Forgets every row: the list has been read, and the memory is needed for what follows. */
  clear(): void;
}

/**
 * A key or an address was there before, as far as its hash says, and the row that has it is not in memory. Hand all
 * recipients of the list to `look`, then ask again.
 */
export class UnsureKey extends Error {
  readonly look: SecondLook;

  constructor(look: SecondLook) {
    super('A key may have been seen before: the list is to be looked at again.');
    this.look = look;
  }
}

/** Another look at a list. */
export interface SecondLook {
  /** First every recipient from the row on at which it was unsure, in any order. */
  ahead(recipient: Recipient): void;
  /** Then every recipient of the rows before it, in list order. */
  behind(recipient: Recipient): void;
  /** Then the list goes on. */
  done(): void;
}

export interface DuplicateOptions {
  /** Addresses are compared as well as keys: the key is not the address. */
  readonly byAddress: boolean;
  /** Columns that the messages use, by position: where they differ, the message does. */
  readonly used: readonly number[];
  /** For tests: weak hashes change nothing either. */
  readonly hashOf?: KeyHash;
}

/**
 * Makes an empty set of recipients. Only a number is kept of each key: 17 MB for a million, where a Set of strings takes
 * 120. When one comes a second time, the list is looked at again, once: that finds every key that comes more than once.
 * Of those the first row is kept; the others are forgotten.
 */
export function createDuplicates({ byAddress, used, hashOf = createKeyHash() }: DuplicateOptions): Duplicates {
  const keys = createSeen(hashOf);
  const addresses = byAddress ? createSeen(hashOf) : null;
  let isSure = false;
  const markOf = ({ to, values }: Recipient): number =>
    hashOf([to, ...used.map((column) => values[column] ?? '')].join('\0'));

  const look: SecondLook = {
    ahead({ key, to }) {
      keys.count(key);
      addresses?.count(to);
    },
    behind(recipient) {
      keys.first(recipient.key, recipient, markOf);
      addresses?.first(recipient.to, recipient, markOf);
    },
    done() {
      keys.settle();
      addresses?.settle();
      isSure = true;
    },
  };

  function find(recipient: Recipient): Duplicate | null {
    const { key, to } = recipient;
    if (!isSure) {
      if (keys.count(key) && addresses?.count(to) !== false) return null;
      throw new UnsureKey(look);
    }
    const samePerson = keys.first(key, recipient, markOf);
    if (samePerson !== null) return duplicate('key', samePerson, markOf(recipient));
    const neighbour = addresses?.first(to, recipient, markOf) ?? null;
    return neighbour === null ? null : duplicate('address', neighbour, markOf(recipient));
  }

  function clear(): void {
    keys.clear();
    addresses?.clear();
    isSure = false;
  }

  return { find, clear };
}

function duplicate(of: Duplicate['of'], { line, mark }: First, own: number): Duplicate {
  return { of, line, isSame: mark === own };
}

/** The first row with a text. */
interface First {
  readonly line: number;
  /** Hash of what the messages use of it. */
  readonly mark: number;
}

/** Texts that were seen: first only counted, then looked up. */
interface Seen {
  /** False when the text may have been counted before. */
  count(text: string): boolean;
  /** The first row with this text; null: it is this one, or the text comes once in the list. */
  first(text: string, recipient: Recipient, markOf: (recipient: Recipient) => number): First | null;
  /** Every text has been counted: only those that came more than once matter from here on. */
  settle(): void;
  clear(): void;
}

/** Up to 15 digits are exact in a double. */
const MAX_DIGITS = 15;

function createSeen(hashOf: KeyHash): Seen {
  const known = createNumberTable();
  const repeated = createNumberTable();
  const firsts = new Map<string, First>();
  const numberOf = (text: string): number => toNumber(text) || hashOf(text);

  function count(text: string): boolean {
    const number = numberOf(text);
    if (known.add(number)) return true;
    repeated.add(number);
    return false;
  }

  function first(text: string, recipient: Recipient, markOf: (recipient: Recipient) => number): First | null {
    if (!repeated.has(numberOf(text))) return null;
    const earlier = firsts.get(text);
    if (earlier !== undefined) return earlier;
    // A copy: the text may be a slice that would keep a whole piece of the file in memory.
    firsts.set(` ${text}`.slice(1), { line: recipient.line, mark: markOf(recipient) });
    return null;
  }

  function clear(): void {
    known.clear();
    repeated.clear();
    firsts.clear();
  }

  return { count, first, settle: () => known.clear(), clear };
}

/** `+44...` as 44..., and plain digits as their negative, so that the two stay apart; 0 for every other text. */
function toNumber(key: string): number {
  const sign = key.charCodeAt(0) === 0x2b ? 1 : 0;
  const digits = key.length - sign;
  if (digits < 1 || digits > MAX_DIGITS || key.charCodeAt(sign) === 0x30) return 0;
  let number = 0;
  for (let i = sign; i < key.length; i++) {
    const digit = key.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return 0;
    number = number * 10 + digit;
  }
  return sign === 1 ? number : -number;
}
