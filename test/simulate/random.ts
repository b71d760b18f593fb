/** Numbers that follow from a seed alone: sfc32 (PractRand's small fast counter), seeded by splitmix32. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** One of the names, each as often as its weight says. */
  weighted<K extends string>(weights: Partial<Record<K, number>>): K;
  /** From `low` to `high`, each order of magnitude equally often. */
  scale(low: number, high: number): number;
  /** Another stream, so that what is drawn here does not move what is drawn there. */
  fork(): Random;
}

export function createRandom(seed: number): Random {
  const mix = splitmix32(seed);
  return over(sfc32(mix(), mix(), mix(), 1));
}

function over(bits: () => number): Random {
  const next = (): number => bits() / 2 ** 32;
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: (items) => items[whole(0, items.length - 1)] ?? items[0],
    weighted<K extends string>(weights: Partial<Record<K, number>>): K {
      const entries = Object.entries(weights) as [K, number][];
      let at = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        at -= weight;
        if (at < 0) return name;
      }
      throw new Error('There is nothing to choose from.');
    },
    scale: (low, high) => low * (high / low) ** next(),
    fork: () => over(sfc32(bits(), bits(), bits(), 1)),
  };
}

function splitmix32(seed: number): () => number {
  let a = seed | 0;
  return () => {
    a = (a + 0x9e3779b9) | 0;
    let t = a ^ (a >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return (t ^ (t >>> 15)) >>> 0;
  };
}

function sfc32(a: number, b: number, c: number, counter: number): () => number {
  let d = counter;
  const step = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  // The first numbers still resemble their seed.
  for (let i = 0; i < 12; i++) step();
  return step;
}
