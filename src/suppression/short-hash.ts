import {
  BLOCK_BYTES,
  compressSha256,
  createSchedule,
  putAscii,
  putByte,
  type Schedule,
  SHA256_BEGIN,
  wordsIn,
} from '../util/sha256.ts';

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
    if (!putAscii(schedule, 0, prefix) || !putAscii(schedule, prefix.length, text)) return null;
    end(schedule, bytes);
    compressSha256(afterInner, schedule, state);
    for (let i = 0; i <= LAST_WORD; i++) schedule[i] = state[i] ?? 0;
    end(schedule, DIGEST_BYTES);
    compressSha256(afterOuter, schedule, state);
    return state;
  };
}

function afterPad(pad: Uint8Array, schedule: Schedule): Int32Array {
  schedule.set(wordsIn(pad));
  const state = new Int32Array(8);
  compressSha256(SHA256_BEGIN, schedule, state);
  return state;
}

/** What follows so many bytes of a message that has a pad before it. */
function end(schedule: Schedule, bytes: number): void {
  putByte(schedule, bytes, 0x80);
  schedule[LAST_WORD] = (BLOCK_BYTES + bytes) * 8;
}
