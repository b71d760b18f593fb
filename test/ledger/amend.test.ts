import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { LoadRow, RunRecord } from '../../src/ledger/records.ts';
import { SKIP_REASONS } from '../../src/model.ts';
import { amendedRun } from './given.ts';
import { claimAll, fates, givenRun, open, recordAll, scratchPath, thrown } from './scratch.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf } from './values.ts';

const INPUT = { role: 'recipients', file: 'people.csv', sha256: 'cd'.repeat(32) } as const;
const LATER = NOON + 60_000;

function list(...rows: [key: string | null, changes?: Partial<LoadRow>][]): LoadRow[] {
  return rows.map(([key, changes], row) => loadRow(row, { key, ...changes }));
}

function amended(ledger: Ledger, run: RunRecord, rows: readonly LoadRow[]): RunRecord {
  return amendedRun(ledger, run, rows, { inputs: [INPUT], nowMs: LATER });
}

/** Key and fate of every row, in list order. */
function people(ledger: Ledger, run: RunRecord): string[] {
  const outcomes = [...ledger.outcomes(run)].flat();
  return outcomes.map((o, i) => `${o.row === i ? '' : `row ${o.row}! `}${o.key}: ${fates(ledger, run)[i]}`);
}

const SKIPPED = { state: 'skipped', reason: 'duplicate' } as const;
const EXCLUDED = { state: 'skipped', reason: 'excluded' } as const;
const SUPPRESSED = { state: 'skipped', reason: 'suppressed' } as const;

