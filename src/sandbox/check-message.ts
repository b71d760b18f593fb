import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/** One thing that is wrong with a request, in the form of RFC 9457's `errors`. */
export interface MessageFault {
  readonly detail: string;
  /** JSON pointer into the body, as a URI fragment. */
  readonly pointer: string;
}

/** The parts of a message that the sandbox looks at. Everything else it only keeps. */
export interface Message {
  readonly channel: string;
  readonly recipients?: readonly { readonly msisdn: string }[];
  readonly addressBook?: { readonly contacts: readonly { readonly id: string }[] };
}

/** Whom a message is for: numbers, then contact ids. */
export function addressesOf(message: Message): string[] {
  const numbers = message.recipients?.map(({ msisdn }) => msisdn) ?? [];
  const contacts = message.addressBook?.contacts.map(({ id }) => id) ?? [];
  return [...numbers, ...contacts];
}

/** Judges a parsed body: empty when it is a message, else what is wrong with it. */
export type MessageCheck = (body: unknown) => body is Message;

export interface MessageChecker {
  readonly isMessage: MessageCheck;
  /** What the last call of `isMessage` found. */
  faults(): MessageFault[];
}

/** The OpenAPI description of the operation, which is also what requests are checked against. */
export const OPENAPI_FILE = new URL('../../schemas/messages.openapi.json', import.meta.url);

/**
 * Compiles the request schema of the OpenAPI description. A schema of OpenAPI 3.1 is a JSON Schema 2020-12, so that
 * it needs no translation: the description's `components` are put beside a reference to the message.
 *
 * Stops at the first fault (no `allErrors`): the body comes from outside, and its size must not set the work.
 */
export function compileMessageCheck(): MessageChecker {
  const description = JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')) as { readonly components: unknown };
  const ajv = new Ajv2020({ strict: true, strictTypes: true, strictRequired: true, strictTuples: true });
  ajv.addKeyword('components');
  const validate = ajv.compile({ components: description.components, $ref: '#/components/schemas/Message' });
  return {
    isMessage: (body): body is Message => validate(body),
    faults: () => (validate.errors ?? []).map(toFault),
  };
}

function toFault(error: ErrorObject): MessageFault {
  const extra = error.keyword === 'additionalProperties' ? ` (${String(error.params['additionalProperty'])})` : '';
  return { detail: `${error.message ?? error.keyword}${extra}`, pointer: `#${error.instancePath}` };
}
