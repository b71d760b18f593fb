import { expect, it } from 'vitest';
import { problem } from '../../src/errors.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import type { ClaimAnswer, ClaimRequest, ResultRecord } from '../../src/ledger/records.ts';
import { createGroupCommit } from '../../src/send/group-commit.ts';

const claim = (row: number): ClaimRequest => ({ row, step: 0, to: `+4470000${row}`, key: `+4470000${row}` });
const result = (row: number): ResultRecord => ({
  row,
  step: 0,
  from: 'claimed',
  state: 'accepted',
  reason: null,
  attempts: 1,
  httpStatus: 202,
  messageId: null,
  error: null,
});

/** Records what a group wrote, transaction by transaction; fails on request. */
function paper(fail: (transaction: number) => Error | null = () => null) {
  const transactions: { results: number[]; claims: number[] }[] = [];
  let count = 0;
  return {
    transactions,
    commit(results: readonly ResultRecord[], claims: readonly ClaimRequest[]): ClaimAnswer[] {
      count += 1;
      const error = fail(count);
      if (error !== null) throw error;
      transactions.push({ results: results.map((r) => r.row), claims: claims.map((c) => c.row) });
      return claims.map((c) => (c.row === 13 ? 'suppressed' : 'claimed'));
    },
  };
}

it('puts all that comes in during one turn into one transaction', async () => {
  const ledger = paper();
  const group = createGroupCommit(ledger, () => undefined);
  group.record(result(1));
  group.record(result(2));
  expect(await Promise.all([group.claim([claim(3), claim(4)]), group.claim([claim(13)])])).toEqual([
    ['claimed', 'claimed'],
    ['suppressed'],
  ]);
  expect(ledger.transactions).toEqual([{ results: [1, 2], claims: [3, 4, 13] }]);
});

it('writes an outcome at the end of the turn when there is no claim', async () => {
  const ledger = paper();
  const group = createGroupCommit(ledger, () => undefined);
  group.record(result(1));
  await group.flush();
  expect(ledger.transactions).toEqual([{ results: [1], claims: [] }]);
});

it('writes an outcome by the next turn, also when nothing asks for it', async () => {
  const ledger = paper();
  const group = createGroupCommit(ledger, () => undefined);
  group.record(result(1));
  expect(ledger.transactions).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(ledger.transactions).toEqual([{ results: [1], claims: [] }]);
});

it('waits a moment for others while most are out, and not when half of them wait', async () => {
  const ledger = paper();
  const timers: (() => void)[] = [];
  const turns: (() => void)[] = [];
  const turn = (): void => {
    for (const work of turns.splice(0)) work();
  };
  const group = createGroupCommit(ledger, () => undefined, {
    soon: (work) => turns.push(work),
    later: (_ms, work) => timers.push(work),
    monotonicMs: () => 0,
  });
  const out = group.claim([claim(1), claim(2), claim(3), claim(4)]);
  turn();
  expect(await out).toHaveLength(4);
  const written = () => ledger.transactions.slice(1);

  group.record(result(1));
  const fifth = group.claim([claim(5)]);
  turn();
  // Three are out, and one waits.
  expect([written(), timers.length]).toEqual([[], 1]);
  group.record(result(2));
  const sixth = group.claim([claim(6)]);
  turn();
  expect(written()).toEqual([{ results: [1, 2], claims: [5, 6] }]);
  expect(await Promise.all([fifth, sixth])).toEqual([['claimed'], ['claimed']]);

  // The time of the first wait is over, and what came since is written with it.
  group.record(result(3));
  turn();
  expect([written().length, timers.length]).toEqual([1, 1]);
  timers[0]?.();
  expect(written()[1]).toEqual({ results: [3], claims: [] });
});

it('with many out waits for two of three, and once more for the quick ones', async () => {
  const ledger = paper();
  const timers: (() => void)[] = [];
  const turns: (() => void)[] = [];
  const turn = (): void => {
    for (const work of turns.splice(0)) work();
  };
  const group = createGroupCommit(ledger, () => undefined, {
    soon: (work) => turns.push(work),
    later: (_ms, work) => timers.push(work),
    monotonicMs: () => 0,
  });
  const answer = (from: number, to: number): void => {
    for (let row = from; row < to; row++) {
      group.record(result(row));
      void group.claim([claim(60 + row)]);
    }
    turn();
  };
  void group.claim(Array.from({ length: 60 }, (_, row) => claim(row)));
  turn();
  const written = () => ledger.transactions.slice(1).map(({ results, claims }) => [results.length, claims.length]);

  // Half of them have an answer, then two of three.
  answer(0, 30);
  expect([written(), timers.length]).toEqual([[], 1]);
  answer(30, 40);
  expect(written()).toEqual([[40, 40]]);

  // Nothing waits when the time of that wait is over.
  timers[0]?.();
  expect(written()).toHaveLength(1);

  // A third has an answer by the end of the wait, so there is another one, and no third.
  answer(40, 60);
  timers[1]?.();
  expect([written().length, timers.length]).toEqual([1, 3]);
  timers[2]?.();
  expect([written()[1], timers.length]).toEqual([[20, 20], 3]);

  // Fewer than that: they are slow, and one wait is all.
  answer(60, 70);
  timers[3]?.();
  expect([written()[2], timers.length]).toEqual([[10, 10], 4]);
});

it('tries once more to keep the outcomes when a commit fails, and refuses every claim from then on', async () => {
  const full = new LedgerError('full', problem('ledger-write', 'No room.'));
  const ledger = paper((n) => (n === 1 ? full : null));
  const failures: Error[] = [];
  const group = createGroupCommit(ledger, (error) => failures.push(error));
  group.record(result(1));
  expect(await group.claim([claim(2)])).toBe(null);
  expect(ledger.transactions).toEqual([{ results: [1], claims: [] }]);
  expect(await group.claim([claim(3)])).toBe(null);
  group.record(result(4));
  await group.flush();
  expect(ledger.transactions.map((t) => t.results)).toEqual([[1], [4]]);
  expect(ledger.transactions.flatMap((t) => t.claims)).toEqual([]);
  expect(failures).toEqual([full]);
});

it('does not write outcomes twice that the ledger kept although the claims failed', async () => {
  const kept = new LedgerError('full', problem('ledger-write', 'No room.'), true);
  const ledger = paper((n) => (n === 1 ? kept : null));
  const group = createGroupCommit(ledger, () => undefined);
  group.record(result(1));
  expect(await group.claim([claim(2)])).toBe(null);
  expect(ledger.transactions).toEqual([]);
});
