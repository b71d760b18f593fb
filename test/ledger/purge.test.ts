import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openExistingLedger } from '../../src/ledger/open.ts';
import type { LoadRow, NextChannelStep, RunRecord } from '../../src/ledger/records.ts';
import { createHasher } from '../../src/suppression/hash.ts';
import { amendedRun } from './given.ts';
import { areShared, bytesOf, fates, givenRun, lockRun, open, scratchPath } from './scratch.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const DAY = 86_400_000;
const LATER = NOON + 100 * DAY;
const SMS: NextChannelStep = {
  channel: 'sms',
  parts: 1,
  encoding: 'GSM-7',
  costMicros: 1,
  to: '+447911123456',
};

function steps(all: Iterable<unknown>): number {
  return [...all].length;
}

function purged(ledger: Ledger, run: RunRecord): RunRecord {
  ledger.purge.begin();
  steps(ledger.purge.clear(ledger.purge.mark(run, LATER)));
  const found = ledger.findRun(run);
  if (found === null) throw new Error('the run is gone');
  return found;
}

/** Everything that a report is made of. */
function books(ledger: Ledger, run: RunRecord): unknown {
  return { steps: ledger.steps(run), counts: ledger.counts(run), fates: fates(ledger, run) };
}

/** A run with every kind of data: ids, texts, doubts, a history, steps. */
function eventful(ledger: Ledger, count = 40): RunRecord {
  const run = givenRun(ledger, [
    ...rows(count),
    loadRow(count, { key: null, state: 'skipped', reason: 'bad-row' }),
    loadRow(count + 1, { state: 'skipped', reason: 'suppressed' }),
  ]);
  const some = Array.from({ length: 8 }, (_, row) => row);
  ledger.commit(run, [], some.map(claimOf), NOON);
  ledger.commit(
    run,
    [
      resultOf(0),
      resultOf(1, { state: 'rejected', reason: 'refused', error: `not for ${keyOf(1)}`, messageId: null }),
      resultOf(2, { state: 'in-doubt', reason: 'timeout', messageId: null, error: `asked for ${keyOf(2)}` }),
      resultOf(3, { state: 'in-doubt', reason: 'timeout', messageId: null }),
      resultOf(4, { state: 'failed', reason: 'dns', messageId: null, httpStatus: null }),
      resultOf(5, { state: 'rejected', reason: null, messageId: null, next: SMS }),
    ],
    [],
    NOON + 5,
  );
  ledger.commit(run, [], [{ row: 5, step: 1, to: SMS.to, key: keyOf(5) }], NOON + 6);
  ledger.commit(run, [resultOf(5, { step: 1, messageId: 'second-step' })], [], NOON + 7);
  const doubts = [...ledger.doubts(run)].flat();
  ledger.resolve(
    run,
    doubts.filter(({ row }) => row === 3),
    {
      verdict: 'accepted',
      messageId: 'told-on-the-phone',
      who: 'mrs@office',
      note: 'asked Mr Canary',
      nowMs: NOON + 9,
    },
  );
  return ledger.finish(run, { state: 'partial', halt: null, figures: null, nowMs: NOON + 10 });
}

const SECRETS = [
  ...Array.from({ length: 42 }, (_, row) => keyOf(row).slice(1)),
  SMS.to.slice(1),
  'id-0',
  'second-step',
  'told-on-the-phone',
  'mrs@office',
  'Mr Canary',
  'not for',
  'asked for',
];

test('personal data leaves, and what is counted stays', () => {
  const path = scratchPath();
  const ledger = open(path);
  const run = eventful(ledger);
  const before = books(ledger, run);
  const bytes = bytesOf(path);
  expect(SECRETS.filter((secret) => secret !== keyOf(40).slice(1) && !bytes.includes(secret))).toEqual([]);

  const after = purged(ledger, run);
  expect(books(ledger, after)).toEqual(before);
  expect(after).toMatchObject({ purgedAtMs: LATER, rows: 42, state: 'partial' });
  const outcomes = [...ledger.outcomes(after)].flat();
  expect(outcomes.map(({ line }) => line)).toEqual(Array.from({ length: 42 }, (_, row) => row + 2));
  const everything = outcomes.flatMap((o) => [o, ...(o.steps ?? [])]);
  for (const one of everything) {
    expect(one).toMatchObject({ to: null, messageId: null, error: null, updatedAt: null });
    expect('key' in one ? one.key : null).toBeNull();
  }
  expect([...ledger.doubts(after)]).toEqual([]);
  expect([...ledger.resolutions(after)].flat()).toMatchObject([
    { key: '', to: null, error: null, messageId: null, who: null, note: null, verdict: 'accepted', sinceMs: null },
  ]);

  expect(ledger.purge.isUnderWay()).toBe(true);
  expect(ledger.purge.rewrite()).toBe('done');
  expect(ledger.purge.isUnderWay()).toBe(false);
  const left = bytesOf(path);
  expect(SECRETS.filter((secret) => left.includes(secret))).toEqual([]);
  expect(books(ledger, after)).toEqual(before);
});

