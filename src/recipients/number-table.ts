/** Numbers that have been put in: an open-addressing hash table in one Float64Array. 0 stands for a free slot. */
export interface NumberTable {
  /** True when the number is new. */
  add(number: number): boolean;
  has(number: number): boolean;
}

/** Slots to begin with; doubled whenever more than 5 in 8 are used. */
const FIRST_CAPACITY = 1 << 12;

export function createNumberTable(): NumberTable {
  let slots = new Float64Array(FIRST_CAPACITY);
  let size = 0;
  return {
    add(number) {
      const slot = find(slots, number);
      if (slots[slot] === number) return false;
      slots[slot] = number;
      if (++size * 8 > slots.length * 5) slots = grow(slots);
      return true;
    },
    has: (number) => slots[find(slots, number)] === number,
  };
}

/** The slot of a number, or the free one where it belongs. */
function find(slots: Float64Array, number: number): number {
  const mask = slots.length - 1;
  let slot = hash(number) & mask;
  for (let held = slots[slot]; held !== 0 && held !== number; held = slots[slot]) slot = (slot + 1) & mask;
  return slot;
}

/** Mixes both halves of the number: lists often hold runs of numbers that differ in the last digits only. */
function hash(number: number): number {
  const high = Math.floor(number / 0x1_0000_0000);
  let h = Math.imul(number | 0, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return h ^ (h >>> 13);
}

function grow(old: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const slots = new Float64Array(old.length * 2);
  for (const number of old) if (number !== 0) slots[find(slots, number)] = number;
  // Given back at once: V8 would keep it for as long as it has no reason to look through its old generation.
  old.buffer.transfer(0);
  return slots;
}
