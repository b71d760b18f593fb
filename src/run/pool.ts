import type { LimitFunction } from 'p-limit';
import { deliver } from './deliver.ts';
import type { Parcel } from './parcel.ts';
import type { Shift } from './shift.ts';

/** The deliveries that are under way or wait for their turn. */
export interface Pool {
  /** Takes a parcel; a promise where it is full, which resolves when there is room again. */
  put(parcel: Parcel): Promise<void> | undefined;
  /** A promise until the last delivery has ended. */
  idle(): Promise<void> | undefined;
  /** Ends the start: nothing more is to be put. The first error is kept. */
  fail(error: unknown): void;
  readonly failure: Error | null;
}

/**
 * Bounds what is taken from the list ahead of what can be sent, so that memory does not grow with the list. The width
 * of `limit` is the ramp's.
 */
export function createPool(limit: LimitFunction, most: number, shift: Shift, onFailure: () => void): Pool {
  let waiting = 0;
  let roomFreed: (() => void) | null = null;
  let failure: Error | null = null;
  const done = (): void => {
    waiting -= 1;
    roomFreed?.();
  };
  const below = (bound: number): Promise<void> | undefined =>
    waiting < bound
      ? undefined
      : new Promise((resolve) => {
          roomFreed = () => {
            if (waiting < bound) {
              roomFreed = null;
              resolve();
            }
          };
        });
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    onFailure();
  };
  return {
    put(parcel) {
      waiting += 1;
      limit(deliver, parcel, shift).catch(fail).finally(done);
      return below(most);
    },
    idle: () => below(1),
    fail,
    get failure() {
      return failure;
    },
  };
}
