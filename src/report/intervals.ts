/** Some of a group: 12 of 400. */
export interface Sample {
  readonly part: number;
  readonly whole: number;
}

/** A part of a whole, as a share from 0 to 1 and the range that its true value probably lies in. */
export interface Interval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The 95 % interval of Wilson (1927) for a share that was seen: it stays within 0 and 1, and says something sensible
 * for 0 of n and n of n, where the usual "plus or minus" collapses to nothing (Brown, Cai, DasGupta 2001 recommend it).
 *
 * Null for a part of nothing, because then nothing is known.
 */
export function wilson({ part, whole }: Sample): Interval | null {
  if (whole === 0) return null;
  const rate = part / whole;
  const z2 = Z95 * Z95;
  const middle = part + z2 / 2;
  const half = Z95 * Math.sqrt((part * (whole - part)) / whole + z2 / 4);
  return {
    rate,
    // At both ends the formula gives exactly 0 and 1, but for the last digits of the arithmetic.
    low: part === 0 ? 0 : Math.max(0, (middle - half) / (whole + z2)),
    high: part === whole ? 1 : Math.min(1, (middle + half) / (whole + z2)),
  };
}

/** 97.5 % of the normal distribution lie below. */
const Z95 = 1.959963984540054;
