import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowSet } from '../../src/util/row-set.ts';

test('a set of rows is a set', () => {
  const row = fc.oneof(fc.nat(100), fc.nat(70_000), fc.nat(1_000_000_000));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 200 }), fc.array(row, { maxLength: 50 }), (added, others) => {
      const [set, wanted] = [createRowSet(), new Set(added)];
      for (const one of added) set.add(one);
      for (const one of [...added.slice(0, added.length / 3), ...others]) {
        set.delete(one);
        wanted.delete(one);
      }
      expect(set.size).toBe(wanted.size);
      expect([...set]).toEqual([...wanted].sort((a, b) => a - b));
      for (const one of [...added, ...others]) expect(set.has(one)).toBe(wanted.has(one));
    }),
  );
});
