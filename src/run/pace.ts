import { TIMERS, type Timers } from './timers.ts';

/**
 * Paces a whole run: no more than `ratePerSecond` requests a second, and none before the time that the API asked for.
 * Waits use the monotonic clock, so that a step of the wall clock neither stalls nor floods.
 */
export interface Pace {
  /** The turn of one request; undefined when it may go at once. Ends early when the run stops. */
  turn(): Promise<void> | undefined;
  /** Holds back everybody for `ms` from now, as `Retry-After` asks. */
  hold(ms: number): void;
  /** A pause of one delivery before its next attempt. Ends early when the run stops. */
  pause(ms: number): Promise<void>;
}

/**
 * How far a late turn may catch up, in milliseconds. Timers fire up to some milliseconds late; without catching up the
 * rate would fall short by that much, with more of it a burst would be above the rate.
 */
const CATCH_UP_MS = 20;

export function createPace(ratePerSecond: number | null, stopped: AbortSignal, timers: Timers = TIMERS): Pace {
  const { monotonicMs, sleep } = timers;
  const intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
  let nextAt = 0;
  let heldUntil = 0;

  const pause = async (ms: number): Promise<void> => {
    if (ms <= 0 || stopped.aborted) return;
    await sleep(ms, stopped);
  };
  const wait = async (ms: number): Promise<void> => {
    await pause(ms);
    // Somebody may have been told to hold back while this one waited.
    while (!stopped.aborted && heldUntil > monotonicMs()) await pause(heldUntil - monotonicMs());
  };

  return {
    turn() {
      if (intervalMs === 0 && heldUntil === 0) return undefined;
      const now = monotonicMs();
      if (intervalMs === 0) return heldUntil > now ? wait(heldUntil - now) : undefined;
      nextAt = Math.max(nextAt, now - CATCH_UP_MS, heldUntil);
      const at = nextAt;
      nextAt += intervalMs;
      return at > now ? wait(at - now) : undefined;
    },
    hold(ms) {
      heldUntil = Math.max(heldUntil, monotonicMs() + ms);
    },
    pause,
  };
}
