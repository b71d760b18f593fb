import type { Suppressions } from '../plan/suppression.ts';

/** What was read less than this ago is not read again: a million rows take a second. */
const FRESH_MS = 10_000;

/** How the suppression lists of a start are read again. */
export interface ListsAgain {
  /** When they were read before, in ms since 1970. */
  readonly readAtMs: number;
  readonly read: () => Promise<Suppressions>;
}

/** K3: the suppression lists of a start. It may last a night, and people opt out meanwhile. */
export interface Lists {
  /** As they were read last. */
  readonly current: Suppressions;
  /**
   * Called after a wait.
   *
   * @throws HandbillError where they cannot be read any more
   */
  renew(): Promise<void>;
}

/** @param again - null: they stay as they are */
export function createLists(suppressions: Suppressions, again: ListsAgain | null, now: () => number): Lists {
  let current = suppressions;
  let readAtMs = again?.readAtMs ?? 0;
  return {
    get current() {
      return current;
    },
    async renew() {
      if (again === null || now() - readAtMs < FRESH_MS) return;
      current = await again.read();
      readAtMs = now();
    },
  };
}
