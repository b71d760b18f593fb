import { describe, expect, it, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { DoubtVerdict, Resolution, ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import { amendedRun } from './given.ts';
import {
  child,
  fates,
  firstLine,
  givenRun,
  killed,
  lockRun,
  open,
  placeOf,
  recordAll,
  scratchPath,
} from './scratch.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const HOUR = 3_600_000;

function said(verdict: DoubtVerdict, changes: Partial<Resolution> = {}): Resolution {
  return { verdict, messageId: null, who: 'alice@ops', note: null, nowMs: NOON + HOUR, ...changes };
}

/** Resolves the doubts of these rows, as they are. */
function resolve(ledger: Ledger, run: RunRecord, wanted: readonly number[], order: Resolution): RunRecord {
  const doubts = [...ledger.doubts(run)].flat().filter(({ row }) => wanted.includes(row));
  const { run: after, missed } = ledger.resolve(run, doubts, order);
  expect(missed).toEqual([]);
  expect(doubts).toHaveLength(wanted.length);
  return after;
}

function history(ledger: Ledger, run: RunRecord) {
  return [...ledger.resolutions(run)].flat();
}

const SILENT = { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null } as const;

/** A run of so many, all of them in doubt. */
function allInDoubt(count: number): { ledger: Ledger; run: RunRecord; path: string } {
  const path = scratchPath();
  const ledger = open(path);
  const run = givenRun(ledger, rows(count));
  const all = rows(count).map(({ row }) => row);
  ledger.commit(run, [], all.map(claimOf), NOON + 1000);
  ledger.commit(
    run,
    all.map((row) => resultOf(row, SILENT)),
    [],
    NOON + 2000,
  );
  return { ledger, run, path };
}

describe('doubts', () => {
  it('are listed with what is known of them, and the time of the request', () => {
    const { ledger, run } = allInDoubt(1);
    expect([...ledger.doubts(run)].flat()).toEqual([
      {
        row: 0,
        step: 0,
        channel: 'sms',
        line: 2,
        key: keyOf(0),
        to: keyOf(0),
        reason: 'no-response',
        attempts: 1,
        httpStatus: null,
        error: null,
        sinceMs: NOON + 1000,
      },
    ]);
  });

  it('come in batches, and only they', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2500));
    const all = rows(2500).map(({ row }) => row);
    ledger.commit(run, [], all.map(claimOf), NOON);
    recordAll(
      ledger,
      run,
      all.map((row) => resultOf(row, row % 2 === 0 ? SILENT : {})),
    );
    const batches = [...ledger.doubts(run)];
    expect(batches.map((batch) => batch.length)).toEqual([1000, 250]);
    expect(batches.flat().map(({ row }) => row)).toEqual(all.filter((row) => row % 2 === 0));
  });

  it('what a kill left is in doubt at once, as the next start will count it, but not while it is in flight (C10)', async () => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(3), { start: false });
    const sender = child('claim-and-hang.ts', [placeOf(path), '1']);
    expect(await firstLine(sender)).toBe('holding');
    expect([...ledger.doubts(run)].flat()).toEqual([]);
    await killed(sender, path);
    const [left] = [...ledger.doubts(run)].flat();
    expect(left).toMatchObject({ row: 1, reason: 'crash', attempts: 1, sinceMs: NOON });
    ledger.start(run, NOON + HOUR);
    expect([...ledger.doubts(run)].flat()).toEqual([left]);
  });
});

