/** How long one piece of work may block all others. */
const LONGEST_MS = 12;

/** Lets others go on, where this has taken long enough: to be awaited between two steps of something long. */
export function createYields(): () => Promise<void> | undefined {
  let beganMs = performance.now();
  return () => {
    if (performance.now() - beganMs < LONGEST_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        beganMs = performance.now();
        resolve();
      });
    });
  };
}

/** A worker counts once per block or batch; the timer of a display reads it. */
export interface Meter {
  done: number;
  /** 0 where that is not known. */
  total: number;
}

export function* metered<T>(batches: Iterable<readonly T[]>, meter: Meter): Generator<readonly T[]> {
  for (const batch of batches) {
    meter.done += batch.length;
    yield batch;
  }
}
