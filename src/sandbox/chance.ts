import { hash } from 'node:crypto';

/** Gives numbers from 0 to 1, without 1. */
export type Chance = () => number;

/**
 * Chance that follows from a seed and from what it is about, never from what was drawn before: requests come in another
 * order each time, and everybody's story is the same all the same. Mulberry32, seeded by 32 bits of SHA-256.
 */
export function chanceFor(seed: number, about: string): Chance {
  let state = hash('sha256', `${seed}\n${about}`, 'buffer').readInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of several, each as often as the others. */
export function pick<T>(items: readonly [T, ...T[]], chance: Chance): T {
  return items[Math.floor(chance() * items.length)] ?? items[0];
}
