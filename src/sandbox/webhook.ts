import { type Diagnostic, problem, refuse } from '../errors.ts';
import { isLoopback } from '../util/base-url.ts';
import { listWithAnd } from '../util/words.ts';

/** The key that requests must carry where no other is set. It is valid nowhere else, so it is not a secret. */
export const SANDBOX_KEY = 'sandbox';

export const DEFAULTS = {
  /** How often each thing happens, from 0 to 1. */
  shares: {
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
  },
  delaysMs: { sent: 50, delivered: 200, read: 500, reply: 1_000, late: 5_000 },
  retriesMs: [1_000, 5_000, 30_000, 120_000] as readonly number[],
  batch: 1,
  atOnce: 4,
  timeoutMs: 10_000,
  seed: 1,
  maxWaiting: 250_000,
};

export type Shares = Readonly<Record<keyof typeof DEFAULTS.shares, number>>;
export type Delays = Readonly<Record<keyof typeof DEFAULTS.delaysMs, number>>;

/** Their sentences: operations/sandbox.ts. */
export type WebhookOptions = Readonly<Partial<Omit<typeof DEFAULTS, 'shares' | 'delaysMs'>>> & {
  readonly url: string;
  readonly secret?: string;
  readonly shares?: Partial<Shares>;
  readonly delaysMs?: Partial<Delays>;
};

/** @throws HandbillError (exit 2) with all faults: a URL elsewhere, invalid shares, an invalid secret */
export function toWebhookSettings(options: WebhookOptions) {
  const { secret = '' } = options;
  const url = URL.parse(options.url);
  const asked = { ...DEFAULTS.shares, ...options.shares };
  const others = ENDS.slice(1).reduce((sum, end) => sum + asked[end], 0);
  const shares = { ...asked, delivered: options.shares?.delivered ?? Math.max(0, 1 - others) };
  const hint = 'Take the secret that handbill listen has, or make one for both: openssl rand -base64 32.';
  const message = 'The secret of webhooks is base64, with whsec_ or without.';
  const isKey = secret === '' || BASE64.test(secret);
  const wrongKey = isKey ? [] : [problem('invalid-webhook-secret', message, { hint })];
  const faults = [...urlFaults(options.url, url), ...shareFaults(shares), ...wrongKey];
  if (url === null || faults.length > 0) throw refuse(...faults);
  // `localhost` may resolve to either family; the sandbox's own is 127.0.0.1.
  const origin = `http://${url.host.replace(/^localhost(?=:|$)/, '127.0.0.1')}`;
  return {
    ...DEFAULTS,
    ...options,
    origin,
    path: `${url.pathname}${url.search}`,
    /** For people: a query may hold a secret. */
    shownUrl: `${origin}${url.pathname}`,
    secret,
    shares,
    delaysMs: { ...DEFAULTS.delaysMs, ...options.delaysMs },
  };
}

export const ENDS = ['delivered', 'expired', 'failed', 'undeliverable', 'rejected'] as const;
const EXCLUSIVE = [ENDS, ['reply', 'stop']] as const;

/** Shares have up to six decimals in per cent, and their sum is not exact. */
const ROUNDING = 1e-9;

function shareFaults(shares: Shares): Diagnostic[] {
  const wrong = Object.entries(shares).filter(([, share]) => !(share >= 0 && share <= 1));
  const over = EXCLUSIVE.filter((names) => names.reduce((sum, name) => sum + shares[name], 0) > 1 + ROUNDING);
  const hint = 'They exclude each other: lower one of them.';
  return [
    ...wrong.map(([name]) => problem('usage', `The share ${name} must lie between 0 and 1.`)),
    ...over.map((names) => problem('usage', `The shares of ${listWithAnd(names)} sum up to more than all.`, { hint })),
  ];
}

function urlFaults(text: string, url: URL | null): Diagnostic[] {
  if (url?.protocol === 'http:' && isLoopback(url.hostname) && url.username === '' && url.password === '') return [];
  const hint = 'Write it as http://127.0.0.1:4011/webhooks: nothing that is sent to the sandbox leaves this machine.';
  const named = JSON.stringify(url === null ? text : `${url.protocol}//${url.host}`);
  const message = `The sandbox posts to this machine only, by http:// and without user and password, not to ${named}.`;
  return [problem('usage', message, { hint })];
}

const BASE64 = /^(?:whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;
