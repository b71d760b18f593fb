/**
 * How many requests may be in flight. One until the first acceptance of this start (the canary), then one more with
 * each acceptance - which doubles them per round trip - up to the concurrency. A 429 halves them, after which they grow
 * by one per round trip. Too many retries bring them back to one (FAILURES rules 10 and 11, row F5).
 */
export interface Ramp {
  readonly width: number;
  accepted(): void;
  throttled(): void;
  /** Called with the figures of this start; more retries than a tenth of the requests leave one lane. */
  retried(retries: number, posted: number): void;
}

/** Retries that are never too many, however short the list is. */
const RETRIES_FREE = 10;
const RETRIES_SHARE = 0.1;

export function createRamp(concurrency: number, onChange: (width: number) => void): Ramp {
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