describe('amend', () => {
  it.each(SKIP_REASONS)('a row that was skipped as %s and is sent to by the new list', (reason) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, list(['one', { state: 'skipped', reason }], ['two', { state: 'skipped', reason }]));
    const after = amended(ledger, run, list(['one'], ['two', { state: 'skipped', reason: 'holdout' }]));
    const again = [
      ...'missing-variable render-error bad-row invalid-address suppressed unreachable country removed'.split(' '),
      ...'duplicate'.split(' '),
    ];
    const expected = again.includes(reason)
      ? ['pending', 'skipped(holdout)']
      : [`skipped(${reason})`, `skipped(${reason})`];
    expect(fates(ledger, after)).toEqual(expected);
    expect(after.state).toBe(again.includes(reason) ? 'partial' : run.state);
  });

  it('a row without a key is not a person who was erased', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, list(['one'], [null, { state: 'skipped', reason: 'invalid-address' }]));
    expect(ledger.hasErased(run)).toBe(false);
  });

  it('keeps the hash of a text that may still resolve a doubt, also of a recipient who is gone', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, list(['doubt'], ['gone']));
    const keys = ['doubt', 'gone'];
    claimAll(
      ledger,
      run,
      keys.map((key, row) => ({ row, step: 0, key, to: key })),
    );
    const doubt = { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null } as const;
    const results = keys.map((key, row) => resultOf(row, { ...doubt, textHash: `hash of ${key}` }));
    ledger.commit(run, results, [], NOON);
    ledger.finish(run, { state: 'partial', halt: null, figures: null, nowMs: NOON });
    amended(ledger, run, list(['new'], ['doubt']));
    const found = [...ledger.events.inDoubt()].flat().map(({ row, key, textHash }) => [row, key, textHash]);
    expect(found).toEqual([
      [1, 'doubt', 'hash of doubt'],
      [2, 'gone', 'hash of gone'],
    ]);
  });

  it('keeps what happened with the recipient, gives all others the new list, forgets no recipient', () => {
    const ledger = open(scratchPath());
    const run = givenRun(
      ledger,
      list(
        ['accepted'],
        ['rejected'],
        ['doubt'],
        ['failed'],
        ['claimed'],
        ['pending'],
        ['suppressed', { state: 'skipped', reason: 'suppressed' }],
        ['deferred', { state: 'deferred' }],
        ['accepted', SKIPPED],
        [null, { state: 'skipped', reason: 'bad-row' }],
        ['gone accepted'],
        ['gone pending'],
        ['gone failed'],
        ['gone accepted', SKIPPED],
      ),
    );
    const claim = (row: number, key: string) => ({ row, step: 0, key, to: key });
    claimAll(ledger, run, [
      claim(0, 'accepted'),
      claim(1, 'rejected'),
      claim(2, 'doubt'),
      claim(3, 'failed'),
      claim(4, 'claimed'),
      claim(10, 'gone accepted'),
      claim(12, 'gone failed'),
    ]);
    recordAll(ledger, run, [
      resultOf(0),
      resultOf(1, { state: 'rejected', reason: 'status', httpStatus: 400 }),
      resultOf(2, { state: 'in-doubt', reason: 'timeout' }),
      resultOf(3, { state: 'failed', reason: 'dns', attempts: 3 }),
      resultOf(10),
      resultOf(12, { state: 'failed', reason: 'dns', attempts: 2 }),
    ]);
    const before = [...ledger.outcomes(run)].flat();

    const after = amended(
      ledger,
      run,
      list(
        ['new', { variant: 'b' }],
        ['pending', { parts: 2 }],
        ['claimed'],
        ['failed', { parts: 3 }],
        ['doubt'],
        ['suppressed', { parts: 4 }],
        ['rejected', { state: 'skipped', reason: 'excluded' }],
        ['accepted', { to: 'elsewhere', parts: 9, costMicros: 1, variant: 'b' }],
        ['deferred'],
        ['new', SKIPPED],
        ['accepted', SKIPPED],
        [null, { state: 'skipped', reason: 'bad-row' }],
      ),
    );
    expect(people(ledger, after)).toEqual([
      'new: pending',
      'pending: pending',
      'claimed: in-doubt(crash)',
      'failed: pending',
      'doubt: in-doubt(timeout)',
      'suppressed: pending',
      'rejected: rejected(status)',
      'accepted: accepted',
      'deferred: pending',
      'new: skipped(duplicate)',
      'accepted: skipped(duplicate)',
      'null: skipped(bad-row)',
      'gone accepted: accepted',
      'gone pending: skipped(removed)',
      'gone failed: skipped(removed)',
    ]);
    expect(after).toMatchObject({
      number: run.number,
      id: run.id,
      rows: 15,
      inputs: [INPUT],
      state: 'partial',
      starts: 1,
    });
    const outcomes = [...ledger.outcomes(after)].flat();
    expect(outcomes[7]).toEqual({ ...before[0], row: 7, line: 9, listTo: 'elsewhere' });
    expect(outcomes[1]).toMatchObject({ parts: 2 });
    expect(outcomes[3]).toMatchObject({ parts: 3, attempts: 3, httpStatus: null });
    expect(outcomes[13]).toMatchObject({ updatedAt: new Date(LATER).toISOString(), line: 13 });
    expect(ledger.runs()).toEqual([after]);

    expect(ledger.start(after, LATER).recovered).toBe(0);
    expect(ledger.pending(after, -1, 99).map((p) => [p.key, p.attempts])).toEqual([
      ['new', 0],
      ['pending', 0],
      ['failed', 3],
      ['suppressed', 0],
      ['deferred', 0],
    ]);
    expect(ledger.commit(after, [], [{ row: 7, step: 0, key: 'accepted', to: 'accepted' }], LATER)).toEqual(['taken']);
  });

  it('again and again: who was removed and comes back is sent to, who was sent to is not', () => {
    const ledger = open(scratchPath());
    let run = givenRun(ledger, list(['a'], ['b']));
    ledger.commit(run, [], [{ row: 0, step: 0, key: 'a', to: 'a' }], NOON);
    ledger.commit(run, [resultOf(0)], [], NOON);
    run = amended(ledger, run, list(['c']));
    expect(people(ledger, run)).toEqual(['c: pending', 'a: accepted', 'b: skipped(removed)']);
    run = amended(ledger, run, list(['d']));
    expect(people(ledger, run)).toEqual(['d: pending', 'c: skipped(removed)', 'a: accepted', 'b: skipped(removed)']);
    run = amended(ledger, run, list(['b'], ['a']));
    expect(people(ledger, run)).toEqual(['b: pending', 'a: accepted', 'd: skipped(removed)', 'c: skipped(removed)']);
  });

  it('of several rows with one key, the one that was sent to counts', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, list(['a', { state: 'skipped', reason: 'invalid-address' }], ['a'], ['a', SKIPPED]));
    ledger.commit(run, [], [{ row: 1, step: 0, key: 'a', to: 'a' }], NOON);
    ledger.commit(run, [resultOf(1, { state: 'in-doubt', reason: 'timeout' })], [], NOON);
    expect(people(ledger, amended(ledger, run, list(['a'])))).toEqual(['a: in-doubt(timeout)']);
  });

  it('of several rows with one key, those that a rule leaves out do not count', () => {
    const ledger = open(scratchPath());
    const rows = list(['a', EXCLUDED], ['a'], ['b', EXCLUDED], ['b'], ['c', EXCLUDED], ['c', SUPPRESSED]);
    const run = givenRun(ledger, rows);
    ledger.commit(run, [], [{ row: 1, step: 0, key: 'a', to: 'a' }], NOON);
    ledger.commit(run, [resultOf(1)], [], NOON);
    const after = amended(ledger, run, rows);
    const excluded = 'skipped(excluded)';
    expect(people(ledger, after)).toEqual([
      ...[`a: ${excluded}`, 'a: accepted', `b: ${excluded}`, 'b: pending'],
      ...[`c: ${excluded}`, 'c: skipped(suppressed)'],
    ]);
    const other = list(['a', EXCLUDED], ['a', EXCLUDED], ['b'], ['b', EXCLUDED], ['c'], ['c', EXCLUDED]);
    expect(people(ledger, amended(ledger, after, other))).toEqual([
      ...['a: accepted', `a: ${excluded}`, 'b: pending', `b: ${excluded}`],
      ...['c: pending', `c: ${excluded}`],
    ]);
  });

  it('an empty list and the same list', () => {
    const ledger = open(scratchPath());
    let run = givenRun(ledger, list(['a']));
    run = amended(ledger, run, list(['a']));
    expect(people(ledger, run)).toEqual(['a: pending']);
    run = amended(ledger, run, []);
    expect(people(ledger, run)).toEqual(['a: skipped(removed)']);
    expect(run.rows).toBe(1);
  });

  it('refuses another channel, a loaded list, and leaves the run as it was', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, [loadRow(0)]);
    const draft = ledger.beginLoad(HELLO, { channel: 'voice', nowMs: NOON });
    expect(thrown(() => ledger.amend(run, draft, { inputs: [], nowMs: NOON }))).toMatchObject({
      code: 'identity-changed',
      exit: 2,
    });
    expect(() => ledger.amend(run, run, { inputs: [], nowMs: NOON })).toThrow('not loaded');
    expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
    expect(ledger.findRun(HELLO)?.rows).toBe(1);
    expect([...ledger.outcomes(run)].flat()[0]?.key).toBe(keyOf(0));
  });
});
