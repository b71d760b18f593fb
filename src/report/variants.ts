import type { OutcomeState, Significance, Totals, VariantResult, WinnerMetric } from '../model.ts';

/** Recipients by variant and outcome, as one query of the ledger counts them. */
export interface VariantCount {
  /** Null: held out, waiting for a winner, or skipped before the assignment. */
  readonly variant: string | null;
  readonly outcome: OutcomeState;
  readonly count: number;
}

/**
 * The rate is the share of accepted among accepted and refused messages: doubts say nothing about the message.
 * @param names - the variants in the order of the campaign, if known; others follow by name
 */
export function variantResults(
  counts: readonly VariantCount[],
  names: readonly string[] = [],
): readonly VariantResult[] {
  const others = counts.flatMap(({ variant }) => variant ?? []).sort();
  return [...new Set([...names, ...others])].map((name) => {
    const totals = totalsOf(counts.filter(({ variant }) => variant === name));
    const interval = wilson({ part: totals.accepted, whole: totals.accepted + totals.rejected });
    const { rate, low, high } = interval ?? { rate: null, low: null, high: null };
    return { name, ...totals, rate: rounded(rate), low: rounded(low), high: rounded(high) };
  });
}

export interface Share extends Sample {
  readonly name: string;
}

type Figures = Pick<VariantResult, 'accepted' | 'rejected' | 'delivered' | 'read' | 'replied' | 'optedOut'>;

/**
 * The share of a metric, for tables, the comparison, the winner and the pages. All but the share of accepted messages
 * are of the accepted messages: an API that reports few deliveries, or none, would make any other share meaningless.
 */
export function sampleOf(by: WinnerMetric, figures: Figures): Sample {
  const { accepted, rejected } = figures;
  if (by === 'accepted') return { part: accepted, whole: accepted + rejected };
  const part = figures[by];
  return part === undefined ? { part: 0, whole: 0 } : { part, whole: acceptedBase(figures) };
}

/** The accepted messages. A refused message can still have arrived. */
export function acceptedBase({ accepted, delivered = 0 }: Pick<Figures, 'accepted' | 'delivered'>): number {
  return Math.max(accepted, delivered);
}

/** The variants with the best share, unrounded: the greatest, or for opt-outs the least. */
export function bestOf(shares: readonly Share[], by: WinnerMetric): readonly Share[] {
  const least = by === 'optedOut' ? -1 : 1;
  const compare = (a: Share, b: Share): number => least * (a.part * b.whole - b.part * a.whole);
  return shares.filter((one) => shares.every((other) => compare(one, other) >= 0));
}

export function compareShares(shares: readonly Share[], by: WinnerMetric): Significance | null {
  if (shares.length < 2) return null;
  const counted = shares.filter(({ whole }) => whole > 0);
  const tested = significanceOf(counted);
  return { by, ...tested, best: tested.p === null ? null : (bestOf(counted, by)[0]?.name ?? null) };
}

export function totalsOf(counts: readonly Pick<VariantCount, 'outcome' | 'count'>[]): Totals {
  const of = (outcome: OutcomeState) => sum(counts, (count) => (count.outcome === outcome ? count.count : 0));
  return {
    recipients: sum(counts, (count) => count.count),
    accepted: of('accepted'),
    rejected: of('rejected'),
    failed: of('failed'),
    skipped: of('skipped'),
    deferred: of('deferred'),
    inDoubt: of('in-doubt'),
    pending: of('pending'),
  };
}

export function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** To a ten thousandth of a percent, which is the same on every machine. */
function rounded(share: number | null): number | null {
  return share === null ? null : Math.round(share * 1e6) / 1e6;
}

export interface Sample {
  readonly part: number;
  readonly whole: number;
}

function together(samples: readonly Sample[]): Sample {
  return { part: sum(samples, ({ part }) => part), whole: sum(samples, ({ whole }) => whole) };
}

/**
 * The 95% interval of Wilson (1927) for a share: it stays within 0 and 1, and is sensible for 0 of n and n of n, where
 * the usual "plus or minus" collapses to nothing (Brown, Cai, DasGupta 2001 recommend it). Null for a whole of 0.
 */