test('the day of a claim stays, for the caps of others', () => {
  const path = scratchPath();
  const ledger = open(path);
  const run = eventful(ledger);
  purged(ledger, run);
  expect(ledger.lastClaimMs(run)).toBe(Math.floor(NOON / DAY) * DAY + DAY - 1);
});

test('a run that was purged is never continued', () => {
  const ledger = open(scratchPath());
  const run = purged(ledger, eventful(ledger));
  expect(() => ledger.start(run, LATER)).toThrow(/may not be continued/);
  expect(() => ledger.commit(run, [], [claimOf(10)], LATER)).toThrow();
  expect(ledger.purge.mark(run, LATER + DAY).purgedAtMs).toBe(LATER);
});

test('no process takes the key of a run that is not marked', () => {
  const ledger = open(scratchPath());
  const run = eventful(ledger);
  ledger.purge.begin();
  expect(() => steps(ledger.purge.clear(run))).toThrow(/may not become another one/);
  expect(fates(ledger, run).length).toBe(42);
  expect([...ledger.outcomes(run)].flat()[0]?.key).toBe(keyOf(0));
});

describe('a purge that is killed', () => {
  /** More than two steps. */
  const MANY = 12_000;

  test.each([0, 1, 2, 3])('after %i steps: the run is closed, and doing it again does the rest', (done) => {
    const path = scratchPath();
    const first = open(path);
    const run = givenRun(first, rows(MANY));
    const before = books(first, run);
    first.purge.begin();
    const some = first.purge.clear(first.purge.mark(run, LATER))[Symbol.iterator]();
    for (let step = 0; step < done; step++) some.next();
    const left = [...first.outcomes(run)].flat().filter(({ key }) => key !== null).length;
    expect(left).toBe(Math.max(0, MANY - done * 5000));
    first.close();

    const second = open(path, { nowMs: LATER });
    const found = second.findRun(run);
    expect(found).toMatchObject({ purgedAtMs: LATER });
    if (found === null) return;
    expect(second.purge.isDone(found)).toBe(false);
    expect(second.purge.isUnderWay()).toBe(true);
    expect(() => second.start(found, LATER)).toThrow(/may not be continued/);
    expect(books(second, found)).toEqual(before);
    const end = purged(second, found);
    expect(second.purge.isDone(end)).toBe(true);
    expect(second.purge.rewrite()).toBe('done');
    expect(books(second, end)).toEqual(before);
    expect(bytesOf(path)).not.toContain('+4477009');
  });
});

test('lists that were never fully loaded, or replaced, are forgotten', () => {
  const path = scratchPath();
  const ledger = open(path);
  const run = eventful(ledger);
  const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
  ledger.load(draft, [loadRow(0, { key: '+447911999999' } as Partial<LoadRow>)]);
  expect(ledger.purge.drafts().map(({ number }) => number)).toEqual([draft.number]);
  expect(() => steps(ledger.purge.forget(run))).toThrow(/is loaded/);
  ledger.purge.begin();
  steps(ledger.purge.forget(draft));
  expect(ledger.purge.drafts()).toEqual([]);
  expect(ledger.purge.rewrite()).toBe('done');
  expect(bytesOf(path)).not.toContain('447911999999');
  expect(bytesOf(path)).toContain(keyOf(0));
});

test('what an amended list left behind in free pages is gone too', () => {
  const path = scratchPath();
  const ledger = open(path);
  const run = givenRun(ledger, rows(2000));
  purged(ledger, amendedRun(ledger, run, rows(10)));
  ledger.purge.rewrite();
  expect(bytesOf(path)).not.toContain('+4477009');
});

