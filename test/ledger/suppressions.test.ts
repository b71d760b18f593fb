import { describe, expect, it } from 'vitest';
import { open, scratchPath } from './scratch.ts';
import { keyOf, NOON } from './values.ts';

const DAY = 24 * 3600_000;

describe('suppressions', () => {
  it('are added once, listed by address and removed', () => {
    const ledger = open(scratchPath());
    const facts = { reason: 'asked', untilMs: null, source: 'user', nowMs: NOON };
    expect(ledger.suppress(keyOf(2), facts)).toBe(true);
    expect(ledger.suppress(keyOf(2), facts)).toBe(false);
    expect(ledger.suppress(keyOf(1), facts)).toBe(true);
    expect([...ledger.suppressions()].map((s) => s.address)).toEqual([keyOf(1), keyOf(2)]);
    expect(ledger.isSuppressed(keyOf(1), NOON)).toBe(true);
    expect(ledger.unsuppress(keyOf(1))).toBe(true);
    expect(ledger.unsuppress(keyOf(1))).toBe(false);
    expect(ledger.isSuppressed(keyOf(1), NOON)).toBe(false);
  });

  const pairs: [string, number | null, number | null, number | null, string][] = [
    ['permanent, then until', null, NOON + DAY, null, 'first'],
    ['until, then permanent', NOON + DAY, null, null, 'second'],
    ['until, then longer', NOON + DAY, NOON + 2 * DAY, NOON + 2 * DAY, 'second'],
    ['until, then shorter', NOON + 2 * DAY, NOON + DAY, NOON + 2 * DAY, 'first'],
    ['twice the same', NOON + DAY, NOON + DAY, NOON + DAY, 'first'],
  ];
  it.each(pairs)('never get weaker: %s', (_, first, second, untilMs, source) => {
    const ledger = open(scratchPath());
    ledger.suppress(keyOf(0), { reason: 'one', untilMs: first, source: 'first', nowMs: NOON });
    ledger.suppress(keyOf(0), { reason: 'two', untilMs: second, source: 'second', nowMs: NOON });
    expect([...ledger.suppressions()]).toEqual([
      { address: keyOf(0), topic: '', reason: source === 'first' ? 'one' : 'two', untilMs, source, createdAtMs: NOON },
    ]);
  });

  const sources: [string, string, string | null, string][] = [
    ['a user says why again', 'user', 'two', 'two'],
    ['a user says nothing', 'user', null, 'one'],
    ['an import says something else', 'list.csv', 'two', 'one'],
  ];
  it.each(sources)('keep the reason of a known entry: %s', (_, source, reason, kept) => {
    const ledger = open(scratchPath());
    const hash = { hash: 'a'.repeat(64), keyId: '1a955645' };
    const add = (facts: { reason: string | null; untilMs: number | null; source: string }): number =>
      ledger.suppressAll([{ address: keyOf(0), ...facts }], [{ ...hash, ...facts }], NOON);
    expect(add({ reason: null, untilMs: null, source: 'reply' })).toBe(2);
    expect(add({ reason: 'one', untilMs: NOON + DAY, source: 'list.csv' })).toBe(0);
    expect(add({ reason, untilMs: NOON + 2 * DAY, source })).toBe(0);
    const facts = { topic: '', reason: kept, untilMs: null, source: 'list.csv', createdAtMs: NOON };
    expect([...ledger.suppressions()]).toEqual([{ address: keyOf(0), ...facts }]);
    expect([...ledger.suppressedHashes()]).toEqual([{ ...hash, ...facts }]);
  });

  it('end at their time', () => {
    const ledger = open(scratchPath());
    ledger.suppress(keyOf(0), { reason: null, untilMs: NOON + DAY, source: 'user', nowMs: NOON });
    expect(ledger.isSuppressed(keyOf(0), NOON + DAY - 1)).toBe(true);
    expect(ledger.isSuppressed(keyOf(0), NOON + DAY)).toBe(false);
  });

  it('many at once, more than one batch', () => {
    const ledger = open(scratchPath());
    const entries = Array.from({ length: 2500 }, (_, i) => ({
      address: keyOf(i % 2400),
      reason: null,
      untilMs: null,
      source: 'list.csv',
    }));
    expect(ledger.suppressAll(entries, [], NOON)).toBe(2400);
    expect([...ledger.suppressions()]).toHaveLength(2400);
  });
});
