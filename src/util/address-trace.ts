import { spellingsOf } from './address-form.ts';

export type AddressTrace = ReturnType<typeof traceOf>;

/** A shorter number could be a part of any other. */
const FEWEST_DIGITS = 7;

/**
 * For a phone number the digits of each spelling, with or without a country code or prefix, and with any signs between them.
 *
 * @param nationalOf - the digits behind the country code; null: it is no phone number
 */
export function traceOf(address: string, nationalOf: (address: string) => string | null) {
  const found = spellingsOf(address).map((one) => {
    const national = nationalOf(one);
    if (national === null) {
      // The id of a contact may be short: in JSON it is found as a whole text.
      const text = one.includes('@') ? one : JSON.stringify(one);
      return text.normalize('NFKC').replace(/[^\p{L}\p{N}@]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
    }
    const digits = national.length < FEWEST_DIGITS ? one.slice(1) : national;
    const signs = '[^\\p{L}\\p{N}]{0,3}';
    return `\\+?(?:\\d${signs}){0,6}${[...digits].join(signs)}(?!\\d)`;
  });
  const flags = nationalOf(address) === null ? 'giu' : 'gu';
  const pattern = new RegExp(found.join('|'), flags);
  return {
    isIn: (text: string): boolean => text.normalize('NFKC').search(pattern) !== -1,
    /** The same text where there is none. */
    without(text: string): string {
      const plain = text.normalize('NFKC');
      const erased = plain.replace(pattern, '[erased]');
      return erased === plain ? text : erased;
    },
  };
}
