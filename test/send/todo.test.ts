import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { send } from '../../src/operations/send.ts';
import { createFirstPendingRows, createPendingRows } from '../../src/send/producer.ts';
import { createRowSet } from '../../src/util/row-set.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';

it('walks the rows that are still to do along with the list, over the borders of batches', () => {
  const pending = Array.from({ length: 9000 }, (_, i) => ({
    row: i * 3 + 1,
    step: 0,
    key: `k${i * 3 + 1}`,
    attempts: i % 2,
    used: [],
  }));
  const todo = createPendingRows((after, limit) => pending.filter((p) => p.row > after).slice(0, limit));
  const wanted: number[] = [];
  for (let row = 0; row < 27_100; row++) {
    if (!todo.wants(row)) continue;
    wanted.push(row);
    expect(todo.find(row, `k${row}`)).toMatchObject({ key: `k${row}`, attempts: ((row - 1) / 3) % 2 });
  }
  expect(wanted).toEqual(pending.map((p) => p.row));
  expect(todo.find(0, 'k0')).toBeNull();
  const last = wanted.at(-1) ?? 0;
  // Another recipient is there.
  expect([todo.find(last, `k${last}`)?.row, todo.find(last, 'k1'), todo.find(last, null)]).toEqual([last, null, null]);
});

it('a first start wants the rows that were loaded, and reads none of them', () => {
  const loaded = createRowSet();
  for (const row of [0, 2, 70_000]) loaded.add(row);
  const todo = createFirstPendingRows(loaded);
  expect(todo.lastRow).toBe(-1);
  const wanted = Array.from({ length: 70_002 }, (_, row) => row).filter((row) => todo.wants(row));
  expect([wanted, todo.lastRow]).toEqual([[0, 2, 70_000], 70_001]);
  expect(todo.find(2, 'Ann')).toEqual({ row: 2, step: 0, key: 'Ann', attempts: 0, used: [] });
  expect([todo.find(1, 'Ben'), todo.find(2, null)]).toEqual([null, null]);
});

it('a first start sends to no recipient that the ledger does not hold as the list has them', async () => {
  await using api = await startApi();
  using scene = createScene({ rows: 5, baseUrl: api.url, receipts: api.receipts });
  const confirm = (): Promise<boolean> => {
    const db = new DatabaseSync(join(scene.root, '.handbill', 'ledger.db'));
    // It may still be changed, because the run has not begun.
    expect(db.prepare(`UPDATE recipients SET key = 'somebody else' WHERE row < 3`).run().changes).toBe(3);
    db.close();
    return Promise.resolve(true);
  };
  const sent = send('campaign.yaml', {
    cwd: scene.root,
    env: { HANDBILL_API_KEY: CANARY_KEY },
    now: Date.now,
    environment: 'test',
    concurrency: 8,
    confirm,
  });
  const { exit, report } = await sent;
  expect({ exit, halt: report.halt?.rule, pending: report.totals.pending }).toEqual({
    exit: 7,
    halt: 'ledger',
    pending: 5,
  });
  expect(readReceipts(api.receipts)).toEqual([]);
});
