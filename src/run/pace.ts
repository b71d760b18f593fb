import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

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

export function createPace(ratePerSecond: number | null, stopped: AbortSignal): Pace {
  const intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
  let nextAt = 0;
  let heldUntil = 0;

  const pause = async (ms: number): Promise<void> => {
    if (ms <= 0 || stopped.aborted) return;
    await sleep(ms, undefined, { signal: stopped }).catch(() => undefined);
  };
  const wait = async (ms: number): Promise<void> => {
    await pause(ms);
    // Somebody may have been told to hold back while this one waited.
    while (!stopped.aborted && heldUntil > performance.now()) await pause(heldUntil - performance.now());
  };

  return {
    turn() {
      if (intervalMs === 0 && heldUntil === 0) return undefined;
      const now = performance.now();
      if (intervalMs === 0) return heldUntil > now ? wait(heldUntil - now) : undefined;
      nextAt = Math.max(nextAt, now - CATCH_UP_MS, heldUntil);
      const at = nextAt;
      nextAt += intervalMs;
      return at > now ? wait(at - now) : undefined;
    },
    hold(ms) {
      heldUntil = Math.max(heldUntil, performance.now() + ms);
    },
    pause,
  };
}
