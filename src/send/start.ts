import type { PriceList } from '../content/price.ts';
import type { ShownExchange } from '../http/explain.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Commit } from '../model.ts';
import type { Reached } from '../plan/contact-history.ts';
import type { Plan } from '../plan/plan.ts';
import type { Suppressions } from '../plan/suppression.ts';
import type { ListDigest } from '../recipients/read.ts';
import type { RowSet } from '../util/row-set.ts';
import type { OnEvent } from './event.ts';
import type { Memory } from './memory.ts';
import { TIMERS, type Timers } from './timers.ts';

/** All that is prepared for a start, or by a worker, and stays the same for its passes. */
export interface PreparedStart {
  readonly plan: Plan;
  readonly ledger: Ledger;
  /** Digest of the bytes that the check pass read: no others are sent from. */
  readonly list: ListDigest;
  /** Rows that this process has just loaded for the first start of the run; default: read from the ledger. */
  readonly loaded?: RowSet | null;
  /** Recipients that a report makes due for a fallback in the first pass; default: none. */
  readonly unreached?: number;
  /** The contact history of other runs; the claims check what those add from now on. Null: no rule uses it. */
  readonly reached: Reached | null;
  /** As last read; the claims see later entries of the ledger. */
  readonly suppressions: Suppressions;
  /** Reads them again after a wait: for an answer, an opening, the pause of a canary. Default: not at all. */
  readonly listsAgain?: ListsAgain;
  readonly prices: PriceList | null;
  readonly concurrency: number;
  readonly ratePerSecond: number | null;
  /** Recipients of all passes. Default: all. */
  readonly limit?: number | undefined;
  /** Stays until no recipient waits for a window any more. Default: it ends. */
  readonly wait?: boolean | undefined;
  /** Default: git does not know. */
  readonly commit?: Commit | null;
  /** Kept by this process, because the ledger may be lost. Default: nothing is. */
  readonly memory?: Memory | null;
  /** Ends the start in good order: requests in flight are finished. */
  readonly interrupt: AbortSignal;
  /** Ms since 1970: windows are judged by this clock. */
  readonly now: () => number;
  readonly random: () => number;
  /** Default: the real ones. */
  readonly timers?: Timers;
  /** How time passes between two passes, and while it waits for reports. Default: as `timers` say. */
  readonly sleep?: Timers['sleep'] | undefined;
  readonly onEvent?: OnEvent | undefined;
  /** Gets each request with its answer, for people to read. Default: they are not kept. */
  readonly onExchange?: ((exchange: ShownExchange) => void) | undefined;
  /** Poll interval for a pause while nothing is claimed, in ms. Default: 500. */
  readonly pauseLookMs?: number;
}

/** Lists younger than this are not read again: a million rows take a second. */
const FRESH_MS = 10_000;

interface ListsAgain {
  /** Ms since 1970. */
  readonly readAtMs: number;
  readonly read: () => Promise<Suppressions>;
  /** How to detect changes while requests go out. Default: not at all. */
  readonly watch?: {
    /** Another text when a list was written or replaced. */
    readonly stamp: () => Promise<string>;
    /** The stamp before they were read. */
    readonly first: string;
    readonly everyMs: number;
  };
}

export type Lists = ReturnType<typeof createLists>;

/**
 * Read again when they change: an opt-out counts for every recipient not yet claimed (failures.md, K3).
 * @param again - null: they stay as they are
 */
export function createLists(
  suppressions: Suppressions,
  again: ListsAgain | null,
  now: () => number,
  { sleep }: Pick<Timers, 'sleep'> = TIMERS,
) {
  let current = suppressions;
  let readAtMs = again?.readAtMs ?? 0;
  let known = again?.watch?.first ?? '';
  const read = async ({ read: readAll }: ListsAgain, stamp: string): Promise<void> => {
    current = await readAll();
    readAtMs = now();
    known = stamp;
  };
  return {
    get current(): Suppressions {
      return current;
    },
    /**
     * Called after a wait.
     * @throws HandbillError where they cannot be read any more
     */
    async renew(): Promise<void> {
      const ageMs = now() - readAtMs;
      // A clock that was set back does not show their age.
      if (again === null || (ageMs >= 0 && ageMs < FRESH_MS)) return;
      await read(again, (await again.watch?.stamp()) ?? '');
    },
    /** Reads them again after each change, until `ended`. Rejects as `renew` does. */
    async watch(ended: AbortSignal): Promise<void> {
      if (again?.watch === undefined) return;
      const { stamp, everyMs } = again.watch;
      let before = known;
      for (await sleep(everyMs, ended); !ended.aborted; await sleep(everyMs, ended)) {
        const seen = await stamp();
        // Writing a list in place takes a while, and half a list lets people through: read it when it stops changing.
        if (seen !== known && seen === before) await read(again, seen);
        before = seen;
      }
    },
  };
}
