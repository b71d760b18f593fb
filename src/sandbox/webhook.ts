import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { HmacScheme } from '../model.ts';
import { isLoopback } from '../util/base-url.ts';
import defaults from './webhook-defaults.json' with { type: 'json' };

/** The key that requests must carry where no other is set. It is valid nowhere else, so it is not a secret. */
export const SANDBOX_KEY = 'sandbox';
export const WEBHOOK_SCHEMES = ['standard', 'hmac', 'basic', 'bearer', 'path', 'none'] as const;

/** How a post proves who made it. */
export type WebhookScheme = (typeof WEBHOOK_SCHEMES)[number];

export const ECHOES = ['metadata', 'reference', 'text', 'none'] as const;

/** Beside its id, a report has the `metaData` of the message, only the reference in it, the text, or nothing. */
export type Echo = (typeof ECHOES)[number];

/** Where delivery reports and replies are posted, and how many and how fast. */
export interface WebhookOptions {
  /** Where events are posted, on this machine: `http://127.0.0.1:4011/webhooks`. */
  readonly url: string;
  /** How posts are signed; `standard` (Standard Webhooks) when absent. */
  readonly scheme?: WebhookScheme;
  /** The key of the signature; `user:password` for `basic`, the token, the last part of the path. */
  readonly secret?: string;
  /** Differences from Meta's form of the scheme `hmac`: `X-Hub-Signature-256: sha256=` and hex over the body. */
  readonly hmac?: Partial<Omit<HmacScheme, 'kind' | 'toleranceMs'>>;
  /** How often what happens, each from 0 to 1. */
  readonly shares?: Partial<Shares>;
  /** Milliseconds on average between one step and the next. */
  readonly delaysMs?: Partial<Delays>;
  /** Parts of the message that a report gives back; `metadata` when absent. */
  readonly echo?: Echo;
  /** Most events of one post; 1 when absent. */
  readonly batch?: number;
  /** Most posts at once; 4 when absent. */
  readonly atOnce?: number;
  /** Milliseconds before each repetition of a post that was not answered 200, after which it is given up. */
  readonly retriesMs?: readonly number[];
  /** Milliseconds that one post may take; 10,000 when absent. */
  readonly timeoutMs?: number;
  /** Start of chance: the same number tells the same stories about the same messages. 1 when absent. */
  readonly seed?: number;
  /** Most events that wait, above which further ones are dropped and counted; 250,000 when absent. */
  readonly maxWaiting?: number;
}

export interface Shares {
  /** Messages reported as queued. 0. */
  readonly queued: number;
  /** Messages reported as sent. 1. */
  readonly sent: number;
  /** Messages; when absent, all that have no other end. A message without any end stays at `sent`. */
  readonly delivered: number;
  /** Messages. 0. */
  readonly expired: number;
  readonly failed: number;
  readonly undeliverable: number;
  readonly rejected: number;
  /** Delivered messages. 0. */
  readonly read: number;
  /** Delivered messages answered with an ordinary text or that of a survey. 0. */
  readonly reply: number;
  /** Delivered messages answered with STOP, in many spellings. 0. */
  readonly stop: number;
  /** Those who wrote STOP and write START after it. 0. */
  readonly start: number;
  /** Replies from the number in another spelling than it was sent to. 0. */
  readonly respelled: number;
  /** Events posted twice. 0. */
  readonly doubled: number;
  /** Messages whose last report comes first. 0. */
  readonly reordered: number;
  /** Messages whose first report of the end comes before the answer to the request. 0. */
  readonly early: number;
  /** Messages whose first report of the end comes late. 0. */
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
  /** Late events are late by exactly this much. */
  readonly late: number;
}

/** Signatures are as Meta makes them: over the raw body, SHA-256, hex. */
export const DEFAULTS = defaults as Omit<WebhookSettings, 'origin' | 'path' | 'shownUrl' | 'scheme' | 'secret'>;

export interface WebhookSettings extends Required<Omit<WebhookOptions, 'url' | 'hmac' | 'shares' | 'delaysMs'>> {
  readonly origin: string;
  /** Path and query; with the scheme `path` the secret is in it. */
  readonly path: string;
  /** For people: without the secret. */
  readonly shownUrl: string;
  readonly hmac: Omit<HmacScheme, 'kind' | 'toleranceMs'>;
  readonly shares: Shares;
  readonly delaysMs: Delays;
}

