import type { SharedTurns } from '../ledger/shared-turns.ts';
import { createPace, type Pace } from './pace.ts';
import { TIMERS, type Timers } from './timers.ts';

export interface SharedPaceOptions {
  /** The lowest rate that holds for this run: that of the environment, or a lower one. */
  readonly ratePerSecond: number;
  /** Those of all who send to the environment, of all who share the run, or both: the later one counts. */
  readonly turns: readonly SharedTurns[];
  /** The rate of the turns, the lowest of them. */
  readonly sharedPerSecond: number;
  readonly stopped: AbortSignal;
  readonly timers?: Timers;
}

/** Turns are taken for so long at most: what is not used of them when a start ends is lost to the others. */
const BLOCK_MS = 50;

/**
 * The pace of a run whose environment has a rate that others send by as well. Deliveries wait in line here, and turns are
 * taken from the ledger as they are needed, some at once: so one that ends or waits for its API leaves nearly all of the
 * rate to the others. Never more at once than who stands in line, nor than goes out in so short a time.
 *
 * The ledger that cannot be asked ends the run at its next commit; until then the run keeps its own pace.
 */
export function createSharedPace(options: SharedPaceOptions): Pace {
  const { turns, stopped, timers = TIMERS } = options;
  const { monotonicMs } = timers;
  const own = createPace(options.ratePerSecond, stopped, timers);
  const intervalMs = 1000 / options.sharedPerSecond;
  const most = Math.max(1, Math.floor((BLOCK_MS * options.ratePerSecond) / 1000));
  const line: (() => void)[] = [];
  let isMoving = false;
  /** The turns that were taken and not given yet: the time of the next, and how many. */
  let nextAt = 0;
  let left = 0;

  const take = (): number => {
    const count = Math.max(1, Math.min(most, line.length));
    try {
      const taken = turns.map((one) => one.take(count));
      const heldMs = Math.max(...taken.map((one) => one.heldMs));
      const inMs = Math.max(...taken.map((one) => one.inMs));
      if (heldMs > 0) own.hold(heldMs);
      left = count;
      nextAt = monotonicMs() + inMs;
    } catch {
      return monotonicMs();
    }
    return next();
  };
  const next = (): number => {
    const at = nextAt;
    nextAt += intervalMs;
    left -= 1;
    return at;
  };
  /** When the next turn is. Those that nobody was here for are gone. */
  const nextTurn = (): number => {
    const late = monotonicMs() - BLOCK_MS;
    while (left > 0 && nextAt < late) next();
    return left > 0 ? next() : take();
  };
  const move = async (): Promise<void> => {
    isMoving = true;
    while (line.length > 0 && !stopped.aborted) {
      // Its own rate may be lower, and it may be held back: only then a turn of everybody's is taken.
      await own.turn();
      if (stopped.aborted) break;
      await own.pause(nextTurn() - monotonicMs());
      line.shift()?.();
    }
    for (const go of line.splice(0)) go();
    isMoving = false;
  };

  return {
    turn: () =>
      new Promise((resolve) => {
        line.push(resolve);
        if (!isMoving) void move();
      }),
    take: () => own.take(),
    hold(ms) {
      own.hold(ms);
      try {
        for (const one of turns) one.hold(ms);
      } catch {
        // As above.
      }
    },
    isHeld: () => own.isHeld(),
    pause: (ms) => own.pause(ms),
  };
}
