import type { PendingRow, Shard } from '../ledger/records.ts';
import { createPendingRows } from './producer.ts';

/** The shards that a worker has, and the rows in them that are still to do, walked along with the list. */
export function createShardPendingRows(
  pending: (afterRow: number, limit: number, lastRow: number) => readonly PendingRow[],
) {
  // By rows. There are never more than a few: a shard that the walk has passed is soon done.
  let parts: ReturnType<typeof partFor>[] = [];
  let asked = -1;
  let near: ReturnType<typeof partFor> | null = null;
  let lost: Shard[] = [];

  const partOf = (row: number) => {
    if (near === null || row < near.shard.firstRow || row > near.shard.lastRow) {
      near = parts.find(({ shard }) => row >= shard.firstRow && row <= shard.lastRow) ?? null;
    }
    return near;
  };
  const partFor = (shard: Shard) => ({
    shard,
    /** Position of the walk when it was added: a shard behind that is for the next walk. */
    from: asked,
    pendingRows: createPendingRows(
      (after, limit) => pending(Math.max(after, shard.firstRow - 1), limit, shard.lastRow),
      ({ isLimited }) => isLimited === true,
    ),
  });

  return {
    wants(row: number): boolean {
      asked = row;
      return partOf(row)?.pendingRows.wants(row) ?? false;
    },
    find: (row: number, key: string | null) => partOf(row)?.pendingRows.find(row, key) ?? null,
    get lastRow(): number {
      return asked;
    },
    isLost: (row: number) => lost.some(({ firstRow, lastRow }) => row >= firstRow && row <= lastRow),
    /** The list is read from its beginning again. */
    restart(): void {
      asked = -1;
      near = null;
      lost = [];
      parts = parts.map(({ shard }) => partFor(shard));
    },
    add(shard: Shard): void {
      parts = [...parts, partFor(shard)].sort((a, b) => a.shard.firstRow - b.shard.firstRow);
    },
    remove(number: number): void {
      near = null;
      parts = parts.filter(({ shard }) => shard.number !== number);
    },
    get shards(): readonly Shard[] {
      return parts.map(({ shard }) => shard);
    },
    lose(number: number): void {
      near = null;
      lost.push(...parts.filter(({ shard }) => shard.number === number).map(({ shard }) => shard));
      parts = parts.filter(({ shard }) => shard.number !== number);
    },
    /** Shards that this walk has passed, or - where the list has ended - could have passed. */
    passed: (hasEnded: boolean) =>
      parts
        .filter(({ shard, from }) => from < shard.firstRow && (hasEnded || asked > shard.lastRow))
        .map(({ shard }) => shard),
    /** Null: in none of these. */
    shardOf: (row: number) => partOf(row)?.shard.number ?? null,
    /** The last row that this walk wants, as far as it is known; -1: none. */
    get end(): number {
      return parts.findLast(({ shard, from }) => from < shard.firstRow)?.shard.lastRow ?? -1;
    },
  };
}
