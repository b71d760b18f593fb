import pLimit from 'p-limit';
import type { Parcel } from './parcel.ts';

/** The deliveries that are under way or wait for their turn. */
export interface Pool {
  /** Takes a parcel; a promise where it is full, which resolves when there is room again. */
  put(parcel: Parcel): Promise<void> | undefined;
  /** A promise until the last delivery has ended. */
  idle(): Promise<void> | undefined;
  /** As many deliveries as may be under way at once from now on; those that are under way end first. */
  setWidth(width: number): void;
  /** Ends the start: nothing more is to be put. The first error is kept. */
  fail(error: unknown): void;
  readonly failure: Error | null;
}

/**
 * Bounds what is taken from the list ahead of what can be sent, so that memory does not grow with the list.
 *
 * p-limit runs lanes, not parcels: a lane takes one parcel after the other until none waits or the width has shrunk.
 * A parcel of its own in p-limit costs six promises and two closures.
 *
 * @param most - parcels that are under way or wait; more are put only when there is room
 */
export function createPool(most: number, deliver: (parcel: Parcel) => Promise<void>, onFailure: () => void): Pool {
  const limit = pLimit(1);
  /** Those before `head` are under way already. */
  let queue: (Parcel | undefined)[] = [];
  let head = 0;
  let lanes = 0;
  let waiting = 0;
  let roomFreed: (() => void) | null = null;
  let failure: Error | null = null;

  const take = (): Parcel | undefined => {
    const parcel = queue[head];
    queue[head] = undefined;
    head += 1;
    if (head >= queue.length || head > most) {
      queue = queue.slice(head);
      head = 0;
    }
    return parcel;
  };
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    onFailure();
  };
  const lane = async (): Promise<void> => {
    while (head < queue.length && lanes <= limit.concurrency) {
      const parcel = take();
      if (parcel === undefined) break;
      try {
        await deliver(parcel);
      } catch (error) {
        fail(error);
      }
      waiting -= 1;
      roomFreed?.();
    }
    lanes -= 1;
    widen();
  };
  /** A lane that has been asked for begins a moment later, so each counts for one of the parcels that wait. */
  const widen = (): void => {
    for (let left = queue.length - head; left > 0 && lanes < limit.concurrency; left--) {
      lanes += 1;
      void limit(lane);
    }
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

  return {
    put(parcel) {
      waiting += 1;
      queue.push(parcel);
      if (lanes < limit.concurrency) {
        lanes += 1;
        void limit(lane);
      }
      return below(most);
    },
    idle: () => below(1),
    setWidth(width) {
      limit.concurrency = width;
      widen();
    },
    fail,
    get failure() {
      return failure;
    },
  };
}
