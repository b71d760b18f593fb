import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeen } from '../../src/recipients/duplicates.ts';

const runs = process.env['HANDBILL_FULL'] === '1' ? 5000 : 300;

describe('seen', () => {
  it('knows a key again', () => {
    const seen = createSeen();
    expect([seen.add('+447700900123'), seen.add('+447700900124'), seen.add('+447700900123')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(seen.size).toBe(2);
  });

  it('keeps apart what only looks alike', () => {
    const seen = createSeen();
    const keys = ['1', '+1', '01', '+01', '001', '1 ', '1.0', '1e0', '-1', '', '+', '0', '+0', '００', '１'];
    for (const key of keys) expect(seen.add(key)).toBe(true);
    for (const key of keys) expect(seen.add(key)).toBe(false);
    expect(seen.size).toBe(keys.length);
  });

  it('is exact where doubles end', () => {
    const seen = createSeen();
    const keys = ['999999999999999', '9007199254740992', '9007199254740993', '+9007199254740992', '+9007199254740993'];
    for (const key of keys) expect(seen.add(key)).toBe(true);
    expect(seen.size).toBe(5);
  });

  it('answers as a Set does', () => {
    const key = fc.oneof(
      fc.integer({ min: 0, max: 50 }).map(String),
      fc.integer({ min: 0, max: 50 }).map((n) => `+44770090${n}`),
      fc.string({ maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 200 }), (keys) => {
        const seen = createSeen();
        const set = new Set<string>();
        for (const k of keys) {
          expect(seen.add(k)).toBe(!set.has(k));
          set.add(k);
        }
        expect(seen.size).toBe(set.size);
      }),
      { numRuns: runs },
    );
  });

  // Runs of neighbours, steps of powers of two and ten: what lists look like, and what weak hashes pile up.
  it.each([1, 7, 1000, 4096, 65536, 1_000_000, 2 ** 32])('grows past many numbers in steps of %i', (step) => {
    const seen = createSeen();
    const started = performance.now();
    const count = 100_000;
    for (let i = 1; i <= count; i++) if (!seen.add(`+${i * step}`)) throw new Error(`+${i * step} is new`);
    for (let i = 1; i <= count; i++) if (seen.add(`+${i * step}`)) throw new Error(`+${i * step} is known`);
    expect(seen.size).toBe(count);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
