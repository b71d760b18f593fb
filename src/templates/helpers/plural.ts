import { NOTHING, textLiteral } from '../ast.ts';
import { isEmpty } from '../empty.ts';
import { createCache, localeName, localeOr } from './locale.ts';
import { decimalsIn, readNumber, unreadableNumber } from './number.ts';
import { named, type Signature, text } from './signature.ts';

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
    return twice ? 'The words for one and other stand there twice.' : null;
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

/** The helper `plural`: count, locale, columns, then a word for each category, null where there is none. */
export function createPlural(): (value: string, locale: string, label: string, ...words: Words) => string {
  const rules = createCache((key) => {
    const [decimals = '', locale = ''] = key.split('\0');
    return new Intl.PluralRules(localeOr(locale), { minimumFractionDigits: Number(decimals) });
  });
  // Positions, not rest parameters: Handlebars adds its own options as the last argument.
  return (value, locale, label, zero, one, two, few, many, other) => {
    if (isEmpty(value)) return '';
    const number = readNumber(value);
    if (number === null) throw unreadableNumber(value, label);
    const rule = rules(`${Math.min(20, decimalsIn(number))}\0${locale}`).select(Number(number));
    const word = { zero, one, two, few, many, other }[rule];
    return word ?? other ?? '';
  };
}
