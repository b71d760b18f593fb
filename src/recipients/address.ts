import type { AddressKind } from '../model.ts';
import { DAMAGE_WORDS, damageOf, trimBlanks } from '../util/cell.ts';
import { readEmail } from './email.ts';
import { type Address, type AddressProblem, type AddressReader, createPhoneReader, isChatId } from './phone.ts';
import { show } from './show.ts';

export const ADDRESS_WORDS = {
  msisdn: { one: 'number', many: 'phone numbers', setting: 'to', column: 'msisdn' },
  email: { one: 'address', many: 'email addresses', setting: 'to', column: 'email' },
  contact: { one: 'contact id', many: 'ids of contacts', setting: 'contact', column: 'contact' },
} as const satisfies Record<AddressKind, Readonly<Record<string, string>>>;

/**
 * Reads one cell with an address: the recipient's, or the one for a fallback.
 * @param defaultCountry ISO 3166-1 alpha-2, for phone numbers without a calling code
 * @throws HandbillError (exit 2): invalid-value, if the country does not exist
 */
export function createAddressReader(kind: AddressKind, defaultCountry: string | null): AddressReader {
  if (kind === 'msisdn') return createPhoneReader(defaultCountry);
  return kind === 'email' ? readEmail : readContact;
}

/** Shows the cell masked or cut. */
export function addressMessage(kind: AddressKind, column: string, cell: string, found: AddressProblem): string {
  const shown = cell.trim() === '' ? '' : ` ${show(cell)}`;
  return `The ${ADDRESS_WORDS[kind].one}${shown} (column "${column}") ${found.problem}.`;
}

/** The API's document sets no limit; ids in use are numbers, UUIDs (36) and ObjectIds (24). */
const MAX_ID_CHARACTERS = 200;
/** Control characters, line separators and halves of surrogate pairs: JSON could carry them, no id has them. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Trims the id of a contact and puts it in Unicode's composed form; otherwise it is unchanged. */
function readContact(raw: string): Address | AddressProblem {
  const contact = trimBlanks(raw).normalize('NFC');
  if (contact === '') return { problem: 'is empty' };
  if (contact.length > MAX_ID_CHARACTERS) {
    return { problem: `has ${contact.length} characters, and ${MAX_ID_CHARACTERS} are the most` };
  }
  if (FORBIDDEN.test(contact)) {
    return { problem: 'holds a line end or another control character', hint: 'Give each contact its own row.' };
  }
  const damage = damageOf(contact);
  if (damage === 'scientific') {
    const hint = 'Give the column the format "Text" in the spreadsheet, enter the ids again and save.';
    return { problem: 'is in scientific notation: a spreadsheet turned it into a number', hint };
  }
  if (damage !== null) return { problem: `is ${DAMAGE_WORDS[damage]}` };
  return { to: contact, country: null, assigned: true };
}

/**
 * Reads addresses as providers write them: an email address, or a number in any spelling. The `+` is often missing
 * (`447700900123`), so bare digits can be an international or a national number. If both are possible, the one that the
 * numbering plan uses counts, then the international one. In North America, ten digits are a national number.
 * @param defaultCountry ISO 3166-1 alpha-2, for numbers without a calling code; null: there are none
 * @returns the address as lists have it; null if it is not an address
 */
export function createReportedAddressReader(defaultCountry: string | null): (written: string) => string | null {
  const world = createAddressReader('msisdn', null);
  const home = createAddressReader('msisdn', defaultCountry);
  const email = createAddressReader('email', null);
  const readNumber = (text: string): string | null => {
    const national = found(home, text);
    if (!/^[1-9]\d{6,14}$/.test(text)) return national?.to ?? null;
    const international = found(world, `+${text}`);
    if (international === null || national === null) return (international ?? national)?.to ?? null;
    if (international.assigned !== national.assigned) return (international.assigned ? international : national).to;
    return (/^\+1\d{10}$/.test(national.to) && text.length === 10 ? national : international).to;
  };
  return (written) => {
    const text = written.trim();
    if (text.length > MAX_ADDRESS_CHARACTERS) return null;
    return text.includes('@') && !isChatId(text) ? (found(email, text)?.to ?? null) : readNumber(text);
  };
}

/** RFC 5321, 4.5.3.1.3: of an email address; numbers are shorter. */
const MAX_ADDRESS_CHARACTERS = 254;

function found(read: AddressReader, text: string): Address | null {
  const address = read(text);
  return 'problem' in address ? null : address;
}
