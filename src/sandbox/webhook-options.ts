import type { HmacScheme } from '../model.ts';

export const WEBHOOK_SCHEMES = ['standard', 'hmac', 'basic', 'bearer', 'path', 'none'] as const;

/** How a post proves who made it. */
export type WebhookScheme = (typeof WEBHOOK_SCHEMES)[number];

export const ECHOES = ['metadata', 'reference', 'text', 'none'] as const;

/**
 * What a report repeats of the message beside its id: its `metaData`, only the reference in it, the text, or nothing,
 * as in APIs that leave everything but the id to the client.
 */
export type Echo = (typeof ECHOES)[number];

/** Where delivery reports and replies are posted, and how many and how fast. */
export interface WebhookOptions {
  /** Where events are posted, on this machine: `http://127.0.0.1:4011/webhooks`. */
  readonly url: string;
  /** How posts are signed; `standard` (Standard Webhooks) when absent. */
  readonly scheme?: WebhookScheme;
  /** The key of the signature; `user:password` for `basic`, the token, the last part of the path. */
  readonly secret?: string;
  /** What differs from Meta's form of the scheme `hmac`: `X-Hub-Signature-256: sha256=` and hex over the body. */
  readonly hmac?: Partial<Omit<HmacScheme, 'kind' | 'toleranceMs'>>;
  /** How often what happens, each from 0 to 1. */
  readonly shares?: Partial<Shares>;
  /** Milliseconds on average between one step and the next. */
  readonly delaysMs?: Partial<Delays>;
  /** What a report gives back of the message; `metadata` when absent. */
  readonly echo?: Echo;
  /** Most events of one post; 1 when absent. */
  readonly batch?: number;
  /** Most posts at once; 4 when absent. */
  readonly atOnce?: number;
  /** Milliseconds before each repetition of a post that was not answered 200, after which it is given up. */
  readonly retriesMs?: readonly number[];
  /** Milliseconds that one post may take; 10,000 when absent. */
  readonly timeoutMs?: number;
  /** What chance follows from: the same number tells the same stories about the same messages. 1 when absent. */
  readonly seed?: number;
  /** Most events that wait, above which further ones are dropped and counted; 250,000 when absent. */
  readonly maxWaiting?: number;
}

/** Shares of messages, of those that were delivered, of those who wrote STOP, or of events: see each. */
export interface Shares {
  /** Of messages: reported as queued. 0. */
  readonly queued: number;
  /** Of messages: reported as sent. 1. */
  readonly sent: number;
  /** A share of the messages; when absent, all that have no other end. A message without any end stays at `sent`. */
  readonly delivered: number;
  /** Of messages. 0. */
  readonly expired: number;
  readonly failed: number;
  readonly undeliverable: number;
  readonly rejected: number;
  /** Of delivered ones. 0. */
  readonly read: number;
  /** Of delivered ones: answered with an ordinary text or that of a survey. 0. */
  readonly reply: number;
  /** Of delivered ones: answered with STOP, in many spellings. 0. */
  readonly stop: number;
  /** Of those who wrote STOP: who writes START after it. 0. */
  readonly start: number;
  /** Of replies: from the number in another spelling than it was sent to. 0. */
  readonly respelled: number;
  /** Of events: posted twice. 0. */
  readonly doubled: number;
  /** Of messages: the last report comes first. 0. */
  readonly reordered: number;
  /** Of messages: the first report of how it ended comes before the answer to the request. 0. */
  readonly early: number;
  /** Of messages: that report comes late. 0. */
  readonly late: number;
}

/** Milliseconds on average; each is drawn from half of it to one and a half. */
export interface Delays {
  /** From accepted to sent. */
  readonly sent: number;
  /** From sent to delivered, or to another end. */
  readonly delivered: number;
  readonly read: number;
  /** From delivered or read to a reply. */
  readonly reply: number;
  /** What is late is so by this much, exactly. */
  readonly late: number;
}

export const NO_SHARES: Shares = {
  queued: 0,
  sent: 1,
  delivered: 1,
  expired: 0,
  failed: 0,
  undeliverable: 0,
  rejected: 0,
  read: 0,
  reply: 0,
  stop: 0,
  start: 0,
  respelled: 0,
  doubled: 0,
  reordered: 0,
  early: 0,
  late: 0,
};

export const USUAL_DELAYS_MS: Delays = { sent: 50, delivered: 200, read: 500, reply: 1_000, late: 5_000 };

export const USUAL_RETRIES_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000];

/** Meta's: the raw body, SHA-256, hex. */
export const USUAL_HMAC: Omit<HmacScheme, 'kind' | 'toleranceMs'> = {
  header: 'x-hub-signature-256',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
  signed: '{body}',
  timestampHeader: null,
  idHeader: null,
};
