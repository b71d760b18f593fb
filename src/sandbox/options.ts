import type { WebhookOptions } from './webhook.ts';

/** How the sandbox answers. */
export interface SandboxOptions {
  /** The key that requests must carry in X-Api-Key: printable ASCII without spaces. Default: `sandbox`. */
  readonly apiKey?: string;
  /** TCP port. Default: 0, a free one. */
  readonly port?: number;
  /** Loopback address to listen on; anything else is refused. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Stops it at once, as `close` does. Default: only `close` does. */
  readonly signal?: AbortSignal;
  /** Called with one line per request, addresses masked. Default: nothing is logged. */
  readonly log?: (line: string) => void;
  /** How many requests `GET /sandbox/messages` can show, the newest ones; counts are exact anyway. Default: 1,000. */
  readonly keep?: number;
  /** Path of a file that gets one line of JSON per completely received request, before it is answered. Default: none. */
  readonly receipts?: string;
  /** Milliseconds to wait before each answer. Default: 0. */
  readonly latencyMs?: number;
  /** Which numbers get scripted answers. Default: `reserved`, those that are kept for documentation. */
  readonly scripts?: 'reserved' | 'all' | 'none';
  /** Which fields a message may have: those of the OpenAPI description, or any. Default: `known`. */
  readonly fields?: 'known' | 'any';
  /** Path of a CSV file with the columns `msisdn` and `device`: which channels a recipient's device takes. Default: none. */
  readonly devices?: string;
  /** Most recipients of one request, above which it is answered 413. Default: 1,000. */
  readonly maxRecipients?: number;
  /** Where delivery reports and replies are posted, and which. Default: none are posted. */
  readonly webhook?: WebhookOptions;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The API on this machine. */
export interface Sandbox extends AsyncDisposable {
  /** Origin to send to, such as `http://127.0.0.1:4010`. */
  readonly url: string;
  readonly port: number;
  /** Completely received requests so far. */
  readonly received: number;
  /** Events of the webhook so far, and those that wait. */
  readonly reports: SandboxReports;
  /** Resolves when it is closed, by `close` or the signal. */
  readonly closed: Promise<void>;
  /** Resolves when every event so far is acknowledged or given up; at once without a webhook. */
  settled(): Promise<void>;
  /** Stops at once: open connections are cut, events that wait are never posted. */
  close(): Promise<void>;
}

export interface SandboxReports {
  /** Where events are posted, without a secret; null where none are. */
  readonly webhook: string | null;
  /** Reports and replies that were or will be posted, doubled ones twice: the sum of the next three. */
  readonly events: number;
  /** Events that are neither acknowledged nor given up. */
  readonly pending: number;
  readonly acknowledged: number;
  readonly givenUp: number;
  /** Events that are never posted, because too many waited. */
  readonly dropped: number;
  /** Posts that were made, repeated ones too. */
  readonly posts: number;
  /** Those of them that repeat one that was not answered 200. */
  readonly retried: number;
  /** How often each status was answered; `none` counts broken connections and silence. */
  readonly answers: Readonly<Record<string, number>>;
  /** How messages end, when all of their events have come: how many of each. `none` has no report at all. */
  readonly ends: Readonly<Record<string, number>>;
  /** Replies, doubled ones once. */
  readonly replies: number;
}
