import { expect, test } from 'vitest';
import type { Erasure, Ledger } from '../../src/ledger/ledger.ts';
import type { NextChannelStep, RunRecord } from '../../src/ledger/records.ts';
import { createReference } from '../../src/plan/expand.ts';
import { nationalDigits } from '../../src/recipients/phone.ts';
import { createHasher } from '../../src/suppression/hash.ts';
import { traceOf } from '../../src/util/address-trace.ts';
import { amendedRun } from './given.ts';
import { bytesOf, fates, givenRun, open, scratchPath } from './scratch.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const LATER = NOON + 86_400_000;
const ANN = keyOf(2);
const EMAIL = 'ann@example.com';
const hasher = createHasher(Buffer.from('a suppression key of thirty-two b'));
const NEXT: NextChannelStep = {
  channel: 'email',
  parts: null,
  encoding: null,
  costMicros: 1,
  to: EMAIL,
};

/** A run in which row 2 fell back, was in doubt, was reported on and answered, and is finished. */
function eventful(ledger: Ledger, count = 4): RunRecord {
  const run = givenRun(ledger, [...rows(count), loadRow(count, { state: 'skipped', reason: 'suppressed' })]);
  const all = Array.from({ length: count }, (_, row) => row);
  ledger.commit(run, [], all.map(claimOf), NOON);
  ledger.commit(
    run,
    all.map((row) =>
      row === 2
        ? resultOf(2, { state: 'rejected', messageId: null, error: `not for ${ANN}`, next: NEXT })
        : resultOf(row),
    ),
    [],
    NOON + 5,
  );
  ledger.commit(run, [], [{ row: 2, step: 1, to: EMAIL, key: ANN }], NOON + 6);
  ledger.commit(run, [resultOf(2, { step: 1, state: 'in-doubt', reason: 'timeout', messageId: null })], [], NOON + 7);
  const order = { verdict: 'accepted', messageId: 'told-on-the-phone', who: 'mrs@office', note: 'asked Ann' } as const;
  ledger.resolve(run, [...ledger.doubts(run)].flat(), { ...order, nowMs: NOON + 9 });
  return ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs: NOON + 10 });
}

const SECRETS = [
  ANN.slice(1),
  EMAIL,
  'told-on-the-phone',
  'mrs@office',
  'asked Ann',
  'not for',
  'Yes please',
  'of-her-id',
];

function received(ledger: Ledger): void {
  const about = { channel: null, atMs: NOON + 20, reference: null, messageId: null } as const;
  const report = { kind: 'delivery', ...about, state: 'delivered', word: null, cause: null, error: null } as const;
  const event = { ...report, textHash: null, eventId: null, address: null };
  const reply = { kind: 'reply', ...about, to: null, text: 'Yes please', meaning: 'answer' } as const;
  ledger.events.record(
    [
      { ...event, reference: createReference(HELLO, 'email')(ANN), messageId: 'of-her-id' },
      { ...event, messageId: 'of-her-id-too', address: ANN },
      { ...event, messageId: 'id-1', address: keyOf(1) },
      { ...reply, replyId: 'r-1', from: ANN },
      { ...reply, replyId: 'r-2', from: keyOf(1), text: 'No thanks' },
      { kind: 'unread', body: `{"to":"${ANN.slice(1)}"}` },
      { kind: 'unread', body: `{"to":"${keyOf(1).slice(1)}"}` },
    ],
    { nowMs: NOON + 30, source: 'webhook', environment: 'sandbox' },
  );
}

function erasure(run: RunRecord, changes: Partial<Erasure> = {}): Erasure {
  const reference = createReference(HELLO, 'email')(ANN);
  const kept = [{ row: 2, step: 1, delivery: 'delivered', reference, messageId: 'told-on-the-phone' }] as const;
  return {
    address: ANN,
    runs: [{ run, rows: [2], keys: [ANN], kept }],
    drafts: [],
    suppressed: [ANN, EMAIL],
    hasher,
    trace: traceOf(ANN, nationalDigits),
    ...changes,
  };
}

