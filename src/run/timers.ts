import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * All time of a run but the calendar's: a step of the wall clock neither stalls nor floods it. A parameter, so that a
 * proof can let a whole day pass in a millisecond, in an order that it decides.
 */
export interface Timers {
  /** The monotonic clock, in ms. */
  readonly monotonicMs: () => number;
  /** Resolves after `ms`, or early when `signal` aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Calls `work` at the end of this turn of the event loop. */
  readonly soon: (work: () => void) => void;
  /** Calls `work` after about `ms`. */
  readonly later: (ms: number, work: () => void) => void;
}

/** The real ones. */
export const TIMERS: Timers = {
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  soon: (work) => {
    setImmediate(work);
  },
  later: (ms, work) => {
    setTimeout(work, ms);
  },
};