/** @throws HandbillError (exit 2) with all faults: a URL elsewhere, invalid shares, a missing secret */
export function toWebhookSettings(options: WebhookOptions): WebhookSettings {
  const { url: written, scheme = 'standard', secret = '', hmac, delaysMs, ...rest } = options;
  const url = URL.parse(written);
  const shares = sharesOf(options.shares ?? {});
  const faults = [...urlFaults(written, url), ...shareFaults(shares), ...secretFaults(scheme, secret)];
  if (url === null || faults.length > 0) throw refuse(...faults);
  // `localhost` may resolve to either family; the sandbox's own is 127.0.0.1.
  const origin = `http://${url.host.replace(/^localhost(?=:|$)/, '127.0.0.1')}`;
  return {
    ...DEFAULTS,
    ...rest,
    origin,
    path: `${url.pathname}${scheme === 'path' ? `/${secret}` : ''}${url.search}`,
    shownUrl: `${origin}${url.pathname}`,
    scheme,
    secret,
    hmac: { ...DEFAULTS.hmac, ...hmac },
    shares,
    delaysMs: { ...DEFAULTS.delaysMs, ...delaysMs },
  };
}

/** They exclude each other. */
export const ENDS = ['delivered', 'expired', 'failed', 'undeliverable', 'rejected'] as const;
export type End = (typeof ENDS)[number];

function sharesOf(given: Partial<Shares>): Shares {
  const shares = { ...DEFAULTS.shares, ...given };
  if (given.delivered !== undefined) return shares;
  const others = ENDS.slice(1).reduce((sum, end) => sum + shares[end], 0);
  return { ...shares, delivered: Math.max(0, 1 - others) };
}

/** Shares have up to six decimals in per cent, and their sum is not exact. */
const ROUNDING = 1e-9;

function shareFaults(shares: Shares): Diagnostic[] {
  const wrong = Object.entries(shares).filter(([, share]) => !(share >= 0 && share <= 1));
  if (wrong.length > 0) {
    return wrong.map(([name]) => problem('usage', `The share ${name} must lie between 0 and 1.`));
  }
  const over: Diagnostic[] = [];
  const ends = ENDS.reduce((sum, end) => sum + shares[end], 0);
  if (ends > 1 + ROUNDING) {
    const asked = ENDS.filter((end) => shares[end] > 0).join(', ');
    const hint = 'Each message ends once: lower one of these shares. The remaining messages stay at sent.';
    over.push(problem('usage', `The shares of ${asked} sum up to more than all messages.`, { hint }));
  }
  if (shares.reply + shares.stop > 1 + ROUNDING) {
    const hint = 'Each delivered message is answered once: lower one of these shares.';
    over.push(problem('usage', 'The shares of reply and stop sum up to more than all delivered messages.', { hint }));
  }
  return over;
}

function urlFaults(text: string, url: URL | null): Diagnostic[] {
  const hint = 'Write it as http://127.0.0.1:4011/webhooks: nothing that is sent to the sandbox leaves this machine.';
  if (url === null) return [problem('usage', `${JSON.stringify(text)} is not a URL.`, { hint })];
  if (url.protocol !== 'http:') return [problem('usage', `A webhook of the sandbox begins with http://.`, { hint })];
  if (url.username !== '' || url.password !== '') {
    return [problem('usage', 'The URL of the webhook holds user and password.', { hint: 'Use the scheme basic.' })];
  }
  if (isLoopback(url.hostname)) return [];
  return [problem('usage', `The sandbox posts to this machine only, not to ${JSON.stringify(url.host)}.`, { hint })];
}

function secretFaults(scheme: WebhookScheme, secret: string): Diagnostic[] {
  if (scheme === 'none') return [];
  if (secret === '') {
    const hint = 'Name the variable or the file that holds it, or choose the scheme none.';
    return [problem('missing-webhook-secret', `The scheme ${scheme} needs a secret.`, { hint })];
  }
  const { form, needs, make } = SECRETS[scheme];
  if (form.test(secret)) return [];
  const hint = `Take the secret that handbill listen has${make === undefined ? '' : `, or make one for both: ${make}`}.`;
  return [problem('invalid-webhook-secret', `The secret of the scheme ${scheme} is ${needs}.`, { hint })];
}

const SECRETS: Readonly<Record<Exclude<WebhookScheme, 'none'>, { form: RegExp; needs: string; make?: string }>> = {
  standard: {
    form: /^(?:whsec_)?(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
    needs: 'base64, with whsec_ or without',
    make: 'openssl rand -base64 32',
  },
  hmac: { form: /[\s\S]/, needs: 'not empty' },
  basic: { form: /^[^:]+:[\s\S]*$/, needs: 'user:password' },
  bearer: { form: /^[\x21-\x7e]+$/, needs: 'printable ASCII without spaces' },
  path: { form: /^[A-Za-z0-9._~-]+$/, needs: 'of letters, digits and - . _ ~', make: 'openssl rand -hex 16' },
};