describe('a resolution', () => {
  it('is recorded with what was in doubt, who said it, when and why', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.commit(run, [], [claimOf(0)], NOON);
    const error = `'); DROP TABLE resolutions; --\u001b[2J`;
    const status = { state: 'in-doubt', reason: 'status', httpStatus: 500, messageId: null, error } as const;
    ledger.commit(run, [resultOf(0, status)], [], NOON + 5);
    resolve(ledger, run, [0], said('accepted', { messageId: 'm-1', who: error, note: error }));
    expect(history(ledger, run)).toEqual([
      {
        step: 0,
        channel: 'sms',
        line: 2,
        key: keyOf(0),
        to: keyOf(0),
        reason: 'status',
        attempts: 1,
        httpStatus: 500,
        error,
        sinceMs: NOON,
        verdict: 'accepted',
        messageId: 'm-1',
        resolvedBy: 'user',
        who: error,
        note: error,
        resolvedAtMs: NOON + HOUR,
      },
    ]);
    expect([...ledger.outcomes(run)].flat()[0]).toMatchObject({
      outcome: 'accepted',
      reason: 'resolved',
      attempts: 1,
      httpStatus: 500,
      messageId: 'm-1',
      error,
      updatedAt: new Date(NOON + HOUR).toISOString(),
    });
  });

  it('is one of three, and what is sent again counts its attempts on', () => {
    const { ledger, run } = allInDoubt(4);
    resolve(ledger, run, [0], said('accepted'));
    resolve(ledger, run, [1], said('rejected'));
    resolve(ledger, run, [2], said('resend'));
    expect(fates(ledger, run)).toEqual([
      'accepted(resolved)',
      'rejected(resolved)',
      'pending(resend)',
      'in-doubt(no-response)',
    ]);
    expect(ledger.pending(run, -1, 9)).toMatchObject([{ row: 2, step: 0, key: keyOf(2), attempts: 1 }]);
    const again = { ...claimOf(2), attempts: 1 };
    expect(ledger.commit(run, [], [again], NOON + HOUR)).toEqual(['claimed']);
    ledger.commit(run, [resultOf(2, { attempts: 2 })], [], NOON + HOUR);
    expect([...ledger.outcomes(run)].flat()[2]).toMatchObject({ outcome: 'accepted', reason: null, attempts: 2 });
  });

  it('does not lose the one before: resolved, sent again and in doubt once more, there are two', () => {
    const { ledger, run } = allInDoubt(1);
    resolve(ledger, run, [0], said('resend', { note: 'first' }));
    ledger.commit(run, [], [{ ...claimOf(0), attempts: 1 }], NOON + HOUR);
    ledger.commit(run, [resultOf(0, { ...SILENT, reason: 'timeout', attempts: 2 })], [], NOON + HOUR);
    // A second doubt is not resolved by what was said of the first.
    expect(fates(ledger, run)).toEqual(['in-doubt(timeout)']);
    resolve(ledger, run, [0], said('rejected', { note: 'second', nowMs: NOON + 2 * HOUR }));
    expect(history(ledger, run)).toMatchObject([
      { attempts: 1, reason: 'no-response', verdict: 'resend', note: 'first', resolvedAtMs: NOON + HOUR },
      { attempts: 2, reason: 'timeout', verdict: 'rejected', note: 'second', resolvedAtMs: NOON + 2 * HOUR },
    ]);
  });

  const REFUSED = { state: 'rejected', reason: 'status', httpStatus: 422, error: 'no such number' } as const;
  const AGAIN = { ...claimOf(0), attempts: 1 };
  it.each<[string, (ledger: Ledger, run: RunRecord) => unknown]>([
    ['skips it before its claim', (ledger, run) => ledger.skip(run, [{ row: 0, step: 0, reason: 'expired' }], NOON)],
    [
      'skips it in its claim',
      (ledger, run) => {
        ledger.suppress(keyOf(0), { reason: null, untilMs: null, source: 'test', nowMs: NOON });
        expect(ledger.commit(run, [], [AGAIN], NOON + HOUR)).toEqual(['suppressed']);
      },
    ],
    [
      'skips it after the API asked to wait',
      (ledger, run) => {
        expect(ledger.commit(run, [], [AGAIN], NOON + HOUR)).toEqual(['claimed']);
        const busy = { state: 'pending', reason: 'rate-limited', attempts: 2, httpStatus: 429 } as const;
        ledger.commit(run, [resultOf(0, busy)], [], NOON + HOUR);
        ledger.skip(run, [{ row: 0, step: 0, reason: 'expired' }], NOON + HOUR);
      },
    ],
    [
      'deferred it and closes the run',
      (ledger, run) => {
        ledger.defer(run, [{ row: 0, step: 0, reason: 'outside-window' }], NOON);
        return ledger.closeRun(run, NOON + HOUR);
      },
    ],
    [
      'found no connection and closes the run',
      (ledger, run) => {
        const unsent = { from: 'pending', state: 'failed', reason: 'dns', attempts: 2, httpStatus: null } as const;
        ledger.commit(run, [resultOf(0, unsent)], [], NOON + HOUR);
        return ledger.closeRun(run, NOON + HOUR);
      },
    ],
    ['has a list without the recipient', (ledger, run) => amendedRun(ledger, run, rows(2).slice(1))],
    [
      'has a list that skips the recipient',
      (ledger, run) => amendedRun(ledger, run, [loadRow(0, { state: 'skipped', reason: 'excluded', to: 'other' })]),
    ],
    [
      'is another run of the campaign, whose list takes over',
      (ledger, run) => {
        const draft = ledger.beginLoad({ ...HELLO, occurrence: 'later' }, { channel: 'sms', nowMs: NOON });
        ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: NOON, takesOver: true });
        return ledger.runById(run.id)[0];
      },
    ],
  ])('is in force again where its second message was ordered, and what comes then %s', (_what, leaveOut) => {
    const { ledger, run } = allInDoubt(1);
    const [doubt] = [...ledger.doubts(run)].flat();
    const ordered = resolve(ledger, run, [0], said('resend'));
    const after = (leaveOut(ledger, ordered) as RunRecord | undefined) ?? ordered;
    const left = [...ledger.outcomes(after)].flat().filter(({ key }) => key === keyOf(0));
    expect(left).toMatchObject([{ outcome: 'in-doubt', reason: 'no-response', to: keyOf(0) }]);
    const { row: _row, attempts: _attempts, line: _line, ...facts } = doubt ?? {};
    expect([...ledger.doubts(after)].flat()).toMatchObject([facts]);
    // It takes what a doubt takes.
    const [again] = [...ledger.doubts(after)].flat();
    resolve(ledger, after, [again?.row ?? -1], said('rejected', { nowMs: NOON + 2 * HOUR }));
    expect(history(ledger, after).map(({ verdict }) => verdict)).toEqual(['resend', 'rejected']);
  });

  it.each<[string, (ledger: Ledger, run: RunRecord) => void]>([
    [
      'refuses the second message',
      (ledger, run) => ledger.commit(run, [resultOf(0, { ...REFUSED, attempts: 2 })], [], NOON + HOUR),
    ],
    [
      'refused it, as its answer says after a crash',
      (ledger, run) => {
        ledger.start(run, NOON + HOUR);
        ledger.commit(run, [resultOf(0, { ...REFUSED, attempts: 2 })], [], NOON + HOUR);
      },
    ],
  ])('is in force again where the API %s', (_what, refuse) => {
    const { ledger, run } = allInDoubt(1);
    resolve(ledger, run, [0], said('resend'));
    expect(ledger.commit(run, [], [AGAIN], NOON + HOUR)).toEqual(['claimed']);
    refuse(ledger, run);
    expect([...ledger.outcomes(run)].flat()).toMatchObject([
      {
        outcome: 'in-doubt',
        reason: 'no-response',
        attempts: 2,
        error: 'the second message was refused: 422 no such number',
      },
    ]);
    ledger.reopenRejected(run);
    expect(fates(ledger, run)).toEqual(['in-doubt(no-response)']);
    resolve(ledger, run, [0], said('rejected', { nowMs: NOON + 2 * HOUR }));
    expect(fates(ledger, run)).toEqual(['rejected(resolved)']);
  });

  it('is over once a person said so, whatever was ordered before', () => {
    const { ledger, run } = allInDoubt(1);
    resolve(ledger, run, [0], said('resend'));
    ledger.commit(run, [], [AGAIN], NOON + HOUR);
    ledger.commit(run, [resultOf(0, { ...SILENT, attempts: 2 })], [], NOON + HOUR);
    resolve(ledger, run, [0], said('rejected', { nowMs: NOON + 2 * HOUR }));
    ledger.reopenRejected(run);
    ledger.skip(run, [{ row: 0, step: 0, reason: 'expired' }], NOON + 3 * HOUR);
    expect(fates(ledger, run)).toEqual(['skipped(expired)']);
  });

  it('is for all who are named or for none', () => {
    const { ledger, run } = allInDoubt(3);
    const doubts = [...ledger.doubts(run)].flat();
    resolve(ledger, run, [1], said('accepted'));
    const { missed } = ledger.resolve(run, doubts, said('resend'));
    expect(missed).toEqual([doubts[1]]);
    expect(fates(ledger, run)).toEqual(['in-doubt(no-response)', 'accepted(resolved)', 'in-doubt(no-response)']);
    expect(history(ledger, run)).toHaveLength(1);
  });

  it('is about the doubt that was looked at: another key or another attempt is none', () => {
    const { ledger, run } = allInDoubt(1);
    const [doubt] = [...ledger.doubts(run)].flat();
    if (doubt === undefined) throw new Error('no recipient is in doubt');
    for (const other of [
      { ...doubt, attempts: 2 },
      { ...doubt, key: 'x' },
      { ...doubt, row: 9 },
    ]) {
      expect(ledger.resolve(run, [other], said('accepted')).missed).toEqual([other]);
    }
    expect(history(ledger, run)).toEqual([]);
  });

  it('takes in what a killed process left, without a start', async () => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(3), { start: false });
    const sender = child('claim-and-hang.ts', [placeOf(path), '0', '1']);
    await firstLine(sender);
    await killed(sender, path);
    const doubts = [...ledger.doubts(run)].flat();
    const lock = lockRun(path, HELLO);
    expect(ledger.resolve(run, doubts.slice(0, 1), said('accepted')).missed).toEqual([]);
    lock?.release();
    expect(fates(ledger, run)).toEqual(['accepted(resolved)', 'in-doubt(crash)', 'pending']);
    expect([...ledger.outcomes(run)].flat()[0]?.attempts).toBe(1);
    expect(ledger.start(run, NOON + 2 * HOUR).recovered).toBe(0);
  });

  const ends: [string, Partial<ResultRecord>, DoubtVerdict, Partial<RunRecord>][] = [
    ['finished with a recipient to send to again is partial', {}, 'resend', { state: 'partial', halt: null }],
    ['finished with a resolved recipient stays finished', {}, 'accepted', { state: 'finished' }],
  ];
  it.each(ends)('a run that is %s', (_, others, verdict, expected) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    ledger.commit(run, [], [0, 1].map(claimOf), NOON);
    ledger.commit(run, [resultOf(0, SILENT), resultOf(1, others)], [], NOON);
    ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs: NOON });
    expect(resolve(ledger, run, [0], said(verdict))).toMatchObject(expected);
  });

  it('ends a halt that left nothing but doubts, and no other', () => {
    const halt = { rule: 'doubt', message: 'm', next: 'n' } as const;
    const { ledger, run } = allInDoubt(2);
    ledger.finish(run, { state: 'halted', halt, figures: null, nowMs: NOON + 3000 });
    expect(resolve(ledger, run, [0], said('accepted'))).toMatchObject({ state: 'halted', halt });
    const ended = resolve(ledger, run, [1], said('rejected'));
    expect(ended).toMatchObject({ state: 'finished', halt: null, finishedAtMs: NOON + 3000 });

    const second = open(scratchPath());
    const left = givenRun(second, rows(2));
    second.commit(left, [], [claimOf(0)], NOON);
    second.commit(left, [resultOf(0, SILENT)], [], NOON);
    second.finish(left, { state: 'halted', halt, figures: null, nowMs: NOON });
    expect(resolve(second, left, [0], said('accepted'))).toMatchObject({ state: 'halted', halt });
  });
});

