import type { RunRecord } from '../ledger/records.ts';
import { triedIn } from './progress.ts';
import type { RunEnd } from './run.ts';
import { TIMERS, type Timers } from './timers.ts';

/** So often the clock is looked at: a machine that slept, or a clock that was set, is noticed after this time. */
const SLICE_MS = 15_000;

export interface WaitOptions {
  /** Ms since 1970: the clock that windows are judged by. */
  readonly now: () => number;
  /** Ends the wait. */
  readonly interrupt: AbortSignal;
  /** Default: the real ones. */
  readonly timers?: Pick<Timers, 'sleep'>;
}

/** Waits until the wall clock shows an instant; false where it was interrupted before. */
async function waitUntil(atMs: number, { now, interrupt, timers = TIMERS }: WaitOptions): Promise<boolean> {
  for (;;) {
    if (interrupt.aborted) return false;
    const leftMs = atMs - now();
    if (leftMs <= 0) return true;
    await timers.sleep(Math.min(leftMs, SLICE_MS), interrupt);
  }
}

export interface RoundsOptions extends WaitOptions {
  /** Stays until nobody waits for a window any more. */
  readonly wait: boolean;
  /** Recipients that are posted to in all rounds; null: all. */
  readonly limit: number | null;
  /** One start of the run; told how many requests those before it made, or null where it is the first. */
  readonly round: (run: RunRecord, limit: number | null, posted: number | null) => Promise<RunEnd>;
  readonly onWait?: (untilMs: number) => void;
  /** Requests of rounds before these; default: there were none. */
  readonly postedBefore?: number;
}

/**
 * Starts a run, and again whenever the next window opens of those who wait for one. Its lock and its ledger are kept
 * meanwhile; the connections to the API are each round's own. Whatever else ends a round, a halt or a signal, ends it
 * all.
 */
export async function sendRounds(run: RunRecord, options: RoundsOptions): Promise<RunEnd> {
  let left = options.limit;
  let end = await options.round(run, left, options.postedBefore ?? null);
  const { recovered } = end;
  let posted = (options.postedBefore ?? 0) + end.posted;
  while (options.wait && isGoing(end) && end.opensAtMs !== null) {
    // Not requests: several recipients may share one, and one may have had several.
    if (left !== null) left -= triedIn(end.figures.settled);
    if (left !== null && left <= 0) break;
    end.figures.waits = { why: 'window', untilMs: end.opensAtMs };
    options.onWait?.(end.opensAtMs);
    if (!(await waitUntil(end.opensAtMs, options))) break;
    end = await options.round(end.run, left, posted);
    posted += end.posted;
  }
  return { ...end, posted, recovered };
}

/** Nothing ended it. A run is finished also while a fallback waits that a report made due: the message is accepted. */
export function isGoing({ state, ledgerError }: RunEnd): boolean {
  return (state === 'partial' || state === 'finished') && ledgerError === null;
}
