import { createTextTable } from '../util/text-table.ts';

/** Who stands in files, in memory: exact, some 45 bytes for a number, off the heap. */
export interface Book {
  /** `file`: number of the list, as the caller counts them. Of two entries for one person the one that lasts longer stays. */
  add(form: string, untilMs: number | null, file: number): void;
  /** A hash as hex digits. */
  addHash(hash: string, untilMs: number | null, file: number): void;
  /** The list that names somebody at this time, or -1. */
  find(form: string, nowMs: number): number;
  /** @param bytes - the hash with one character for each byte, as `Hasher.bytes` gives it */
  findHash(bytes: string, nowMs: number): number;
  readonly addresses: number;
  readonly hashes: number;
}

export function createBook(): Book {
  const addresses = createPages();
  const hashes = createPages();
  return {
    add: addresses.add,
    find: addresses.find,
    // Half as long as 64 digits.
    addHash: (hash, untilMs, file) => hashes.add(bytesOf(hash), untilMs, file),
    findHash: hashes.find,
    get addresses() {
      return addresses.size;
    },
    get hashes() {
      return hashes.size;
    },
  };
}

function bytesOf(hash: string): string {
  return Buffer.from(hash, 'hex').toString('latin1');
}

/** Texts with the list that names them and the time at which that ends. */
function createPages() {
  const texts = createTextTable();
  let files = new Uint16Array(FIRST);
  // Most lists hold for ever: there is a time for each entry once one of them has one.
  let untils: Float64Array<ArrayBuffer> | null = null;
  return {
    add(text: string, untilMs: number | null, file: number): void {
      const before = texts.size;
      const number = texts.add(text);
      const until = untilMs ?? Number.POSITIVE_INFINITY;
      if (untilMs !== null) untils ??= new Float64Array(files.length).fill(Number.POSITIVE_INFINITY);
      if (texts.size > before) {
        if (number >= files.length) {
          files = grown(files, new Uint16Array(files.length * 2));
          if (untils !== null) untils = grown(untils, new Float64Array(files.length).fill(Number.POSITIVE_INFINITY));
        }
      } else if (untils === null || until <= (untils[number] ?? 0)) return;
      files[number] = file;
      if (untils !== null) untils[number] = until;
    },
    find(text: string, nowMs: number): number {
      const number = texts.find(text);
      if (number === -1 || (untils !== null && (untils[number] ?? 0) <= nowMs)) return -1;
      return files[number] ?? -1;
    },
    get size() {
      return texts.size;
    },
  };
}

const FIRST = 1 << 10;

function grown<T extends Uint16Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(old: T, next: T): T {
  next.set(old);
  return next;
}
