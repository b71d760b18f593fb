import type { InlineRecipient, Message } from './check-message.ts';

/** Field of an answer with the address of an entry. */
type AddressField = 'msisdn' | 'email' | 'contact';

/** How many a message is for. */
export function countOf(message: Message): number {
  return (message.recipients?.length ?? 0) + (message.addressBook?.contacts.length ?? 0);
}

/** The addresses of a message: its recipients, then contact ids, in their order. */
export function addressesOf(message: Message): string[] {
  const inline = message.recipients?.map(addressOf) ?? [];
  const contacts = message.addressBook?.contacts.map(({ id }) => id) ?? [];
  return [...inline, ...contacts];
}

/** The address of one recipient: in a known field, else the first text that there is (where any field is taken). */
function addressOf(recipient: InlineRecipient): string {
  const { msisdn, email, address } = recipient;
  if (typeof msisdn === 'string') return msisdn;
  if (typeof email === 'string') return email;
  if (typeof address === 'string') return address;
  return Object.values(recipient).find((value) => typeof value === 'string') ?? '';
}

/** What the address at a position is, positions counted as `addressesOf` does. */
export function fieldAt(message: Message, address: string, position: number): AddressField {
  if (position >= (message.recipients?.length ?? 0)) return 'contact';
  return address.includes('@') ? 'email' : 'msisdn';
}

/** The place of that address in the body, as JSON pointer in a URI fragment. */
export function pointerTo(message: Message, position: number): string {
  const inline = message.recipients?.length ?? 0;
  return position < inline ? `#/recipients/${position}` : `#/addressBook/contacts/${position - inline}`;
}

/** A number in one form, without `+` or `00`, from any spelling. */
export function bareNumber(address: string): string {
  return address.replace(/^(?:\+|00)/, '');
}
