import metadata from 'libphonenumber-js/max/metadata';

/**
 * The numbering plans of libphonenumber (its `max` metadata), with every regular expression compiled once and
 * anchored to the calling code, so that it can be tried on `+447700900123` as it stands.
 */

/** The numbers of one country, or of one international network. */
export interface NumberingPlan {
  /** ISO 3166-1 alpha-2; null for networks that belong to no country (+800, +881 ...). */
  readonly country: string | null;
  readonly callingCode: string;
  /** Bit n: a national number may have n digits. */
  readonly lengths: number;
  readonly general: RegExp;
  readonly types: readonly NumberType[];
  /** Numbers of landlines, and of mobile phones; null where the plan has none. In some countries a number may be either. */
  readonly landline: NumberType | null;
  readonly mobile: NumberType | null;
  /** Digits that only this country's numbers begin with, among those that share its calling code. */
  readonly leading: RegExp | null;
  /** What may stand in front of a national number, with groups where it is not simply left out. */
  readonly nationalPrefix: RegExp | null;
  /** Matches an international number that seems to carry a national prefix too. */
  readonly strayPrefix: RegExp | null;
  readonly internationalPrefix: RegExp;
}

export interface NumberType {
  /** Bit n: such a number may have n digits. */
  readonly lengths: number;
  readonly pattern: RegExp;
}

/** Countries that share a calling code; the first one is the main one. */
export type Plans = readonly [NumberingPlan, ...NumberingPlan[]];

/** Plans by calling code, compiled when they are first needed. */
const byCallingCode: (Plans | null | undefined)[] = new Array(1000);

/** Plans of a calling code given as a number, or null when it is not in use. */
export function plansOf(callingCode: number): Plans | null {
  const known = byCallingCode[callingCode];
  return known !== undefined ? known : compileCallingCode(callingCode);
}

/** The plan of a country, or null when libphonenumber does not know it. */
export function planOf(country: string): NumberingPlan | null {
  const callingCode = Object.entries(metadata.country_calling_codes).find(([, codes]) =>
    codes.some((code) => code === country),
  )?.[0];
  if (callingCode === undefined) return null;
  return plansOf(Number(callingCode))?.find((plan) => plan.country === country) ?? null;
}

function compileCallingCode(callingCode: number): Plans | null {
  const code = String(callingCode);
  const countries: readonly string[] = new Map(Object.entries(metadata.country_calling_codes)).get(code) ?? [];
  const sources = new Map<string, unknown>(Object.entries(metadata.countries));
  const network: unknown = new Map(Object.entries(metadata.nonGeographic)).get(code);
  const plans = countries.map((country) => compilePlan(country, sources.get(country)));
  if (network !== undefined) plans.push(compilePlan(null, network));
  const [main, ...others] = plans;
  const result: Plans | null = main === undefined ? null : [main, ...others];
  byCallingCode[callingCode] = result;
  return result;
}

// Places in libphonenumber-js's packed metadata, as its source/metadata.js reads them (version 4).
const CALLING_CODE = 0;
const INTERNATIONAL_PREFIX = 1;
const GENERAL = 2;
const LENGTHS = 3;
const NATIONAL_PREFIX = 5;
const NATIONAL_PREFIX_FOR_PARSING = 7;
const LEADING = 10;
const TYPES = 11;
// Places among the types.
const LANDLINE = 0;
const MOBILE = 1;

function compilePlan(country: string | null, source: unknown): NumberingPlan {
  const packed = list(source);
  const callingCode = text(packed[CALLING_CODE]);
  const start = `^\\+${callingCode}`;
  const lengths = lengthBits(packed[LENGTHS]);
  const prefix = text(packed[NATIONAL_PREFIX_FOR_PARSING]) || text(packed[NATIONAL_PREFIX]);
  const leading = text(packed[LEADING]);
  const types = list(packed[TYPES]).map((type) => compileType(start, type, lengths));
  return {
    country,
    callingCode,
    lengths,
    general: new RegExp(`${start}(?:${text(packed[GENERAL])})$`),
    types: types.filter((type) => type !== null),
    landline: types[LANDLINE] ?? null,
    mobile: types[MOBILE] ?? null,
    leading: leading === '' ? null : new RegExp(`${start}(?:${leading})`),
    nationalPrefix: prefix === '' ? null : new RegExp(`^(?:${prefix})`),
    // The lookbehind leaves out matches of nothing, which Argentina's pattern makes of every number.
    strayPrefix: prefix === '' ? null : new RegExp(`${start}(?:${prefix})(?<!${start})`),
    internationalPrefix: new RegExp(`^(?:${text(packed[INTERNATIONAL_PREFIX])})`),
  };
}

function compileType(start: string, source: unknown, lengths: number): NumberType | null {
  const [pattern, own] = list(source);
  if (text(pattern) === '') return null;
  const bits = own === undefined || own === 0 ? lengths : lengthBits(own);
  return { lengths: bits, pattern: new RegExp(`${start}(?:${text(pattern)})$`) };
}

function lengthBits(source: unknown): number {
  return list(source).reduce<number>((bits, length) => bits | (1 << Number(length)), 0);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
