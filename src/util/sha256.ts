/** FIPS 180-4, 5.3.3: what SHA-256 begins with. */
export const SHA256_BEGIN: Readonly<Int32Array> = wordsOf(
  '6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19',
);

/** FIPS 180-4, 4.2.2. */
const ROUNDS = wordsOf(`
  428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5
  d807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174
  e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da
  983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967
  27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85
  a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070
  19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3
  748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2
`);

export const BLOCK_BYTES = 64;
const WORDS = 16;

/** The message schedule: the block, and what follows from it. */
export type Schedule = Int32Array;

export function createSchedule(): Schedule {
  return new Int32Array(64);
}

/**
 * One block of SHA-256 (FIPS 180-4, 6.2.2): 0.3 us, where a call of `node:crypto` takes 0.6 for whatever little it
 * hashes. For what must be hashed a million times over; everything else is the business of `node:crypto`.
 *
 * @param before - the state before the block: 8 words
 * @param schedule - its first 16 words are the block; the others are written
 * @param after - takes the state after it; may be `before`
 */
export function compressSha256(before: Readonly<Int32Array>, schedule: Schedule, after: Int32Array): void {
  for (let i = WORDS; i < 64; i++) {
    const x = schedule[i - 15] ?? 0;
    const y = schedule[i - 2] ?? 0;
    const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    schedule[i] = (low + (schedule[i - 7] ?? 0) + high + (schedule[i - 16] ?? 0)) | 0;
  }
  let a = before[0] ?? 0;
  let b = before[1] ?? 0;
  let c = before[2] ?? 0;
  let d = before[3] ?? 0;
  let e = before[4] ?? 0;
  let f = before[5] ?? 0;
  let g = before[6] ?? 0;
  let h = before[7] ?? 0;
  for (let i = 0; i < 64; i++) {
    const turned = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const chosen = (e & f) ^ (~e & g);
    const first = (h + turned + chosen + (ROUNDS[i] ?? 0) + (schedule[i] ?? 0)) | 0;
    const other = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (other + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  after[0] = ((before[0] ?? 0) + a) | 0;
  after[1] = ((before[1] ?? 0) + b) | 0;
  after[2] = ((before[2] ?? 0) + c) | 0;
  after[3] = ((before[3] ?? 0) + d) | 0;
  after[4] = ((before[4] ?? 0) + e) | 0;
  after[5] = ((before[5] ?? 0) + f) | 0;
  after[6] = ((before[6] ?? 0) + g) | 0;
  after[7] = ((before[7] ?? 0) + h) | 0;
}

/** Puts a byte into words that hold none there yet. */
export function putByte(words: Int32Array, at: number, byte: number): void {
  words[at >> 2] = (words[at >> 2] ?? 0) | (byte << (24 - (at & 3) * 8));
}

/** Puts a text into words from this byte on; false where it has a character of more than one byte. */
export function putAscii(words: Int32Array, from: number, text: string): boolean {
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    all |= unit;
    putByte(words, from + i, unit);
  }
  return all <= 0x7f;
}

/** The big-endian words of a whole number of them. */
export function wordsIn(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int32Array.from({ length: bytes.byteLength / 4 }, (_, i) => view.getInt32(i * 4));
}

function wordsOf(hex: string): Int32Array {
  return Int32Array.from(hex.trim().split(/\s+/), (word) => Number.parseInt(word, 16));
}
