/** One clock for all deadlines: a timer for each request costs more than looking at a hundred now and then. */
export interface Sweeper {
  /** Begins to sweep, if it does not already. */
  start(): void;
  stop(): void;
}

/**
 * Calls `sweep` with the monotonic time every `everyMs`, from `start` until it returns false: nothing is left to watch.
 * Deadlines are met with a delay of at most `everyMs`, and never early; after a standstill with one of twice that.
 */
export function createSweeper(everyMs: number, sweep: (nowMs: number) => boolean): Sweeper {
  let timer: NodeJS.Timeout | null = null;
  let dueMs = 0;
  let passedOver = false;
  const stop = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  return {
    start() {
      if (timer !== null) return;
      dueMs = performance.now() + everyMs;
      timer = setInterval(() => {
        const nowMs = performance.now();
        // I1: this process was stopped, or waited long for the ledger. Timers come before input, so the answers that
        // came meanwhile get one round to be read before they are too late.
        passedOver = !passedOver && nowMs > dueMs + LATE_MS;
        dueMs = nowMs + everyMs;
        if (!passedOver && !sweep(nowMs)) stop();
      }, everyMs);
    },
    stop,
  };
}

/** A sweep that comes later than this shows a standstill. */
const LATE_MS = 250;
