import { holdsNothing, trimBlanks } from '../../util/cell.ts';
import { textLiteral } from '../ast.ts';
import { RenderError } from '../values.ts';
import { localeName, localeOr, named, type Signature, takes, text } from './signature.ts';

const VALUE = text('value');

const ofOneValue = (name: string): Signature => takes(`{{${name} name}}`, VALUE);

/** One value and the locale: `upper`, `lower`, `title`. */
const inLocale = (name: string): Signature => ({
  ...ofOneValue(name),
  named: named(localeName()),
  arrange: ({ positional, named: names }, { locale }) => [...positional, names.get('locale') ?? textLiteral(locale)],
});

export const TEXT_SIGNATURES: Readonly<Record<string, Signature>> = {
  default: takes('{{default name "friend"}}', VALUE, text('fallback')),
  upper: inLocale('upper'),
  lower: inLocale('lower'),
  title: inLocale('title'),
  trim: ofOneValue('trim'),
  oneline: ofOneValue('oneline'),
  url: ofOneValue('url'),
};

export function defaultTo(value: string, fallback: string): string {
  return holdsNothing(value) ? fallback : value;
}

/** `default` where the text cannot do without a value and the fallback is a column too: one of them must be filled. */
export function defaultOrRefuse(value: string, fallback: string, columns: string): string {
  if (!holdsNothing(value)) return value;
  if (!holdsNothing(fallback)) return fallback;
  throw new RenderError(
    `The columns ${columns} are all empty, and the template needs one of them.`,
    'missing-variable',
  );
}

export function upper(value: string, locale: string): string {
  return hasOwnCasing(locale) ? value.toLocaleUpperCase(localeOr(locale)) : value.toUpperCase();
}

export function lower(value: string, locale: string): string {
  return hasOwnCasing(locale) ? value.toLocaleLowerCase(localeOr(locale)) : value.toLowerCase();
}

export function trim(value: string): string {
  return trimBlanks(value);
}

/** Without line ends, tabs and runs of blanks, which templates of messaging apps do not take. */
export function oneLine(value: string): string {
  return value.replace(/\s+/g, ' ').trim();
}

/** As a part of a web address (RFC 3986): `A&B` becomes `A%26B`. */
export function url(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/**
 * First letters large: `jane o'brien-smith` and `JANE O'BRIEN-SMITH` become `Jane O'Brien-Smith`. A word that has
 * letters of both cases is kept as it is (`McDonald`), and an apostrophe begins a new word after a single letter only
 * (`O'Brien`, but `Don't`).
 */
export function title(value: string, locale: string): string {
  return value.replace(WORD, (word, index: number) => {
    const small = lower(word, locale);
    if (word !== small && word !== upper(word, locale)) return word;
    const before = value.slice(Math.max(0, index - 4), index);
    if (/['\u2019]$/.test(before) && !SINGLE_LETTER.test(before)) return small;
    const first = String.fromCodePoint(small.codePointAt(0) ?? 0);
    return upper(first, locale) + small.slice(first.length);
  });
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;
const SINGLE_LETTER = /(?:^|[^\p{L}\p{M}\p{N}])\p{L}.$/u;

/** The languages whose letters change case in their own way (Unicode SpecialCasing, ECMA-402); others are faster. */
function hasOwnCasing(locale: string): boolean {
  return /^(?:az|el|hy|lt|tr)(?:-|$)/i.test(locale) || !/^[a-z]{2}(?:-[a-z]{2})?$/i.test(locale);
}
