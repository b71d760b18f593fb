/** The progress of work: counted by the worker, once per block or batch, and read by the timer of a display. */
export interface Meter {
  done: number;
  /** 0 where that is not known. */
  total: number;
}

/** Counts the items of batches as they go by. */
export function* metered<T>(batches: Iterable<readonly T[]>, meter: Meter): Generator<readonly T[]> {
  for (const batch of batches) {
    meter.done += batch.length;
    yield batch;
  }
}
