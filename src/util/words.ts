import { onDemand } from './on-demand.ts';

const AND = onDemand(() => new Intl.ListFormat('en-GB'));
const OR = onDemand(() => new Intl.ListFormat('en-GB', { type: 'disjunction' }));

/** "a, b and c" */
export function listWithAnd(items: readonly string[]): string {
  return AND().format(items);
}

/** "a, b or c" */
export function listWithOr(items: readonly string[]): string {
  return OR().format(items);
}

/** `1,234,567`: figures in messages and errors, and in reports without a locale. */
export function number(value: number): string {
  const written = String(value);
  // The tables of Intl take 14 ms. Numbers that need no rounding look the same without them.
  return UNROUNDED.test(written) ? withCommas(written) : NUMBERS().format(value);
}

export function countOf(count: number, noun: string, several = `${noun}s`): string {
  return `${number(count)} ${count === 1 ? noun : several}`;
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The first `most` characters of a text that may fill the screen. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

export function withCommas(figures: string): string {
  return figures.replace(BEFORE_THREES, ',');
}

/** In English, by the code of the country; undefined where there is none. */
export const regionNames = onDemand(() => new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }));

const NUMBERS = onDemand(() => new Intl.NumberFormat('en-GB'));
/** No sign, no exponent, and no more decimals than are shown. */
const UNROUNDED = /^\d{1,15}(?:\.\d{1,3})?$/;
/** The position of a comma: whole groups of three follow, up to the point or the end. */
const BEFORE_THREES = /\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g;
