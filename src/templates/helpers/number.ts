import { decimalHint, isBlank, trimBlanks } from '../../util/cell.ts';
import { NOTHING, type OutExpression, textLiteral } from '../ast.ts';
import { columnHint, quoted, RenderError } from '../values.ts';
import { createCache, literal, localeName, localeOr, named, type Signature, takes, text } from './signature.ts';

const DECIMALS = literal('decimals', (value) =>
  /^(?:1?\d|20)$/.test(value) ? null : 'decimals= is a whole number from 0 to 20.',
);

const ofNumber = (signature: Signature): Signature => ({
  ...signature,
  named: named(DECIMALS, localeName()),
  arrange({ positional, named: names, label }, { locale }) {
    const written = names.get('decimals');
    const decimals = written?.type === 'StringLiteral' ? Number(written.value) : -1;
    const number: OutExpression = { type: 'NumberLiteral', value: decimals };
    return [...positional, number, names.get('locale') ?? textLiteral(locale), textLiteral(label)];
  },
});

export const NUMBER_SIGNATURES: Readonly<Record<string, Signature>> = {
  number: ofNumber(takes('{{number points}}', text('value'))),
  currency: ofNumber(takes('{{currency amount "EUR"}}', text('value'), text('code', checkCurrency))),
};

function checkCurrency(code: string): string | null {
  const isKnown = Intl.supportedValuesOf('currency').includes(code.toUpperCase());
  return isKnown ? null : `${quoted(code)} is not a currency code such as "EUR" (ISO 4217).`;
}

/** @throws RenderError for a cell that is no number; it names the column */
function numberIn(value: string, label: string): Intl.StringNumericLiteral {
  const trimmed = trimBlanks(value);
  // Digit for digit. `1,234` is a thousand in London and one in Berlin; `4.47E+11` is from a spreadsheet.
  if (trimmed.length <= 40 && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(trimmed))
    return trimmed.replace(/^\+/, '').replace(/\.$/, '') as Intl.StringNumericLiteral;
  const hint = columnHint(label, (column) => decimalHint(column, value));
  throw new RenderError(`${quoted(value)}${label} cannot be read as a number: write 1234.50.`, 'render-error', hint);
}

/** Decimals as in the cell: `12.50` stays `12.50`. */
function decimalsIn(number: string): number {
  const point = number.indexOf('.');
  return point < 0 ? 0 : number.length - point - 1;
}

/** Decimals -1: as written. */
export function createNumber(
  finish: (formatted: string) => string,
): (value: string, decimals: number, locale: string, label: string) => string {
  const formats = createCache((key) => {
    const [decimals = '', locale = ''] = key.split('\0');
    const digits = { minimumFractionDigits: Number(decimals), maximumFractionDigits: Number(decimals) };
    return new Intl.NumberFormat(localeOr(locale), { ...digits, signDisplay: 'negative' });
  });
  return (value, decimals, locale, label) => {
    if (isBlank(value)) return '';
    const number = numberIn(value, label);
    return finish(formats(`${decimals < 0 ? decimalsIn(number) : decimals}\0${locale}`).format(number));
  };
}

/** Decimals -1: those of the currency. */
export function createCurrency(
  finish: (formatted: string) => string,
): (value: string, code: string, decimals: number, locale: string, label: string) => string {
  const formats = createCache((key) => {
    const [code = '', decimals = '', locale = ''] = key.split('\0');
    const currency = code.trim().toUpperCase();
    const problem = checkCurrency(currency);
    if (problem !== null) throw new RenderError(problem);
    const digits =
      decimals === '-1' ? {} : { minimumFractionDigits: Number(decimals), maximumFractionDigits: Number(decimals) };
    return new Intl.NumberFormat(localeOr(locale), { style: 'currency', currency, ...digits, signDisplay: 'negative' });
  });
  return (value, code, decimals, locale, label) => {
    if (isBlank(value)) return '';
    const number = numberIn(value, label);
    return finish(formats(`${code}\0${decimals}\0${locale}`).format(number));
  };
}

/** The plural categories of CLDR, in the order of the helper's arguments. */
const CATEGORIES = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

export const PLURAL_SIGNATURE: Signature = {
  example: '{{plural count "item" "items"}}',
  gives: 'text',
  positional: [text('count'), text('one'), text('other')],
  atLeast: 1,
  named: named(localeName(), ...CATEGORIES.map((name) => text(name))),
  verify: ({ positional, named: names }) => {
    if (positional.length === 2) return 'The word for one needs the word for more beside it.';
    if (positional.length === 1 && !names.has('other')) return 'The word for all other numbers is missing (other=).';
    const twice = positional.length > 1 && (names.has('one') || names.has('other'));
    return twice ? 'The words for one and other are given twice.' : null;
  },
  arrange: ({ positional: [count, one, other], named: names, label }, settings) => {
    const words = new Map(names);
    if (one !== undefined) words.set('one', one);
    if (other !== undefined) words.set('other', other);
    return [
      count ?? NOTHING,
      words.get('locale') ?? textLiteral(settings.locale),
      textLiteral(label),
      ...CATEGORIES.map((name) => words.get(name) ?? NOTHING),
    ];
  },
};

type Words = readonly (string | null)[];

/** A word for each category; null: there is none. */
export function createPlural(): (value: string, locale: string, label: string, ...words: Words) => string {
  const rules = createCache((key) => {
    const [decimals = '', locale = ''] = key.split('\0');
    return new Intl.PluralRules(localeOr(locale), { minimumFractionDigits: Number(decimals) });
  });
  // Positions, not rest parameters: Handlebars adds its own options as the last argument.
  return (value, locale, label, zero, one, two, few, many, other) => {
    if (isBlank(value)) return '';
    const number = numberIn(value, label);
    const rule = rules(`${Math.min(20, decimalsIn(number))}\0${locale}`).select(Number(number));
    const word = { zero, one, two, few, many, other }[rule];
    return word ?? other ?? '';
  };
}
