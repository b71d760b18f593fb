import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AddressKind, Recipient } from '../../src/model.ts';
import { createDuplicates, type Duplicate } from '../../src/recipients/duplicates.ts';

const runs = process.env['HANDBILL_FULL'] === '1' ? 5000 : 300;

interface Row {
  readonly key: string;
  readonly to: string;
  readonly text: string;
}

function recipientOf({ key, to, text }: Row, at: number): Recipient {
  return { row: at, line: at + 2, key, to, kind: 'email', country: null, assigned: true, values: ['unused', text] };
}

function rowsOf(keys: readonly string[]): readonly Row[] {
  return keys.map((key) => ({ key, to: key, text: '' }));
}

/** The diagnostics of each row. */
function find(rows: readonly Row[], byAddress: boolean, kind: AddressKind = 'email'): readonly (Duplicate | null)[] {
  const duplicates = createDuplicates({ kind, byAddress, used: [1] });
  try {
    return rows.map((row, at) => duplicates.find(recipientOf(row, at)));
  } finally {
    duplicates.close();
  }
}

/** The same, by Maps. The same mailbox may be written in other letters. */
function slowly(written: readonly Row[], byAddress: boolean): readonly (Duplicate | null)[] {
  const rows = written.map((row) => {
    const to = row.to.toLowerCase();
    return { ...row, to, key: byAddress ? row.key : to };
  });
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
  it('are not what only looks alike', () => {
    const keys = ['1', '+1', '01', '+01', '001', '1 ', '1.0', '1e0', '-1', '', '+', '0', '+0', '００', '１', 'a', 'ä'];
    keys.push('9007199254740992', '9007199254740993', '+9007199254740992', '+9007199254740993');
    expect(find(rowsOf(keys), true)).toEqual(keys.map(() => null));
    expect(find(rowsOf([...keys, ...keys]), false)).toEqual(slowly(rowsOf([...keys, ...keys]), false));
  });

  it('are email addresses in other letters, and no keys in other letters', () => {
    const [one, other] = ['ann@example.com', 'Ann@Example.com'];
    const duplicate = (of: Duplicate['of']) => [null, { of, line: 2, isSame: true }];
    expect(find(rowsOf([one, other]), false)).toEqual(duplicate('key'));
    const rows = [
      { key: 'a', to: one, text: '' },
      { key: 'A', to: other, text: '' },
    ];
    expect(find(rows, true)).toEqual(duplicate('address'));
    expect(find(rowsOf([one, other]), false, 'contact')).toEqual([null, null]);
  });

  it('are what a Map finds', () => {
    const text = fc.oneof(
      fc.integer({ min: 0, max: 50 }).map(String),
      fc.integer({ min: 0, max: 50 }).map((n) => `+44770090${n}`),
      fc.integer({ min: 0, max: 50 }).map((n) => `person-${n}@example.com`),
      fc.string({ maxLength: 2, unit: 'grapheme' }),
    );
    const row = fc.record({ key: text, to: text, text: fc.constantFrom('', 'a', 'b') });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 200 }), fc.boolean(), (rows, byAddress) => {
        // Without a key of its own, the address is the key.
        const all = byAddress ? rows : rows.map((one) => ({ ...one, to: one.key }));
        expect(find(all, byAddress)).toEqual(slowly(all, byAddress));
      }),
      { numRuns: runs },
    );
  });

  it('are what a Map finds among phone numbers, which are kept as numbers', () => {
    const to = fc.oneof(
      fc.integer({ min: 0, max: 30 }).map((n) => `+44770090${String(n).padStart(4, '0')}`),
      fc.integer({ min: 0, max: 30 }).map((n) => `+99999999999${String(n).padStart(4, '0')}`),
      fc.integer({ min: 0, max: 30 }).map((n) => `+${100 + n}`),
    );
    const key = fc.oneof(to, fc.integer({ min: 0, max: 30 }).map(String));
    const row = fc.record({ key, to, text: fc.constantFrom('', 'a', 'b') });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 200 }), fc.boolean(), (rows, byAddress) => {
        const all = byAddress ? rows : rows.map((one) => ({ ...one, key: one.to }));
        expect(find(all, byAddress, 'msisdn')).toEqual(slowly(all, byAddress));
      }),
      { numRuns: runs },
    );
  });
});
