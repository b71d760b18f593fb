import { describe, expect, it } from 'vitest';
import { areShared, fates, givenRun, open, recordAll, scratchPath, thrown } from './scratch.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const FOREVER = { reason: 'asked', untilMs: null, source: 'test', nowMs: NOON };

describe('claims', () => {
  it('each row once', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    expect(ledger.commit(run, [], [claimOf(0), claimOf(1)], NOON)).toEqual(['claimed', 'claimed']);
    expect(ledger.commit(run, [], [claimOf(1), claimOf(2)], NOON)).toEqual(['taken', 'claimed']);
    expect(ledger.commit(run, [resultOf(0)], [claimOf(0)], NOON)).toEqual(['taken']);
    expect(ledger.commit(run, [], [], NOON)).toEqual([]);
  });

  it('a row that was put back can be claimed in the same transaction', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.commit(run, [], [claimOf(0)], NOON);
    const back = resultOf(0, { state: 'pending', reason: 'rate-limited', httpStatus: 429, messageId: null });
    expect(ledger.commit(run, [back], [claimOf(0)], NOON)).toEqual(['claimed']);
  });

  it('reads the suppressions of this very moment (A2, K3)', () => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(4));
    const elsewhere = open(path);
    elsewhere.suppress(keyOf(1), FOREVER);
    elsewhere.suppress(keyOf(2), { ...FOREVER, untilMs: NOON + 1 });
    elsewhere.suppress(keyOf(3), { ...FOREVER, untilMs: NOON });
    const answers = ledger.commit(run, [], [0, 1, 2, 3].map(claimOf), NOON);
    expect(answers).toEqual(['claimed', 'suppressed', 'suppressed', 'claimed']);
    expect(fates(ledger, run)[1]).toBe('skipped(suppressed)');
    expect(ledger.commit(run, [], [claimOf(1)], NOON)).toEqual(['taken']);
  });

  it('an answer that the person opted out counts in the transaction that records it', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    ledger.commit(run, [], [claimOf(0)], NOON);
    const refused = { state: 'rejected', reason: 'opted-out', httpStatus: 400, messageId: null } as const;
    const result = resultOf(0, { ...refused, optOut: { to: keyOf(1), topic: '' } });
    expect(ledger.commit(run, [result], [claimOf(1), claimOf(2)], NOON)).toEqual(['suppressed', 'claimed']);
    expect(fates(ledger, run)).toEqual(['rejected(opted-out)', 'skipped(suppressed)', 'in-doubt(crash)']);
    expect(ledger.suppressionsOf(keyOf(1))).toMatchObject([{ source: 'provider', topic: '', untilMs: null }]);
    // Of another origin than a reply: it holds against essential messages, and START does not take it back.
    const start = { kind: 'reply', replyId: 's', reference: null, messageId: null, from: keyOf(1), to: null } as const;
    const said = { ...start, channel: null, text: 'START', meaning: 'opt-in', atMs: NOON } as const;
    ledger.events.record([said], { nowMs: NOON, source: 'webhook', environment: HELLO.environment, startLifts: true });
    expect(ledger.isSuppressed(keyOf(1), NOON, 'essential')).toBe(true);
  });

  it('an answer that the person opted out makes an entry with an end lasting', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.suppress(keyOf(0), { ...FOREVER, untilMs: NOON });
    ledger.commit(run, [], [claimOf(0)], NOON);
    const refused = { state: 'rejected', reason: 'opted-out', httpStatus: 400, messageId: null } as const;
    ledger.commit(run, [resultOf(0, { ...refused, optOut: { to: keyOf(0), topic: '' } })], [], NOON);
    expect(ledger.suppressionsOf(keyOf(0))).toMatchObject([{ source: 'provider', untilMs: null }]);
  });

  it('a fence of the environment leaves out addresses outside of it, whatever was decided before', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const nothing = { isListed: () => false, hasher: null };
    const rules = { ...nothing, isFenced: (to: string) => to === keyOf(1) };
    expect(ledger.commit(run, [], [claimOf(0), claimOf(1)], NOON, rules)).toEqual(['claimed', 'fenced']);
    expect(fates(ledger, run)[1]).toBe('skipped(fenced)');
  });

  it.each([
    ['another key', { ...claimOf(0), key: 'x' }],
    ['another address', { ...claimOf(0), to: '+447700900999' }],
    ['no such row', claimOf(9)],
  ])('%s is a bug, and the whole transaction is undone', (_, wrong) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    expect(() => ledger.commit(run, [], [claimOf(1), wrong], NOON)).toThrow('not the recipient');
    expect(ledger.commit(run, [], [claimOf(1)], NOON)).toEqual(['claimed']);
  });

  it('nothing is claimed in a run that is not started, or over', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1), { start: false });
    expect(() => ledger.commit(run, [], [claimOf(0)], NOON)).toThrow('nothing is claimed');
    ledger.start(run, NOON);
    ledger.finish(run, { state: 'partial', halt: null, figures: null, nowMs: NOON });
    expect(() => ledger.commit(run, [], [claimOf(0)], NOON)).toThrow('nothing is claimed');
  });
});

