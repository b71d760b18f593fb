import type { PendingRow } from '../ledger/records.ts';
import type { Channel } from '../model.ts';
import type { RowSet } from '../util/row-set.ts';

/** The rows that are still to do, walked along with the list: both are in list order, so no row needs a look-up. */
export interface Todo {
  /** Asked with ascending rows, once each. */
  wants(row: number): boolean;
  /** What the ledger holds of a wanted row, until `wants` has gone a batch further; null where it holds somebody else. */
  find(row: number, key: string | null): PendingRow | null;
  /** A wanted row that is somebody else's by now; default: none ever is. */
  isLost?(row: number): boolean;
  /** The row that was asked for last; -1 before the first. */
  readonly lastRow: number;
}

/** Few, so that V8 is done with them while they are young: two batches are kept at a time. */
const BATCH = 400;

export function createTodo(pending: (afterRow: number, limit: number) => readonly PendingRow[]): Todo {
  let ahead: readonly PendingRow[] = [];
  let next = 0;
  let last = -1;
  let ended = false;
  let asked = -1;
  // A batch of the list may straddle two batches of the ledger, so the wanted rows of the latest are kept by row.
  let wanted = new Map<number, PendingRow>();
  let older = wanted;

  const refill = (): void => {
    ahead = pending(last, BATCH);
    next = 0;
    last = ahead.at(-1)?.row ?? last;
    ended = ahead.length === 0;
    older = wanted;
    wanted = new Map();
  };
  return {
    wants(row) {
      asked = row;
      while (!ended) {
        if (next >= ahead.length) refill();
        const candidate = ahead[next];
        if (candidate === undefined || candidate.row > row) return false;
        next += 1;
        if (candidate.row === row) {
          wanted.set(row, candidate);
          return true;
        }
      }
      return false;
    },
    find(row, key) {
      const found = wanted.get(row) ?? older.get(row);
      return found !== undefined && found.key === key ? found : null;
    },
    get lastRow() {
      return asked;
    },
  };
}

const NONE: readonly Channel[] = [];

/**
 * The same for the first start of a run whose list this process has just loaded: nobody has been sent to, so nothing is
 * read. Who stands in a row is known from the bytes of the list, which are the same, and the claim looks it up.
 *
 * @param loaded - the rows of which none was left out
 */
export function createFirstTodo(loaded: Pick<RowSet, 'has'>): Todo {
  let asked = -1;
  return {
    wants(row) {
      asked = row;
      return loaded.has(row);
    },
    find: (row, key) => (key !== null && loaded.has(row) ? { row, leg: 0, key, attempts: 0, used: NONE } : null),
    get lastRow() {
      return asked;
    },
  };
}
