import { describe, expect, it } from 'vitest';
import type { ResultRecord, StepFacts } from '../../src/ledger/records.ts';
import { BY_MAIL, BY_VOICE, fellBack, onStep, unsupported } from './fallbacks.ts';
import { fates, givenRun, open, recordAll, scratchPath } from './scratch.ts';
import { claimOf, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const FOREVER = { reason: 'asked', untilMs: null, source: 'test', nowMs: NOON };

describe('a fallback', () => {
  it('is a row of its own; what it came from has fallen back and says what the API said', () => {
    const { ledger, run } = fellBack(2, [1]);
    expect(run.rows).toBe(2);
    expect(fates(ledger, run)).toEqual(['pending', 'pending']);
    const { row, line, key, steps, ...last } = [...ledger.outcomes(run)].flat()[1] ?? {};
    expect({ row, line, key }).toEqual({ row: 1, line: 3, key: keyOf(1) });
    expect(last).toEqual({
      to: 'ada@example.com',
      channel: 'email',
      variant: 'b',
      outcome: 'pending',
      reason: null,
      attempts: 0,
      httpStatus: null,
      messageId: null,
      error: null,
      parts: null,
      encoding: null,
      cost: 0.00001,
      updatedAt: null,
    });
    const first = {
      to: keyOf(1),
      channel: 'sms',
      variant: 'b',
      outcome: 'rejected',
      reason: 'fell-back',
      attempts: 1,
      httpStatus: 404,
      messageId: null,
      error: 'no such channel',
      parts: 1,
      encoding: 'GSM-7',
      cost: 0.045,
      updatedAt: new Date(NOON + 1000).toISOString(),
      claimedAtMs: NOON,
      version: 1,
    };
    expect(steps).toEqual([first, last]);
    expect([...ledger.outcomes(run)].flat()[0]).not.toHaveProperty('steps');
  });

  it('goes on until no fallback follows; the last step decides, and each counts its own attempts', () => {
    const { ledger, run } = fellBack(1, [0]);
    const mail = onStep(1, 0, BY_MAIL.to, { attempts: 0 });
    expect(ledger.commit(run, [], [mail], NOON)).toEqual(['claimed']);
    const again = resultOf(0, { step: 1, state: 'pending', reason: 'rate-limited', httpStatus: 429 });
    ledger.commit(run, [again], [{ ...mail, attempts: 1 }], NOON);
    // The next step can be claimed by the very commit that begins it.
    const voice = onStep(2, 0, BY_VOICE.to, { attempts: 0 });
    const fallsBack = unsupported(0, { step: 1, attempts: 2, next: BY_VOICE });
    expect(ledger.commit(run, [fallsBack], [voice], NOON)).toEqual(['claimed']);
    ledger.commit(run, [resultOf(0, { step: 2 })], [], NOON);
    const [outcome] = [...ledger.outcomes(run)].flat();
    expect(outcome).toMatchObject({ outcome: 'accepted', channel: 'voice', attempts: 1, messageId: 'id-0', parts: 2 });
    expect(outcome?.steps?.map((step) => [step.channel, step.to, step.outcome, step.reason, step.attempts])).toEqual([
      ['sms', keyOf(0), 'rejected', 'fell-back', 1],
      ['email', 'ada@example.com', 'rejected', 'fell-back', 2],
      ['voice', '+442079460000', 'accepted', null, 1],
    ]);
    expect(ledger.stateOf(run)(0, keyOf(0))).toMatchObject({ step: 2, outcome: 'accepted', reason: null });
    expect(ledger.pending(run, -1, 9)).toMatchObject([]);
    expect([...ledger.doubts(run)]).toEqual([]);
    expect([...ledger.outcomes(run, { outcomes: ['pending', 'rejected'] })]).toEqual([]);
  });

  it('never comes twice: a second refusal of the same attempt begins nothing', () => {
    const { ledger, run } = fellBack(1, [0]);
    ledger.commit(run, [unsupported(0, { next: BY_VOICE })], [], NOON);
    ledger.commit(run, [unsupported(0, { attempts: 2, next: BY_VOICE })], [], NOON);
    expect(ledger.pending(run, -1, 9)).toMatchObject([{ row: 0, step: 1, key: keyOf(0), attempts: 0 }]);
    expect([...ledger.outcomes(run)].flat()[0]?.steps).toHaveLength(2);
    expect([...ledger.outcomes(run)].flat()[0]?.channel).toBe('email');
  });

  it('comes with the refusal or not at all: a transaction that is undone leaves the row claimed', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.commit(run, [], [claimOf(0)], NOON);
    const wrong = { ...claimOf(0), key: 'x' };
    expect(() => ledger.commit(run, [unsupported(0, { next: BY_MAIL })], [wrong], NOON)).toThrow('not the recipient');
    expect(ledger.pending(run, -1, 9)).toMatchObject([]);
    ledger.commit(run, [resultOf(0)], [], NOON);
    expect(fates(ledger, run)).toEqual(['accepted']);
  });

  const bugs: [string, ResultRecord][] = [
    ['an acceptance', resultOf(0, { next: BY_MAIL })],
    ['a doubt', resultOf(0, { state: 'in-doubt', reason: 'timeout', next: BY_MAIL })],
    ['what was not claimed', unsupported(0, { from: 'pending', next: BY_MAIL })],
    ['its own word', unsupported(0, { reason: 'fell-back' })],
  ];
  it.each(bugs)('does not follow from %s', (_, result) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.commit(run, [], [claimOf(0)], NOON);
    expect(() => ledger.commit(run, [result], [], NOON)).toThrow('falls back, but');
    expect([...ledger.outcomes(run)].flat()[0]).not.toHaveProperty('steps');
  });

  it('a late refusal is one, and begins no step; who wanted to claim that step has nothing to claim (J4, J5)', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.commit(run, [], [claimOf(0)], NOON);
    ledger.start(run, NOON);
    const answers = ledger.commit(run, [unsupported(0, { next: BY_MAIL })], [onStep(1, 0, BY_MAIL.to)], NOON);
    expect(answers).toEqual(['taken']);
    expect(fates(ledger, run)).toEqual(['rejected(unsupported-channel)']);
    expect([...ledger.resolutions(run)].flat()).toMatchObject([{ verdict: 'rejected', step: 0 }]);
    expect(ledger.pending(run, -1, 9)).toMatchObject([]);
  });

  it('is not undone by --retry rejected: who was refused is tried again on the last step, and only there', () => {
    const { ledger, run } = fellBack(3, [0, 1]);
    ledger.commit(run, [], [onStep(1, 0, BY_MAIL.to), claimOf(2)], NOON);
    const refused = { state: 'rejected', reason: 'status', httpStatus: 400 } as const;
    ledger.commit(run, [resultOf(0, { step: 1, ...refused }), resultOf(2, refused)], [], NOON);
    expect(ledger.reopenRejected(run)).toBe(2);
    expect(ledger.pending(run, -1, 9).map((p) => [p.row, p.step, p.attempts])).toMatchObject([
      [0, 1, 1],
      [1, 1, 0],
      [2, 0, 1],
    ]);
    expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['taken']);
  });

  it('is asked for up to a limit: the first of those who are open, in list order, whatever their step', () => {
    const refused = { state: 'rejected', reason: 'status', httpStatus: 400 } as const;
    const begun = () => {
      const { ledger, run } = fellBack(6, [0, 1]);
      ledger.commit(run, [], [onStep(1, 0, BY_MAIL.to), ...[2, 4, 5].map(claimOf)], NOON);
      const failed = resultOf(4, { state: 'failed', reason: 'connect', httpStatus: null, messageId: null });
      recordAll(ledger, run, [
        resultOf(0, { step: 1, ...refused }),
        resultOf(2, refused),
        failed,
        resultOf(5, refused),
      ]);
      ledger.defer(run, [{ row: 3, step: 0, reason: 'outside-window' }], NOON);
      return { ledger, run };
    };
    const counts = [1, 2, 3, 4, 5, 9].map((limit) => {
      const { ledger, run } = begun();
      const count = ledger.reopenRejected(run, limit);
      return [
        count,
        ledger
          .pending(run, -1, 9)
          .map(({ row }) => row)
          .join(),
      ];
    });
    // The second is pending, the fifth failed; the fourth waits, and takes no place.
    expect(counts).toEqual([
      [1, '0,1'],
      [1, '0,1'],
      [2, '0,1,2'],
      [2, '0,1,2'],
      [3, '0,1,2,5'],
      [3, '0,1,2,5'],
    ]);
  });
});

