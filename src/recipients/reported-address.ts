import { type Address, type AddressReader, createAddressReader } from './address.ts';

/**
 * Makes the reader of addresses as providers write them: an email address, or a number in any spelling. Its `+` is
 * often left out (`447700900123`), so that bare digits can be a number of the world or one of the country. Where both
 * are possible, the one that the numbering plan uses counts, then the one of the world; ten digits in North America are
 * what people there call a number.
 *
 * @param defaultCountry ISO 3166-1 alpha-2, for numbers without a calling code; null: there are none
 * @returns the address as lists have it; null for what is none
 */
export function createReportedAddressReader(defaultCountry: string | null): (written: string) => string | null {
  const world = createAddressReader('msisdn', null);
  const home = defaultCountry === null ? null : createAddressReader('msisdn', defaultCountry);
  const email = createAddressReader('email', null);
  const readNumber = (text: string): string | null => {
    const national = home === null ? null : found(home, text);
    if (!/^[1-9]\d{6,14}$/.test(text)) return (national ?? found(world, text))?.to ?? null;
    const international = found(world, `+${text}`);
    if (international === null || national === null) return (international ?? national)?.to ?? null;
    if (international.assigned !== national.assigned) return (international.assigned ? international : national).to;
    return (/^\+1\d{10}$/.test(national.to) && text.length === 10 ? national : international).to;
  };
  return (written) => {
    const text = written.trim();
    if (text.length > MAX_CHARACTERS) return null;
    return text.includes('@') ? (found(email, text)?.to ?? null) : readNumber(text);
  };
}

/** RFC 5321, 4.5.3.1.3: of an email address; numbers are shorter. */
const MAX_CHARACTERS = 254;

function found(read: AddressReader, text: string): Address | null {
  const address = read(text);
  return 'problem' in address ? null : address;
}
