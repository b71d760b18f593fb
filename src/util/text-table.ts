/** Numbers texts in the order in which they come, exactly, and keeps them off the heap. */
export interface TextTable {
  /** The number of a text; one that is new gets the next number, from 0. */
  add(text: string): number;
  /** The number of a text, or -1. Nothing is allocated. */
  find(text: string): number;
  readonly size: number;
}

const FIRST_SLOTS = 1 << 10;
const FIRST_BYTES = 1 << 14;
const GROWTH = 1.5;

/**
 * An open-addressing hash table over one block of characters: about 35 bytes for a phone number (50 while it grows),
 * where a Map takes more than 100 and a garbage collector that walks along. Texts with characters above U+00FF are rare
 * among addresses, and go into a Map.
 */
export function createTextTable(): TextTable {
  // Two words a slot: the hash, and the number + 1 (0: free).
  let slots = new Uint32Array(FIRST_SLOTS * 2);
  let bytes = new Uint8Array(FIRST_BYTES);
  /** Where each text begins in `bytes`; the next one's beginning is its end. */
  let starts = new Uint32Array(FIRST_SLOTS);
  let size = 0;
  const wide = new Map<string, number>();

  /** The slot of a text, or the free one where it belongs. */
  const slotOf = (text: string, hashed: number): number => {
    const mask = slots.length / 2 - 1;
    for (let slot = hashed & mask; ; slot = (slot + 1) & mask) {
      const held = slots[slot * 2 + 1] ?? 0;
      if (held === 0 || (slots[slot * 2] === hashed && isText(held - 1, text))) return slot;
    }
  };
  const isText = (number: number, text: string): boolean => {
    const start = starts[number] ?? 0;
    if ((starts[number + 1] ?? 0) - start !== text.length) return false;
    for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
    return true;
  };
  const keep = (text: string): void => {
    const start = starts[size] ?? 0;
    if (start + text.length > bytes.length)
      bytes = larger(bytes, new Uint8Array(Math.ceil((start + text.length) * GROWTH)));
    if (size + 2 > starts.length) starts = larger(starts, new Uint32Array(Math.ceil(starts.length * GROWTH)));
    for (let i = 0; i < text.length; i++) bytes[start + i] = text.charCodeAt(i);
    starts[size + 1] = start + text.length;
    size += 1;
  };
  const grow = (): void => {
    const old = slots;
    slots = new Uint32Array(old.length * 2);
    const mask = slots.length / 2 - 1;
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] === 0) continue;
      let slot = (old[i] ?? 0) & mask;
      while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
      slots[slot * 2] = old[i] ?? 0;
      slots[slot * 2 + 1] = old[i + 1] ?? 0;
    }
  };

  return {
    add(text) {
      const hashed = hash(text);
      if (hashed === WIDE) {
        const known = wide.get(text);
        if (known !== undefined) return known;
        // A copy: the text may be a slice that would keep a whole piece of a file in memory.
        wide.set(` ${text}`.slice(1), size);
        keep('');
        return size - 1;
      }
      const slot = slotOf(text, hashed);
      const held = slots[slot * 2 + 1] ?? 0;
      if (held !== 0) return held - 1;
      slots[slot * 2] = hashed;
      slots[slot * 2 + 1] = size + 1;
      keep(text);
      if (size * 8 > (slots.length / 2) * 5) grow();
      return size - 1;
    },
    find(text) {
      const hashed = hash(text);
      if (hashed === WIDE) return wide.get(text) ?? -1;
      return (slots[slotOf(text, hashed) * 2 + 1] ?? 0) - 1;
    },
    get size() {
      return size;
    },
  };
}

/** No hash: the text has a character above U+00FF. */
const WIDE = -1;

/** 32 bits, or WIDE. */
function hash(text: string): number {
  let h = 0x9e3779b1;
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    all |= unit;
    h = Math.imul(h ^ unit, 0x5f356495);
  }
  if (all > 0xff) return WIDE;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function larger<T extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(old: T, next: T): T {
  next.set(old);
  return next;
}
