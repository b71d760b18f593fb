import {
  BLOCK_BYTES,
  compressSha256,
  createSchedule,
  putAscii,
  putByte,
  type Schedule,
  SHA256_BEGIN,
  wordsIn,
} from './sha256.ts';

const WORDS = 16;

/** What ends the last block of a message (FIPS 180-4, 5.1.1): a bit that is set, and its length in 8 bytes. */
const END_BYTES = 9;
/** The rest of the prefix and the text, in two blocks. */
const LONGEST = 2 * BLOCK_BYTES - END_BYTES;

/** Of `A-Za-z0-9-_` (RFC 4648, 5). */
const DIGITS = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', 'latin1');

/**
 * SHA-256 of many messages that begin alike, the first 22 characters of it in base64url. Hashes the whole blocks of the
 * prefix once. A call of `node:crypto` takes 0.5 us in a loop of its own, and 2 us between a thousand other things.
 *
 * @returns null for a text that is not ASCII, or too long for two blocks
 */
export function createPrefixHasher(prefix: string): (text: string) => string | null {
  const bytes = Buffer.from(prefix, 'utf8');
  const schedule = createSchedule();
  const begun = Int32Array.from(SHA256_BEGIN);
  const whole = bytes.length - (bytes.length % BLOCK_BYTES);
  for (let at = 0; at < whole; at += BLOCK_BYTES) {
    schedule.set(wordsIn(bytes.subarray(at, at + BLOCK_BYTES)));
    compressSha256(begun, schedule, begun);
  }
  const from = bytes.length - whole;
  const rest = wordsIn(Buffer.concat([bytes.subarray(whole)], 2 * BLOCK_BYTES));
  const words = new Int32Array(2 * WORDS);
  const state = new Int32Array(8);

  return (text) => {
    const end = from + text.length;
    if (end > LONGEST) return null;
    words.set(rest);
    if (!putAscii(words, from, text)) return null;
    putByte(words, end, 0x80);
    const blocks = end + END_BYTES <= BLOCK_BYTES ? 1 : 2;
    words[blocks * WORDS - 1] = (whole + end) * 8;
    compress(begun, words, 0, schedule, state);
    if (blocks === 2) compress(state, words, WORDS, schedule, state);
    return base64url(state);
  };
}

function compress(before: Int32Array, words: Int32Array, from: number, schedule: Schedule, after: Int32Array): void {
  for (let i = 0; i < WORDS; i++) schedule[i] = words[from + i] ?? 0;
  compressSha256(before, schedule, after);
}

/** The first 132 bits, six by six. */
function base64url(state: Int32Array): string {
  const a = state[0] ?? 0;
  const b = state[1] ?? 0;
  const c = state[2] ?? 0;
  const d = state[3] ?? 0;
  const e = state[4] ?? 0;
  return String.fromCharCode(
    digit(a >>> 26),
    digit(a >>> 20),
    digit(a >>> 14),
    digit(a >>> 8),
    digit(a >>> 2),
    digit((a << 4) | (b >>> 28)),
    digit(b >>> 22),
    digit(b >>> 16),
    digit(b >>> 10),
    digit(b >>> 4),
    digit((b << 2) | (c >>> 30)),
    digit(c >>> 24),
    digit(c >>> 18),
    digit(c >>> 12),
    digit(c >>> 6),
    digit(c),
    digit(d >>> 26),
    digit(d >>> 20),
    digit(d >>> 14),
    digit(d >>> 8),
    digit(d >>> 2),
    digit((d << 4) | (e >>> 28)),
  );
}

function digit(bits: number): number {
  return DIGITS[bits & 0x3f] ?? 0;
}
