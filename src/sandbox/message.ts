import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { readDescription } from './openapi.ts';

/** One thing that is wrong with a request, in the form of RFC 9457's `errors`. */
export interface MessageFault {
  readonly detail: string;
  /** JSON pointer into the body, as a URI fragment. */
  readonly pointer: string;
}

/** The parts of a message that the sandbox reads. Everything else it only keeps. */
export interface Message {
  readonly channel: string;
  readonly recipients?: readonly InlineRecipient[];
  readonly addressBook?: { readonly contacts: readonly { readonly id: string }[] };
}

/** A recipient in the message. `addressOf` decides which field holds the address. */
type InlineRecipient = Readonly<Partial<Record<string, unknown>>>;

/** Which fields a message may have: those of the description, or any as long as its recipients can be told. */
export type KnownFields = 'known' | 'any';

/** Whether a parsed body is a message; `faults` returns what is wrong with it. */
type MessageCheck = (body: unknown) => body is Message;

export interface MessageChecker {
  readonly isMessage: MessageCheck;
  /** What the last call of `isMessage` found. */
  faults(): MessageFault[];
}

/**
 * Compiles the schema that requests must fit: one of the OpenAPI description, or any fields. A schema of OpenAPI 3.1 is
 * a JSON Schema 2020-12, so that it needs no translation: the description's `components` are put beside a reference.
 *
 * Stops at the first fault (no `allErrors`): the body comes from outside, and its size must not set the work.
 */
export function compileMessageCheck(name = 'Message', fields: KnownFields = 'known'): MessageChecker {
  const ajv = new Ajv2020({ strict: true, strictTypes: true, strictRequired: true, strictTuples: true });
  ajv.addKeyword('components');
  const { components } = readDescription();
  const validate = ajv.compile(fields === 'any' ? ANY_FIELDS : { components, $ref: `#/components/schemas/${name}` });
  return {
    isMessage: (body): body is Message => validate(body),
    faults: () => (validate.errors ?? []).map(toFault),
  };
}

/** What the sandbox itself needs to find in a message, wherever an API wants the rest. */
const ANY_FIELDS = {
  type: 'object',
  required: ['channel'],
  anyOf: [
    { type: 'object', properties: { recipients: true }, required: ['recipients'] },
    { type: 'object', properties: { addressBook: true }, required: ['addressBook'] },
  ],
  properties: {
    channel: { type: 'string', minLength: 1 },
    recipients: { type: 'array', minItems: 1, items: { type: 'object', minProperties: 1 } },
    addressBook: {
      type: 'object',
      required: ['contacts'],
      properties: {
        contacts: {
          type: 'array',
          minItems: 1,
          items: { type: 'object', required: ['id'], properties: { id: { type: 'string', minLength: 1 } } },
        },
      },
    },
  },
};

function toFault({ keyword, message, params, instancePath }: ErrorObject): MessageFault {
  const pointer = `#${instancePath}`;
  if (keyword === 'oneOf' && params['passingSchemas'] !== null)
    return { detail: 'must have one address only', pointer };
  const extra = keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : '';
  return { detail: `${message ?? keyword}${extra}`, pointer };
}

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
