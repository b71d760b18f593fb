/** One clock for all deadlines: a timer for each request costs more than looking at a hundred now and then. */
export interface Sweeper {
  /** Begins to sweep, if it does not already. */
  start(): void;
  stop(): void;
}

/**
 * Calls `sweep` with the monotonic time every `everyMs`, from `start` until it returns false: nothing is left to watch.
 * Deadlines are met with a delay of at most `everyMs`, and never early.
 */
export function createSweeper(everyMs: number, sweep: (nowMs: number) => boolean): Sweeper {
  let timer: NodeJS.Timeout | null = null;
  const stop = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  return {
    start() {
      timer ??= setInterval(() => {
        if (!sweep(performance.now())) stop();
      }, everyMs);
    },
    stop,
  };
}
