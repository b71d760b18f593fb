import { TIMERS, type Timers } from './timers.ts';

/**
 * Paces a whole run: no more than `ratePerSecond` requests a second, and none before the time that the API asked for.
 * Waits use the monotonic clock, so that a step of the wall clock neither stalls nor floods.
 */
export interface Pace {
  /** The turn of one request; undefined when it may go at once. Ends early when the run stops. */
  turn(): Promise<void> | undefined;
  /**
   * Asked when the request can go, for instance when its connection is open: false where another turn must be taken
   * instead, because others were late as well, or because the API asked everybody to wait.
   */
  take(): boolean;
  /** Holds back everybody for `ms` from now, as `Retry-After` asks. */
  hold(ms: number): void;
  /** Everybody is held back now. */
  isHeld(): boolean;
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
  /** The next turn that nobody has. */
  let nextAt = 0;
  /** When the next request may go, seen from those that went. */
  let dueAt = 0;
  let heldUntil = 0;

  const pause = async (ms: number): Promise<void> => {
    if (ms <= 0 || stopped.aborted) return;
    await sleep(ms, stopped);
  };
  const nextTurn = (now: number): number => {
    if (intervalMs === 0) return Math.max(now, heldUntil);
    const at = Math.max(nextAt, now - CATCH_UP_MS, heldUntil);
    nextAt = at + intervalMs;
    return at;
  };
  const wait = async (first: number): Promise<void> => {
    for (let at = first; ; at = nextTurn(monotonicMs())) {
      await pause(at - monotonicMs());
      // Told to hold back while they waited, all take new turns: their old ones would be one and the same.
      if (stopped.aborted || heldUntil <= at) return;
    }
  };

  return {
    turn() {
      if (intervalMs === 0 && heldUntil === 0) return undefined;
      const now = monotonicMs();
      const at = nextTurn(now);
      return at > now ? wait(at) : undefined;
    },
    take() {
      if (intervalMs === 0 && heldUntil === 0) return true;
      const now = monotonicMs();
      if (heldUntil > now || (intervalMs > 0 && now < dueAt)) return false;
      dueAt = Math.max(dueAt, now - CATCH_UP_MS) + intervalMs;
      nextAt = Math.max(nextAt, dueAt);
      return true;
    },
    hold(ms) {
      heldUntil = Math.max(heldUntil, monotonicMs() + ms);
    },
    isHeld: () => heldUntil > 0 && heldUntil > monotonicMs(),
    pause,
  };
}
