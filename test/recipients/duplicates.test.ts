import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Recipient } from '../../src/model.ts';
import { createDuplicates, type Duplicate, type Duplicates, UnsureKey } from '../../src/recipients/duplicates.ts';
import { createKeyHash, type KeyHash } from '../../src/recipients/key-hash.ts';
import { createNumberTable } from '../../src/recipients/number-table.ts';

const runs = process.env['HANDBILL_FULL'] === '1' ? 5000 : 300;

/** Every hash is at least this large. */
const LEAST = 2 ** 52;

const HASHES: readonly (readonly [string, () => KeyHash])[] = [
  ['a good hash', () => createKeyHash()],
  ['the first character', () => (key) => LEAST + (key.charCodeAt(0) || 0)],
  ['the length, above and below zero', () => (key) => (key.length % 2 === 0 ? 1 : -1) * (LEAST + key.length)],
  ['one hash for all', () => () => LEAST],
];

interface Row {
  readonly key: string;
  readonly to: string;
  readonly text: string;
}

const USED = { used: [1] } as const;

function recipientOf({ key, to, text }: Row, at: number): Recipient {
  return { row: at, line: at + 2, key, to, kind: 'email', country: null, assigned: true, values: ['unused', text] };
}

function rowsOf(keys: readonly string[]): readonly Row[] {
  return keys.map((key) => ({ key, to: key, text: '' }));
}

/** What is said about each row, with another look where one is asked for; and how often that was. */
function walk(duplicates: Duplicates, rows: readonly Row[]): { found: readonly (Duplicate | null)[]; looks: number } {
  let looks = 0;
  const all = rows.map(recipientOf);
  const found = all.map((recipient, at) => {
    try {
      return duplicates.find(recipient);
    } catch (error) {
      if (!(error instanceof UnsureKey)) throw error;
      looks += 1;
      for (const later of all.slice(at)) error.look.ahead(later);
      for (const earlier of all.slice(0, at)) error.look.behind(earlier);
      error.look.done();
      return duplicates.find(recipient);
    }
  });
  return { found, looks };
}

/** The same, the slow way. */
function slowly(rows: readonly Row[], byAddress: boolean): readonly (Duplicate | null)[] {
  const keys = new Map<string, number>();
  const addresses = new Map<string, number>();
  return rows.map((row, at) => {
    const duplicateOf = (of: Duplicate['of'], first: number | undefined): Duplicate | null => {
      const other = first === undefined ? undefined : rows[first];
      if (first === undefined || other === undefined) return null;
      return { of, line: first + 2, isSame: other.to === row.to && other.text === row.text };
    };
    const same = duplicateOf('key', keys.get(row.key));
    if (same !== null) return same;
    keys.set(row.key, at);
    const neighbour = byAddress ? duplicateOf('address', addresses.get(row.to)) : null;
    if (neighbour === null) addresses.set(row.to, at);
    return neighbour;
  });
}

describe('duplicates', () => {
  it('are forgotten, and found again', () => {
    const duplicates = createDuplicates({ byAddress: true, ...USED });
    const rows = rowsOf(Array.from({ length: 20_000 }, (_, n) => `+44770${1_000_000 + (n % 19_000)}`));
    for (const round of [1, 2]) {
      expect(walk(duplicates, rows), `round ${round}`).toEqual({ found: slowly(rows, true), looks: 1 });
      duplicates.clear();
    }
  });

  it('are not what only looks alike', () => {
    const keys = ['1', '+1', '01', '+01', '001', '1 ', '1.0', '1e0', '-1', '', '+', '0', '+0', '００', '１'];
    const find = (all: readonly string[]) => walk(createDuplicates({ byAddress: false, ...USED }), rowsOf(all));
    expect(find(keys)).toEqual({ found: keys.map(() => null), looks: 0 });
    expect(find([...keys, ...keys]).found).toEqual(slowly(rowsOf([...keys, ...keys]), false));
  });

  it('are exact where doubles end', () => {
    const keys = ['999999999999999', '9007199254740992', '9007199254740993', '+9007199254740992', '+9007199254740993'];
    const { found, looks } = walk(createDuplicates({ byAddress: false, ...USED }), rowsOf(keys));
    expect({ found, looks }).toEqual({ found: keys.map(() => null), looks: 0 });
  });

  it('name the line of the first row, and whether it says the same', () => {
    const rows = [
      { key: 'c-1', to: '+447700900011', text: 'Ada' },
      { key: 'c-2', to: '+447700900011', text: 'Ada' },
      { key: 'c-1', to: '+447700900011', text: 'Ada' },
      { key: 'c-1', to: '+447700900012', text: 'Ada' },
      { key: 'c-3', to: '+447700900012', text: 'Ravi' },
      { key: 'c-4', to: '+447700900011', text: 'Zoe' },
    ];
    expect(walk(createDuplicates({ byAddress: true, ...USED }), rows).found).toEqual([
      null,
      { of: 'address', line: 2, isSame: true },
      { of: 'key', line: 2, isSame: true },
      { of: 'key', line: 2, isSame: false },
      null,
      { of: 'address', line: 2, isSame: false },
    ]);
  });

  it('need one other look, however many there are', () => {
    const keys = Array.from({ length: 900 }, (_, n) => `somebody-${n % 300}@example.com`);
    const find = (all: readonly string[]) => walk(createDuplicates({ byAddress: false, ...USED }), rowsOf(all));
    expect(find(keys)).toEqual({ found: slowly(rowsOf(keys), false), looks: 1 });
    expect(find(keys.slice(0, 300)).looks).toBe(0);
  });

  it.each(HASHES)('are what a Map finds: %s', (_, makeHash) => {
    const text = fc.oneof(
      fc.integer({ min: 0, max: 50 }).map(String),
      fc.integer({ min: 0, max: 50 }).map((n) => `+44770090${n}`),
      fc.integer({ min: 0, max: 50 }).map((n) => `somebody-${n}@example.com`),
      fc.string({ maxLength: 2, unit: 'binary' }),
    );
    const row = fc.record({ key: text, to: text, text: fc.constantFrom('a', 'b') });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 200 }), fc.boolean(), (rows, byAddress) => {
        const good = createKeyHash();
        // Marks are hashes as well: a weak hash would take two texts for one.
        const weak = makeHash();
        const hashOf: KeyHash = (key) => (key.includes('\0') ? good(key) : weak(key));
        const { found, looks } = walk(createDuplicates({ byAddress, ...USED, hashOf }), rows);
        expect(found).toEqual(slowly(rows, byAddress));
        expect(looks).toBeLessThanOrEqual(1);
      }),
      { numRuns: runs },
    );
  });

  // Runs of neighbours, steps of powers of two and ten: what lists look like, and what weak hashes pile up.
  it.each([1, 7, 1000, 4096, 65536, 1_000_000, 2 ** 32])('grow past many numbers in steps of %i', (step) => {
    const numbers = createNumberTable();
    const before = process.cpuUsage();
    const count = 100_000;
    for (let i = 1; i <= count; i++) if (!numbers.add(i * step)) throw new Error(`${i * step} is new`);
    for (let i = 1; i <= count; i++) if (numbers.add(i * step)) throw new Error(`${i * step} is known`);
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
