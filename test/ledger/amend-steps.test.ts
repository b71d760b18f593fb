import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { LoadRow, ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import { BY_MAIL, BY_VOICE, onStep, unsupported } from './fallbacks.ts';
import { amendedRun } from './given.ts';
import { claimAll, fates, givenRun, open, scratchPath } from './scratch.ts';
import { loadRow, NOON, resultOf } from './values.ts';

const LATER = NOON + 60_000;
const INVALID = { state: 'skipped', reason: 'invalid-address' } as const;
const EXCLUDED = { state: 'skipped', reason: 'excluded' } as const;
const WAITS = { state: 'deferred', reason: 'winner-undecided' } as const;

function list(...rows: [key: string | null, changes?: Partial<LoadRow>][]): LoadRow[] {
  return rows.map(([key, changes], row) => loadRow(row, { key, line: row + 10, ...changes }));
}

const amended = (ledger: Ledger, run: RunRecord, rows: readonly LoadRow[]) =>
  amendedRun(ledger, run, rows, { nowMs: LATER });

/** What happens to a step after it was claimed. */
type End = Partial<ResultRecord>;
const END: Readonly<Record<string, End | null>> = {
  accepted: {},
  rejected: { state: 'rejected', reason: 'status' },
  doubt: { state: 'in-doubt', reason: 'timeout' },
  failed: { state: 'failed', reason: 'dns', attempts: 2 },
  claimed: null,
};

/** A run of people who fell back, each named by what became of the step after; `pending` ones were not tried. */
function given(...names: readonly string[]): { ledger: Ledger; run: RunRecord } {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, list(...names.map((key) => [key] as [string])));
  names.forEach((key, row) => {
    ledger.commit(run, [], [{ row, step: 0, key, to: key }], NOON);
    ledger.commit(run, [unsupported(row, { next: BY_MAIL })], [], NOON);
    const end = END[key.split(' ').at(-1) ?? ''];
    if (end !== undefined) ledger.commit(run, [], [onStep(1, row, BY_MAIL.to, { key })], NOON);
    if (end !== undefined && end !== null) ledger.commit(run, [resultOf(row, { step: 1, ...end })], [], NOON);
  });
  return { ledger, run };
}

/** Line, key, fate and number of steps of every row. */
function people(ledger: Ledger, run: RunRecord): string[] {
  const what = fates(ledger, run);
  return [...ledger.outcomes(run)].flat().map((o, i) => `${o.line} ${o.key}: ${what[i]} ${o.steps?.length ?? 1}`);
}

