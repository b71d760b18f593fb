import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTextTable } from '../../src/util/text-table.ts';

test('numbers texts as a Map does, whatever they are', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.string({ maxLength: 3 }),
    fc.stringMatching(/^\+44\d{1,4}$/),
    fc.constantFrom('', '\u00ff', '\u0100', 'a', 'A', '\0'),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 300 }), fc.array(text, { maxLength: 50 }), (added, asked) => {
      const table = createTextTable();
      const map = new Map<string, number>();
      for (const one of added) {
        if (!map.has(one)) map.set(one, map.size);
        expect(table.add(one)).toBe(map.get(one));
      }
      expect(table.size).toBe(map.size);
      for (const one of [...asked, ...added]) expect(table.find(one)).toBe(map.get(one) ?? -1);
    }),
  );
});

test('keeps its word while it grows', () => {
  const table = createTextTable();
  const textOf = (n: number) => (n % 97 === 0 ? `Ж${n}` : `+4477${n}`);
  for (let n = 0; n < 20_000; n++) expect(table.add(textOf(n))).toBe(n);
  for (let n = 0; n < 20_000; n++) expect(table.find(textOf(n))).toBe(n);
  for (let n = 20_000; n < 40_000; n++) expect(table.find(textOf(n))).toBe(-1);
});
