import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign } from '../model.ts';
import { countUnreached, isFinal, openDeliveries } from './deliveries.ts';
import type { OnEvent } from './event.ts';
import { PAUSE_LOOK_MS } from './pause.ts';
import { triedIn } from './progress.ts';
import type { RunEnd } from './run.ts';
import { TIMERS, type Timers } from './timers.ts';

/** Longest sleep: a machine that slept, or a clock that was set, is noticed after this time. */
const SLICE_MS = 15_000;

interface WaitOptions {
  /** Ms since 1970: windows are judged by this clock. */
  readonly now: () => number;
  readonly interrupt: AbortSignal;
  /** Default: the real ones. */
  readonly timers?: Pick<Timers, 'sleep'>;
  /** A person has paused it: the wait is over, and the next pass halts. Default: not checked. */
  readonly isPaused?: () => boolean;
}

/** Waits until the wall clock shows an instant, or it is paused; false where it was interrupted before. */
async function waitUntil(atMs: number, { now, interrupt, timers = TIMERS, isPaused }: WaitOptions): Promise<boolean> {
  const sliceMs = isPaused === undefined ? SLICE_MS : PAUSE_LOOK_MS;
  for (;;) {
    if (interrupt.aborted) return false;
    const leftMs = atMs - now();
    if (leftMs <= 0 || isPaused?.() === true) return true;
    await timers.sleep(Math.min(leftMs, sliceMs), interrupt);
  }
}

export interface RoundsOptions extends WaitOptions {
  /** Stays until no recipient waits for a window any more. */
  readonly wait: boolean;
  /** Recipients of all passes; null: all. */
  readonly limit: number | null;
  /** One start of the run; `posted` are requests of those before it, or null where it is the first. */
  readonly round: (run: RunRecord, limit: number | null, posted: number | null) => Promise<RunEnd>;
  readonly onEvent?: OnEvent | undefined;
  /** Requests of passes before these; default: 0. */
  readonly postedBefore?: number;
}

/**
 * Starts a run, and again whenever the next window opens for waiting recipients. Keeps lock and ledger meanwhile; each
 * pass has its own connections to the API. A halt, a signal, or anything else that ends a pass ends it all.
 */
export async function sendRounds(run: RunRecord, options: RoundsOptions): Promise<RunEnd> {
  let left = options.limit;
  let end = await options.round(run, left, options.postedBefore ?? null);
  const { recovered } = end;
  let posted = (options.postedBefore ?? 0) + end.posted;
  while (options.wait && isGoing(end) && end.opensAtMs !== null) {
    // Not requests: several recipients may share one, and one may have had several.
    if (left !== null) left -= triedIn(end.figures.finished);
    if (left !== null && left <= 0) break;
    end.figures.waits = { why: 'window', untilMs: end.opensAtMs };
    options.onEvent?.({ kind: 'waits', untilMs: end.opensAtMs });
    if (!(await waitUntil(end.opensAtMs, options))) break;
    end = await options.round(end.run, left, posted);
    posted += end.posted;
  }
  return { ...end, posted, recovered };
}

/** Nothing ended it. A run is also finished while a fallback waits that a report made due: the message is accepted. */
function isGoing({ state, ledgerError }: RunEnd): boolean {
  return (state === 'partial' || state === 'finished') && ledgerError === null;
}

export interface Reporters {
  /** By the monotonic clock in ms; null: nothing has come in. */
  lastEventMs(): number | null;
  /** No more events will come, whatever is open: the sandbox has sent all of its events. Null: not known. */
  readonly isDone: (() => boolean) | null;
  /** How long to wait for the next event, in ms, while messages are without a final state. */
  readonly forMs: number;
  /** Why nothing more can be stored. */
  failure(): Error | null;
}

interface ListenRounds extends RoundsOptions {
  readonly ledger: Ledger;
  readonly campaign: Campaign;
  readonly reporters: Reporters;
  /** Finds out which messages were answered, for callers that count replies. */
  readonly joinReplies: () => Promise<unknown>;
  readonly timers?: Pick<Timers, 'sleep'> & Partial<Pick<Timers, 'monotonicMs'>>;
}

/** Poll interval while waiting for reports. */
const LOOK_MS = 200;

/** Once every message has its final state, answers may still come. */
const AFTER_LAST_MS = 5_000;

/**
 * `sendRounds`, then waits for delivery reports and replies: until every accepted message has a final state, or no
 * event has come in for a given time. Fallbacks that reports made due go out in another pass, after which it waits
 * again. It does not wait after a halt or an interrupt.
 */
export async function sendListening(run: RunRecord, options: ListenRounds): Promise<RunEnd> {
  const { ledger, campaign, interrupt } = options;
  let left = options.limit;
  const round: RoundsOptions['round'] = async (...args) => {
    const ended = await options.round(...args);
    if (left !== null) left -= triedIn(ended.figures.finished);
    return ended;
  };
  let end = await sendRounds(run, { ...options, round });
  const { recovered } = end;
  while (isGoing(end) && !interrupt.aborted) {
    await stay(end, options);
    const ledgerError = options.reporters.failure();
    if (ledgerError !== null) return { ...end, recovered, ledgerError };
    await options.joinReplies();
    if (interrupt.aborted || countUnreached(ledger, end.run, campaign) === 0) break;
    if (left !== null && left <= 0) break;
    const before: number = end.posted;
    end = await sendRounds(end.run, { ...options, round, limit: left, postedBefore: before });
    // Rules hold back the fallbacks that are left: the recipient's window is closed, or the recipient opted out.
    if (end.posted === before) break;
  }
  return { ...end, recovered };
}

async function stay(end: RunEnd, { ledger, reporters, interrupt, timers = TIMERS, now }: ListenRounds): Promise<void> {
  const clock = timers.monotonicMs ?? TIMERS.monotonicMs;
  const beganMs = clock();
  const open = openMessages(ledger, end.run);
  for (;;) {
    const quietMs = clock() - Math.max(beganMs, reporters.lastEventMs() ?? beganMs);
    if (interrupt.aborted || reporters.failure() !== null) break;
    if (reporters.isDone !== null) {
      if (reporters.isDone()) break;
    } else if (quietMs >= reporters.forMs || (quietMs >= AFTER_LAST_MS && !open.any())) break;
    end.figures.waits = { why: 'reports', untilMs: now() + reporters.forMs - quietMs };
    await timers.sleep(LOOK_MS, interrupt);
  }
  end.figures.waits = null;
}

/** Checks only the first message without a final state, until it has one: all messages together cost one scan. */
function openMessages(ledger: Ledger, run: RunRecord): { any(): boolean } {
  const batches = ledger.outcomes(run, { outcomes: ['accepted'] })[Symbol.iterator]();
  let batch = batches.next();
  let at = 0;
  return {
    any() {
      const deliveries = openDeliveries(ledger, run);
      for (let pages = 0; batch.done !== true; pages += 1) {
        // Lets the process answer webhooks.
        if (pages === PAGES_AT_ONCE) return true;
        while (at < batch.value.length) {
          const ahead = batch.value.slice(at, at + AT_ONCE);
          const open = (deliveries?.join(ahead) ?? ahead).findIndex(({ delivery = null }) => !isFinal(delivery));
          if (open !== -1) {
            at += open;
            return true;
          }
          at += ahead.length;
        }
        batch = batches.next();
        at = 0;
      }
      return false;
    },
  };
}

const PAGES_AT_ONCE = 5;
const AT_ONCE = 100;