describe('amend', () => {
  it('moves the steps with their person, keeps what is final and tries the rest again', () => {
    const { ledger, run } = given('accepted', 'rejected', 'doubt', 'failed', 'claimed', 'pending');
    const before = [...ledger.outcomes(run)].flat();
    const after = amended(
      ledger,
      run,
      list(['pending'], ['new'], ['claimed'], ['failed'], ['doubt'], ['rejected', EXCLUDED], ['accepted', { to: 'x' }]),
    );
    expect(people(ledger, after)).toEqual([
      '10 pending: pending 2',
      '11 new: pending 1',
      '12 claimed: in-doubt(crash) 2',
      '13 failed: pending 2',
      '14 doubt: in-doubt(timeout) 2',
      '15 rejected: rejected(status) 2',
      '16 accepted: accepted 2',
    ]);
    expect(after.rows).toBe(7);
    expect([...ledger.outcomes(after)].flat()[6]).toEqual({ ...before[0], row: 6, line: 16 });
    expect(ledger.start(after, LATER).recovered).toBe(0);
    expect(ledger.pending(after, -1, 9)).toMatchObject([
      { row: 0, step: 1, key: 'pending', attempts: 0 },
      { row: 1, step: 0, key: 'new', attempts: 0 },
      { row: 3, step: 1, key: 'failed', attempts: 2 },
    ]);
    const taken = [{ row: 0, step: 0, key: 'pending', to: 'pending' }, onStep(1, 6, BY_MAIL.to, { key: 'accepted' })];
    expect(ledger.commit(after, [], taken, LATER)).toEqual(['taken', 'taken']);
  });

  it('keeps recipients who are gone, behind the list; a step that was not over is removed, and back with the recipient', () => {
    const { ledger, run } = given('gone accepted', 'gone pending', 'gone failed', 'gone claimed');
    let after = amended(ledger, run, list(['new']));
    expect(people(ledger, after)).toEqual([
      '10 new: pending 1',
      '10 gone accepted: accepted 2',
      '11 gone pending: skipped(removed) 2',
      '12 gone failed: skipped(removed) 2',
      '13 gone claimed: in-doubt(crash) 2',
    ]);
    expect([...ledger.outcomes(after)].flat()[2]).toMatchObject({
      updatedAt: new Date(LATER).toISOString(),
      channel: 'email',
    });
    after = amended(ledger, after, list(['gone failed'], ['gone pending', EXCLUDED], ['gone accepted']));
    expect(people(ledger, after)).toEqual([
      '10 gone failed: pending 2',
      '11 gone pending: skipped(excluded) 2',
      '12 gone accepted: accepted 2',
      '10 new: skipped(removed) 1',
      '13 gone claimed: in-doubt(crash) 2',
    ]);
  });

  it('lets a step that is not over be as the new list says', () => {
    const { ledger, run } = given('a pending', 'b pending', 'c failed');
    const after = amended(ledger, run, list(['c failed', WAITS], ['b pending', EXCLUDED], ['a pending']));
    expect(fates(ledger, after)).toEqual(['deferred(winner-undecided)', 'skipped(excluded)', 'pending']);
    expect(ledger.start(after, LATER).run.state).toBe('running');
    expect(ledger.pending(after, -1, 9).map((p) => [p.row, p.step, p.attempts])).toMatchObject([
      [0, 1, 2],
      [2, 1, 0],
    ]);
  });

  it('never has a step twice: of several rows with one key, that which can be sent to has it', () => {
    const { ledger, run } = given('a pending');
    const after = amended(ledger, run, list(['a pending', INVALID], ['a pending'], ['a pending', INVALID]));
    expect(people(ledger, after)).toEqual([
      '10 a pending: skipped(invalid-address) 1',
      '11 a pending: pending 2',
      '12 a pending: skipped(invalid-address) 1',
    ]);
    expect(ledger.pending(after, -1, 9).map((p) => [p.row, p.step])).toMatchObject([[1, 1]]);
    const again = amended(ledger, after, list(['a pending', INVALID], ['b']));
    expect(people(ledger, again)).toEqual(['10 a pending: skipped(invalid-address) 2', '11 b: pending 1']);
  });

  it('takes along three steps as it takes two', () => {
    const { ledger, run } = given('a pending', 'b pending');
    ledger.commit(run, [], [onStep(1, 0, BY_MAIL.to, { key: 'a pending' })], NOON);
    ledger.commit(run, [unsupported(0, { step: 1, next: BY_VOICE })], [], NOON);
    const after = amended(ledger, run, list(['b pending'], ['a pending']));
    expect(ledger.pending(after, -1, 9).map((p) => [p.row, p.step])).toMatchObject([
      [0, 1],
      [1, 2],
    ]);
    expect([...ledger.outcomes(after)].flat()[1]?.steps?.map(({ channel }) => channel)).toEqual([
      'sms',
      'email',
      'voice',
    ]);
  });

  it('keeps the channel that a recipient was sent to on, and gives all others that of the new list', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, list(['a', { channel: 'rcs' }], ['b', { channel: 'rcs' }], ['c', { channel: 'rcs' }]));
    claimAll(
      ledger,
      run,
      [0, 2].map((row) => ({ row, step: 0, key: 'abc'.charAt(row), to: 'abc'.charAt(row) })),
    );
    ledger.commit(run, [resultOf(0), resultOf(2)], [], NOON);
    const after = amended(ledger, run, list(['b'], ['a']));
    expect([...ledger.outcomes(after)].flat().map(({ key, channel }) => [key, channel])).toEqual([
      ['b', 'sms'],
      ['a', 'rcs'],
      ['c', 'rcs'],
    ]);
  });
});
