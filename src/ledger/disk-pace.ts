/** Whether a commit waits for the disk where it is, or lets the event loop go on meanwhile. */
export interface DiskPace {
  /** Asked once before each commit. */
  waits(): boolean;
  /** How long a commit took whose sync was waited for. */
  took(ms: number): void;
}

/**
 * Up to here it is cheaper to wait: to hand a sync over and to be told of it takes 0.1 ms of CPU, and all who wait for the
 * claims wait for the event loop as well.
 */
const QUICK_MS = 0.5;

/** One slow commit is made up for by so many quick ones: the scheduler of the system makes one of fifty late. */
const SLOW_COUNTS = 4;

/** With so much to make up for, a disk is slow. */
const SLOW_AT = 8;

/** Commits beside the loop before a slow disk is tried again; twice as many each time, up to the most. */
const FIRST_PAUSE = 8;
const MOST_PAUSE = 256;

/**
 * A disk is taken for slow until it was tried. A slow one is tried more and more rarely, so that it stops the loop for one
 * commit of 257 at last.
 */
export function createDiskPace(): DiskPace {
  let debt = SLOW_AT;
  let pause = FIRST_PAUSE;
  /** Commits that still go beside the loop. */
  let left = FIRST_PAUSE;
  return {
    waits() {
      if (left === 0) return true;
      left -= 1;
      return false;
    },
    took(ms) {
      debt = ms > QUICK_MS ? debt + SLOW_COUNTS : Math.max(0, debt - 1);
      if (debt === 0) pause = FIRST_PAUSE;
      if (debt <= SLOW_AT) return;
      debt = SLOW_AT;
      left = pause;
      pause = Math.min(2 * pause, MOST_PAUSE);
    },
  };
}