describe('results', () => {
  it('are kept whole, with text from outside as it is', () => {
    const ledger = open(scratchPath());
    const evil = `'); DROP TABLE recipients; --"\u0000\n\u{1F600}`;
    // PostgreSQL holds every character but one.
    const kept = areShared() ? evil.replaceAll('\u0000', '\u2400') : evil;
    const run = givenRun(ledger, [loadRow(0, { key: evil, variant: evil }), loadRow(1)]);
    ledger.commit(run, [], [{ row: 0, step: 0, key: evil, to: evil }], NOON);
    const result = resultOf(0, { state: 'rejected', reason: evil, attempts: 3, httpStatus: 400, messageId: evil });
    ledger.commit(run, [{ ...result, error: evil }], [], NOON + 1234);
    expect([...ledger.outcomes(run)].flat()[0]).toEqual({
      row: 0,
      line: 2,
      key: kept,
      to: kept,
      channel: 'sms',
      variant: kept,
      outcome: 'rejected',
      reason: kept,
      attempts: 3,
      httpStatus: 400,
      messageId: kept,
      error: kept,
      parts: 1,
      encoding: 'GSM-7',
      cost: 0.045,
      updatedAt: '2026-11-21T12:00:01.234Z',
      claimedAtMs: NOON,
      version: 1,
    });
    expect(ledger.suppress(evil, { ...FOREVER, reason: kept, source: kept })).toBe(true);
    expect([...ledger.suppressions()]).toEqual([
      { address: kept, topic: '', reason: kept, untilMs: null, source: kept, createdAtMs: NOON + 1234 },
    ]);
    expect(ledger.unsuppress(evil)).toBe(true);
    ledger.setLockOwner({ environment: kept, campaign: kept, occurrence: kept }, { pid: 1, host: kept, sinceMs: NOON });
    expect(ledger.lockOwner({ environment: kept, campaign: kept, occurrence: kept })?.host).toBe(kept);
    expect(fates(ledger, run)).toHaveLength(2);
  });

  it('the text of a refusal is cut', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.commit(run, [], [claimOf(0)], NOON);
    ledger.commit(run, [resultOf(0, { state: 'rejected', error: 'x'.repeat(100_000) })], [], NOON);
    expect([...ledger.outcomes(run)].flat()[0]?.error).toHaveLength(2048);
  });

  it('an attempt that failed before the claim needs none', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const failed = resultOf(0, { from: 'pending', state: 'failed', reason: 'dns', httpStatus: null, messageId: null });
    const again = resultOf(1, { ...failed, row: 1, state: 'pending', attempts: 2 });
    ledger.commit(run, [failed, again], [], NOON);
    expect(fates(ledger, run)).toMatchObject(['failed(dns)', 'pending(dns)']);
    expect(ledger.pending(run, -1, 9)).toMatchObject([{ row: 1, step: 0, key: keyOf(1), attempts: 2 }]);
  });

  it('an acceptance without a claim is refused, and the whole transaction is undone', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    ledger.commit(run, [], [claimOf(1)], NOON);
    expect(() => ledger.commit(run, [resultOf(1), resultOf(0)], [], NOON)).toThrow('not claimed');
    expect(() => ledger.commit(run, [resultOf(1), resultOf(7)], [], NOON)).toThrow('unknown');
    const free = resultOf(0, { from: 'pending' });
    expect(thrown(() => ledger.commit(run, [resultOf(1), free], [], NOON))).toMatchObject({ code: 'ledger-write' });
    ledger.commit(run, [resultOf(1)], [], NOON);
    expect(fates(ledger, run)).toEqual(['pending', 'accepted']);
  });

  it('a late result resolves the doubt that another start saw, and nothing else', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(6));
    ledger.commit(run, [], [0, 1, 2, 3, 4, 5].map(claimOf), NOON);
    ledger.commit(run, [resultOf(4), resultOf(5, { state: 'in-doubt', reason: 'timeout' })], [], NOON);
    // The lock was lost: another process starts while the requests are in flight.
    expect(ledger.start(run, NOON).recovered).toBe(4);
    recordAll(ledger, run, [
      resultOf(0),
      resultOf(1, { state: 'rejected', reason: 'status', httpStatus: 400 }),
      resultOf(2, { state: 'in-doubt', reason: 'no-response' }),
      resultOf(3, { state: 'failed', reason: 'connect' }),
      resultOf(4, { state: 'rejected', reason: 'status' }),
      resultOf(5),
    ]);
    expect(fates(ledger, run)).toEqual([
      'accepted',
      'rejected(status)',
      'in-doubt(no-response)',
      'in-doubt(crash)',
      'accepted',
      'in-doubt(timeout)',
    ]);
  });

  it('skip moves pending rows only', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    ledger.commit(run, [], [claimOf(0), claimOf(1)], NOON);
    ledger.commit(run, [resultOf(0)], [], NOON);
    ledger.skip(
      run,
      [0, 1, 2].map((row) => ({ row, step: 0, reason: 'expired' })),
      NOON,
    );
    ledger.commit(run, [resultOf(1)], [], NOON);
    expect(fates(ledger, run)).toEqual(['accepted', 'accepted', 'skipped(expired)']);
  });
});

if (!areShared()) {
  describe('when it cannot be written', () => {
    it('busy: nothing is claimed, and it works again when the other is done', () => {
      const path = scratchPath();
      const ledger = open(path, { busyTimeoutMs: 50 });
      const run = givenRun(ledger, rows(1));
      const other = open(path);
      const draft = other.beginLoad({ ...HELLO, occurrence: 'other' }, { channel: 'sms', nowMs: NOON });
      let seen: Record<string, unknown> = {};
      // A transaction of another connection is open while its rows are read.
      const slow = {
        get row(): number {
          seen = thrown(() => ledger.commit(run, [], [claimOf(0)], NOON));
          return 0;
        },
      };
      other.load(draft, [Object.defineProperties({ ...loadRow(0) }, Object.getOwnPropertyDescriptors(slow)) as never]);
      expect(seen).toMatchObject({ code: 'ledger-write', exit: 7, kind: 'busy', recorded: false });
      expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
    });
  });
}