describe('the claim of a later step', () => {
  it('is of the address that it is given, which is kept', () => {
    const { ledger, run } = fellBack(2, [0, 1]);
    ledger.suppress(BY_MAIL.to, FOREVER);
    const moved = onStep(1, 0, 'new@example.com');
    expect(ledger.commit(run, [], [moved, onStep(1, 1, BY_MAIL.to)], NOON)).toEqual(['claimed', 'suppressed']);
    expect(fates(ledger, run)[1]).toBe('skipped(suppressed)');
    expect([...ledger.outcomes(run)].flat().map(({ to }) => to)).toEqual(['new@example.com', BY_MAIL.to]);
  });

  it('does not ask for the suppression of an address that nothing is sent to', () => {
    const { ledger, run } = fellBack(1, [0]);
    ledger.suppress(keyOf(0), FOREVER);
    ledger.suppress(BY_MAIL.to, FOREVER);
    expect(ledger.commit(run, [], [onStep(1, 0, 'new@example.com')], NOON)).toEqual(['claimed']);
  });

  it('is suppressed with the address that was asked for', () => {
    const { ledger, run } = fellBack(1, [0]);
    ledger.suppress('new@example.com', FOREVER);
    expect(ledger.commit(run, [], [onStep(1, 0, 'new@example.com')], NOON)).toEqual(['suppressed']);
    expect([...ledger.outcomes(run)].flat()[0]).toMatchObject({ to: 'new@example.com', reason: 'suppressed' });
  });

  it.each([
    ['once', [onStep(1, 0, 'a@b.c'), onStep(1, 0, 'a@b.c')], ['claimed', 'taken']],
    ['by who knows its attempts', [onStep(1, 0, 'a@b.c', { attempts: 1 })], ['taken']],
    ['when it is there', [onStep(2, 0, 'a@b.c'), onStep(1, 1, 'a@b.c')], ['taken', 'taken']],
    ['and not the one before', [claimOf(0)], ['taken']],
  ])('is taken %s', (_, claims, answers) => {
    const { ledger, run } = fellBack(2, [0]);
    expect(ledger.commit(run, [], claims, NOON)).toEqual(answers);
  });

  it.each([
    ['another key', onStep(1, 0, 'a@b.c', { key: 'x' })],
    ['another key on a step that is not there', onStep(2, 0, 'a@b.c', { key: 'x' })],
    ['no such row', onStep(1, 9, 'a@b.c')],
  ])('%s is a bug', (_, wrong) => {
    const { ledger, run } = fellBack(1, [0]);
    expect(() => ledger.commit(run, [], [wrong], NOON)).toThrow('not the recipient');
  });
});

