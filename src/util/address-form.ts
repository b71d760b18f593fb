import { isoSeconds } from './time.ts';

/**
 * The form in which addresses are compared. Email addresses are in lower case: before the `@` upper case could mean another
 * mailbox (RFC 5321, 2.4), but never does, and to leave a person out is the lesser harm. Ids of contacts stay as they are.
 */
export function listedForm(address: string): string {
  if (address.charCodeAt(0) !== PLUS) return address.includes('@') ? address.toLowerCase() : address;
  return respell(address, 'toFirst') ?? address;
}

/**
 * Spellings of one phone: with and without the ninth digit of mobiles in Brazil, whose numbers begin with 6 to 9; with
 * and without the 9 for calls to mobiles from abroad in Argentina; with and without the 1 of Mexico, in use until 2019,
 * and the 01 of Benin, in use since 2024.
 */
const SPELLINGS: readonly { readonly toFirst: Respelling; readonly toOther: Respelling }[] = [
  { toFirst: [/^\+55(\d\d)([6-9]\d{7})$/, '+55$19$2'], toOther: [/^\+55(\d\d)9([6-9]\d{7})$/, '+55$1$2'] },
  { toFirst: [/^\+54([1-3]\d{9})$/, '+549$1'], toOther: [/^\+549([1-3]\d{9})$/, '+54$1'] },
  { toFirst: [/^\+521(\d{10})$/, '+52$1'], toOther: [/^\+52(\d{10})$/, '+521$1'] },
  { toFirst: [/^\+229(\d{8})$/, '+22901$1'], toOther: [/^\+22901(\d{8})$/, '+229$1'] },
];

type Respelling = readonly [pattern: RegExp, spelling: string];

function respell(number: string, way: 'toFirst' | 'toOther'): string | null {
  if (!/^\+(?:5|229)/.test(number)) return null;
  const found = SPELLINGS.find((one) => one[way][0].test(number))?.[way];
  return found === undefined ? null : number.replace(...found);
}

/** Whether a person who typed this means the recipient: by the key, or by the address in any spelling. */
export function isNamed(
  typed: string,
  { key, to }: { readonly key: string | null; readonly to: string | null },
): boolean {
  return key === typed || (to !== null && listedForm(to) === listedForm(typed));
}

/** Every spelling with the same form, that form first: for hashes, which may be of any of them. */
export function spellingsOf(address: string): readonly string[] {
  const form = listedForm(address);
  const other = respell(form, 'toOther');
  return other === null ? [form] : [form, other];
}

/** Takes ids of contacts that look like a number or an email address for one. */
export function kindOf(form: string): 'msisdn' | 'email' | 'contact' {
  if (form.charCodeAt(0) === PLUS) return 'msisdn';
  return form.includes('@') ? 'email' : 'contact';
}

/** For the address, and for a key that is another address, in every spelling. Customer numbers are no ids of contacts. */
export function formsOf(to: string, key: string): readonly string[] {
  const forms = spellingsOf(to);
  const other = key === to ? null : keyForm(key);
  return other === null || forms.includes(other) ? forms : [...forms, ...spellingsOf(other)];
}

function keyForm(written: string): string | null {
  if (written.charCodeAt(0) !== PLUS && !written.includes('@')) return null;
  const key = keyWithoutTime(written);
  if (key.charCodeAt(0) === PLUS) return NUMBER.test(key) ? key.replace(/[^+\d]/g, '') : null;
  return key.length <= LONGEST_EMAIL ? listedForm(key) : null;
}

/** The key of a recipient whose row has its own time (`send.each`), in ms since 1970, to the second. */
export function keyWithTime(key: string, atMs: number): string {
  return `${key}|${isoSeconds(atMs)}`;
}

export function keyWithoutTime(key: string): string {
  return key.endsWith('Z') ? key.replace(TIME_IN_KEY, '') : key;
}

/** Ms since 1970; null: the key has none. */
export function timeInKey(key: string): number | null {
  const time = TIME_IN_KEY.exec(key)?.[1];
  return time === undefined ? null : Date.parse(time);
}

const TIME_IN_KEY = /\|([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z)$/;

/** RFC 5321, 4.5.3.1.3. */
const LONGEST_EMAIL = 254;
const PLUS = 0x2b;
/** A number with its country code, with or without blanks and the like. */
const NUMBER = /^\+\d[\d ().-]{5,30}$/;
