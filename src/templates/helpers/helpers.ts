import { RenderError } from '../values.ts';
import { and, COMPARE_SIGNATURES, eq, ifBlock, indentBlock, ne, not, or, unlessBlock } from './compare.ts';
import { createDate, DATE_SIGNATURE } from './date.ts';
import { createCurrency, createNumber, createPlural, NUMBER_SIGNATURES, PLURAL_SIGNATURE } from './number.ts';
import type { Signature } from './signature.ts';
import { plainCharacters } from './signature.ts';
import { defaultOrRefuse, defaultTo, lower, oneLine, TEXT_SIGNATURES, title, trim, upper, url } from './text.ts';

/** In the order of the guide. */
export const SIGNATURES: ReadonlyMap<string, Signature> = new Map(
  Object.entries({
    ...TEXT_SIGNATURES,
    date: DATE_SIGNATURE,
    ...NUMBER_SIGNATURES,
    plural: PLURAL_SIGNATURE,
    ...COMPARE_SIGNATURES,
  }),
);

/** Names that the static check puts into a template and that no user can write, because of the `:`. */
export const OWN_HELPERS = { defaultOrRefuse: 'default:refuse', indent: 'partial:indent' } as const;

/** Values in the order of the signature, then Handlebars' options. */
type HelperFunction = (this: unknown, ...values: never[]) => string | boolean;

/** In one render, so that a huge cell in many helpers does not fill the memory. */
type Meter = { units: number; readonly most: number };

/** In text (`plain`), characters of Intl outside GSM-7 become a plain space, minus or apostrophe. */
export function createHelpers(plain: boolean, meter: Meter): Readonly<Record<string, HelperFunction>> {
  const metered = (make: (value: string, locale: string) => string) => (value: string, locale: string) => {
    meter.units += value.length;
    if (meter.units > meter.most) throw new RenderError('The values are too long for this template.');
    return make(value, locale);
  };
  const finish = plain ? plainCharacters : (formatted: string) => formatted;
  const helpers: Record<string, HelperFunction> = {
    if: ifBlock,
    unless: unlessBlock,
    [OWN_HELPERS.indent]: indentBlock,
    default: defaultTo,
    [OWN_HELPERS.defaultOrRefuse]: defaultOrRefuse,
    upper: metered(upper),
    lower: metered(lower),
    title: metered(title),
    trim,
    oneline: oneLine,
    url: metered((value) => url(value)),
    date: createDate(finish),
    number: createNumber(finish),
    currency: createCurrency(finish),
    plural: createPlural(),
    eq,
    ne,
    and,
    or,
    not,
  };
  return Object.freeze(Object.assign(Object.create(null), helpers));
}
