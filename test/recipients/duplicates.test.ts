import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeen, type Seen, UnsureKey } from '../../src/recipients/duplicates.ts';
import { createKeyHash, type KeyHash } from '../../src/recipients/key-hash.ts';

const runs = process.env['HANDBILL_FULL'] === '1' ? 5000 : 300;

/** Every hash is at least this large. */
const LEAST = 2 ** 52;

const HASHES: readonly (readonly [string, () => KeyHash])[] = [
  ['a good hash', () => createKeyHash()],
  ['the first character', () => (key) => LEAST + (key.charCodeAt(0) || 0)],
  ['the length, above and below zero', () => (key) => (key.length % 2 === 0 ? 1 : -1) * (LEAST + key.length)],
  ['one hash for all', () => () => LEAST],
];

/** What is said about each key, with another look where one is asked for; and how often that was. */
function walk(seen: Seen, keys: readonly string[]): { readonly isNew: readonly boolean[]; readonly looks: number } {
  let looks = 0;
  const isNew = keys.map((key, at) => {
    try {
      return seen.add(key);
    } catch (error) {
      if (!(error instanceof UnsureKey)) throw error;
      looks += 1;
      for (const later of keys.slice(at)) error.look.ahead(later);
      for (const earlier of keys.slice(0, at)) error.look.behind(earlier);
      error.look.done();
      return seen.add(key);
    }
  });
  return { isNew, looks };
}

function bySet(keys: readonly string[]): readonly boolean[] {
  const set = new Set<string>();
  return keys.map((key) => {
    const isNew = !set.has(key);
    set.add(key);
    return isNew;
  });
}

describe('seen', () => {
  it('is empty and of use again once it was cleared', () => {
    const seen = createSeen();
    const keys = Array.from({ length: 20_000 }, (_, n) => `+44770${1_000_000 + n}`);
    for (const round of [1, 2]) {
      expect(
        keys.filter((key) => !seen.add(key)),
        `round ${round}`,
      ).toEqual([]);
      expect(
        keys.filter((key) => seen.add(key)),
        `round ${round}, again`,
      ).toEqual([]);
      seen.clear();
    }
  });

  it('knows a number again, without another look', () => {
    const seen = createSeen();
    const keys = ['+447700900123', '+447700900124', '+447700900123'];
    expect(keys.map((key) => seen.add(key))).toEqual([true, true, false]);
  });

  it('keeps apart what only looks alike', () => {
    const keys = ['1', '+1', '01', '+01', '001', '1 ', '1.0', '1e0', '-1', '', '+', '0', '+0', '００', '１'];
    expect(walk(createSeen(), keys)).toEqual({ isNew: keys.map(() => true), looks: 0 });
    expect(walk(createSeen(), [...keys, ...keys]).isNew).toEqual(bySet([...keys, ...keys]));
  });

  it('is exact where doubles end', () => {
    const keys = ['999999999999999', '9007199254740992', '9007199254740993', '+9007199254740992', '+9007199254740993'];
    expect(walk(createSeen(), keys)).toEqual({ isNew: keys.map(() => true), looks: 0 });
  });

  it('looks again once, however many come again', () => {
    const keys = Array.from({ length: 900 }, (_, n) => `somebody-${n % 300}@example.com`);
    expect(walk(createSeen(), keys)).toEqual({ isNew: bySet(keys), looks: 1 });
    expect(walk(createSeen(), keys.slice(0, 300))).toEqual({ isNew: bySet(keys.slice(0, 300)), looks: 0 });
  });

  it('looks again for a hash that came before with another key, and calls that key new', () => {
    const keys = ['ann@example.com', 'ben@example.com', 'ann@example.com', 'cem@example.com'];
    expect(
      walk(
        createSeen(() => LEAST),
        keys,
      ),
    ).toEqual({ isNew: [true, true, false, true], looks: 1 });
  });

  it.each(HASHES)('answers as a Set does: %s', (_, makeHash) => {
    const key = fc.oneof(
      fc.integer({ min: 0, max: 50 }).map(String),
      fc.integer({ min: 0, max: 50 }).map((n) => `+44770090${n}`),
      fc.integer({ min: 0, max: 50 }).map((n) => `somebody-${n}@example.com`),
      fc.string({ maxLength: 2, unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 200 }), (keys) => {
        const { isNew, looks } = walk(createSeen(makeHash()), keys);
        expect(isNew).toEqual(bySet(keys));
        expect(looks).toBeLessThanOrEqual(1);
      }),
      { numRuns: runs },
    );
  });

  // Runs of neighbours, steps of powers of two and ten: what lists look like, and what weak hashes pile up.
  it.each([1, 7, 1000, 4096, 65536, 1_000_000, 2 ** 32])('grows past many numbers in steps of %i', (step) => {
    const seen = createSeen();
    const before = process.cpuUsage();
    const count = 100_000;
    for (let i = 1; i <= count; i++) if (!seen.add(`+${i * step}`)) throw new Error(`+${i * step} is new`);
    for (let i = 1; i <= count; i++) if (seen.add(`+${i * step}`)) throw new Error(`+${i * step} is known`);
    // 0.1 s of its own, whatever else the machine does; numbers that all pile up take 100 times as long.
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });
});

describe('the hash of a key', () => {
  it('is a double that no number of 15 digits is', () => {
    const hash = createKeyHash();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (key) => {
        const size = Math.abs(hash(key));
        expect(Number.isSafeInteger(size) && size >= LEAST).toBe(true);
        expect(hash(key)).toBe(hash(key));
      }),
    );
  });

  it('uses every bit, and differs with the secret', () => {
    const [one, other] = [createKeyHash(Buffer.alloc(8)), createKeyHash(Buffer.alloc(8, 1))];
    const bits = new Float64Array(54);
    const count = 20_000;
    for (let n = 0; n < count; n += 1) {
      const hash = one(`somebody-${n}@example.com`);
      if (hash === other(`somebody-${n}@example.com`)) throw new Error('the secret does not count');
      bits[53] = (bits[53] ?? 0) + (hash < 0 ? 1 : 0);
      for (let bit = 0; bit < 52; bit += 1) bits[bit] = (bits[bit] ?? 0) + (Math.floor(Math.abs(hash) / 2 ** bit) % 2);
    }
    // Six standard deviations; the secrets do not change, so that neither does the answer.
    const far = [...bits.subarray(0, 52), bits[53] ?? 0].filter((ones) => Math.abs(ones - count / 2) > 425);
    expect(far).toEqual([]);
  });

  it('is found for 100,000 neighbours, each of its own', () => {
    const hash = createKeyHash(Buffer.from('12345678'));
    const hashes = new Set(Array.from({ length: 100_000 }, (_, n) => hash(`customer-${n}`)));
    expect(hashes.size).toBe(100_000);
  });
});
