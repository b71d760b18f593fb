const FIRST_MS = 500;
const MOST_MS = 60_000;

/**
 * How long to wait before another attempt, in ms: full jitter, `random(0, min(60 s, 0.5 s * 2^n))` (FAILURES rule 11).
 * Full jitter spreads those who were refused together over the whole interval.
 *
 * @param retry which retry it is: 0 for the first
 * @param random a number from 0 to 1, as Math.random gives it
 */
export function backoffMs(retry: number, random: () => number): number {
  return random() * Math.min(MOST_MS, FIRST_MS * 2 ** retry);
}
