import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { capital } from '../util/words.ts';
import ANY_FIELDS from './any-message.json' with { type: 'json' };
import { type ReportWord, statusTitle } from './endings.ts';

/* The only place that knows the names of the API's form: in messages, answers and events. */

/** The OpenAPI description of the operation, against which requests are checked. */
export const OPENAPI_FILE = new URL('../../schemas/messages.openapi.json', import.meta.url);

export function readDescription(): { readonly components: object; readonly [key: string]: unknown } {
  return JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')) as { components: object };
}

export interface MessageFault {
  readonly detail: string;
  /** JSON pointer into the body, as a URI fragment. */
  readonly pointer: string;
}

type Fields = Readonly<Partial<Record<string, unknown>>>;

/** The sandbox only keeps everything else. */
export interface Message {
  readonly channel: string;
  readonly from?: unknown;
  readonly body?: unknown;
  readonly metaData?: unknown;
  readonly recipients?: readonly Fields[];
  readonly addressBook?: { readonly contacts: readonly { readonly id: string }[] };
}

/** A schema of OpenAPI 3.1 is a JSON Schema 2020-12. Stops at the first fault: a body must not set the work. */
export function compileMessageCheck(fields: 'known' | 'any' = 'known') {
  compiled[fields] ??= compile(fields);
  const validate = compiled[fields];
  return {
    isMessage: (body: unknown): body is Message => validate(body),
    faults: () => (validate.errors ?? []).map(toFault),
  };
}

/** Kept: each start of a sandbox needs one. */
const compiled: Partial<Record<string, ValidateFunction>> = {};

function compile(fields: string): ValidateFunction {
  // Tests check the schemas themselves. That, and optimized code, took 80 ms of CPU of each `send` to the sandbox; this takes 18.
  const fast: Options = { meta: false, validateSchema: false, inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: true, strictTypes: true, strictRequired: true, strictTuples: true, ...fast });
  ajv.addKeyword('components');
  const { components } = readDescription();
  return ajv.compile(fields === 'any' ? ANY_FIELDS : { components, $ref: '#/components/schemas/Message' });
}

export function toFault({ keyword, message, params, instancePath }: ErrorObject): MessageFault {
  const pointer = `#${instancePath}`;
  if (keyword === 'oneOf' && params['passingSchemas'] !== null)
    return { detail: 'must have one address only', pointer };
  const extra = keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : '';
  return { detail: `${message ?? keyword}${extra}`, pointer };
}

export interface Recipient {
  readonly field: 'msisdn' | 'email' | 'contact';
  readonly address: string;
  readonly metaData: Fields;
}

/** Recipients, then contacts of the address book, in their order. */
export function recipientsOf({ recipients = [], addressBook, metaData }: Message): Recipient[] {
  const inline = recipients.map((recipient) => {
    const { msisdn, email, address: other } = recipient;
    // In a known field, else the first text (where any field is taken).
    const texts = [msisdn, email, other, ...Object.values(recipient)];
    const address = texts.find((value) => typeof value === 'string') ?? '';
    const field = address.includes('@') ? ('email' as const) : ('msisdn' as const);
    return { field, address, metaData: { ...objectOf(metaData), ...objectOf(recipient['metaData']) } };
  });
  const contacts = addressBook?.contacts.map(({ id }) => ({
    field: 'contact' as const,
    address: id,
    metaData: objectOf(metaData),
  }));
  return [...inline, ...(contacts ?? [])];
}

export interface Refusal {
  readonly status: number;
  /** In small letters and hyphens. */
  readonly code: string;
  readonly detail: string;
}

/** By position. */
export type Refusals = ReadonlyMap<number, Refusal>;

export const ACCEPTED = 202;
export const NOT_A_MESSAGE = 422;
export const UNSUPPORTED = { status: 422, code: 'channel-not-supported' } as const;

/** One id, and an entry for each of several recipients. */
export function acceptedJson(id: string, recipients: readonly Recipient[], refusals: Refusals): string {
  if (recipients.length === 1) return JSON.stringify({ id, status: 'accepted' });
  const entries = recipients.map(({ field, address }, i) => {
    const refusal = refusals.get(i);
    if (refusal === undefined) return { id: recipientId(id, recipients, i), [field]: address, status: 'accepted' };
    return { [field]: address, status: 'rejected', error: { code: refusal.code, detail: refusal.detail } };
  });
  const all = refusals.size === recipients.length ? 'rejected' : 'partially-accepted';
  return JSON.stringify({ id, status: refusals.size === 0 ? 'accepted' : all, recipients: entries });
}

export function recipientId(id: string, recipients: readonly Recipient[], position: number): string {
  return recipients.length === 1 ? id : `${id}-${position + 1}`;
}

export const PROBLEM_TYPE = 'application/problem+json';

export interface Problem {
  readonly detail: string;
  readonly code?: string;
  readonly errors?: readonly MessageFault[];
}

/** RFC 9457. One with a code has a type and a title; for others the status is enough. */
export function problemJson(status: number, { code, ...rest }: Problem): string {
  if (code === undefined) return JSON.stringify({ type: 'about:blank', title: statusTitle(status), status, ...rest });
  const title = capital(code.replaceAll('-', ' '));
  return JSON.stringify({ type: `http://sandbox.invalid/problems/${code}`, title, status, code, ...rest });
}

function objectOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export interface SandboxEvent {
  readonly messageId: string;
  /** As the message had it. */
  readonly to: string;
  /** Empty where the message has none. */
  readonly sender: string;
  readonly channel: string;
  readonly metaData: Fields;
  /** Ms since 1970. */
  readonly atMs: number;
  readonly what:
    | { readonly report: ReportWord; readonly error?: { readonly code: string; readonly detail: string } | undefined }
    /** The text of a reply, and the address that it comes from. */
    | { readonly reply: string; readonly from: string };
}

/** An object for one event, `events` for several. */
export function eventsJson(events: readonly SandboxEvent[]): string {
  const written = events.map(({ what, messageId, to, sender, channel, metaData, atMs }) => {
    const timestamp = new Date(atMs).toISOString();
    if ('reply' in what) return { from: what.from, to: sender, text: what.reply, timestamp };
    return {
      messageId,
      status: what.report,
      timestamp,
      error: what.error,
      to,
      channel,
      ...(Object.keys(metaData).length > 0 && { metaData }),
    };
  });
  return JSON.stringify(written.length === 1 ? written[0] : { events: written });
}
