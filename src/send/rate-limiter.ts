import type { SharedTurns } from '../ledger/connection.ts';
import { TIMERS, type Timers } from './timers.ts';

/**
 * Limits a whole run to `ratePerSecond` requests a second, and to none before the time that the API asked for. Waits
 * use the monotonic clock, so that a step of the wall clock neither stalls nor floods.
 */
export interface RateLimiter {
  /** Whether a request needs no token. */
  isFree(): boolean;
  /** Waits for the token of one request; undefined when it may go at once. Ends early when the run stops. */
  token(): Promise<void> | undefined;
  /**
   * Called when the request can go. False if it needs a new token: others were late as well, or the API asked to wait.
   */
  take(): boolean;
  hold(ms: number): void;
  isHeld(): boolean;
  /** A pause of one delivery before its next attempt. Ends early when the run stops. */
  pause(ms: number): Promise<void>;
}

/**
 * How far a late token may catch up, in milliseconds. Timers fire up to some milliseconds late; without catching up the
 * rate would fall short by that much, with more of it a burst would be above the rate.
 */
const CATCH_UP_MS = 20;

export function createRateLimiter(
  ratePerSecond: number | null,
  stopped: AbortSignal,
  timers: Timers = TIMERS,
): RateLimiter {
  const { monotonicMs, sleep } = timers;
  const intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
  let nextAt = 0;
  /** When the next request may go, counted from those that went. */
  let dueAt = 0;
  let heldUntil = 0;

  const pause = async (ms: number): Promise<void> => {
    if (ms <= 0 || stopped.aborted) return;
    await sleep(ms, stopped);
  };
  const nextToken = (now: number): number => {
    if (intervalMs === 0) return Math.max(now, heldUntil);
    const at = Math.max(nextAt, now - CATCH_UP_MS, heldUntil);
    nextAt = at + intervalMs;
    return at;
  };
  const wait = async (first: number): Promise<void> => {
    for (let at = first; ; at = nextToken(monotonicMs())) {
      await pause(at - monotonicMs());
      // Told to hold back while they waited, all take new tokens: their old ones would be one and the same.
      if (stopped.aborted || heldUntil <= at) return;
    }
  };

  const isFree = (): boolean => intervalMs === 0 && heldUntil === 0;
  return {
    isFree,
    token() {
      if (isFree()) return undefined;
      const now = monotonicMs();
      const at = nextToken(now);
      return at > now ? wait(at) : undefined;
    },
    take() {
      if (isFree()) return true;
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

interface SharedRateLimiterOptions {
  /** The lowest rate for this run: the environment's, or a lower one. */
  readonly ratePerSecond: number;
  /** Shared by all senders to the environment, all workers of the run, or both: the later one counts. */
  readonly turns: readonly SharedTurns[];
  /** The lowest rate of the shared tokens. */
  readonly sharedPerSecond: number;
  readonly stopped: AbortSignal;
  readonly timers?: Timers;
}

/** Longest validity of taken tokens: those left when a start ends are lost to the others. */
const BLOCK_MS = 50;

/**
 * The rate limiter of a run that shares its environment's rate with other processes. Deliveries queue here, and tokens
 * are taken from the ledger as needed, some at once. So a process that ends or waits for its API leaves nearly all of
 * the rate to the others. It never takes more tokens than deliveries are queued, nor than it can use in that short
 * time.
 *
 * A failing ledger ends the run at its next commit; until then the run keeps to its own rate limiter.
 */
export function createSharedRateLimiter(options: SharedRateLimiterOptions): RateLimiter {
  const { turns, stopped, timers = TIMERS } = options;
  const { monotonicMs } = timers;
  const own = createRateLimiter(options.ratePerSecond, stopped, timers);
  const intervalMs = 1000 / options.sharedPerSecond;
  const most = Math.max(1, Math.floor((BLOCK_MS * options.ratePerSecond) / 1000));
  const line: (() => void)[] = [];
  let isMoving = false;
  /** Tokens that were taken but not given out yet: the time of the next, and how many. */
  let nextAt = 0;
  let left = 0;

  const take = (): number => {
    const count = Math.max(1, Math.min(most, line.length));
    try {
      const taken = turns.map((one) => one.take(count));
      const heldMs = Math.max(...taken.map((one) => one.heldMs));
      const inMs = Math.max(...taken.map((one) => one.inMs));
      if (heldMs > 0) own.hold(heldMs);
      left = count;
      nextAt = monotonicMs() + inMs;
    } catch {
      return monotonicMs();
    }
    return next();
  };
  const next = (): number => {
    const at = nextAt;
    nextAt += intervalMs;
    left -= 1;
    return at;
  };
  /** The time of the next token. Tokens that were not used in time are lost. */
  const nextToken = (): number => {
    const late = monotonicMs() - BLOCK_MS;
    while (left > 0 && nextAt < late) next();
    return left > 0 ? next() : take();
  };
  const move = async (): Promise<void> => {
    isMoving = true;
    while (line.length > 0 && !stopped.aborted) {
      // Its own rate may be lower, or held back: wait for that before taking a shared token.
      await own.token();
      if (stopped.aborted) break;
      await own.pause(nextToken() - monotonicMs());
      line.shift()?.();
    }
    for (const go of line.splice(0)) go();
    isMoving = false;
  };

  return {
    isFree: () => false,
    token: () =>
      new Promise((resolve) => {
        line.push(resolve);
        if (!isMoving) void move();
      }),
    take: () => own.take(),
    hold(ms) {
      own.hold(ms);
      try {
        for (const one of turns) one.hold(ms);
      } catch {
        // As above.
      }
    },
    isHeld: () => own.isHeld(),
    pause: (ms) => own.pause(ms),
  };
}
