import { follow, type Pointer } from '../util/json.ts';

/** A compiled `wire`: where an entry has the address of its recipient. */
interface AddressPlaces {
  readonly pointers: { readonly entry: { readonly address: readonly Pointer[] } };
}

export interface Addressee {
  /** An E.164 number with `+`, an email address, or the id of a contact. */
  readonly to: string;
  readonly reference: string;
}

export interface Directory {
  /** By a reference anywhere in the entry. */
  byReference(entry: unknown): number | null;
  /** Several if recipients share the address, none if no recipient has it. */
  byAddress(entry: unknown): readonly number[];
  /** All recipients with the address of this one, itself included; rarely more than one. */
  sharing(position: number): readonly number[];
}

/** How deep a reference may be inside an entry: in `recipient.metaData.handbill` it is three deep. */
const REFERENCE_DEPTH = 5;

/**
 * Indexes the recipients of a request. APIs repeat numbers without `+`, with `00`, with spaces or as JSON numbers, and
 * email addresses in lower case. Ids of contacts are compared unchanged, because `0012` and `12` are two people.
 */
export function createDirectory(recipients: readonly Addressee[], wire: AddressPlaces): Directory {
  const references = new Map(recipients.map(({ reference }, position) => [reference, position]));
  const index = new Map<string, number[]>();
  recipients.forEach(({ to }, position) => {
    add(index, keyOf(to), position);
  });
  // Two addresses that differ only by letter case look the same if the API has lower-cased them.
  const lowerCased = new Map<string, string | null>();
  for (const { to } of recipients) {
    const lower = to.toLowerCase();
    const isFirst = !lowerCased.has(lower) || lowerCased.get(lower) === keyOf(to);
    lowerCased.set(lower, isFirst ? keyOf(to) : null);
  }
  const byText = (text: string): readonly number[] => {
    const found = index.get(text) ?? index.get(writtenKeyOf(text));
    if (found !== undefined || !text.includes('@')) return found ?? [];
    return index.get(lowerCased.get(text.toLowerCase()) ?? '') ?? [];
  };
  return {
    byReference: (entry) => referenceIn(entry, references, REFERENCE_DEPTH),
    byAddress(entry) {
      for (const address of addressesIn(entry, wire)) {
        const found = byText(address.trim().replace(SCHEME, ''));
        if (found.length > 0) return found;
      }
      return [];
    },
    sharing: (position) => index.get(keyOf(recipients[position]?.to ?? '')) ?? [],
  };
}

/** Whether an entry names a recipient, of this request or not: then its position in the list does not count. */
export function namesRecipient(entry: unknown, wire: AddressPlaces): boolean {
  if (typeof entry === 'object') return addressesIn(entry, wire).length > 0;
  return NUMBER.test(String(entry)) || String(entry).includes('@');
}

/** Whether an address of an answer may be the recipient's. Case, spaces and a scheme do not count. */
export function isSameAddress(text: string, to: string): boolean {
  const written = text.trim().replace(SCHEME, '');
  return written === to || writtenKeyOf(written).toLowerCase() === to.toLowerCase() || isSameNumber(written, to);
}

/**
 * Whether an address of an answer is certainly another one. Only the last digits of numbers are compared: APIs repeat
 * them without a country code, or with the digits that some countries put behind it for mobile phones.
 */
export function isOtherAddress(text: string, to: string): boolean {
  const written = text.trim().replace(SCHEME, '');
  if (to.includes('@') !== written.includes('@')) return false;
  if (to.includes('@')) return EMAIL.test(written) && written.toLowerCase() !== to.toLowerCase();
  if (!NUMBER.test(written) || !to.startsWith('+')) return false;
  return digitsOf(written).length >= LAST_DIGITS && !isSameNumber(written, to);
}

function isSameNumber(text: string, to: string): boolean {
  const digits = NUMBER.test(text) && to.startsWith('+') ? digitsOf(text) : '';
  return digits.length >= LAST_DIGITS && digits.slice(-LAST_DIGITS) === to.slice(-LAST_DIGITS);
}

function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, '');
}

const LAST_DIGITS = 7;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Values of an entry where an address is expected. An entry that is a text or a number is itself an address. */
export function addressesIn(entry: unknown, wire: AddressPlaces): readonly string[] {
  const found = typeof entry === 'object' ? wire.pointers.entry.address.map((p) => follow(entry, p)) : [entry];
  return found.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
}

function referenceIn(value: unknown, references: ReadonlyMap<string, number>, depth: number): number | null {
  if (typeof value === 'string') return references.get(value) ?? null;
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  for (const inner of Object.values(value)) {
    const found = referenceIn(inner, references, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

function add(index: Map<string, number[]>, key: string, position: number): void {
  const positions = index.get(key);
  if (positions === undefined) index.set(key, [position]);
  else positions.push(position);
}

function keyOf(to: string): string {
  return to.includes('@') ? lowerDomain(to) : to;
}

/** The same key from an address as an API may write it. */
function writtenKeyOf(text: string): string {
  if (text.includes('@')) return lowerDomain(text);
  return NUMBER.test(text) ? `+${text.replace(/[^0-9]/g, '').replace(/^00/, '')}` : text;
}

function lowerDomain(email: string): string {
  const at = email.lastIndexOf('@');
  return email.slice(0, at) + email.slice(at).toLowerCase();
}

/** A telephone number in one of the usual notations. `(0)` inside is not accepted: whether it counts is a guess. */
const NUMBER = /^\+?[0-9](?!.*\(0\))[0-9 ().\u00a0-]{4,}$/;
/** `tel:+44...`, `mailto:ann@example.com`, and the names of channels that some APIs put in front. */
const SCHEME = /^[a-z][a-z-]{0,15}:/i;

/** Whether an entry names one of the recipients. */
export function names(entry: unknown, recipients: readonly Addressee[], wire: AddressPlaces): boolean {
  const directory = createDirectory(recipients, wire);
  if (directory.byReference(entry) !== null || directory.byAddress(entry).length > 0) return true;
  // With one recipient a number is compared by its last digits: see `isSameAddress`.
  return addressesIn(entry, wire).some((text) => recipients.some(({ to }) => isSameAddress(text, to)));
}
