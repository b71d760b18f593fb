import type { ScriptedNumbers } from './endings.ts';
import type { ProviderApi } from './provider-api.ts';
import type { WebhookOptions } from './webhook.ts';

/** Their sentences and defaults: operations/sandbox.ts. */
export interface SandboxSettings {
  readonly apiKey?: string;
  readonly port?: number;
  readonly signal?: AbortSignal;
  readonly log?: ((line: string) => void) | undefined;
  readonly keep?: number;
  readonly receipts?: string;
  readonly latencyMs?: number;
  readonly scripts?: ScriptedNumbers;
  /** `any`: as long as its recipients can be found. */
  readonly fields?: 'known' | 'any';
  /** In place of the usual API. */
  readonly api?: ProviderApi;
  readonly devices?: string;
  readonly maxRecipients?: number;
  readonly webhook?: WebhookOptions;
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

export type SandboxReports = Readonly<typeof NO_REPORTS>;

export const NO_REPORTS = {
  /** Where events are posted, without a secret; null where none are. */
  webhook: null as string | null,
  /** Reports and replies that were or will be posted, doubled ones twice: the sum of the next three. */
  events: 0,
  /** Events that are neither acknowledged nor given up. */
  pending: 0,
  acknowledged: 0,
  givenUp: 0,
  /** Events that are never posted, because too many waited. */
  dropped: 0,
  /** Posts that were made, repeated ones too. */
  posts: 0,
  /** Those of them that repeat one that was not answered 200. */
  retried: 0,
  /** How often each status was answered; `none` counts broken connections and silence. */
  answers: {} as Readonly<Record<string, number>>,
  /** How messages end, when all of their events have come: how many of each. `none` has no report at all. */
  ends: {} as Readonly<Record<string, number>>,
  /** Replies, doubled ones once. */
  replies: 0,
};
