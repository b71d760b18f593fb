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
}

export interface Receiver {
  readonly scheme: Scheme;
  /** Several while they are changed: any of them counts. At least one. */
  readonly secrets: readonly KeySource[];
}

export type Scheme =
  /** Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
  | { readonly kind: 'standard'; readonly toleranceMs: number }
  | HmacScheme
  /** The secret is `user:password`. */
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer' }
  /** The secret is a part of the URL, of at least 128 bits. */
  | { readonly kind: 'path' };

/** A keyed hash over the body, or a string with the body in it. */
export interface HmacScheme {
  readonly kind: 'hmac';
  /** In lower case. */
  readonly header: string;
  readonly algorithm: 'sha256' | 'sha512' | 'sha1';
  readonly encoding: 'hex' | 'base64';
  /** The text before the signature in its header, such as `sha256=`. */
  readonly prefix: string;
  /** The signed text: `{body}`, `{timestamp}` and `{id}` are replaced. */
  readonly signed: string;
  /** Header with the time, in Unix seconds, milliseconds or ISO 8601; null: nothing says when it was signed. */
  readonly timestampHeader: string | null;
  readonly idHeader: string | null;
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
}

export const EVENT_FIELDS = [
  'reference',
  'messageId',
  'status',
  'timestamp',
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
