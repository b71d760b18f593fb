import { describe, expect, it } from 'vitest';
import type { Ledger, ReachRules } from '../../src/ledger/ledger.ts';
import type { LoadRow, RunRecord } from '../../src/ledger/records.ts';
import { open, recordAll, scratchPath } from './scratch.ts';
import { HELLO, loadRow, NOON, resultOf } from './values.ts';

const DAY = 86_400_000;
const SAME: ReachRules = { exclude: [], sinceMs: null, sameSinceMs: NOON - DAY };

/** A run of the campaign whose rows have times; it takes over what other runs have left. */
function begin(ledger: Ledger, occurrence: string, list: readonly LoadRow[], nowMs = NOON): RunRecord {
  const draft = ledger.beginLoad({ ...HELLO, occurrence }, { channel: 'sms', nowMs });
  ledger.load(draft, list);
  return ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs, takesOver: true });
}

const row = (at: number, person: string, time: string, changes: Partial<LoadRow> = {}): LoadRow =>
  loadRow(at, { key: `${person}|2026-12-0${time}`, to: `+44770090000${at}`, ...changes });

const claimOf = ({ row: at, key, to }: LoadRow) => ({ row: at, step: 0, key: key ?? '', to: to ?? '' });

/** `pending`, or `skipped removed`, of each row. */
function states(ledger: Ledger, run: RunRecord): readonly string[] {
  return [...ledger.outcomes(run)].flat().map(({ outcome, reason }) => [outcome, reason].filter(Boolean).join(' '));
}

function again(ledger: Ledger, { environment, campaign, occurrence }: RunRecord): RunRecord {
  const run = ledger.findRun({ environment, campaign, occurrence });
  if (run === null) throw new Error('the run is there');
  return run;
}

const [FIRST, SECOND] = [row(0, 'ann', '1T09:00:00Z'), row(1, 'bob', '1T10:00:00Z')];
const LATER = row(2, 'cy', '2T09:00:00Z', { state: 'deferred', reason: 'too-early' });

describe('a run that begins takes over what earlier ones have left', () => {
  it('their rows that nothing was claimed for are removed, in the transaction that makes it a run', () => {
    const ledger = open(scratchPath());
    const { run: older } = ledger.start(begin(ledger, 'one', [FIRST, SECOND, LATER]), NOON);
    ledger.commit(older, [], [claimOf(FIRST)], NOON);
    ledger.commit(older, [resultOf(0)], [], NOON);
    ledger.finish(older, { state: 'partial', halt: null, figures: null, nowMs: NOON });
    const draft = ledger.beginLoad({ ...HELLO, occurrence: 'two' }, { channel: 'sms', nowMs: NOON });
    ledger.load(draft, [FIRST]);
    expect(states(ledger, older)).toEqual(['accepted', 'pending', 'pending']);
    ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs: NOON, takesOver: true });
    expect(states(ledger, older)).toEqual(['accepted', 'skipped removed', 'skipped removed']);
    expect(again(ledger, older)).toMatchObject({ state: 'finished', halt: null });
  });

  it('failed ones too, which the next start would try again', () => {
    const ledger = open(scratchPath());
    const { run: older } = ledger.start(begin(ledger, 'one', [FIRST]), NOON);
    recordAll(ledger, older, [resultOf(0, { from: 'pending', state: 'failed', reason: 'connect', messageId: null })]);
    ledger.finish(older, { state: 'partial', halt: null, figures: null, nowMs: NOON });
    begin(ledger, 'two', []);
    expect(states(ledger, older)).toEqual(['skipped removed']);
  });

  it('one in flight stays with the older run, which another process sends', () => {
    const ledger = open(scratchPath());
    const { run: older } = ledger.start(begin(ledger, 'one', [FIRST, SECOND]), NOON);
    ledger.commit(older, [], [claimOf(FIRST)], NOON);
    begin(ledger, 'two', [FIRST, SECOND]);
    expect(again(ledger, older).state).toBe('running');
    // The process that sends it goes on, with rows that are no longer its own.
    expect(ledger.commit(older, [resultOf(0)], [claimOf(SECOND)], NOON)).toEqual(['taken']);
    expect(states(ledger, older)).toEqual(['accepted', 'skipped removed']);
  });

  it('nothing of other campaigns, of tests, and of runs that are finished', () => {
    const ledger = open(scratchPath());
    const kept = [
      ledger.beginLoad({ ...HELLO, campaign: 'other' }, { channel: 'sms', nowMs: NOON }),
      ledger.beginLoad({ ...HELLO, environment: 'else' }, { channel: 'sms', nowMs: NOON }),
      ledger.beginLoad({ ...HELLO, occurrence: 'test-2026-11-21T12:00:00.000Z' }, { channel: 'sms', nowMs: NOON }),
    ].map((draft) => {
      ledger.load(draft, [FIRST]);
      return ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs: NOON });
    });
    begin(ledger, 'two', [FIRST]);
    for (const run of kept) expect(states(ledger, run)).toEqual(['pending']);
  });

  it('without it, a run leaves the others as they are', () => {
    const ledger = open(scratchPath());
    const older = begin(ledger, 'one', [FIRST]);
    const draft = ledger.beginLoad({ ...HELLO, occurrence: 'two' }, { channel: 'sms', nowMs: NOON });
    ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs: NOON });
    expect(states(ledger, older)).toEqual(['pending']);
  });

  it('also with a changed list', () => {
    const ledger = open(scratchPath());
    const older = begin(ledger, 'one', [FIRST]);
    const newer = begin(ledger, 'two', [FIRST]);
    const draft = ledger.beginLoad({ ...HELLO, occurrence: 'one' }, { channel: 'sms', nowMs: NOON });
    ledger.load(draft, [FIRST, SECOND]);
    const amended = ledger.amend(again(ledger, older), draft, { inputs: [], nowMs: NOON, takesOver: true });
    expect(states(ledger, amended)).toEqual(['pending', 'pending']);
    expect(states(ledger, newer)).toEqual(['skipped removed']);
  });
});