/** What a process that lost its lock says of the attempt that it made, long after. */
function late(row: number, changes: Partial<ResultRecord> = {}): ResultRecord {
  return resultOf(row, { messageId: 'late', ...changes });
}

const REFUSED = { state: 'rejected', reason: 'refused', httpStatus: 400, messageId: null } as const;

/** Row 0 was claimed by a process that was held for dead; another start put it in doubt. */
function heldForDead(): { ledger: Ledger; run: RunRecord } {
  const ledger = open(scratchPath());
  const draft = givenRun(ledger, rows(1));
  ledger.commit(draft, [], [claimOf(0)], NOON);
  const { run } = ledger.start(draft, NOON + 1);
  return { ledger, run };
}

describe('an answer that comes late (J5)', () => {
  it.each([
    ['accepted', late(0), 'accepted', [{ verdict: 'accepted', resolvedBy: 'late-result', who: null, attempts: 1 }]],
    ['rejected', late(0, REFUSED), 'rejected(refused)', [{ verdict: 'rejected', resolvedBy: 'late-result' }]],
    ['in doubt, with the reason', late(0, SILENT), 'in-doubt(no-response)', []],
    ['failed', late(0, { state: 'failed', reason: 'connect' }), 'in-doubt(crash)', []],
    ['pending', late(0, { state: 'pending', reason: 'rate-limited' }), 'in-doubt(crash)', []],
  ])('resolves the doubt of its attempt: %s', (_, answer, fate, entries) => {
    const { ledger, run } = heldForDead();
    ledger.commit(run, [answer], [], NOON + 2);
    expect(fates(ledger, run)).toEqual([fate]);
    expect(history(ledger, run)).toMatchObject(entries);
  });

  const answers = [late(0), late(0, REFUSED), late(0, SILENT), late(0, { state: 'pending', reason: 'rate-limited' })];
  it.each(['accepted', 'rejected'] as const)('never overrules that a person said %s', (verdict) => {
    for (const answer of answers) {
      const { ledger, run } = heldForDead();
      resolve(ledger, run, [0], said(verdict));
      ledger.commit(run, [answer], [], NOON + 2 * HOUR);
      expect(fates(ledger, run)).toEqual([`${verdict}(resolved)`]);
      expect(history(ledger, run)).toHaveLength(1);
    }
  });

  it('spares those who wait to be sent to again, if they were accepted', () => {
    const { ledger, run } = heldForDead();
    resolve(ledger, run, [0], said('resend'));
    ledger.commit(run, [late(0)], [], NOON + 2 * HOUR);
    expect(fates(ledger, run)).toEqual(['accepted']);
    expect([...ledger.outcomes(run)].flat()[0]).toMatchObject({ messageId: 'late', attempts: 1 });
    expect(ledger.commit(run, [], [{ ...claimOf(0), attempts: 1 }], NOON + 2 * HOUR)).toEqual(['taken']);
    expect(history(ledger, run)).toMatchObject([
      { verdict: 'resend', resolvedBy: 'user' },
      { verdict: 'accepted', resolvedBy: 'late-result', messageId: 'late' },
    ]);
  });

  it('leaves all others to be sent to again', () => {
    for (const answer of answers.slice(1)) {
      const { ledger, run } = heldForDead();
      resolve(ledger, run, [0], said('resend'));
      ledger.commit(run, [answer], [], NOON + 2 * HOUR);
      expect(fates(ledger, run)).toMatchObject(['pending(resend)']);
    }
  });

  it('is not taken for the answer of the attempt that was made since', () => {
    for (const answer of answers) {
      const { ledger, run } = heldForDead();
      resolve(ledger, run, [0], said('resend'));
      expect(ledger.commit(run, [], [{ ...claimOf(0), attempts: 1 }], NOON + HOUR)).toEqual(['claimed']);
      ledger.commit(run, [answer], [], NOON + HOUR);
      ledger.commit(run, [resultOf(0, { attempts: 2, messageId: 'own' })], [], NOON + HOUR);
      expect([...ledger.outcomes(run)].flat()[0]).toMatchObject({
        outcome: 'accepted',
        messageId: 'own',
        attempts: 2,
      });
    }
  });

  it('says nothing about a doubt of a later attempt; that attempt’s own late answer does', () => {
    const { ledger, run } = heldForDead();
    resolve(ledger, run, [0], said('resend'));
    ledger.commit(run, [], [{ ...claimOf(0), attempts: 1 }], NOON + HOUR);
    const again = ledger.start(run, NOON + 2 * HOUR).run;
    for (const answer of answers) ledger.commit(again, [answer], [], NOON + 2 * HOUR);
    expect(fates(ledger, again)).toEqual(['in-doubt(crash)']);
    ledger.commit(again, [late(0, { attempts: 2 })], [], NOON + 2 * HOUR);
    expect(fates(ledger, again)).toEqual(['accepted']);
    expect(history(ledger, again).map(({ attempts, verdict }) => [attempts, verdict])).toEqual([
      [1, 'resend'],
      [2, 'accepted'],
    ]);
  });

  it('nor about a recipient who was refused since, and is tried again', () => {
    const { ledger, run } = heldForDead();
    resolve(ledger, run, [0], said('rejected'));
    ledger.reopenRejected(run);
    ledger.start(run, NOON + 2 * HOUR);
    for (const answer of answers) ledger.commit(run, [answer], [], NOON + 2 * HOUR);
    expect(fates(ledger, run)).toEqual(['pending']);
    ledger.commit(run, [], [{ ...claimOf(0), attempts: 1 }], NOON + 2 * HOUR);
    ledger.commit(run, [late(0, REFUSED)], [], NOON + 2 * HOUR);
    ledger.commit(run, [resultOf(0, { attempts: 2 })], [], NOON + 2 * HOUR);
    expect(fates(ledger, run)).toEqual(['accepted']);
  });
});

test('a row whose attempts another process counted on is not claimed by one that knows less (J4)', () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(1));
  ledger.commit(run, [], [claimOf(0)], NOON);
  ledger.commit(run, [resultOf(0, { state: 'pending', reason: 'rate-limited', httpStatus: 429 })], [], NOON);
  expect(ledger.commit(run, [], [{ ...claimOf(0), attempts: 0 }], NOON)).toEqual(['taken']);
  expect(fates(ledger, run)).toMatchObject(['pending(rate-limited)']);
  expect(ledger.commit(run, [], [{ ...claimOf(0), attempts: 1 }], NOON)).toEqual(['claimed']);
  recordAll(ledger, run, [resultOf(0, { state: 'pending', reason: 'rate-limited', httpStatus: 429, attempts: 2 })]);
  expect(ledger.commit(run, [], [{ ...claimOf(0), attempts: 1 }], NOON)).toEqual(['taken']);
  expect(ledger.commit(run, [], [{ ...claimOf(0), attempts: 2 }], NOON)).toEqual(['claimed']);
});
