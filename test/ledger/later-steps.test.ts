import { describe, expect, it, test } from 'vitest';
import { BY_MAIL, fellBack, onStep } from './fallbacks.ts';
import { amendedRun } from './given.ts';
import { claimAll, fates, givenRun, open, recordAll, scratchPath } from './scratch.ts';
import { claimOf, NOON, resultOf, rows } from './values.ts';

describe('later steps and everything else', () => {
  it('skip and defer move the step that they name, if it is pending; a start takes up what was deferred', () => {
    const { ledger, run } = fellBack(4, [0, 1]);
    const reason = 'winner-undecided';
    const aside = [
      { row: 0, step: 0, reason },
      { row: 1, step: 1, reason },
      { row: 2, step: 0, reason },
      { row: 3, step: 1, reason },
    ];
    ledger.defer(run, aside, NOON);
    expect(fates(ledger, run)).toEqual(['pending', `deferred(${reason})`, `deferred(${reason})`, 'pending']);
    expect(ledger.commit(run, [], [onStep(1, 1, BY_MAIL.to)], NOON)).toEqual(['taken']);
    ledger.start(run, NOON);
    expect(fates(ledger, run)).toEqual(['pending', 'pending', 'pending', 'pending']);
    ledger.skip(run, aside, NOON);
    expect(fates(ledger, run)).toEqual(['pending', `skipped(${reason})`, `skipped(${reason})`, 'pending']);
  });

  it('what a process left claimed is in doubt, and a later step that failed is tried again', () => {
    const { ledger, run } = fellBack(3, [0, 1, 2]);
    claimAll(
      ledger,
      run,
      [0, 1].map((row) => onStep(1, row, BY_MAIL.to)),
    );
    ledger.commit(run, [resultOf(1, { step: 1, state: 'failed', reason: 'dns', attempts: 3 })], [], NOON);
    expect(ledger.start(run, NOON).recovered).toBe(1);
    expect(fates(ledger, run)).toEqual(['in-doubt(crash)', 'pending', 'pending']);
    expect(ledger.pending(run, -1, 9).map((p) => [p.row, p.step, p.attempts])).toMatchObject([
      [1, 1, 3],
      [2, 1, 0],
    ]);
  });

  it('are counted beside the recipients, never among them', () => {
    const { ledger, run } = fellBack(4, [1, 2]);
    ledger.commit(run, [], [claimOf(0), onStep(1, 1, BY_MAIL.to)], NOON);
    ledger.commit(run, [resultOf(0), resultOf(1, { step: 1 })], [], NOON);
    const sms = { channel: 'sms', encoding: 'GSM-7', variant: null, step: 0 };
    const mail = { channel: 'email', encoding: null, variant: 'b', step: 1, reason: null, parts: 0, costMicros: 10 };
    const recipients = [
      { ...mail, version: 1, outcome: 'accepted', count: 1 },
      { ...sms, version: 1, outcome: 'accepted', reason: null, count: 1, parts: 1, costMicros: 45_000 },
      { ...mail, outcome: 'pending', count: 1 },
      { ...sms, outcome: 'pending', reason: null, count: 1, parts: 1, costMicros: 45_000 },
    ];
    const fallen = {
      ...sms,
      variant: 'b',
      version: 1,
      outcome: 'rejected',
      reason: 'fell-back',
      count: 2,
      parts: 2,
      costMicros: 90_000,
    };
    expect(ledger.counts(run)).toEqual(expect.arrayContaining(recipients));
    expect(ledger.counts(run)).toHaveLength(4);
    const steps = [...recipients.map((group) => ({ ...group, fellBack: false })), { ...fallen, fellBack: true }];
    expect(ledger.steps(run)).toEqual(expect.arrayContaining(steps));
    expect(ledger.steps(run)).toHaveLength(5);
  });

  it('are found by the outcome of the last one, in batches, whichever recipients fell back', () => {
    const fallen = Array.from({ length: 1500 }, (_, i) => i * 2);
    const { ledger, run } = fellBack(3200, fallen);
    const mail = fallen.filter((row) => row % 3 === 0);
    claimAll(
      ledger,
      run,
      mail.map((row) => onStep(1, row, BY_MAIL.to)),
    );
    recordAll(
      ledger,
      run,
      mail.map((row) => resultOf(row, { step: 1 })),
    );
    const found = (outcomes: readonly ('accepted' | 'rejected' | 'pending')[]) =>
      [...ledger.outcomes(run, { outcomes })].flat().map(({ row }) => row);
    expect(found(['accepted'])).toEqual(mail);
    expect(found(['rejected'])).toEqual([]);
    const open = Array.from({ length: 3200 }, (_, row) => row).filter((row) => !mail.includes(row));
    expect(found(['pending'])).toEqual(open);
    expect([...ledger.outcomes(run)].flat().map(({ row }) => row)).toEqual(rows(3200).map(({ row }) => row));
    const walked: number[] = [];
    for (let after = -1; ; after = walked.at(-1) ?? -1) {
      const next = ledger.pending(run, after, 70);
      if (next.length === 0) break;
      expect(next.length === 70 || next.at(-1)?.row === 3199).toBe(true);
      walked.push(...next.map(({ row }) => row));
    }
    expect(walked).toEqual(open);
  });

  it('a doubt of a later step is resolved, sent again and answered late like any other', () => {
    const { ledger, run } = fellBack(2, [0, 1]);
    ledger.commit(
      run,
      [],
      [0, 1].map((row) => onStep(1, row, BY_MAIL.to)),
      NOON + 5000,
    );
    const silent = { step: 1, state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null } as const;
    ledger.commit(run, [resultOf(0, silent), resultOf(1, silent)], [], NOON + 6000);
    const doubts = [...ledger.doubts(run)].flat();
    expect(doubts).toMatchObject([
      { row: 0, step: 1, channel: 'email', to: BY_MAIL.to, attempts: 1, sinceMs: NOON + 5000 },
      { row: 1, step: 1, channel: 'email' },
    ]);
    const order = { verdict: 'resend', messageId: null, who: 'alice', note: null, nowMs: NOON + 7000 } as const;
    ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs: NOON + 6000 });
    for (const step of [0, 2]) {
      const others = doubts.map((doubt) => ({ ...doubt, step }));
      expect(ledger.resolve(run, others, order).missed).toEqual(others);
    }
    expect(ledger.resolve(run, doubts, order)).toMatchObject({ missed: [], run: { state: 'partial' } });
    expect(ledger.pending(run, -1, 9).map((p) => [p.row, p.step, p.attempts])).toMatchObject([
      [0, 1, 1],
      [1, 1, 1],
    ]);
    ledger.defer(run, [{ row: 1, step: 1, reason: 'window' }], NOON + 8000);
    // Said of the wrong step, it is about no recipient.
    ledger.commit(run, [resultOf(0, { step: 1 }), resultOf(1, { step: 1 }), resultOf(0)], [], NOON + 9000);
    expect(fates(ledger, run)).toEqual(['accepted', 'accepted']);
    expect([...ledger.resolutions(run)].flat().map((r) => [r.line, r.step, r.channel, r.verdict])).toEqual([
      [2, 1, 'email', 'resend'],
      [3, 1, 'email', 'resend'],
      [2, 1, 'email', 'accepted'],
      [3, 1, 'email', 'accepted'],
    ]);
  });
});

test('the winner is a fact of the run, and stays when the list is amended', () => {
  const path = scratchPath();
  const ledger = open(path);
  const run = givenRun(ledger, rows(1));
  expect(run.winner).toBeNull();
  expect(ledger.setWinner(run, 'b')).toEqual({ ...run, winner: 'b' });
  expect(amendedRun(ledger, run, rows(2)).winner).toBe('b');
  expect(open(path).findRun(run)?.winner).toBe('b');
});
