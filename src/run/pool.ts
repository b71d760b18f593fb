import pLimit from 'p-limit';
import type { Parcel } from './parcel.ts';

/** The deliveries that are under way or wait for their turn. */
export interface Pool {
  /** Takes a batch. Resolves when there is room for another one, so that memory does not grow with the list. */
  put(parcel: Parcel): Promise<void>;
  /** Resolves when the last delivery has ended. */
  idle(): Promise<void>;
  /** Sets how many deliveries may be under way at once; those under way end first. */
  setWidth(width: number): void;
  /** Ends the start: nothing more is to be put. The first error is kept. */
  fail(error: unknown): void;
  readonly failure: Error | null;
}

/**
 * Bounds deliveries with p-limit: one at first, then as many as slow start allows.
 *
 * @param most - batches that are under way or wait; `put` holds its caller back above that
 * @param deliver - brings one batch to its outcomes
 * @param onFailure - called when a delivery throws
 */
export function createPool(most: number, deliver: (parcel: Parcel) => Promise<void>, onFailure: () => void): Pool {
  const limit = pLimit(1);
  let failure: Error | null = null;
  let onEnded: (() => void) | null = null;

  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    onFailure();
  };
  const below = async (bound: number): Promise<void> => {
    while (limit.activeCount + limit.pendingCount >= bound) {
      await new Promise<void>((resolve) => {
        onEnded = resolve;
      });
    }
  };

  return {
    put(parcel) {
      void limit(deliver, parcel)
        .catch(fail)
        .then(() => onEnded?.());
      return below(most);
    },
    idle: () => below(1),
    setWidth(width) {
      limit.concurrency = width;
    },
    fail,
    get failure() {
      return failure;
    },
  };
}
