import type { PendingRow, Shard } from '../ledger/records.ts';
import type { Channel } from '../model.ts';
import type { RowSet } from '../util/row-set.ts';

/** The rows that are still to do, walked along with the list: both are in list order, so no row needs a look-up. */
export interface PendingRows {
  /** Called with ascending rows, once each. */
  wants(row: number): boolean;
  /** The ledger's entry of a wanted row, until `wants` is a batch further; null if it belongs to another recipient. */
  find(row: number, key: string | null): PendingRow | null;
  /** A wanted row that belongs to another worker by now; default: none does. */
  isLost?(row: number): boolean;
  /** The last row that `wants` was called with; -1 before the first. */
  readonly lastRow: number;
}

/** Few, so that V8 frees them while they are young: two batches are kept at a time. */
const BATCH = 400;

/** @param isWaiting - whether a pending row is not wanted yet; default: none */
export function createPendingRows(
  pending: (afterRow: number, limit: number) => readonly PendingRow[],
  isWaiting?: (row: PendingRow) => boolean,
): PendingRows {
  let ahead: readonly PendingRow[] = [];
  let next = 0;
  let last = -1;
  let ended = false;
  let asked = -1;
  // A batch of the list may straddle two batches of the ledger, so the latest wanted rows are kept by row.
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
          if (isWaiting?.(candidate) === true) return false;
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
 * The same for the first start of a run whose list this process has just loaded: no recipient was sent to, so nothing
 * is
 * read. The recipient of a row is known from the list, whose bytes are the same, and the claim checks it.
 * @param loaded - the rows, without those that are skipped
 */
export function createFirstPendingRows(loaded: Pick<RowSet, 'has'>): PendingRows {
  let asked = -1;
  return {
    wants(row) {
      asked = row;
      return loaded.has(row);
    },
    find: (row, key) => (key !== null && loaded.has(row) ? { row, step: 0, key, attempts: 0, used: NONE } : null),
    get lastRow() {
      return asked;
    },
  };
}

/** The shards that a worker has, and the rows in them that are still to do, walked along with the list. */
interface ShardPendingRows extends PendingRows {
  /** The list is read from its beginning again. */
  restart(): void;
  add(shard: Shard): void;
  remove(number: number): void;
  lose(number: number): void;
  isLost(row: number): boolean;
  readonly shards: readonly Shard[];
  /** Shards that this walk has passed, or - where the list has ended - could have passed. */
  passed(hasEnded: boolean): readonly Shard[];
  /** Null: in none of these. */
  shardOf(row: number): number | null;
  /** The last row that this walk wants, as far as it is known; -1: none. */
  readonly end: number;
}

interface Part {
  readonly shard: Shard;
  readonly pendingRows: PendingRows;
  /** Position of the walk when it was added: a shard behind that is for the next walk. */
  readonly from: number;
}

export function createShardPendingRows(
  pending: (afterRow: number, limit: number, lastRow: number) => readonly PendingRow[],
): ShardPendingRows {
  // By rows. There are never more than a few: a shard that the walk has passed is soon done.
  let parts: Part[] = [];
  let asked = -1;
  let near: Part | null = null;
  let lost: Shard[] = [];

  const partOf = (row: number): Part | null => {
    if (near === null || row < near.shard.firstRow || row > near.shard.lastRow) {
      near = parts.find(({ shard }) => row >= shard.firstRow && row <= shard.lastRow) ?? null;
    }
    return near;
  };
  const partFor = (shard: Shard): Part => ({
    shard,
    from: asked,
    pendingRows: createPendingRows((after, limit) =>
      pending(Math.max(after, shard.firstRow - 1), limit, shard.lastRow),
    ),
  });

  return {
    wants(row) {
      asked = row;
      return partOf(row)?.pendingRows.wants(row) ?? false;
    },
    find: (row, key) => partOf(row)?.pendingRows.find(row, key) ?? null,
    get lastRow() {
      return asked;
    },
    restart() {
      asked = -1;
      near = null;
      lost = [];
      parts = parts.map(({ shard }) => partFor(shard));
    },
    add(shard) {
      parts = [...parts, partFor(shard)].sort((a, b) => a.shard.firstRow - b.shard.firstRow);
    },
    remove(number) {
      near = null;
      parts = parts.filter(({ shard }) => shard.number !== number);
    },
    get shards() {
      return parts.map(({ shard }) => shard);
    },
    lose(number) {
      near = null;
      lost.push(...parts.filter(({ shard }) => shard.number === number).map(({ shard }) => shard));
      parts = parts.filter(({ shard }) => shard.number !== number);
    },
    isLost: (row) => lost.some(({ firstRow, lastRow }) => row >= firstRow && row <= lastRow),
    passed: (hasEnded) =>
      parts
        .filter(({ shard, from }) => from < shard.firstRow && (hasEnded || asked > shard.lastRow))
        .map(({ shard }) => shard),
    shardOf: (row) => partOf(row)?.shard.number ?? null,
    get end() {
      return parts.findLast(({ shard, from }) => from < shard.firstRow)?.shard.lastRow ?? -1;
    },
  };
}
