import { createKeyHash, type KeyHash } from './key-hash.ts';
import { createNumberTable } from './number-table.ts';

/** Keys that have been seen. Exact: no two keys are ever taken for one. */
export interface Seen {
  /**
   * True when the key is new.
   * @throws UnsureKey where only another look at the list can say; at most once, and the key is to be asked again then
   */
  add(key: string): boolean;
  /** Forgets every key: the list has been walked, and what comes after it needs the memory. */
  clear(): void;
}

/**
 * A key looks like one before it, but only its hash is known to be the same. Whoever walks the list hands all its keys
 * to `look` and goes on.
 */
export class UnsureKey extends Error {
  readonly look: SecondLook;

  constructor(look: SecondLook) {
    super('A key may have been seen before: the list is to be looked at again.');
    this.look = look;
  }
}

/** Another look at a list, for the keys that look alike. */
export interface SecondLook {
  /** First every key from the row on at which nobody was sure, in any order. */
  ahead(key: string): void;
  /** Then every key of the rows before it. */
  behind(key: string): void;
  /** Then the list goes on. */
  done(): void;
}

/** Up to 15 digits are exact in a double. */
const MAX_DIGITS = 15;

/**
 * Makes an empty set of recipient keys. Numbers - E.164, or customer ids of up to 15 digits - are kept as doubles in a
 * hash table: 0.3 us each, and 134 MB for 10 million, where a Set of strings takes 1.2 GB and five times as long. Other
 * keys - email addresses, ids - take as much: of them a hash is kept. Where one comes a
 * second time, which is nearly always a duplicate, the list is looked at again, once: it finds every hash that comes
 * more than once, and from there on the keys that have one of these are kept and compared as they are.
 *
 * @param hashOf for tests, that weak hashes change nothing either
 */
export function createSeen(hashOf: KeyHash = createKeyHash()): Seen {
  const known = createNumberTable();
  const repeated = createNumberTable();
  const exact = new Set<string>();
  let isSure = false;

  function add(key: string): boolean {
    const number = toNumber(key);
    if (number !== 0) return known.add(number);
    const hash = hashOf(key);
    if (isSure) return !repeated.has(hash) || addExact(key);
    if (!known.has(hash)) return known.add(hash);
    throw new UnsureKey({ ahead, behind, done });
  }

  function ahead(key: string): void {
    if (toNumber(key) !== 0) return;
    const hash = hashOf(key);
    if (!known.add(hash)) repeated.add(hash);
  }

  function behind(key: string): void {
    if (toNumber(key) === 0 && repeated.has(hashOf(key))) addExact(key);
  }

  function done(): void {
    isSure = true;
  }

  function addExact(key: string): boolean {
    if (exact.has(key)) return false;
    // A copy: the key may be a slice that would keep a whole piece of the file in memory.
    exact.add(` ${key}`.slice(1));
    return true;
  }

  function clear(): void {
    known.clear();
    repeated.clear();
    exact.clear();
  }

  return { add, clear };
}

/** `+44...` as 44..., and plain digits as their negative, so that the two stay apart; 0 for every other key. */
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
