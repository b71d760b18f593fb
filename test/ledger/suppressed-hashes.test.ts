import { describe, expect, it } from 'vitest';
import type { ClaimRules, HashEntry } from '../../src/ledger/records.ts';
import { fellBack, onStep } from './fallbacks.ts';
import { fates, givenRun, open, scratchPath, thrown } from './scratch.ts';
import { claimOf, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const KEY_ID = '0123abcd';
const hashOf = (form: string): string => Buffer.from(form).toString('hex').padStart(64, '0').slice(-64);
const entryOf = (form: string, changes: Partial<HashEntry> = {}): HashEntry => ({
  hash: hashOf(form),
  keyId: KEY_ID,
  reason: null,
  untilMs: null,
  source: 'list.csv',
  ...changes,
});
const RULES: ClaimRules = {
  isListed: () => false,
  hasher: { keyId: KEY_ID, hash: hashOf },
};

describe('hashes', () => {
  it('are added beside addresses, counted once, listed in their order and removed', () => {
    const ledger = open(scratchPath());
    expect(ledger.hashKeyId()).toBeNull();
    const address = { address: keyOf(0), reason: 'asked', untilMs: null, source: 'list.csv' };
    expect(ledger.suppressAll([address], [entryOf(keyOf(2)), entryOf(keyOf(1))], NOON)).toBe(3);
    expect(ledger.suppressAll([address], [entryOf(keyOf(1)), entryOf(keyOf(3))], NOON)).toBe(1);
    expect(ledger.suppressionCounts()).toEqual({ addresses: 1, hashes: 3 });
    expect(ledger.hashKeyId()).toBe(KEY_ID);
    expect([...ledger.suppressedHashes()]).toEqual(
      [1, 2, 3].map((row) => ({ ...entryOf(keyOf(row)), topic: '', createdAtMs: NOON })),
    );
    expect(ledger.isHashSuppressed(hashOf(keyOf(1)), NOON)).toBe(true);
    expect(ledger.unsuppressHash(hashOf(keyOf(1)))).toBe(true);
    expect(ledger.unsuppressHash(hashOf(keyOf(1)))).toBe(false);
    expect(ledger.isHashSuppressed(hashOf(keyOf(1)), NOON)).toBe(false);
  });

  it('what has ended is kept, is not new and suppresses no recipient', () => {
    const ledger = open(scratchPath());
    const ended = { untilMs: NOON };
    const address = { address: keyOf(0), reason: null, untilMs: NOON, source: 'x' };
    expect(ledger.suppressAll([address], [entryOf(keyOf(1), ended)], NOON)).toBe(0);
    expect(ledger.isHashSuppressed(hashOf(keyOf(1)), NOON)).toBe(false);
    expect(ledger.suppressAll([], [entryOf(keyOf(1), { untilMs: NOON + 1 })], NOON)).toBe(1);
    expect(ledger.suppressAll([], [entryOf(keyOf(1), ended)], NOON)).toBe(0);
    expect(ledger.isHashSuppressed(hashOf(keyOf(1)), NOON)).toBe(true);
  });

  it('have one key: two of them, at once or one after the other, add nothing', () => {
    const ledger = open(scratchPath());
    const address = { address: keyOf(0), reason: null, untilMs: null, source: 'x' };
    const other = entryOf(keyOf(2), { keyId: 'ffffffff' });
    const refused = { code: 'other-suppression-key', exit: 2 };
    expect(thrown(() => ledger.suppressAll([address], [entryOf(keyOf(1)), other], NOON))).toMatchObject(refused);
    expect(ledger.suppressionCounts()).toEqual({ addresses: 0, hashes: 0 });
    ledger.suppressAll([], [entryOf(keyOf(1))], NOON);
    expect(thrown(() => ledger.suppressAll([address], [other], NOON))).toMatchObject(refused);
    expect(ledger.suppressionCounts()).toEqual({ addresses: 0, hashes: 1 });
  });
});

describe('a claim under rules', () => {
  it('sees hashes of this very moment, of the address and of the key', () => {
    const path = scratchPath();
    const ledger = open(path);
    const list = [...rows(3), loadRow(3, { key: '+447700900999', to: keyOf(3) }), loadRow(4)];
    const run = givenRun(ledger, list);
    open(path).suppressAll(
      [],
      [
        entryOf(keyOf(1)),
        entryOf(keyOf(2), { untilMs: NOON }),
        entryOf('+447700900999'),
        entryOf(keyOf(4), { untilMs: NOON + 1 }),
      ],
      NOON,
    );
    const claims = [0, 1, 2, 3, 4].map((row) => ({ ...claimOf(row), key: String(list[row]?.key) }));
    const answers = ledger.commit(run, [], claims, NOON, RULES);
    expect(answers).toEqual(['claimed', 'suppressed', 'claimed', 'suppressed', 'suppressed']);
    expect(fates(ledger, run)[3]).toBe('skipped(suppressed)');
  });

  it('sees another spelling and the key among the addresses', () => {
    const path = scratchPath();
    const ledger = open(path);
    const mail = loadRow(0, { key: 'Jane@Example.com', to: 'Jane@Example.com' });
    const run = givenRun(ledger, [mail, loadRow(1, { key: '+447700900999', to: keyOf(1) }), loadRow(2)]);
    const facts = { reason: null, untilMs: null, source: 'user', nowMs: NOON };
    for (const address of ['jane@example.com', '+447700900999']) open(path).suppress(address, facts);
    const claims = [
      { row: 0, step: 0, to: 'Jane@Example.com', key: 'Jane@Example.com' },
      { ...claimOf(1), key: '+447700900999' },
      claimOf(2),
    ];
    expect(ledger.commit(run, [], claims, NOON, RULES)).toEqual(['suppressed', 'suppressed', 'claimed']);
  });

  it('asks the lists that are not a table, for every channel step', () => {
    const { ledger, run } = fellBack(2, [0, 1]);
    const rules = { ...RULES, isListed: (to: string, _key: string, now: number) => to.startsWith('b') && now >= NOON };
    const claims = [onStep(1, 0, 'a@example.com'), onStep(1, 1, 'b@example.com')];
    expect(ledger.commit(run, [], claims, NOON, rules)).toEqual(['claimed', 'suppressed']);
  });

  it.each<[string, ClaimRules | undefined]>([
    ['no rules', undefined],
    ['no key', { ...RULES, hasher: null }],
    ['another key', { ...RULES, hasher: { keyId: 'ffffffff', hash: hashOf } }],
  ])('claims no recipient while there are hashes and %s; outcomes can still be recorded', (_, rules) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    expect(ledger.commit(run, [], [claimOf(0)], NOON, rules)).toEqual(['claimed']);
    ledger.suppressAll([], [entryOf(keyOf(9))], NOON);
    const error = thrown(() => ledger.commit(run, [resultOf(0)], [claimOf(1)], NOON, rules));
    expect(error).toMatchObject({ code: 'missing-suppression-key', exit: 7 });
    // Claimed, and no process holds the run: as a crash would leave it.
    expect(fates(ledger, run)).toEqual(['in-doubt(crash)', 'pending']);
    ledger.commit(run, [resultOf(0)], [], NOON, rules);
    expect(fates(ledger, run)).toEqual(['accepted', 'pending']);
  });

  it('a person is not taken for another one because of a list', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const rules = { ...RULES, isListed: () => true };
    expect(() => ledger.commit(run, [], [{ ...claimOf(0), key: 'x' }], NOON, rules)).toThrow('not the recipient');
    expect(ledger.commit(run, [], [claimOf(0)], NOON, rules)).toEqual(['suppressed']);
  });
});
