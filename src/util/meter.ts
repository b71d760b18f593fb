/**
 * How far work has come: counted by whoever does it, once per block or batch, and read by a timer of whoever shows it.
 */
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
