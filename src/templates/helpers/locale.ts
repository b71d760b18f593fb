import { quoted, RenderError } from '../render-error.ts';
import { type Parameter, text } from './signature.ts';

/** `locale=`: a language of its own for one value, written out or from a column. */
export function localeName(): Parameter {
  return text('locale', (value) => (isLocale(value) ? null : `${quoted(value)} is not a language such as "en-GB".`));
}

export function isLocale(value: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf([value]).length > 0;
  } catch {
    return false;
  }
}

/** Throws `RenderError` for a language from a column that is none. */
export function localeOr(value: string): string {
  const trimmed = value.trim();
  if (isLocale(trimmed)) return trimmed;
  throw new RenderError(`${quoted(value)} is not a language such as "en-GB".`);
}

/**
 * A store for Intl formatters, which take 20 to 100 us to make. Languages and zones may come from cells, so that it is
 * emptied when it grows beyond what a real list needs.
 */
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

/**
 * Intl writes spaces, minus signs and apostrophes outside GSM-7 (U+202F in `1 234` in fr, U+2212 in `−5` in sv, U+2019
 * in `1’234` in de-CH), and a single one of them makes an SMS Unicode and twice as dear. In text they become plain.
 */
export function plainCharacters(formatted: string): string {
  return /[\u00a0\u2009\u2019\u202f\u2212]/.test(formatted)
    ? formatted
        .replace(/[\u00a0\u2009\u202f]/g, ' ')
        .replace(/\u2212/g, '-')
        .replace(/\u2019/g, "'")
    : formatted;
}
