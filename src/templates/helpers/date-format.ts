import { readPattern } from './date-pattern.ts';

/**
 * How a date is written: a preset, a pattern (`d MMM yyyy`) or parts that the language puts in order. Between the check
 * and the render it is one string, `preset:long`, `pattern:d MMM`, `parts:weekday=short,day=numeric`, so that it can
 * stand in the compiled template and be the key of a formatter.
 */
export const DATE_PRESETS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  short: { dateStyle: 'short' },
  medium: { dateStyle: 'medium' },
  long: { dateStyle: 'long' },
  full: { dateStyle: 'full' },
  time: { timeStyle: 'short' },
  datetime: { dateStyle: 'medium', timeStyle: 'short' },
};

const NUMERIC = ['numeric', '2-digit'];
const NAMES = ['long', 'short', 'narrow'];

/** The parts that a date can be put together from, with the values that Intl.DateTimeFormat takes. */
export const DATE_PARTS: Readonly<Record<string, readonly string[]>> = {
  weekday: NAMES,
  year: NUMERIC,
  month: [...NUMERIC, ...NAMES],
  day: NUMERIC,
  hour: NUMERIC,
  minute: NUMERIC,
  second: NUMERIC,
  hourCycle: ['h12', 'h23'],
  timeZoneName: ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'],
};

/** What is wrong with a format that the template names; null when nothing is. */
export function checkFormat(format: string): string | null {
  if (format === 'iso' || Object.hasOwn(DATE_PRESETS, format)) return null;
  const pieces = readPattern(format);
  if (typeof pieces !== 'string') return null;
  const presets = [...Object.keys(DATE_PRESETS), 'iso'].join(', ');
  return `${pieces} Use one of ${presets}, or a pattern such as "d MMM yyyy"; words in it stand in 'quotes'.`;
}

/** The one string for a format that was found right. */
export function formatKey(format: string): string {
  return Object.hasOwn(DATE_PRESETS, format) || format === 'iso' ? `preset:${format}` : `pattern:${format}`;
}

export function partsKey(parts: ReadonlyMap<string, string>): string {
  return `parts:${[...parts].map(([name, value]) => `${name}=${value}`).join(',')}`;
}

export function partsOptions(key: string): Intl.DateTimeFormatOptions {
  return Object.fromEntries(key.split(',').map((part) => part.split('=')));
}
