import { expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import { amendedRun } from './given.ts';
import { claimAll, givenRun, lookInto, open, recordAll, scratchPath } from './scratch.ts';
import { claimOf, loadRow, NOON, resultOf, rows } from './values.ts';

const END = { state: 'finished', halt: null, figures: null, nowMs: NOON } as const;

/** A run that ended with these outcomes; its counts as the table of runs has them. */
function ended(outcomes: readonly Partial<ResultRecord>[]) {
  const path = scratchPath();
  const ledger = open(path);
  const run = givenRun(ledger, rows(outcomes.length));
  claimAll(
    ledger,
    run,
    rows(outcomes.length).map(({ row }) => claimOf(row)),
  );
  recordAll(
    ledger,
    run,
    outcomes.map((outcome, row) => resultOf(row, outcome)),
  );
  return { ledger, run: ledger.finish(run, END), kept: () => keptIn(path) };
}

const keptIn = (path: string) => lookInto(path, 'SELECT counts FROM runs')[0]?.[0];

const words = (ledger: Ledger, run: RunRecord) =>
  ledger
    .steps(run)
    .map(({ outcome, reason, count }) => `${count} ${outcome} ${reason}`)
    .sort();

test('a run that ended is not counted again', () => {
  const { ledger, run, kept } = ended([
    { state: 'accepted' },
    { state: 'accepted' },
    { state: 'failed', reason: 'dns' },
  ]);
  expect(words(ledger, run)).toEqual(['1 failed dns', '2 accepted null']);
  expect(kept()).toBe(JSON.stringify(ledger.steps(run)));
});

test('nothing is kept while a row is open, whatever the run is said to be', () => {
  const path = scratchPath();
  const ledger = open(path);
  const run = givenRun(ledger, [loadRow(0), loadRow(1, { state: 'deferred', reason: 'window-closed' })]);
  ledger.commit(run, [], [claimOf(0)], NOON);
  ledger.finish(run, END);
  expect(keptIn(path)).toBeNull();
  ledger.commit(run, [resultOf(0)], [], NOON);
  ledger.finish(run, END);
  expect(keptIn(path)).toBeNull();
  ledger.closeRun(run, NOON);
  expect(keptIn(path)).not.toBeNull();
  expect(words(ledger, run)).toEqual(['1 accepted null', '1 skipped closed']);
});

const DOUBT = { state: 'in-doubt', reason: 'timeout' } as const;

test('a person who resolves a doubt, with the counts kept again', () => {
  const { ledger, run, kept } = ended([DOUBT, DOUBT, { state: 'accepted' }]);
  const doubts = [...ledger.doubts(run)].flat();
  const order = { messageId: null, who: 'alice', note: null, nowMs: NOON } as const;
  ledger.resolve(run, doubts.slice(0, 1), { verdict: 'rejected', ...order });
  expect(words(ledger, run)).toEqual(['1 accepted null', '1 in-doubt timeout', '1 rejected resolved']);
  expect(kept()).not.toBeNull();
  ledger.resolve(run, doubts.slice(1), { verdict: 'resend', ...order });
  expect(kept()).toBeNull();
  expect(words(ledger, run)).toEqual(['1 accepted null', '1 pending resend', '1 rejected resolved']);
});

test('a delivery report about a doubt, with the counts kept after the last one', () => {
  const { ledger, run, kept } = ended([DOUBT, DOUBT]);
  const facts = { messageId: null, note: 'delivered', nowMs: NOON };
  const [first, second] = [...ledger.events.inDoubt()].flat();
  if (first === undefined || second === undefined) throw new Error('two are in doubt');
  ledger.events.resolve(first, facts);
  expect([kept(), words(ledger, run)]).toEqual([null, ['1 accepted resolved', '1 in-doubt timeout']]);
  ledger.events.resolve(second, facts);
  expect(words(ledger, run)).toEqual(['2 accepted resolved']);
  expect(kept()).not.toBeNull();
});

test('a start tries the failed and the rejected again', () => {
  const { ledger, run, kept } = ended([
    { state: 'failed', reason: 'dns' },
    { state: 'rejected', reason: 'status' },
  ]);
  ledger.start(run, NOON);
  expect([kept(), words(ledger, run)]).toEqual([null, ['1 pending null', '1 rejected status']]);
  ledger.commit(run, [], [claimOf(0)], NOON);
  ledger.commit(run, [resultOf(0, { attempts: 2 })], [], NOON);
  ledger.finish(run, END);
  expect(kept()).not.toBeNull();
  ledger.reopenRejected(run);
  expect([kept(), words(ledger, run)]).toEqual([null, ['1 accepted null', '1 pending null']]);
});

test('an amended run has the counts of its new list', () => {
  const { ledger, run, kept } = ended([{ state: 'accepted' }]);
  const amended = amendedRun(ledger, run, rows(3));
  expect([kept(), words(ledger, amended)]).toEqual([null, ['1 accepted null', '2 pending null']]);
});

test('a purge and an erasure change no counts, and keep them', () => {
  const { ledger, run, kept } = ended([{ state: 'accepted' }, { state: 'rejected', reason: 'status' }]);
  const before = [kept(), words(ledger, run)];
  const marked = ledger.purge.mark(run, NOON);
  for (const _ of ledger.purge.clear(marked));
  expect([kept(), words(ledger, run)]).toEqual(before);
  expect([...ledger.outcomes(marked)].flat().map(({ key }) => key)).toEqual([null, null]);
});