describe('who was sent to for a time', () => {
  const excluded = (ledger: Ledger, own: RunRecord, { to, key }: LoadRow, rules = SAME): string | null =>
    ledger.reach(own, rules).excludedBy(to ?? '', key ?? '')?.occurrence ?? null;

  it('is known by key and time, whatever the address, in every other run of the campaign', () => {
    const ledger = open(scratchPath());
    const { run: older } = ledger.start(begin(ledger, 'one', [FIRST, SECOND]), NOON);
    ledger.commit(older, [], [claimOf(FIRST), claimOf(SECOND)], NOON);
    recordAll(ledger, older, [resultOf(0), resultOf(1, { state: 'in-doubt', reason: 'timeout', messageId: null })]);
    ledger.finish(older, { state: 'finished', halt: null, figures: null, nowMs: NOON });
    const newer = begin(ledger, 'two', []);
    expect(excluded(ledger, newer, FIRST)).toBe('one');
    expect(excluded(ledger, newer, SECOND)).toBe('one');
    expect(excluded(ledger, newer, { ...FIRST, to: '+447700900099' })).toBe('one');
    // The same person and address at another time.
    expect(excluded(ledger, newer, { ...FIRST, key: 'ann|2026-12-08T09:00:00Z' })).toBeNull();
    // Its own rows, and a campaign whose rows have no times.
    expect(excluded(ledger, again(ledger, older), FIRST)).toBeNull();
    expect(excluded(ledger, newer, FIRST, { exclude: [], sinceMs: null })).toBeNull();
  });

  it('counts while it is claimed, and the claim of another run sees it', () => {
    const path = scratchPath();
    const [ledger, beside] = [open(path), open(path)];
    const { run: older } = ledger.start(begin(ledger, 'one', [FIRST, SECOND]), NOON);
    ledger.commit(older, [], [claimOf(FIRST)], NOON);
    const { run: newer } = beside.start(begin(beside, 'two', [FIRST, SECOND]), NOON);
    const [reach, olderReach] = [beside.reach(newer, SAME), ledger.reach(older, SAME)];
    expect(beside.commit(newer, [], [claimOf(FIRST), claimOf(SECOND)], NOON, { reach })).toEqual([
      'excluded',
      'claimed',
    ]);
    // As after a 429, the older run may claim its row once more; the other one is of the newer run.
    const busy = resultOf(0, { state: 'pending', reason: 'rate-limited', messageId: null });
    const claims = [{ ...claimOf(FIRST), attempts: 1 }, claimOf(SECOND)];
    expect(ledger.commit(older, [busy], claims, NOON, { reach: olderReach })).toEqual(['claimed', 'taken']);
    expect(states(ledger, newer)).toEqual(['skipped excluded', 'in-doubt crash']);
  });

  it('is forgotten with runs that ended before any time could still be to come', () => {
    const ledger = open(scratchPath());
    const { run: older } = ledger.start(begin(ledger, 'one', [FIRST], NOON - 3 * DAY), NOON - 3 * DAY);
    ledger.commit(older, [], [claimOf(FIRST)], NOON - 3 * DAY);
    ledger.commit(older, [resultOf(0)], [], NOON - 3 * DAY);
    ledger.finish(older, { state: 'finished', halt: null, figures: null, nowMs: NOON - 3 * DAY });
    const newer = begin(ledger, 'two', []);
    expect(excluded(ledger, newer, FIRST)).toBeNull();
    expect(excluded(ledger, newer, FIRST, { ...SAME, sameSinceMs: NOON - 4 * DAY })).toBe('one');
    // A purged one is named only if it may have sent for a time that is still to come.
    ledger.purge.mark(again(ledger, older), NOON);
    for (const _ of ledger.purge.clear(again(ledger, older)));
    expect(ledger.reach(newer, SAME).purged).toEqual([]);
    expect(ledger.reach(newer, { ...SAME, sameSinceMs: NOON - 4 * DAY }).purged).toMatchObject([{ occurrence: 'one' }]);
  });
});
