import type { Significance } from '../model.ts';
import type { Sample } from './intervals.ts';
import { chiSquare } from './significance-chi-square.ts';
import { exactTest } from './significance-exact.ts';

/**
 * Whether groups differ in their shares, or whether chance alone may well have made such a difference. Groups of 0 say
 * nothing and are left out. The chi-square test where the counts are large enough for it (by Cochran's rule: every
 * count that is expected is at least 1, and at most a fifth of them below 5; of two groups none), else the exact test.
 * Where neither can be done, or there is nothing to compare, `enough` is false and `p` null.
 */
export function significanceOf(groups: readonly Sample[]): Significance {
  const samples = groups.filter(({ whole }) => whole > 0);
  if (samples.length < 2) return NOT_ENOUGH;
  if (isLarge(samples)) return { p: rounded(chiSquare(samples).p), test: 'chi-square', enough: true };
  const p = exactTest(samples);
  return p === null ? NOT_ENOUGH : { p: rounded(p), test: 'fisher', enough: true };
}

function isLarge(samples: readonly Sample[]): boolean {
  const all = sumOf(samples, 'whole');
  const part = sumOf(samples, 'part');
  // Multiplied first: these are whole numbers, so that 5 is 5.
  const expected = samples.flatMap(({ whole }) => [(whole * part) / all, (whole * (all - part)) / all]);
  const small = expected.filter((count) => count < 5);
  if (small.length === 0) return true;
  return samples.length > 2 && small.length * 5 <= expected.length && small.every((count) => count >= 1);
}

function sumOf(samples: readonly Sample[], key: keyof Sample): number {
  return samples.reduce((sum, sample) => sum + sample[key], 0);
}

/** More digits than needed, and few enough to be the same on every machine. */
function rounded(p: number): number {
  return Number(p.toPrecision(6));
}

const NOT_ENOUGH: Significance = { p: null, test: null, enough: false };
