import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBook } from '../../src/suppression/book.ts';

const hashOf = (n: number) => n.toString(16).padStart(64, 'f');

test('says of every recipient what a Map says, at any time, whatever order the entries come in', () => {
  const entry = fc.record({
    person: fc.nat(5),
    hashed: fc.boolean(),
    until: fc.option(fc.integer({ min: 1, max: 10 })),
    file: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), fc.nat(12), (entries, now) => {
      const book = createBook();
      const until = new Map<string, number>();
      const files = new Map<string, number>();
      for (const { person, hashed, until: ends, file } of entries) {
        if (hashed) book.addHash(hashOf(person), ends, file);
        else book.add(`+44${person}`, ends, file);
        const name = `${person} ${hashed}`;
        const last = ends ?? Number.POSITIVE_INFINITY;
        if (last > (until.get(name) ?? 0)) {
          until.set(name, last);
          files.set(name, file);
        }
      }
      for (let person = 0; person < 6; person++) {
        const listed = (hashed: boolean) =>
          (until.get(`${person} ${hashed}`) ?? 0) > now ? files.get(`${person} ${hashed}`) : -1;
        expect(book.find(`+44${person}`, now)).toBe(listed(false));
        expect(book.findHash(hashOf(person), now)).toBe(listed(true));
      }
      expect(book.addresses + book.hashes).toBe(until.size);
    }),
  );
});

test('entries that end come late, after many that do not', () => {
  const book = createBook();
  for (let n = 0; n < 5000; n++) book.add(`+44${n}`, n < 4000 ? null : 10, n % 7);
  for (let n = 0; n < 5000; n++) {
    expect(book.find(`+44${n}`, 9)).toBe(n % 7);
    expect(book.find(`+44${n}`, 10)).toBe(n < 4000 ? n % 7 : -1);
  }
});

test('tells hashes apart that begin alike, however many there are', () => {
  const book = createBook();
  const mixedOf = (n: number) => hashOf(Math.imul(n + 1, 0x9e3779b1) >>> 0).replace(/^(.{56})(.{8})$/, '$2$1');
  const likeOf = (n: number) => hashOf(n).replace(/^.{16}/, '0123456789abcdef');
  const listed = new Set(Array.from({ length: 3000 }, (_, n) => (n % 2 === 0 ? mixedOf(n) : likeOf(n % 300))));
  for (const hash of listed) book.addHash(hash, null, 1);
  for (const hash of listed) book.addHash(hash, null, 2);
  expect(book.hashes).toBe(listed.size);
  for (let n = 0; n < 3000; n++) {
    for (const hash of [mixedOf(n), likeOf(n)]) expect(book.findHash(hash, 0)).toBe(listed.has(hash) ? 1 : -1);
  }
});
