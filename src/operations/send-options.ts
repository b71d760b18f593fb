import type { Diagnostic, HandbillError } from '../errors.ts';
import type { Recorded } from '../ledger/ledger.ts';
import type { Campaign, Canary, ChangedRecipient, WebhookEvent } from '../model.ts';
import type { Estimate } from '../plan/estimate.ts';
import type { Plan } from '../plan/plan.ts';
import type { SealedPlan } from '../plan/seal.ts';
import { asksReports, type OnWait } from '../run/canary.ts';
import type { Recalled } from '../run/memory.ts';
import type { Figures } from '../run/progress.ts';
import type { Timers } from '../run/timers.ts';
import type { Meter } from '../util/meter.ts';
import type { SendWatch } from './observer.ts';

/** What is about to be sent, for the one who is asked. */
export interface Confirmation {
  readonly campaign: string;
  readonly environment: string;
  readonly url: string;
  readonly occurrence: string;
  readonly recipients: number;
  readonly canary: Canary | null;
  /** Who gets a second message, at an address that was corrected since the first. */
  readonly resends: readonly ChangedRecipient[];
  /** Null where an unfinished run continues. */
  readonly estimate: Estimate | null;
}

export interface SendOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly random?: () => number;
  /** Default: `sandbox`. */
  readonly environment?: string;
  /** Default: with a schedule, the instant that is due; else `once`. */
  readonly occurrence?: string;
  readonly ledger?: string;
  readonly newLedger?: boolean;
  readonly recipients?: string;
  /**
   * A plan from a plan file: any change of its inputs is refused. Environments with approvers accept only such plans.
   */
  readonly sealed?: SealedPlan;
  readonly limit?: number;
  readonly concurrency?: number;
  readonly ratePerSecond?: number;
  readonly skipInvalid?: boolean;
  readonly amend?: boolean;
  readonly late?: boolean;
  /** Stays until the windows have opened of those who wait for one, and the pauses of a canary are over. */
  readonly wait?: boolean;
  /** Shares the run with the workers of the ledger, which has to be a shared one. */
  readonly workers?: boolean;
  readonly retryRejected?: boolean;
  /** Sends the message to recipients whose address was corrected after it had gone out; asked about in every environment. */
  readonly resendChanged?: boolean;
  /** The variant for all recipients outside the test; the run remembers it. */
  readonly winner?: string;
  /** Asked before the first request of any environment but the sandbox; false refuses. Default: refuse. */
  readonly confirm?: (question: Confirmation) => Promise<boolean>;
  /** Ends the start in good order. */
  readonly interrupt?: AbortSignal;
  /** Ends it at once: what is in flight is aborted and recorded. */
  readonly abort?: AbortSignal;
  readonly onStart?: (figures: Readonly<Figures>, campaign: Campaign) => void;
  readonly onWait?: OnWait;
  /** Called with how far the list was checked, before anything is sent. */
  readonly meter?: Meter;
  /** How time passes while it waits; default: the real ones. */
  readonly timers?: Pick<Timers, 'sleep'>;
  /** How often suppression lists are checked for changes, in ms. Default: 10,000. */
  readonly lookMs?: number;
  /** Receives delivery reports and replies while it sends, and stays for those of the last messages. Default: not. */
  readonly listen?: ListenWhileSending;
  readonly onWarnings?: (warnings: readonly Diagnostic[]) => void;
  /** Called with each notice about the API and its connections during the send, each once. */
  readonly onNotice?: (notice: Diagnostic) => void;
  /** Called when a shared ledger is lost in the middle of the run, and when it is back. */
  readonly onLedger?: (event: LedgerEvent) => void;
  /** Follows what happens, for logs and figures; it cannot change the send. Default: none. */
  readonly watch?: SendWatch | undefined;
}

/** What happens to a shared ledger while it is sent from. */
export type LedgerEvent =
  | { readonly kind: 'lost'; readonly error: HandbillError; readonly waitMs: number }
  | ({ readonly kind: 'recalled' } & Recalled)
  | { readonly kind: 'back' };

/** How a start receives delivery reports and replies while it sends. */
export interface ListenWhileSending {
  /** TCP port; 0 takes a free one. Default: 4011, and a free one for the sandbox. */
  readonly port?: number;
  /** Address to listen on; `127.0.0.1` when absent. */
  readonly host?: string;
  /** After the last message, how long it is waited for the next event, in ms. Default: 2 minutes. */
  readonly forMs?: number;
  readonly onListening?: (url: string, warnings: readonly Diagnostic[]) => void;
  /** Called when a group of events is on the disk, with what was new of it. */
  readonly onRecorded?: (recorded: Recorded) => void;
  /** Called with the events of that group, as they came in. */
  readonly onReceived?: (events: readonly WebhookEvent[]) => void;
  /** Called with a line for what was refused or could not be stored; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
}

export const LISTEN_FOR_MS = 2 * 60_000;

/** The listening that a start was asked for, or that its sandbox needs for what the campaign asks; null: none. */
export function listeningOf(plan: Plan, asked: ListenWhileSending | undefined): ListenWhileSending | null {
  if (asked !== undefined) return asked;
  return isSandbox(plan) && needsReports(plan.campaign) ? {} : null;
}

export function isSandbox({ environment }: Plan): boolean {
  return environment.apiKey === null;
}

/** Whether delivery reports or replies decide which recipients are sent to. */
function needsReports({ send, split }: Campaign): boolean {
  const { decides } = split;
  return (decides !== null && decides.by !== 'accepted') || (send.canary !== null && asksReports(send.canary.gate));
}

export interface ListenNeeds {
  readonly plan: Plan;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

/** The named options that were given, so that absent ones stay absent. */
export function given<O extends object, K extends keyof O>(options: O, ...names: readonly K[]): Pick<O, K> {
  return Object.fromEntries(names.flatMap((n) => (options[n] === undefined ? [] : [[n, options[n]]]))) as Pick<O, K>;
}
