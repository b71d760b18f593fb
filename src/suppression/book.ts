import { createTextTable } from '../util/text-table.ts';
import { hashWords } from './hash.ts';
import { createWordTable } from './word-table.ts';

/** Who stands in files, in memory: exact, some 45 bytes for a number, off the heap. */
export interface Book {
  /** `file`: number of the list, as the caller counts them. Of two entries for one person the one that lasts longer stays. */
  add(form: string, untilMs: number | null, file: number): void;
  /** A hash as hex digits. */
  addHash(hash: string, untilMs: number | null, file: number): void;
  /** The list that names somebody at this time, or -1. */
  find(form: string, nowMs: number): number;
  /** @param words - as `Hasher.words` gives them */
  findHash(words: Readonly<Int32Array>, nowMs: number): number;
  readonly addresses: number;
  readonly hashes: number;
}

export function createBook(): Book {
  const addresses = createPages(createTextTable());
  const hashes = createPages(createWordTable());
  return {
    add: addresses.add,
    find: addresses.find,
    addHash: (hash, untilMs, file) => hashes.add(hashWords(hash), untilMs, file),
    findHash: hashes.find,
    get addresses() {
      return addresses.size;
    },
    get hashes() {
      return hashes.size;
    },
  };
}

/** Numbers entries in the order in which they come. */
interface Numbers<T> {
  add(entry: T): number;
  /** -1: it was not added. */
  find(entry: T): number;
  readonly size: number;
}

/** Entries with the list that names them and the time at which that ends. */
function createPages<T>(entries: Numbers<T>) {
  let files = new Uint16Array(FIRST);
  // Most lists hold for ever: there is a time for each entry once one of them has one.
  let untils: Float64Array<ArrayBuffer> | null = null;
  return {
    add(entry: T, untilMs: number | null, file: number): void {
      const before = entries.size;
      const number = entries.add(entry);
      const until = untilMs ?? Number.POSITIVE_INFINITY;
      if (untilMs !== null) untils ??= new Float64Array(files.length).fill(Number.POSITIVE_INFINITY);
      if (entries.size > before) {
        if (number >= files.length) {
          files = grown(files, new Uint16Array(files.length * 2));
          if (untils !== null) untils = grown(untils, new Float64Array(files.length).fill(Number.POSITIVE_INFINITY));
        }
      } else if (untils === null || until <= (untils[number] ?? 0)) return;
      files[number] = file;
      if (untils !== null) untils[number] = until;
    },
    find(entry: T, nowMs: number): number {
      const number = entries.find(entry);
      if (number === -1 || (untils !== null && (untils[number] ?? 0) <= nowMs)) return -1;
      return files[number] ?? -1;
    },
    get size() {
      return entries.size;
    },
  };
}

const FIRST = 1 << 10;

function grown<T extends Uint16Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(old: T, next: T): T {
  next.set(old);
  return next;
}
