import type { DeliveryState } from './event.ts';
import type { KeySource } from './words.ts';

export interface Webhook {
  /** Path of the URL, `/webhooks`; each environment that receives has one below it. */
  readonly path: string;
  readonly replies: ReplyRules;
}

export interface EnvironmentWebhook {
  /** null: no sender is named, so that nothing is received; files of reports can be read. */
  readonly receiver: Receiver | null;
  readonly mapping: EventMapping;
  /** Lists of reports and replies that the API can be asked for; often none. */
  readonly fetches: readonly ReportFetch[];
  /** The public URL, as the provider knows it; undefined: handbill does not know it. */
  readonly url: string | undefined;
}

export interface ReportFetch {
  /** As the provider file has it, with placeholders. */
  readonly url: string;
  /** How the events of a page are read. */
  readonly mapping: EventMapping;
  /** JSON pointer to the address of the next page, or to the value for `cursor`; null: pages are counted, or there is one. */
  readonly next: string | null;
  /** The query parameter that takes what is at `next`; null: that is an address. */
  readonly cursor: string | null;
  /** The API gives each event only once. */
  readonly isOnce: boolean;
}

export interface Receiver {
  readonly scheme: Scheme;
  /** Several while they are changed: any of them counts. At least one. */
  readonly secrets: readonly KeySource[];
  readonly methods: readonly ReportMethod[];
  /** The token with which the provider registers the URL; undefined: handbill answers no registration. */
  readonly verifyToken: KeySource | undefined;
  /** Undefined: the provider waits longer than the ledger may take. */
  readonly answerWithinMs: number | undefined;
}

export type ReportMethod = 'GET' | 'POST';

export type Scheme =
  /** Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
  | { readonly kind: 'standard'; readonly toleranceMs: number }
  | SignatureScheme
  | JwtScheme
  /** The secret is `user:password`. */
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer' }
  /** The secret is a part of the URL, of at least 128 bits. */
  | { readonly kind: 'path' };

/**
 * A signature over a text that is made of parts of the request. Signature, time and id are in headers, whose names are
 * in lower case, or at JSON pointers in the body.
 */
export interface SignatureScheme extends Omit<HmacScheme, 'kind'> {
  readonly kind: 'hmac' | 'ed25519' | 'url-form' | 'body-hmac';
  /** Between the URL and a form: without a query, and with one. */
  readonly beforeForm?: readonly string[];
  /** `EnvironmentWebhook.url`. */
  readonly url?: string | undefined;
}

/** A keyed hash over the body, or a string with the body in it. */
export interface HmacScheme {
  readonly kind: 'hmac';
  readonly header: string;
  readonly algorithm: 'sha256' | 'sha512' | 'sha1';
  readonly encoding: 'hex' | 'base64';
  /** The text before the signature in its header, such as `sha256=`. */
  readonly prefix: string;
  /** The signed text: `{body}`, `{form}`, `{url}`, `{timestamp}` and `{id}` are replaced. */
  readonly signed: string;
  /** The time is in Unix seconds, milliseconds or ISO 8601; null: nothing says when it was signed. */
  readonly timestampHeader: string | null;
  readonly idHeader: string | null;
  readonly toleranceMs: number;
}

/** A JSON Web Token with HS256, whose claims hold SHA-256 hashes in hex. */
export interface JwtScheme {
  readonly kind: 'jwt';
  /** In lower case. */
  readonly header: string;
  readonly issuer: string | undefined;
  /** Names of claims. */
  readonly payloadHash: string;
  readonly urlHash: string | undefined;
  readonly url: string | undefined;
  readonly toleranceMs: number;
}

/** Where the parts of an event are, over what holds for shapes that are common (`src/webhook/fields.ts`). */
export interface EventMapping {
  /** JSON pointers to arrays of events, or to an event that is wrapped; null: the usual ones. */
  readonly events: readonly string[] | null;
  /** JSON pointers in the event or around it, in the place of the usual ones; the first that finds something counts. */
  readonly fields: Readonly<Partial<Record<EventField, readonly string[]>>>;
  /** Words of the provider, over those that are known. Letter case, `-` and `_` do not count. */
  readonly states: Readonly<Record<string, DeliveryState>>;
  /** Codes or words of errors that mean: this channel cannot reach this person. Compared as states are. */
  readonly unsupported: readonly string[];
  /** Codes of errors that mean: the address does not exist. */
  readonly permanent: readonly string[];
  /** Codes of errors that mean: the person has opted out. */
  readonly optedOut: readonly string[];
  /** Words of events that are opt-outs, at JSON pointers. */
  readonly optOut: { readonly at: readonly string[]; readonly words: readonly string[] } | undefined;
}

export const EVENT_FIELDS = [
  'reference',
  'messageId',
  'status',
  'timestamp',
  'repliedAt',
  'error',
  'from',
  'to',
  'text',
  'channel',
  'eventId',
  'inReplyTo',
] as const;
export type EventField = (typeof EVENT_FIELDS)[number];

export interface ReplyRules {
  /** Words that opt out, in addition to the usual ones. */
  readonly stopWords: readonly string[];
  /** A word of opting in takes back an opt-out that was a reply. */
  readonly startLifts: boolean;
  readonly stopEnds: StopEnds;
}

/** Every campaign, or those with the topic of the message that it answers. */
export const STOP_ENDS = ['everything', 'topic'] as const;
export type StopEnds = (typeof STOP_ENDS)[number];
