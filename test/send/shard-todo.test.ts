import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PendingRow, Shard } from '../../src/ledger/records.ts';
import { createShardPendingRows } from '../../src/send/shard-rows.ts';
import { examples } from '../helpers/quick.ts';

const shard = (number: number, firstRow: number, lastRow: number): Shard => ({ number, firstRow, lastRow });

/** A ledger in which every row is pending, but for those of `settled`. */
function pendingBut(finished: ReadonlySet<number>, rows: number) {
  return (after: number, limit: number, last: number): PendingRow[] => {
    const found: PendingRow[] = [];
    for (let row = after + 1; row <= Math.min(last, rows - 1) && found.length < limit; row++) {
      if (!finished.has(row)) found.push({ row, step: 0, key: `k${row}`, attempts: 0, used: [] });
    }
    return found;
  };
}

describe('the shards of a worker', () => {
  it('are walked along with the list, and nothing else of it is wanted', () => {
    const todo = createShardPendingRows(pendingBut(new Set([12]), 100));
    todo.add(shard(1, 10, 14));
    todo.add(shard(3, 30, 31));
    const wanted = Array.from({ length: 100 }, (_, row) => row).filter((row) => todo.wants(row));
    expect(wanted).toEqual([10, 11, 13, 14, 30, 31]);
    expect(todo.end).toBe(31);
    expect(todo.passed(false).map(({ number }) => number)).toEqual([1, 3]);
  });

  it('leave out recipients that the API was too busy for', () => {
    const pending = pendingBut(new Set(), 20);
    const todo = createShardPendingRows((...asked) =>
      pending(...asked).map((one) => (one.row === 11 ? { ...one, isLimited: true } : one)),
    );
    todo.add(shard(0, 10, 12));
    expect(Array.from({ length: 20 }, (_, row) => row).filter((row) => todo.wants(row))).toEqual([10, 12]);
    expect(todo.passed(true)).toHaveLength(1);
  });

  it('wait for the next walk where they lie behind this one', () => {
    const todo = createShardPendingRows(pendingBut(new Set(), 100));
    todo.add(shard(5, 50, 59));
    for (let row = 0; row <= 55; row++) todo.wants(row);
    todo.add(shard(2, 20, 29));
    // One that has begun already lies behind as well: some of its rows would never be asked for.
    todo.add(shard(6, 54, 58));
    expect(todo.end).toBe(59);
    for (let row = 56; row < 100; row++) todo.wants(row);
    expect(todo.passed(true).map(({ number }) => number)).toEqual([5]);
    todo.remove(5);
    todo.restart();
    const wanted = Array.from({ length: 40 }, (_, row) => row).filter((row) => todo.wants(row));
    expect(wanted).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
  });

  it('that are lost hold no recipient who was wanted before', () => {
    const todo = createShardPendingRows(pendingBut(new Set(), 100));
    todo.add(shard(0, 0, 9));
    todo.add(shard(1, 10, 19));
    expect([5, 12].map((row) => todo.wants(row))).toEqual([true, true]);
    todo.lose(1);
    expect({ at: todo.shardOf(12), lost: todo.isLost(12), mine: todo.isLost(5), found: todo.find(12, 'k12') }).toEqual({
      at: null,
      lost: true,
      mine: false,
      found: null,
    });
    expect(todo.wants(13)).toBe(false);
  });

  it('are walked whole, in whatever order they come: no row twice in a walk, and none left out of those that were passed', () => {
    const model = fc.record({
      cuts: fc.uniqueArray(fc.integer({ min: 1, max: 199 }), { maxLength: 12 }),
      order: fc.array(fc.tuple(fc.nat(199), fc.nat(20)), { maxLength: 20 }),
      finished: fc.uniqueArray(fc.nat(199), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(model, ({ cuts, order, finished }) => {
        const edges = [0, ...[...cuts].sort((a, b) => a - b), 200];
        const shards = edges.slice(0, -1).map((first, at) => shard(at, first, (edges[at + 1] ?? 0) - 1));
        const done = new Set(finished);
        const todo = createShardPendingRows(pendingBut(done, 200));
        const given = new Set<number>();
        const sent: number[] = [];
        for (let walk = 0; walk < 30 && (walk < 2 || todo.shards.length > 0); walk++) {
          todo.restart();
          for (let row = 0; row < 200; row++) {
            for (const [at, which] of order) {
              const one = shards[which % shards.length];
              if (at === row && one !== undefined && !given.has(one.number)) {
                given.add(one.number);
                todo.add(one);
              }
            }
            if (!todo.wants(row)) continue;
            expect(todo.find(row, `k${row}`)?.row).toBe(row);
            sent.push(row);
            done.add(row);
          }
          for (const { number } of todo.passed(true)) todo.remove(number);
        }
        const meant = shards
          .filter(({ number }) => given.has(number))
          .flatMap(({ firstRow, lastRow }) => Array.from({ length: lastRow - firstRow + 1 }, (_, i) => firstRow + i));
        expect(sent.toSorted((a, b) => a - b)).toEqual(meant.filter((row) => !finished.includes(row)));
      }),
      { numRuns: examples(300) },
    );
  });
});