describe('suppressions', () => {
  const hasher = createHasher(Buffer.from('a key of sixteen bytes and more'));
  const OLD = NOON - 200 * DAY;
  const CUT = NOON - 90 * DAY;
  const given = (): { path: string; ledger: Ledger } => {
    const path = scratchPath();
    const ledger = open(path, { nowMs: OLD });
    const add = (address: string, nowMs: number, untilMs: number | null = null) =>
      ledger.suppress(address, { reason: 'Mr Canary asked', untilMs, source: 'user', nowMs });
    add('+447911000001', OLD);
    add('+447911000002', OLD, CUT - DAY);
    add('+447911000003', OLD, NOON + DAY);
    add('canary@example.com', OLD);
    add('+447911000009', NOON);
    return { path, ledger };
  };

  test('older ones become hashes, expired ones go, newer ones stay', () => {
    const { path, ledger } = given();
    expect(ledger.purge.oldSuppressions(CUT)).toEqual({ expired: 1, active: 3 });
    ledger.purge.begin();
    const counts = [...ledger.purge.hashSuppressions(CUT, hasher)];
    expect(counts).toEqual([{ hashed: 3, expired: 1 }]);
    expect([...ledger.suppressions()].map(({ address }) => address)).toEqual(['+447911000009']);
    for (const address of ['+447911000001', '+447911000003', 'canary@example.com']) {
      expect(ledger.isHashSuppressed(hasher.hash(address), NOON), address).toBe(true);
    }
    expect(ledger.isHashSuppressed(hasher.hash('+447911000003'), NOON + 2 * DAY)).toBe(false);
    expect([...ledger.suppressedHashes()]).toMatchObject(
      [OLD, OLD, OLD].map((createdAtMs) => ({ createdAtMs, reason: null, source: 'user' })),
    );
    ledger.purge.rewrite();
    const bytes = bytesOf(path);
    for (const gone of ['447911000001', '447911000002', '447911000003', 'canary@']) expect(bytes).not.toContain(gone);
    expect(bytes).toContain('447911000009');
  });

  test('without a key, what has not expired stays as it is', () => {
    const { ledger } = given();
    ledger.purge.begin();
    expect([...ledger.purge.hashSuppressions(CUT, null)]).toEqual([{ hashed: 0, expired: 1 }]);
    expect([...ledger.suppressions()].length).toBe(4);
    expect([...ledger.suppressedHashes()]).toEqual([]);
  });

  test('an entry never gets shorter', () => {
    const { ledger } = given();
    const hash = hasher.hash('+447911000003');
    ledger.suppressAll([], [{ hash, keyId: hasher.keyId, reason: null, untilMs: null, source: 'import' }], NOON);
    steps(ledger.purge.hashSuppressions(CUT, hasher));
    expect(ledger.isHashSuppressed(hash, NOON + 1000 * DAY)).toBe(true);
  });
});

if (!areShared()) {
  describe('writing the file anew', () => {
    /** A ledger of more than 32 MB, quickly. */
    function large(): { path: string; ledger: Ledger; run: RunRecord } {
      const path = scratchPath();
      const ledger = open(path);
      const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
      ledger.load(draft, rows(100));
      const db = new DatabaseSync(path);
      db.exec(`UPDATE recipients SET error = printf('%.*c', 400000, 'x')`);
      db.close();
      const run = ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs: NOON });
      return { path, ledger, run };
    }

    test('waits until no process sends from a large ledger', () => {
      const { path, ledger, run } = large();
      const other = ledger.beginLoad({ ...HELLO, campaign: 'other' }, { channel: 'sms', nowMs: NOON });
      const lock = lockRun(path, other);
      purged(ledger, run);
      expect(ledger.purge.rewrite()).toBe('in-use');
      expect(ledger.purge.isUnderWay()).toBe(true);
      lock?.release();
      expect(ledger.purge.rewrite()).toBe('done');
      expect(bytesOf(path)).not.toContain('+4477009');
    });

    test('a small one is written anew while a process sends', () => {
      const path = scratchPath();
      const ledger = open(path);
      const other = ledger.beginLoad({ ...HELLO, campaign: 'other' }, { channel: 'sms', nowMs: NOON });
      const lock = lockRun(path, other);
      purged(ledger, eventful(ledger));
      expect(ledger.purge.rewrite()).toBe('done');
      lock?.release();
    });

    test('a process that reads for long keeps the log, and is waited for', () => {
      const path = scratchPath();
      const ledger = open(path, { busyTimeoutMs: 50 });
      const run = eventful(ledger);
      const reader = new DatabaseSync(path, { readOnly: true });
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM recipients').get();
      purged(ledger, run);
      expect(ledger.purge.rewrite()).toBe('in-use');
      reader.exec('COMMIT');
      expect(ledger.purge.rewrite()).toBe('done');
      reader.close();
      expect(bytesOf(path)).not.toContain('+4477009');
    });

    test('the ledger is one of handbill afterwards, and nothing else lies beside it', () => {
      const path = scratchPath();
      const ledger = open(path);
      purged(ledger, eventful(ledger));
      const before = readdirSync(dirname(path)).filter((name) => !name.endsWith('.purge'));
      ledger.purge.rewrite();
      ledger.close();
      expect(existsSync(`${path}.purge`)).toBe(false);
      expect(readdirSync(dirname(path)).sort()).toEqual(before.filter((name) => !/-(wal|shm)$/.test(name)).sort());
      const again = openExistingLedger(path, { nowMs: LATER });
      expect(again?.runs().length).toBe(1);
      again?.close();
    });
  });
}
