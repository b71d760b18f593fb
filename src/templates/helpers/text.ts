import { holdsNothing, trimBlanks } from '../../util/cell.ts';
import { textLiteral } from '../ast.ts';
import { RenderError } from '../values.ts';
import { localeName, localeOr, named, type Signature, takes, text } from './signature.ts';

const VALUE = text('value');

const ofOneValue = (name: string): Signature => takes(`{{${name} name}}`, VALUE);

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

/** Where both are columns, one of them must be filled. */
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

/** As templates of messaging apps require. */
export function oneLine(value: string): string {
  return value.replace(/\s+/g, ' ').trim();
}

/** As a part of a web address (RFC 3986): `A&B` becomes `A%26B`. */
export function url(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/** A word with letters of both cases stays (`McDonald`); `'` begins a word after one letter (`O'Brien`). */
export function title(value: string, locale: string): string {
  return value.replace(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu, (word, index: number) => {
    const small = lower(word, locale);
    if (word !== small && word !== upper(word, locale)) return word;
    const before = value.slice(Math.max(0, index - 4), index);
    if (/['\u2019]$/.test(before) && !/(?:^|[^\p{L}\p{M}\p{N}])\p{L}.$/u.test(before)) return small;
    const first = String.fromCodePoint(small.codePointAt(0) ?? 0);
    return upper(first, locale) + small.slice(first.length);
  });
}

/** By Unicode SpecialCasing and ECMA-402; other languages are faster. */
function hasOwnCasing(locale: string): boolean {
  return /^(?:az|el|hy|lt|tr)(?:-|$)/i.test(locale) || !/^[a-z]{2}(?:-[a-z]{2})?$/i.test(locale);
}
