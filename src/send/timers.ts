import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * All time of a run but the calendar's: a step of the wall clock neither stalls nor floods it. A parameter, so that a
 * proof can let a day pass in a millisecond.
 */
export interface Timers {
  readonly monotonicMs: () => number;
  /** Resolves after `ms`, or early when `signal` aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** At the end of this turn of the event loop. */
  readonly soon: (work: () => void) => void;
  readonly later: (ms: number, work: () => void) => void;
  /** By how much a wait may end late, in ms. */
  readonly lateMs?: number;
}

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

const FIRST_MS = [500, 1000, 2000] as const;
const LATER_MS = 5000;

/** The wait before a lost ledger is tried again, after so many tries: at first it may be back soon. */
export function againMs(tries: number): number {
  return FIRST_MS[tries] ?? LATER_MS;
}
