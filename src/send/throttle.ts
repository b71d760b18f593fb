import pLimit from 'p-limit';
import { asError } from '../errors.ts';
import type { SharedTurns } from '../ledger/connection.ts';
import { TIMERS, type Timers } from './timers.ts';

export type Pool<Batch> = ReturnType<typeof createPool<Batch>>;

/**
 * Bounds deliveries with p-limit: one at first, then as many as slow start allows. Each of its tasks delivers one batch
 * after the other, as long as batches wait: a task for each batch would cost seven promises a recipient.
 * @param deliver - brings one batch to its outcomes
 * @param stopped - when the start ends: batches that wait are not begun
 */
export function createPool<Batch>(
  deliver: (batch: Batch) => Promise<void>,
  stopped: AbortSignal,
  onFailure: () => void,
) {
  const limit = pLimit(1);
  /** At most as many as may be under way. */
  const waiting: Batch[] = [];
  let failure: Error | null = null;
  let onRoom: (() => void) | null = null;

  const fail = (error: unknown): void => {
    failure ??= asError(error);
    onFailure();
  };
  const deliverWaiting = async (): Promise<void> => {
    while (limit.activeCount <= limit.concurrency) {
      if (stopped.aborted) waiting.length = 0;
      const batch = waiting.shift();
      if (batch === undefined) return;
      onRoom?.();
      await deliver(batch);
    }
  };
  const ended = (): void => {
    if (waiting.length > 0) begin();
    onRoom?.();
  };
  const begin = (): void => {
    if (limit.activeCount >= limit.concurrency) return;
    limit(deliverWaiting).then(ended, (error: unknown) => {
      fail(error);
      ended();
    });
  };
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        onRoom = resolve;
      });
    }
  };
  const hasRoom = (): boolean => waiting.length < limit.concurrency;

  return {
    /** Takes a batch to deliver. Undefined if it takes another one at once, else it resolves when it does. */
    put(batch: Batch): Promise<void> | undefined {
      waiting.push(batch);
      begin();
      return hasRoom() ? undefined : until(hasRoom);
    },
    idle: () => until(() => waiting.length + limit.activeCount === 0),
    /** Sets how many deliveries may be under way at once; those under way end first. */
    setWidth(width: number): void {
      limit.concurrency = width;
      for (const _ of waiting) begin();
      onRoom?.();
    },
    /** Ends the start: `put` takes nothing afterwards. The first error is kept. */
    fail,
    get failure(): Error | null {
      return failure;
    },
  };
}

/**
 * How many requests may be in flight. One until the first acceptance of this start (the canary), then one more with
 * each acceptance - which doubles them per round trip - up to the concurrency. A 429 halves them, after which they grow
 * by one per round trip. Too many retries bring them back to one (failures.md, rules 10 and 11, row F5).
 */
export type SlowStart = ReturnType<typeof createSlowStart>;

/** Retries that are never too many, however short the list is. */
const RETRIES_FREE = 10;
const RETRIES_SHARE = 0.1;

export function createSlowStart(concurrency: number, onChange: (width: number) => void) {
  let width = 1;
  let congested = false;
  let credit = 0;
  let single = false;
  const set = (next: number): void => {
    const bounded = single ? 1 : Math.min(concurrency, Math.max(1, next));
    if (bounded === width) return;
    width = bounded;
    onChange(width);
  };
  return {
    get width() {
      return width;
    },
    accepted() {
      if (width >= concurrency) return;
      if (!congested) return set(width + 1);
      credit += 1 / width;
      if (credit < 1) return;
      credit = 0;
      set(width + 1);
    },
    throttled() {
      congested = true;
      credit = 0;
      set(Math.floor(width / 2));
    },
    /** With the figures of this start; if over a tenth of the requests are retries, one request at a time is left. */
    retried(retries: number, posted: number): void {
      single = retries > Math.max(RETRIES_FREE, posted * RETRIES_SHARE);
      if (single) set(1);
    },
  };
}

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
 * How far a late token may catch up, in milliseconds, where `timers` do not say it. Timers fire up to some milliseconds
 * late; without catching up the rate would fall short by that much, with more of it a burst would be above the rate.
 */
const CATCH_UP_MS = 20;

/** Sums of intervals are no exact doubles: a token that is early by so little is in time, and a wait ends with its second. */
export const EXACT_MS = 0.01;

export function createRateLimiter(
  ratePerSecond: number | null,
  stopped: AbortSignal,
  timers: Timers = TIMERS,
): RateLimiter {
  const { monotonicMs, sleep, lateMs = CATCH_UP_MS } = timers;
  const intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
  let nextAt = monotonicMs();
  /** When the next request may go, counted from those that went. */
  let dueAt = nextAt;
  let heldUntil = 0;

  const pause = async (ms: number): Promise<void> => {
    if (ms <= 0 || stopped.aborted) return;
    await sleep(ms, stopped);
  };
  const nextToken = (now: number): number => {
    if (intervalMs === 0) return Math.max(now, heldUntil);
    const at = Math.max(nextAt, now - lateMs, heldUntil);
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
      if (heldUntil > now || (intervalMs > 0 && now < dueAt - EXACT_MS)) return false;
      dueAt = Math.max(dueAt, now - lateMs) + intervalMs;
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
