/** A stream of numbers that is the same for the same seed: mulberry32. */
export interface Random {
  /** From 0 to just under 1. */
  unit(): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const between = (least: number, most: number): number => least + Math.floor(unit() * (most - least + 1));
  return {
    unit,
    between,
    chance: (probability) => unit() < probability,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
  };
}