export function wilson({ part, whole }: Sample) {
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

/** The 97.5% quantile of the normal distribution. */
const Z95 = 1.959963984540054;

/**
 * Whether groups differ in their shares by more than chance. Ignores groups of 0. Two groups: the exact test wherever
 * it can be computed. More: the chi-square test where the counts are large enough for it (by Cochran's rule: every
 * expected count is at least 1, and at most a fifth of them below 5; of two groups none), else the exact test. If
 * neither is possible, or there is nothing to compare, `enough` is false and `p` null.
 */
export function significanceOf(groups: readonly Sample[]): ChanceTest {
  const samples = groups.filter(({ whole }) => whole > 0);
  if (samples.length < 2) return NOT_ENOUGH;
  const large = isLarge(samples);
  const exact = large && samples.length > 2 ? null : exactTest(samples);
  if (exact !== null) return { p: roundedP(exact), test: 'fisher', enough: true };
  return large ? { p: roundedP(chiSquare(samples).p), test: 'chi-square', enough: true } : NOT_ENOUGH;
}

function isLarge(samples: readonly Sample[]): boolean {
  const { part, whole: all } = together(samples);
  // Multiplied first: these are whole numbers, so that 5 is 5.
  const expected = samples.flatMap(({ whole }) => [(whole * part) / all, (whole * (all - part)) / all]);
  const small = expected.filter((count) => count < 5);
  if (small.length === 0) return true;
  return samples.length > 2 && small.length * 5 <= expected.length && small.every((count) => count >= 1);
}

/** More digits than needed, and few enough to be the same on every machine. */
function roundedP(p: number): number {
  return Number(p.toPrecision(6));
}

type ChanceTest = Pick<Significance, 'p' | 'test' | 'enough'>;

const NOT_ENOUGH: ChanceTest = { p: null, test: null, enough: false };

/**
 * Pearson's chi-square for the hypothesis that all samples have the same share (no correction for continuity; with two
 * samples it is the square of the two-proportion z). Needs both a part and a rest.
 */
export function chiSquare(samples: readonly Sample[]): { readonly statistic: number; readonly p: number } {
  const { part, whole } = together(samples);
  const rate = part / whole;
  // In each sample, the part and the rest differ from their expected counts by the same amount.
  const statistic = sum(samples, (sample) => {
    const difference = sample.part - sample.whole * rate;
    return (difference * difference) / (sample.whole * rate * (1 - rate));
  });
  return { statistic, p: chiSquareTail(statistic, samples.length - 1) };
}

/** The probability of a chi-square of at least `statistic`, by chance alone. */
export function chiSquareTail(statistic: number, degreesOfFreedom: number): number {
  return statistic <= 0 ? 1 : Math.min(1, Math.max(0, gammaTail(degreesOfFreedom / 2, statistic / 2)));
}

/**
 * The regularised upper incomplete gamma function Q(a, x), for a = 1/2, 1, 3/2, ...: the series for small x, else the
 * continued fraction by Lentz's method, each where it converges quickly (Abramowitz and Stegun 6.5.29, 6.5.31).
 */
function gammaTail(a: number, x: number): number {
  // ln of the gamma function for a = 1/2, 1, 3/2, ...: from those of 1/2 and 1 upwards.
  let logGamma = Number.isInteger(a) ? 0 : Math.log(Math.PI) / 2;
  for (let at = Number.isInteger(a) ? 1 : 0.5; at < a; at++) logGamma += Math.log(at);
  const factor = Math.exp(a * Math.log(x) - x - logGamma);
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

const PRECISION = 1e-15;
/** More than are ever needed: it converges faster for larger x, and x is above a + 1. */
const MOST_STEPS = 1000;

/**
 * Fisher's exact test for equal shares, extended by Freeman and Halton to several samples: adds up the probabilities of
 * all distributions of the parts that are no more probable than the observed one. Null where there are too many.
 */
export function exactTest(samples: readonly Sample[]): number | null {
  const { part: parts, whole } = together(samples);
  // Parts or rests, it is the same question: the rarer kind has fewer distributions.
  const total = Math.min(parts, whole - parts);
  // The part of the largest sample follows from the others.
  const sorted = samples.toSorted((a, b) => a.whole - b.whole);
  const ways = sorted.slice(0, -1).reduce((product, sample) => product * (Math.min(sample.whole, total) + 1), 1);
  const waysOfRoom = logChoose(total + sorted.length - 1, total);
  if (ways > MOST_WAYS && waysOfRoom > Math.log(MOST_WAYS)) return null;
  const all = logChoose(whole, total);
  const seen = sorted.reduce((sum, sample) => sum + logChoose(sample.whole, sample.part), -all);
  return Math.min(1, tailOf(sorted, 0, total, -all, seen + TIE));
}

/** Sums the probabilities of at most exp(`most`) over all ways to spread `left` parts over the samples from `at` on. */
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

/** ln of the number of ways to choose k of n; -Infinity where there are none. */
function logChoose(n: number, k: number): number {
  return k > n ? Number.NEGATIVE_INFINITY : logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

/** ln n!: from a table for small n, then Stirling's series, whose error is below 1e-13. */
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
/** Two equally probable ways differ in the last digits of the arithmetic; R has the same tolerance. */
const TIE = 1e-7;
/** About 20 ms. */
const MOST_WAYS = 100_000;