test('one person leaves, all other recipients of the run stay, and what is counted stays', () => {
  const path = scratchPath();
  const ledger = open(path);
  const run = eventful(ledger);
  received(ledger);
  ledger.suppress(ANN, { reason: 'asked by Ann', untilMs: LATER * 2, source: 'user', topic: 'offers', nowMs: NOON });
  const before = { counts: ledger.counts(run), fates: fates(ledger, run) };
  const bytes = bytesOf(path);
  expect(SECRETS.filter((secret) => !bytes.includes(secret))).toEqual([]);

  ledger.purge.begin();
  expect(ledger.purge.erase(erasure(run), LATER)).toEqual({ reports: 2, replies: 1, unread: 1 });
  expect(ledger.purge.rewrite()).toBe('done');
  const left = bytesOf(path);
  expect([...SECRETS, 'asked by Ann'].filter((secret) => left.includes(secret))).toEqual([]);
  for (const other of [0, 1, 3, 4]) expect(left).toContain(keyOf(other).slice(1));
  expect({ counts: ledger.counts(run), fates: fates(ledger, run) }).toEqual(before);
  const outcomes = [...ledger.outcomes(run)].flat();
  expect(outcomes[2]).toMatchObject({ key: null, to: null, messageId: null, delivery: 'delivered', updatedAt: null });
  expect([...ledger.resolutions(run)].flat()).toMatchObject([{ key: '', to: null, who: null, note: null }]);

  for (const address of [ANN, EMAIL]) {
    expect(ledger.isHashSuppressed(hasher.hash(address), LATER * 3, 'anything')).toBe(true);
    expect(ledger.isHashSuppressed(hasher.hash(address), LATER * 3, 'essential')).toBe(true);
  }
  expect(ledger.suppressedHashesOf(hasher.hash(ANN)).map(({ topic, reason }) => [topic, reason])).toEqual([
    ['', null],
    ['offers', null],
  ]);
  expect(ledger.suppressionsOf(ANN)).toEqual([]);
  // Again, as after a kill.
  expect(ledger.purge.erase(erasure(run, { runs: [] }), LATER)).toEqual({ reports: 0, replies: 0, unread: 0 });
});

test('the address stays on the list where that is asked for, without a reason', () => {
  const ledger = open(scratchPath());
  const run = eventful(ledger);
  ledger.suppress(ANN, { reason: 'asked by Ann', untilMs: LATER, source: 'reply', nowMs: NOON });
  ledger.purge.erase(erasure(run, { suppressed: [ANN], hasher: null }), LATER);
  expect(ledger.suppressionsOf(ANN)).toMatchObject([{ topic: '', reason: null, untilMs: null, source: 'user' }]);
  expect(ledger.isSuppressed(ANN, LATER * 2, 'essential')).toBe(true);
});

test('a run that is not finished keeps its recipients, whatever the code above asks for', () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(4));
  expect(() => ledger.purge.erase(erasure(run), LATER)).toThrow(/not as it was read/);
  const partial = ledger.finish(run, { state: 'partial', halt: null, figures: null, nowMs: NOON });
  expect(() => ledger.purge.erase(erasure(partial), LATER)).toThrow();
  expect([...ledger.outcomes(partial)].flat().map(({ key }) => key)).toEqual([0, 1, 2, 3].map(keyOf));
  expect(ledger.suppressionCounts()).toEqual({ addresses: 0, hashes: 0 });
});

test('another key than that of the list erases nothing', () => {
  const ledger = open(scratchPath());
  const run = eventful(ledger);
  const other = createHasher(Buffer.from('another key of thirty-two bytes..'));
  const entry = { hash: other.hash(EMAIL), keyId: other.keyId, reason: null, untilMs: null, source: 'user' };
  ledger.suppressAll([], [entry], NOON);
  expect(() => ledger.purge.erase(erasure(run), LATER)).toThrow(/another key/);
  expect([...ledger.outcomes(run)].flat()[2]?.key).toBe(ANN);
});

test('an amended list keeps what became of the person, and rejected ones are not tried again', () => {
  const ledger = open(scratchPath());
  const run = eventful(ledger);
  const before = ledger.counts(run).reduce((sum, { count }) => sum + count, 0);
  ledger.purge.erase(erasure(run), LATER);
  // Those who are left, in another order, and a new one.
  const list = [3, 1, 0, 9].map((of, row) => loadRow(row, { key: keyOf(of), to: keyOf(of) }));
  const amended = amendedRun(ledger, run, list, { nowMs: LATER });
  const outcomes = [...ledger.outcomes(amended)].flat();
  expect(outcomes.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(4);
  expect(outcomes.filter(({ key }) => key === null)).toMatchObject([
    { outcome: 'accepted', steps: [{ outcome: 'rejected' }, { outcome: 'accepted', delivery: 'delivered' }] },
  ]);
  // The skipped row is not in the list any more, and the new recipient is.
  expect(ledger.counts(amended).reduce((sum, { count }) => sum + count, 0)).toBe(before + 1);
});

test('a rejected person is not tried again', () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(3));
  ledger.commit(run, [], [0, 1, 2].map(claimOf), NOON);
  const refused = { state: 'rejected', messageId: null } as const;
  ledger.commit(run, [resultOf(0), resultOf(1, refused), resultOf(2, refused)], [], NOON);
  const ended = ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs: NOON });
  ledger.purge.erase(erasure(ended), LATER);
  expect(ledger.countOpen(ended, { rejected: true }).rows).toBe(1);
  expect(ledger.reopenRejected(ended)).toBe(1);
  expect(ledger.pending(ended, -1, 10).map(({ row }) => row)).toEqual([1]);
});

test('what is kept of the day does not make a run look newer than it is', () => {
  const ledger = open(scratchPath());
  const run = eventful(ledger);
  const before = ledger.purge.lastActivityMs(run);
  ledger.purge.erase(erasure(run), LATER);
  expect(ledger.purge.lastActivityMs(run)).toBeLessThanOrEqual(before);
});
