import type { Suppressions } from '../plan/suppression.ts';
import { TIMERS, type Timers } from './timers.ts';

/** What was read less than this ago is not read again: a million rows take a second. */
const FRESH_MS = 10_000;

/** How the suppression lists of a start are read again. */
export interface ListsAgain {
  /** When they were read before, in ms since 1970. */
  readonly readAtMs: number;
  readonly read: () => Promise<Suppressions>;
  /** How it is seen that they changed, while requests go out. Default: nobody looks. */
  readonly watch?: ListsWatch;
}

export interface ListsWatch {
  /** Another text when a list was written or replaced. */
  readonly stamp: () => Promise<string>;
  /** The stamp before they were read. */
  readonly first: string;
  /** How often it is looked at, in ms. */
  readonly everyMs: number;
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
  /**
   * Reads them again whenever they have changed, until `ended`; null where nobody looks. Rejects as `renew` does.
   */
  watch(ended: AbortSignal): Promise<void> | null;
}

/** @param again - null: they stay as they are */
export function createLists(
  suppressions: Suppressions,
  again: ListsAgain | null,
  now: () => number,
  { sleep }: Pick<Timers, 'sleep'> = TIMERS,
): Lists {
  let current = suppressions;
  let readAtMs = again?.readAtMs ?? 0;
  let known = again?.watch?.first ?? '';
  const read = async ({ read: readAll }: ListsAgain, stamp: string): Promise<void> => {
    current = await readAll();
    readAtMs = now();
    known = stamp;
  };
  /** Whoever writes a list in place takes a while: half of it would let people through, so it is read when it rests. */
  const watchAll = async (of: ListsAgain, { stamp, everyMs }: ListsWatch, ended: AbortSignal): Promise<void> => {
    let before = known;
    for (await sleep(everyMs, ended); !ended.aborted; await sleep(everyMs, ended)) {
      const seen = await stamp();
      if (seen !== known && seen === before) await read(of, seen);
      before = seen;
    }
  };
  return {
    get current() {
      return current;
    },
    async renew() {
      const ageMs = now() - readAtMs;
      // A clock that was set back says nothing of how old they are.
      if (again === null || (ageMs >= 0 && ageMs < FRESH_MS)) return;
      await read(again, (await again.watch?.stamp()) ?? '');
    },
    watch: (ended) => (again?.watch === undefined ? null : watchAll(again, again.watch, ended)),
  };
}
