/** How figures of the bench are written for people. */
import type { Figure } from '../test/bench/bench.ts';
import { isReached } from '../test/bench/figures.ts';

/** Counts are exact; what was measured is not, and two significant digits say as much as it knows. */
const COUNTS = new Set(['messages', 'people']);
const DIGITS = 2;
const MOST_DIGITS = 6;

/**
 * A figure with its unit: `8,100 messages/s`. It gets more digits where rounding would put it on the other side of its
 * goal.
 */
export function figureWords(figure: Figure): string {
  const gap = figure.unit === '%' ? '' : ' ';
  return `${valueWords(figure)}${gap}${figure.unit.replace(/^us\b/, 'µs')}`;
}

/** Without its unit. */
export function valueWords(figure: Figure): string {
  if (COUNTS.has(figure.unit)) return figure.value.toLocaleString('en-GB');
  for (let digits = DIGITS; digits < MOST_DIGITS; digits += 1) {
    const value = Number(figure.value.toPrecision(digits));
    if (isReached({ ...figure, value }) === isReached(figure)) return rounded(figure.value, digits);
  }
  return rounded(figure.value, MOST_DIGITS);
}

function rounded(value: number, digits: number): string {
  return value.toLocaleString('en-GB', { maximumSignificantDigits: digits, minimumSignificantDigits: DIGITS });
}

/** What a figure has to be, and whether it is; nothing where it has no goal. */
export function goalWords(figure: Figure): string {
  const { goal } = figure;
  if (goal === undefined) return '';
  const words = 'atMost' in goal ? `at most ${number(goal.atMost)}` : `at least ${number(goal.atLeast)}`;
  return isReached(figure) ? words : `${words}: **missed**`;
}

function number(value: number): string {
  return value.toLocaleString('en-GB');
}
