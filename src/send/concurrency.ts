import pLimit from 'p-limit';
import type { Batch } from './batch.ts';

export interface Pool {
  /** Takes a batch to deliver. Undefined if it takes another one at once, else it resolves when it does. */
  put(batch: Batch): Promise<void> | undefined;
  idle(): Promise<void>;
  /** Sets how many deliveries may be under way at once; those under way end first. */
  setWidth(width: number): void;
  /** Ends the start: no more `put`. The first error is kept. */
  fail(error: unknown): void;
  readonly failure: Error | null;
}

/**
 * Bounds deliveries with p-limit: one at first, then as many as slow start allows. Each of its tasks delivers one batch
 * after the other, as long as batches wait: a task for each batch would cost seven promises a recipient.
 * @param deliver - brings one batch to its outcomes
 * @param stopped - when the start ends: batches that wait are not begun
 */
export function createPool(
  deliver: (batch: Batch) => Promise<void>,
  stopped: AbortSignal,
  onFailure: () => void,
): Pool {
  const limit = pLimit(1);
  /** At most as many as may be under way. */
  const waiting: Batch[] = [];
  let failure: Error | null = null;
  let onRoom: (() => void) | null = null;

  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
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
    put(batch) {
      waiting.push(batch);
      begin();
      return hasRoom() ? undefined : until(hasRoom);
    },
    idle: () => until(() => waiting.length + limit.activeCount === 0),
    setWidth(width) {
      limit.concurrency = width;
      for (const _ of waiting) begin();
      onRoom?.();
    },
    fail,
    get failure() {
      return failure;
    },
  };
}

/**
 * How many requests may be in flight. One until the first acceptance of this start (the canary), then one more with
 * each acceptance - which doubles them per round trip - up to the concurrency. A 429 halves them, after which they grow
 * by one per round trip. Too many retries bring them back to one (failures.md, rules 10 and 11, row F5).
 */
export interface SlowStart {
  readonly width: number;
  accepted(): void;
  throttled(): void;
  /** Called with the figures of this start; if over a tenth of the requests are retries, one request at a time is left. */
  retried(retries: number, posted: number): void;
}

/** Retries that are never too many, however short the list is. */
const RETRIES_FREE = 10;
const RETRIES_SHARE = 0.1;

export function createSlowStart(concurrency: number, onChange: (width: number) => void): SlowStart {
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
    retried(retries, posted) {
      single = retries > Math.max(RETRIES_FREE, posted * RETRIES_SHARE);
      if (single) set(1);
    },
  };
}
