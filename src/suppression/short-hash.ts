import { compressSha256, createSchedule, type Schedule, SHA256_BEGIN } from './sha256.ts';

const BLOCK_BYTES = 64;

/** FIPS 180-4, 5.1.1: after the message come a bit that is set and, in the last 8 bytes of the block, its length. */
const LONGEST = BLOCK_BYTES - 9;
const LAST_WORD = 15;
const DIGEST_BYTES = 32;

/**
 * HMAC-SHA256 of messages - a prefix and a text - in ASCII of at most 55 characters: 0.7 us, because both pads are hashed beforehand, and
 * nothing is allocated.
 *
 * @param inner - the key with the inner pad (RFC 2104): 64 bytes
 * @param outer - the key with the outer pad
 * @returns null for any other message, else 8 words, which the next call writes over
 */
export function createShortHasher(
  inner: Uint8Array,
  outer: Uint8Array,
): (prefix: string, text: string) => Int32Array | null {
  const schedule = createSchedule();
  const afterInner = afterPad(inner, schedule);
  const afterOuter = afterPad(outer, schedule);
  const state = new Int32Array(8);
  return (prefix, text) => {
    const bytes = prefix.length + text.length;
    if (bytes > LONGEST) return null;
    for (let i = 0; i <= LAST_WORD; i++) schedule[i] = 0;
    if (!put(schedule, 0, prefix) || !put(schedule, prefix.length, text)) return null;
    end(schedule, bytes);
    compressSha256(afterInner, schedule, state);
    for (let i = 0; i <= LAST_WORD; i++) schedule[i] = state[i] ?? 0;
    end(schedule, DIGEST_BYTES);
    compressSha256(afterOuter, schedule, state);
    return state;
  };
}

function afterPad(pad: Uint8Array, schedule: Schedule): Int32Array {
  const bytes = new DataView(pad.buffer, pad.byteOffset, BLOCK_BYTES);
  for (let i = 0; i <= LAST_WORD; i++) schedule[i] = bytes.getInt32(i * 4);
  const state = new Int32Array(8);
  compressSha256(SHA256_BEGIN, schedule, state);
  return state;
}

/** Puts so much of a text into the block from this byte on; false where it has a character of more than one byte. */
function put(schedule: Schedule, from: number, text: string): boolean {
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const at = from + i;
    all |= unit;
    schedule[at >> 2] = (schedule[at >> 2] ?? 0) | (unit << (24 - (at & 3) * 8));
  }
  return all <= 0x7f;
}

/** What follows so many bytes of a message that has a pad before it. */
function end(schedule: Schedule, bytes: number): void {
  const last = bytes >> 2;
  schedule[last] = (schedule[last] ?? 0) | (0x80 << (24 - (bytes & 3) * 8));
  schedule[LAST_WORD] = (BLOCK_BYTES + bytes) * 8;
}