describe('what is sent, where the row does not know it', () => {
  const FACTS: StepFacts = { channel: 'sms', variant: 'a', parts: 3, encoding: 'UCS-2', costMicros: 90_000 };

  it('is written by the claim', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, [loadRow(0, { parts: null, encoding: null, costMicros: null })]);
    expect(ledger.commit(run, [], [{ ...claimOf(0), facts: FACTS }], NOON)).toEqual(['claimed']);
    const sent = { channel: 'sms', variant: 'a', parts: 3, encoding: 'UCS-2', cost: 0.09, to: keyOf(0) };
    expect([...ledger.outcomes(run)].flat()[0]).toMatchObject(sent);
  });

  it('does not change the recipients of step 0, nor what a row says that is not claimed', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const elsewhere = { ...claimOf(0), to: '+447700900999', facts: FACTS };
    expect(() => ledger.commit(run, [], [elsewhere], NOON)).toThrow('not the recipient');
    ledger.suppress(keyOf(0), FOREVER);
    ledger.commit(run, [], [claimOf(1)], NOON);
    const claims = [0, 1].map((row) => ({ ...claimOf(row), facts: FACTS }));
    expect(ledger.commit(run, [], claims, NOON)).toEqual(['suppressed', 'taken']);
    expect([...ledger.outcomes(run)].flat().map(({ parts, variant }) => [parts, variant])).toEqual([
      [1, null],
      [1, null],
    ]);
  });

  it('is written for a later step too, over what it began with, but for its variant', () => {
    const { ledger, run } = fellBack(1, [0]);
    const facts: StepFacts = { ...BY_VOICE, variant: null };
    expect(ledger.commit(run, [], [onStep(1, 0, '+442079460000', { facts })], NOON)).toEqual(['claimed']);
    expect([...ledger.outcomes(run)].flat()[0]).toMatchObject({ channel: 'voice', variant: 'b', parts: 2 });
  });

  it('a channel of the list’s own is kept for a row; that of the run has one spelling', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, [loadRow(0, { channel: 'rcs' }), loadRow(1, { channel: 'sms' }), loadRow(2)]);
    const facts = { ...FACTS, variant: null, encoding: 'GSM-7' } as const;
    ledger.commit(run, [], [claimOf(2), { ...claimOf(1), facts }], NOON);
    expect([...ledger.outcomes(run)].flat().map(({ channel }) => channel)).toEqual(['rcs', 'sms', 'sms']);
    expect(ledger.counts(run).map(({ channel, count }) => [channel, count])).toEqual([
      ['sms', 2],
      ['rcs', 1],
    ]);
  });
});
