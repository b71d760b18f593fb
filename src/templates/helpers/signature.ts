import type { OutExpression } from '../ast.ts';
import { quoted, RenderError } from '../values.ts';

export interface Signature {
  /** A call as a user would write it, for hints and the guide. */
  readonly example: string;
  /** `condition` is allowed only in `{{#if}}` and in other comparisons. */
  readonly gives: Kind;
  readonly positional: readonly Parameter[];
  /** How many of `positional` must be there. */
  readonly atLeast: number;
  /** Further values of this kind may follow. */
  readonly rest?: Parameter;
  readonly named: ReadonlyMap<string, Parameter>;
  /** Null when nothing is wrong; else one sentence. */
  readonly verify?: (call: CheckedCall) => string | null;
  /** The arguments in the order of `run`. Only for valid calls. */
  readonly arrange: (call: CheckedCall, settings: Settings) => readonly OutExpression[];
}

export type Kind = 'text' | 'condition';

export interface Parameter {
  readonly name: string;
  /** `condition` takes both kinds. */
  readonly accepts: Kind;
  /** The value must be written in the template, because it is checked before any row is read. */
  readonly literal?: true;
  /** Null when nothing is wrong. */
  readonly check?: (value: string) => string | null;
}

export interface CheckedCall {
  readonly positional: readonly OutExpression[];
  readonly named: ReadonlyMap<string, OutExpression>;
  /** Columns that the first argument reads, for messages about a row. */
  readonly label: string;
}

export type Settings = { readonly locale: string; readonly timeZone: string };

export function takes(example: string, ...positional: readonly Parameter[]): Signature {
  return {
    example,
    gives: 'text',
    positional,
    atLeast: positional.length,
    named: new Map(),
    arrange: (call) => call.positional,
  };
}

export function text(name: string, check?: Parameter['check']): Parameter {
  return check === undefined ? { name, accepts: 'text' } : { name, accepts: 'text', check };
}

export function literal(name: string, check: NonNullable<Parameter['check']>): Parameter {
  return { name, accepts: 'text', literal: true, check };
}

export function named(...parameters: readonly Parameter[]): ReadonlyMap<string, Parameter> {
  return new Map(parameters.map((p) => [p.name, p]));
}

/** The language for one value, written out or from a column. */
export function localeName(): Parameter {
  return text('locale', (value) => (isLocale(value) ? null : `${quoted(value)} is not a language such as "en-GB".`));
}

function isLocale(value: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf([value]).length > 0;
  } catch {
    return false;
  }
}

/** Throws `RenderError` if the value of a column is not a language. */
export function localeOr(value: string): string {
  const trimmed = value.trim();
  if (isLocale(trimmed)) return trimmed;
  throw new RenderError(`${quoted(value)} is not a language such as "en-GB".`);
}

/** Intl formatters take 20 to 100 us to make. Keys may come from cells, so a full cache is emptied. */
export function createCache<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    if (made.size >= 1000) made.clear();
    const fresh = make(key);
    made.set(key, fresh);
    return fresh;
  };
}

/** Intl writes characters outside GSM-7 (U+202F in fr, U+2212 in sv, U+2019 in de-CH), which can double the cost. */
export function plainCharacters(formatted: string): string {
  return /[\u00a0\u2009\u2019\u202f\u2212]/.test(formatted)
    ? formatted
        .replace(/[\u00a0\u2009\u202f]/g, ' ')
        .replace(/\u2212/g, '-')
        .replace(/\u2019/g, "'")
    : formatted;
}
