/** Finds an address in text, however it is spelt there. */
export interface AddressTrace {
  isIn(text: string): boolean;
  /** The text with every spelling of the address replaced; the same text where there is none. */
  without(text: string): string;
}

/** A shorter number could be a part of any other. */
const FEWEST_DIGITS = 7;

/**
 * The trace of an address: of a phone number its digits, with a country code or a prefix of the country in front or
 * without, and with any signs between them.
 *
 * @param address - in the form in which addresses are listed
 * @param national - the digits behind the country code; null: it is no phone number
 */
export function traceOf(address: string, national: string | null): AddressTrace {
  const pattern = national === null ? literal(address) : numberPattern(address, national);
  return {
    isIn: (text) => text.normalize('NFKC').search(pattern) !== -1,
    without(text) {
      const plain = text.normalize('NFKC');
      const erased = plain.replace(pattern, '[erased]');
      return erased === plain ? text : erased;
    },
  };
}

function numberPattern(address: string, national: string): RegExp {
  const digits = national.length < FEWEST_DIGITS ? address.slice(1) : national;
  const signs = '[^\\p{L}\\p{N}]{0,3}';
  return new RegExp(`\\+?(?:\\d${signs}){0,6}${[...digits].join(signs)}(?!\\d)`, 'gu');
}

/** The id of a contact may be short: in JSON it is found as a whole text. */
function literal(address: string): RegExp {
  const text = address.includes('@') ? address : JSON.stringify(address);
  return new RegExp(
    text.normalize('NFKC').replace(/[^\p{L}\p{N}@]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`),
    'giu',
  );
}
