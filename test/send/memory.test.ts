import { expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createMemory } from '../../src/send/memory.ts';
import { fates, givenRun, open, scratchPath } from '../ledger/scratch.ts';
import { claimOf, NOON, resultOf, rows } from '../ledger/values.ts';

/** The same ledger, as one of a server with this history. */
function of(ledger: Ledger, history: number): Pick<Ledger, 'history' | 'restoreClaims' | 'commit'> {
  return { history, restoreClaims: ledger.restoreClaims, commit: ledger.commit };
}

const FAILED = resultOf(2, { state: 'failed', reason: 'dns', attempts: 3, httpStatus: null, messageId: null });

it('says to the same server what could not be written, and nothing else', () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(3));
  const memory = createMemory();
  const own = memory.of(run, of(ledger, 1));
  ledger.commit(run, [], [claimOf(0)], NOON);
  own.committed([], [claimOf(0), claimOf(1)], ['claimed', 'taken']);
  own.unwritten.push(resultOf(0));
  expect(memory.recall(of(ledger, 1), NOON)).toEqual([]);
  expect(fates(ledger, run)).toEqual(['accepted', 'pending', 'pending']);
  expect(memory.recall(of(ledger, 1), NOON)).toEqual([]);
  expect(memory.recalls).toBe(2);
});

it('tells another server which recipients it had claimed, unless the API has nothing of them (J6)', () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(5));
  const memory = createMemory();
  const own = memory.of(run, of(ledger, 1));
  const claims = [0, 1, 2, 3].map(claimOf);
  own.committed([], claims, ['claimed', 'claimed', 'claimed', 'held']);
  // 2 never reached the API, and may be tried again whatever the server knows.
  own.committed([FAILED], [], []);
  own.unwritten.push(resultOf(1));
  expect(own.recipients).toBe(2);
  expect(memory.recall(of(ledger, 2), NOON)).toMatchObject([{ run: { id: run.id }, restored: 2 }]);
  expect(fates(ledger, run)).toEqual(['in-doubt(crash)', 'accepted', 'pending', 'pending', 'pending']);
  // Once for each server.
  expect(memory.recall(of(ledger, 2), NOON)).toEqual([]);
  expect(memory.of(run, of(ledger, 2))).toBe(own);
});

it('says that another server does not know the run (J6)', () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(1));
  const memory = createMemory();
  const gone = { ...run, number: run.number + 1 };
  memory.of(gone, of(ledger, 1)).unwritten.push(resultOf(0));
  expect(memory.recall(of(ledger, 2), NOON)).toEqual([{ run: gone, restored: null }]);
  expect(fates(ledger, run)).toEqual(['pending']);
});

it('remembers only the latest runs', () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(1));
  const memory = createMemory();
  const first = memory.of(run, of(ledger, 1));
  for (let number = 100; number < 200; number += 1) memory.of({ ...run, number }, of(ledger, 1));
  expect(memory.of(run, of(ledger, 1))).not.toBe(first);
  expect(memory.last?.run).toBe(run);
});
