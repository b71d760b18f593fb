import type { AddressKind } from '../model.ts';

/**
 * The form in which addresses are compared with a suppression list. Numbers and contact ids are compared as they are
 * normalised; email addresses in lower case as a whole. Before the `@` upper case could mean another mailbox (RFC 5321,
 * 2.4), but it never does, and to leave a person out is the lesser harm.
 */
export function listedForm(address: string): string {
  return address.includes('@') ? address.toLowerCase() : address;
}

/** What an address in that form is. Ids of contacts that look like a number or an email address are taken for one. */
export function kindOf(form: string): AddressKind {
  if (form.charCodeAt(0) === PLUS) return 'msisdn';
  return form.includes('@') ? 'email' : 'contact';
}

/**
 * The forms under which a recipient may be listed: the address, and the key where it is another address. Other keys
 * (customer numbers) are not compared with ids of contacts: they are from another book.
 */
export function formsOf(to: string, key: string): readonly string[] {
  const form = listedForm(to);
  if (key === to) return [form];
  const other = keyForm(key);
  return other === null || other === form ? [form] : [form, other];
}

function keyForm(key: string): string | null {
  if (key.charCodeAt(0) === PLUS) return NUMBER.test(key) ? key.replace(/[^+\d]/g, '') : null;
  return key.length <= LONGEST_EMAIL && key.includes('@') ? listedForm(key) : null;
}

/** RFC 5321, 4.5.3.1.3. */
const LONGEST_EMAIL = 254;
const PLUS = 0x2b;
/** A number with its country code, with or without blanks and the like. */
const NUMBER = /^\+\d[\d ().-]{5,30}$/;
