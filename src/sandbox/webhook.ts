import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { HmacScheme } from '../model.ts';
import { isLoopback } from '../util/base-url.ts';

/** The key that requests must carry where no other is set. It is valid nowhere else, so it is not a secret. */
export const SANDBOX_KEY = 'sandbox';
export const WEBHOOK_SCHEMES = ['standard', 'hmac', 'basic', 'bearer', 'path', 'none'] as const;

/** How a post proves who made it. */
export type WebhookScheme = (typeof WEBHOOK_SCHEMES)[number];

export const ECHOES = ['metadata', 'reference', 'text', 'none'] as const;

/** Beside its id, a report has the `metaData` of the message, only the reference in it, the text, or nothing. */
export type Echo = (typeof ECHOES)[number];

/** How often each thing happens, from 0 to 1, without options. */
const SHARES = {
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
const DELAYS_MS = { sent: 50, delivered: 200, read: 500, reply: 1_000, late: 5_000 };

export type Shares = Readonly<Record<keyof typeof SHARES, number>>;
export type Delays = Readonly<Record<keyof typeof DELAYS_MS, number>>;

export interface WebhookSettings {
  readonly origin: string;
  /** Path and query; with the scheme `path` the secret is in it. */
  readonly path: string;
  /** For people: without the secret. */
  readonly shownUrl: string;
  readonly scheme: WebhookScheme;
  readonly secret: string;
  readonly hmac: Omit<HmacScheme, 'kind' | 'toleranceMs'>;
  readonly shares: Shares;
  readonly delaysMs: Delays;
  readonly echo: Echo;
  readonly batch: number;
  readonly atOnce: number;
  readonly retriesMs: readonly number[];
  readonly timeoutMs: number;
  readonly seed: number;
  readonly maxWaiting: number;
}

/** Signatures are as Meta makes them: over the raw body, SHA-256, hex. */
export const DEFAULTS: Omit<WebhookSettings, 'origin' | 'path' | 'shownUrl' | 'scheme' | 'secret'> = {
  shares: SHARES,
  delaysMs: DELAYS_MS,
  retriesMs: [1_000, 5_000, 30_000, 120_000],
  hmac: {
    header: 'x-hub-signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    signed: '{body}',
    timestampHeader: null,
    idHeader: null,
  },
  echo: 'metadata',
  batch: 1,
  atOnce: 4,
  timeoutMs: 10_000,
  seed: 1,
  maxWaiting: 250_000,
};

type Nested = 'hmac' | 'shares' | 'delaysMs';

/** Their sentences: operations/sandbox.ts. */
export type WebhookOptions = { readonly url: string } & {
  readonly [Name in Nested]?: Partial<WebhookSettings[Name]>;
} & Partial<Omit<WebhookSettings, Nested | 'origin' | 'path' | 'shownUrl'>>;

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
    delaysMs: { ...DELAYS_MS, ...delaysMs },
  };
}

/** They exclude each other. */
export const ENDS = ['delivered', 'expired', 'failed', 'undeliverable', 'rejected'] as const;

function sharesOf(given: Partial<Shares>): Shares {
  const shares = { ...SHARES, ...given };
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
