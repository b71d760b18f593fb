import type { Sample } from './intervals.ts';

/**
 * Fisher's exact test whether all samples have the same share; for more than two samples what Freeman and Halton made
 * of it. Adds up the probabilities of all ways to spread the parts over the samples that are no more probable than the
 * one that was seen. Null where there are too many ways to go through.
 */
export function exactTest(samples: readonly Sample[]): number | null {
  const parts = samples.reduce((sum, sample) => sum + sample.part, 0);
  const whole = samples.reduce((sum, sample) => sum + sample.whole, 0);
  // Parts or rests, it is the same question: the rarer kind can be spread in fewer ways.
  const total = Math.min(parts, whole - parts);
  // What the largest sample gets follows from the others.
  const sorted = samples.toSorted((a, b) => a.whole - b.whole);
  const ways = sorted.slice(0, -1).reduce((product, sample) => product * (Math.min(sample.whole, total) + 1), 1);
  const waysOfRoom = logChoose(total + sorted.length - 1, total);
  if (ways > MOST_WAYS && waysOfRoom > Math.log(MOST_WAYS)) return null;
  const all = logChoose(whole, total);
  const seen = sorted.reduce((sum, sample) => sum + logChoose(sample.whole, sample.part), -all);
  return Math.min(1, tailOf(sorted, 0, total, -all, seen + TIE));
}

/** Probabilities of at most exp(`most`) over all ways to spread `left` parts over the samples from `at` on. */
function tailOf(samples: readonly Sample[], at: number, left: number, log: number, most: number): number {
  const size = samples[at]?.whole ?? 0;
  if (at === samples.length - 1) {
    const own = log + logChoose(size, left);
    return own <= most ? Math.exp(own) : 0;
  }
  let sum = 0;
  for (let part = 0; part <= Math.min(size, left); part++) {
    sum += tailOf(samples, at + 1, left - part, log + logChoose(size, part), most);
  }
  return sum;
}

/** ln of how many ways there are to choose k of n; -Infinity where there are none. */
function logChoose(n: number, k: number): number {
  return k > n ? Number.NEGATIVE_INFINITY : logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

/** ln n!: looked up for small n, Stirling's series from there on, where its error is below 1e-13. */
function logFactorial(n: number): number {
  const known = SMALL[n];
  if (known !== undefined) return known;
  const cube = n * n * n;
  const series = 1 / (12 * n) - 1 / (360 * cube) + 1 / (1260 * cube * n * n);
  return (n + 0.5) * Math.log(n) - n + Math.log(2 * Math.PI) / 2 + series;
}

/** ln 0! to ln 63!. */
const SMALL: readonly number[] = Array.from({ length: 63 }).reduce<number[]>(
  (logs) => [...logs, (logs.at(-1) ?? 0) + Math.log(logs.length)],
  [0],
);
/** Two ways that are equally probable differ in the last digits of the arithmetic; R allows for the same. */
const TIE = 1e-7;
/** About 20 ms. */
const MOST_WAYS = 100_000;
