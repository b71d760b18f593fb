/** Numbers hashes of 8 words in the order in which they come, exactly, and keeps them off the heap. */
export interface WordTable {
  /** The number of a hash; one that is new gets the next number, from 0. */
  add(words: Readonly<Int32Array>): number;
  /** The number of a hash, or -1. Nothing is allocated. */
  find(words: Readonly<Int32Array>): number;
  readonly size: number;
}

const WORDS = 8;
const FIRST_SLOTS = 1 << 10;
const GROWTH = 1.5;

/** An open-addressing hash table whose hash is the first word: 45 to 70 bytes for each. */
export function createWordTable(): WordTable {
  // Two words a slot: the second word of the hash, so that others are told apart here, and the number + 1 (0: free).
  let slots = new Int32Array(FIRST_SLOTS * 2);
  let kept = new Int32Array(FIRST_SLOTS * WORDS);
  let size = 0;

  const isKept = (number: number, words: Readonly<Int32Array>): boolean => {
    for (let i = 0; i < WORDS; i++) if (kept[number * WORDS + i] !== words[i]) return false;
    return true;
  };
  /** Where the slot of a hash begins, or the free one where it belongs. */
  const slotOf = (words: Readonly<Int32Array>): number => {
    const mask = slots.length - 1;
    let slot = ((words[0] ?? 0) << 1) & mask;
    for (let held = slots[slot + 1] ?? 0; held !== 0; held = slots[slot + 1] ?? 0) {
      if (slots[slot] === words[1] && isKept(held - 1, words)) return slot;
      slot = (slot + 2) & mask;
    }
    return slot;
  };
  const put = (words: Readonly<Int32Array>, slot: number, number: number): void => {
    slots[slot] = words[1] ?? 0;
    slots[slot + 1] = number + 1;
  };
  const grow = (): void => {
    slots = new Int32Array(slots.length * 2);
    for (let number = 0; number < size; number++) {
      const words = kept.subarray(number * WORDS, (number + 1) * WORDS);
      put(words, slotOf(words), number);
    }
  };

  return {
    add(words) {
      const slot = slotOf(words);
      const held = slots[slot + 1] ?? 0;
      if (held !== 0) return held - 1;
      if ((size + 1) * WORDS > kept.length) {
        const larger = new Int32Array(Math.ceil(size * GROWTH) * WORDS);
        larger.set(kept);
        kept = larger;
      }
      kept.set(words, size * WORDS);
      put(words, slot, size);
      size += 1;
      if (size * 16 > slots.length * 5) grow();
      return size - 1;
    },
    find: (words) => (slots[slotOf(words) + 1] ?? 0) - 1,
    get size() {
      return size;
    },
  };
}
