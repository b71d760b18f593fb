import type { Channel } from './words.ts';

/** `queued`, `sent`, `delivered`, `read` follow each other; `unknown` is an unmapped word; the others are final. */
export const DELIVERY_STATES = [
  'queued',
  'sent',
  'delivered',
  'read',
  'expired',
  'undeliverable',
  'failed',
  'rejected',
  'unknown',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The state of a message in `report`: of its delivery, or the person's answer, which proves more. */
export const DELIVERIES = [...DELIVERY_STATES, 'replied', 'opted-out'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** A fallback may follow `unsupported-channel`; `gone`: the address, for good; `opted-out`: the person wants none. */
export const DELIVERY_CAUSES = ['unsupported-channel', 'gone', 'opted-out'] as const;
export type DeliveryCause = (typeof DELIVERY_CAUSES)[number];

/** A delivery report about one message. Everything in it comes from outside. */
export interface DeliveryReport {
  readonly kind: 'delivery';
  /** handbill's own id, where the API gives it back. */
  readonly reference: string | null;
  readonly messageId: string | null;
  /** The recipient of the message: a number as E.164, an email address as lists have it, else as it was written. */
  readonly address: string | null;
  /** The channel that really carried it. */
  readonly channel: Channel | null;
  readonly state: DeliveryState;
  readonly word: string | null;
  readonly cause: DeliveryCause | null;
  /** Code and text of the error, at most 500 characters. */
  readonly error: string | null;
  /** SHA-256 of the text of the message as hex digits, where the report quotes it. */
  readonly textHash: string | null;
  /** When it happened, in ms since 1970; null where the report does not say. */
  readonly atMs: number | null;
  /** The provider's id of this very report, which is the same when it is sent again. */
  readonly eventId: string | null;
}

/** Words of opting out and in, replies that wait for review, and all others (answers). */
export const REPLY_MEANINGS = ['opt-out', 'opt-in', 'review', 'answer'] as const;
export type ReplyMeaning = (typeof REPLY_MEANINGS)[number];

/** A reply. Everything in it comes from outside. */
export interface Reply {
  readonly kind: 'reply';
  /** The provider's id of the reply. */
  readonly replyId: string | null;
  /** The message that it answers, if the reply names one. */
  readonly reference: string | null;
  readonly messageId: string | null;
  /** The sender of the reply: a number as E.164, an email address as lists have it, else as it was written. */
  readonly from: string;
  /** Our sender. */
  readonly to: string | null;
  readonly channel: Channel | null;
  readonly text: string;
  readonly meaning: ReplyMeaning;
  readonly atMs: number | null;
}

/** An event that could be parsed, but is neither a report nor a reply as far as one can tell. */
export interface UnreadEvent {
  readonly kind: 'unread';
  /** The JSON of the event, at most 64 KiB. */
  readonly body: string;
  /** By its name (`email.complained`), a recipient opts out, and no setting tells who. */
  readonly optsOut?: true;
}

export type WebhookEvent = DeliveryReport | Reply | UnreadEvent;
