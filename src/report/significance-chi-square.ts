import type { Sample } from './intervals.ts';

/**
 * Pearson's chi-square for the question whether all samples have the same share (no correction for continuity; with
 * two samples it is the square of the two-proportion z). Both a part and a rest must have been seen.
 */
export function chiSquare(samples: readonly Sample[]): { readonly statistic: number; readonly p: number } {
  const part = samples.reduce((sum, sample) => sum + sample.part, 0);
  const whole = samples.reduce((sum, sample) => sum + sample.whole, 0);
  const rate = part / whole;
  // Of each sample both cells, the part and the rest, differ from what is expected by the same amount.
  const statistic = samples.reduce((sum, sample) => {
    const difference = sample.part - sample.whole * rate;
    return sum + (difference * difference) / (sample.whole * rate * (1 - rate));
  }, 0);
  return { statistic, p: chiSquareTail(statistic, samples.length - 1) };
}

/** How probable a chi-square of at least `statistic` is, by chance alone. */
export function chiSquareTail(statistic: number, degreesOfFreedom: number): number {
  return statistic <= 0 ? 1 : Math.min(1, Math.max(0, gammaTail(degreesOfFreedom / 2, statistic / 2)));
}

/**
 * The regularised upper incomplete gamma function Q(a, x), for a = 1/2, 1, 3/2, ...: the series for small x, else the
 * continued fraction by Lentz's method, each where it converges quickly (Abramowitz and Stegun 6.5.29, 6.5.31).
 */
function gammaTail(a: number, x: number): number {
  const factor = Math.exp(a * Math.log(x) - x - logGammaOfHalves(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = a + 1; term > sum * PRECISION; n++) {
      term *= x / n;
      sum += term;
    }
    return 1 - factor * sum;
  }
  let b = x + 1 - a;
  let c = Number.MAX_VALUE;
  let d = 1 / b;
  let fraction = d;
  for (let i = 1, change = 0; Math.abs(change - 1) > PRECISION && i < MOST_STEPS; i++) {
    const numerator = i * (a - i);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    change = c * d;
    fraction *= change;
  }
  return factor * fraction;
}

/** ln of the gamma function for a = 1/2, 1, 3/2, ...: from those of 1/2 and 1 upwards. */
function logGammaOfHalves(a: number): number {
  let log = Number.isInteger(a) ? 0 : Math.log(Math.PI) / 2;
  for (let at = Number.isInteger(a) ? 1 : 0.5; at < a; at++) log += Math.log(at);
  return log;
}

const PRECISION = 1e-15;
/** More than are ever needed: it converges the faster, the larger x is, and x is above a + 1. */
const MOST_STEPS = 1000;
