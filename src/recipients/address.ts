import type { AddressKind } from '../model.ts';
import { readContact } from './contact.ts';
import { createEmailReader } from './email.ts';
import { createPhoneReader } from './phone.ts';
import { show } from './show.ts';

/** An address that a message can go to. */
export interface Address {
  /** Normalised: an E.164 number with `+`, an email address, or the id of a contact. */
  readonly to: string;
  /** ISO 3166-1 alpha-2; null where there is none. */
  readonly country: string | null;
  /** False for numbers that the numbering plan does not use; true for everything else. */
  readonly assigned: boolean;
}

/** Why a cell is no such address; `problem` follows on "The number ...". */
export interface AddressProblem {
  readonly problem: string;
  readonly hint?: string;
}

export type AddressReader = (cell: string) => Address | AddressProblem;

/** What an address is called, where it is named, and the column it is looked for in when none is named. */
export const ADDRESS_WORDS = {
  msisdn: { one: 'number', many: 'phone numbers', setting: 'to', column: 'msisdn' },
  email: { one: 'address', many: 'email addresses', setting: 'to', column: 'email' },
  contact: { one: 'contact id', many: 'ids of contacts', setting: 'contact', column: 'contact' },
} as const satisfies Record<AddressKind, Readonly<Record<string, string>>>;

/**
 * Makes the reader of one cell with an address: the recipient's own, or the one for a fallback.
 * @param defaultCountry ISO 3166-1 alpha-2, for phone numbers without a calling code
 * @throws HandbillError (exit 2): invalid-value, when there is no such country
 */
export function createAddressReader(kind: AddressKind, defaultCountry: string | null): AddressReader {
  if (kind === 'msisdn') return createNumberReader(defaultCountry);
  return kind === 'email' ? createMailReader() : readContactAddress;
}

function createNumberReader(defaultCountry: string | null): AddressReader {
  const readPhone = createPhoneReader(defaultCountry);
  return function readNumber(cell) {
    const phone = readPhone(cell);
    return 'problem' in phone ? phone : { to: phone.e164, country: phone.country, assigned: phone.assigned };
  };
}

function createMailReader(): AddressReader {
  const readEmail = createEmailReader();
  return function readMail(cell) {
    const found = readEmail(cell);
    return 'problem' in found ? found : { to: found.email, country: null, assigned: true };
  };
}

function readContactAddress(cell: string): Address | AddressProblem {
  const found = readContact(cell);
  return 'problem' in found ? found : { to: found.contact, country: null, assigned: true };
}

/** The sentence for a cell that is no address, with the cell masked or cut. */
export function addressMessage(kind: AddressKind, column: string, cell: string, found: AddressProblem): string {
  const shown = cell.trim() === '' ? '' : ` ${show(cell)}`;
  return `The ${ADDRESS_WORDS[kind].one}${shown} (column "${column}") ${found.problem}.`;
}
