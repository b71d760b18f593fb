import { describe, expect, it } from 'vitest';
import { openRunKeys } from '../../src/send/run-keys.ts';
import { BY_MAIL, fellBack, onStep, unsupported } from './fallbacks.ts';
import { amendedRun } from './given.ts';
import { fates, givenRun, lockRun, open, scratchPath, thrown } from './scratch.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

/** What a row has that belongs to no variant and to no fallback. */
const ROW = { variant: null, channel: 'sms', step: 0 };

describe('reading', () => {
  it('counts by outcome, reason and encoding, with parts and cost', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, [
      loadRow(0, { parts: 2, costMicros: 90_000 }),
      loadRow(1, { parts: 3, encoding: 'UCS-2' }),
      loadRow(2, { parts: null, encoding: null, costMicros: null, key: null, state: 'skipped', reason: 'bad-row' }),
      loadRow(3),
    ]);
    ledger.commit(run, [], [claimOf(0), claimOf(1), claimOf(3)], NOON);
    ledger.commit(run, [resultOf(0), resultOf(1), resultOf(3)], [], NOON);
    expect(ledger.counts(run)).toEqual([
      {
        ...ROW,
        version: 1,
        outcome: 'accepted',
        reason: null,
        encoding: 'GSM-7',
        count: 2,
        parts: 3,
        costMicros: 135_000,
      },
      {
        ...ROW,
        version: 1,
        outcome: 'accepted',
        reason: null,
        encoding: 'UCS-2',
        count: 1,
        parts: 3,
        costMicros: 45_000,
      },
      { ...ROW, outcome: 'skipped', reason: 'bad-row', encoding: null, count: 1, parts: 0, costMicros: null },
    ]);
  });

  it('gives every row once, in list order, in batches', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2500));
    const batches = [...ledger.outcomes(run)];
    expect(batches.map((b) => b.length)).toEqual([1000, 1000, 500]);
    expect(batches.flat().map((o) => o.row)).toEqual(Array.from({ length: 2500 }, (_, i) => i));
  });

  it('filters, with claimed rows where they are shown', () => {
    const path = scratchPath();
    const ledger = open(path);
    const lock = lockRun(path, HELLO);
    const run = givenRun(ledger, rows(4));
    ledger.commit(run, [], [claimOf(0), claimOf(1)], NOON);
    ledger.commit(run, [resultOf(0)], [], NOON);
    const found = (outcomes: readonly ('accepted' | 'pending' | 'in-doubt')[]) =>
      [...ledger.outcomes(run, { outcomes })].flat().map((o) => o.row);
    expect([found(['accepted']), found(['pending']), found(['in-doubt']), found([])]).toEqual([[0], [1, 2, 3], [], []]);
    lock?.release();
    expect([found(['accepted']), found(['pending']), found(['in-doubt'])]).toEqual([[0], [2, 3], [1]]);
    expect(found(['accepted', 'in-doubt'])).toEqual([0, 1]);
  });

  it('a run that is over has nothing in flight, whichever process holds the lock', () => {
    const path = scratchPath();
    const ledger = open(path);
    const lock = lockRun(path, HELLO);
    const run = givenRun(ledger, rows(1));
    ledger.commit(run, [], [claimOf(0)], NOON);
    ledger.finish(run, { state: 'halted', halt: null, figures: null, nowMs: NOON });
    expect(fates(ledger, run)).toEqual(['in-doubt(crash)']);
    lock?.release();
  });

  it('says so when the list is replaced while it is read', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2500));
    const reading = ledger.outcomes(run)[Symbol.iterator]();
    reading.next();
    amendedRun(ledger, run, rows(10));
    expect(thrown(() => reading.next())).toMatchObject({ code: 'ledger-unusable', kind: 'busy' });
  });

  it('finds rows by their keys, page by page, and knows which keys are left', () => {
    const ledger = open(scratchPath());
    const some = rows(2_345).map((row, i) =>
      i === 7 ? loadRow(i, { key: null, state: 'skipped', reason: 'bad-row' }) : row,
    );
    const run = givenRun(ledger, some);
    const keys = openRunKeys(ledger, run);
    expect([0, 999, 1_000, 2_344].map((row) => keys.rowOf(keyOf(row)))).toEqual([0, 999, 1_000, 2_344]);
    expect([keys.rowOf(keyOf(7)), keys.rowOf('another key')]).toEqual([null, null]);
    const taken = Array.from({ length: 2_343 }, (_, i) => keys.take(keyOf(i)));
    expect(taken.filter((isOne) => !isOne)).toHaveLength(1);
    expect([keys.take(keyOf(3)), keys.take('another key')]).toEqual([false, false]);
    expect([...keys.rest()]).toEqual([2_343, 2_344].map((row) => [keyOf(row), row]));
  });

  it('looks up rows in any order, and knows nothing of another list', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, [...rows(2100), loadRow(2105)]);
    ledger.commit(run, [], [claimOf(7)], NOON);
    ledger.commit(run, [resultOf(7, { state: 'rejected', reason: 'status' })], [], NOON);
    const stateOf = ledger.stateOf(run);
    const order = [0, 7, 1500, 2099, 2100, 2105, 2106, 9000, 7, 3, 7, 1000, 7, 7, 2105];
    const expected = order.map((row) => {
      if (row > 2105 || row === 2100) return null;
      return row === 7
        ? { outcome: 'rejected', reason: 'status', step: 0, to: keyOf(row) }
        : { outcome: 'pending', reason: null, step: 0, to: keyOf(row) };
    });
    expect(order.map((row) => stateOf(row, keyOf(row)))).toEqual(expected);
    expect(stateOf(7, keyOf(8))).toBeNull();
  });

  it('counts the pending rows of a start as the counts do, in flight or left behind', () => {
    const { ledger, run, path } = fellBack(10, [1, 2]);
    const lock = lockRun(path, HELLO);
    ledger.commit(run, [], [0, 3, 6, 8].map(claimOf), NOON);
    ledger.commit(run, [], [onStep(1, 2, BY_MAIL.to)], NOON);
    const failed = resultOf(8, { state: 'failed', reason: 'connect', httpStatus: null, messageId: null });
    const refused = (row: number, step: number) => unsupported(row, { step, reason: 'status', httpStatus: 400 });
    ledger.commit(run, [resultOf(0), refused(3, 0), refused(2, 1), failed], [], NOON);
    const waiting = [4, 5].map((row) => ({ row, step: 0, reason: row === 4 ? 'winner-undecided' : 'outside-window' }));
    ledger.defer(run, waiting, NOON);
    const compare = (expected: readonly [number, number]) => {
      for (const [i, rejected] of [false, true].entries()) {
        const states: readonly string[] = ['pending', 'failed', 'deferred', ...(rejected ? ['rejected'] : [])];
        const counted = ledger.counts(run).filter(({ outcome }) => states.includes(outcome));
        const rows = counted.reduce((sum, { count }) => sum + count, 0);
        expect(ledger.countOpen(run, { rejected })).toEqual({ rows, undecided: 1 });
        expect(rows).toBe(expected[i]);
      }
    };
    compare([7, 9]);
    lock?.release();
    compare([6, 8]);
  });
});
