import { describe, expect, it } from 'vitest';
import type { RowSet } from '../../src/util/row-set.ts';
import { createRowSet } from '../../src/util/row-set.ts';
import { BY_MAIL, fellBack, onStep } from './fallbacks.ts';
import { fates, givenRun, open, scratchPath } from './scratch.ts';
import { claimOf, NOON, resultOf, rows } from './values.ts';

/*
 * J6. The ledger is that of the server that took over, at the last moment that it knows of; the sets are what the process
 * knows that sent.
 */

function setOf(all: readonly number[]): RowSet {
  const set = createRowSet();
  for (const row of all) set.add(row);
  return set;
}

describe('claims that another server lacks', () => {
  it('are claimed again, and in doubt at the next start; no other recipient is', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(6));
    ledger.commit(run, [], [0, 1, 2].map(claimOf), NOON);
    ledger.commit(run, [resultOf(0)], [], NOON);
    // Of 1 and 2 the server knows that they were claimed, of 3 and 4 it does not.
    expect(ledger.restoreClaims(run, [setOf([0, 1, 2, 3, 4])], NOON)).toBe(2);
    // What this process knows of one of them is still to be written.
    ledger.commit(run, [resultOf(3)], [], NOON);
    expect(ledger.start(run, NOON).recovered).toBe(3);
    expect(fates(ledger, run)).toEqual([
      'accepted',
      'in-doubt(crash)',
      'in-doubt(crash)',
      'accepted',
      'in-doubt(crash)',
      'pending',
    ]);
    expect(ledger.restoreClaims(run, [setOf([0, 1, 2, 3, 4])], NOON)).toBe(0);
  });

  it('are those of rows that were tried before, too: the server may lack the start in which they were tried again', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    ledger.commit(run, [], [0].map(claimOf), NOON);
    ledger.commit(run, [resultOf(0, { state: 'failed', reason: 'dns', attempts: 3 })], [], NOON);
    ledger.defer(run, [{ row: 1, step: 0, reason: 'outside-window' }], NOON);
    expect(ledger.restoreClaims(run, [setOf([0, 1])], NOON)).toBe(2);
    expect(ledger.start(run, NOON).recovered).toBe(2);
    expect(fates(ledger, run)).toEqual(['in-doubt(crash)', 'in-doubt(crash)', 'pending']);
    expect([...ledger.outcomes(run)].flat().map(({ attempts }) => attempts)).toEqual([4, 1, 0]);
  });

  it('of a later step are claims of that step, as far as the server knows it', () => {
    const { ledger, run } = fellBack(4, [0, 1]);
    // 2 fell back too, after another process had sent to it, and 3 did as a report said so; the server knows of neither.
    ledger.commit(run, [], [claimOf(3)], NOON);
    ledger.commit(run, [resultOf(3)], [], NOON);
    expect(ledger.restoreClaims(run, [setOf([0, 1, 3]), setOf([0, 2, 3])], NOON)).toBe(3);
    const doubt = 'in-doubt(crash)';
    expect(fates(ledger, run)).toEqual([doubt, 'pending', doubt, doubt]);
    expect([...ledger.doubts(run)].flat().map(({ row, step }) => [row, step])).toEqual([
      [0, 1],
      [2, 0],
      [3, 1],
    ]);
    expect(ledger.commit(run, [], [onStep(1, 1, BY_MAIL.to)], NOON)).toEqual(['claimed']);
    ledger.start(run, NOON);
    expect([...ledger.doubts(run)].flat().map(({ row, step }) => [row, step])).toEqual([
      [0, 1],
      [1, 1],
      [2, 0],
      [3, 1],
    ]);
  });

  it('are found in a long list', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(9000));
    const claimed = Array.from({ length: 9000 }, (_, row) => row).filter((row) => row % 3 === 0);
    expect(ledger.restoreClaims(run, [setOf(claimed)], NOON)).toBe(3000);
    expect(ledger.pending(run, -1, 9000).every(({ row }) => row % 3 !== 0)).toBe(true);
    expect(ledger.start(run, NOON).recovered).toBe(3000);
  });

  it('of a run, or of a list, that the server does not know are ignored', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    expect(ledger.restoreClaims({ ...run, list: run.list + 1 }, [setOf([0])], NOON)).toBeNull();
    expect(ledger.restoreClaims({ ...run, number: run.number + 1 }, [setOf([0])], NOON)).toBeNull();
    expect(fates(ledger, run)).toEqual(['pending', 'pending']);
  });
});
