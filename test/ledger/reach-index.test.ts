import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createReachIndex, type ReachIndex } from '../../src/ledger/contact-history.ts';
import { SAME_HASHES } from './others.ts';

function found(index: ReachIndex, ...people: readonly string[]): number[] {
  const messages: number[] = [];
  for (const person of people) index.find(person, messages);
  return messages.toSorted((a, b) => a - b);
}

test('finds every message of every recipient, each once, whatever was expected', () => {
  const people = fc.array(fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('+447700900001', 'c-1', '')), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(people, fc.nat(3000), (list, expected) => {
      const index = createReachIndex(expected);
      for (const [message, person] of list.entries()) index.add(person, message);
      const [one = '', other = ''] = list;
      const isTheirs = (...them: readonly string[]) =>
        list.flatMap((person, message) => (them.includes(person) ? [message] : []));
      expect(found(index, one)).toEqual(isTheirs(one));
      expect(found(index, one, other, one)).toEqual(isTheirs(one, other));
      expect(found(index, 'somebody else entirely')).toEqual([]);
    }),
  );
});

test('takes many times what was expected, and numbers up to 2^32 - 2', () => {
  const index = createReachIndex(0);
  for (let n = 0; n < 20_000; n++) index.add(`+44${7_400_000_000 + (n >> 1)}`, n);
  index.add('last', 2 ** 32 - 2);
  for (let n = 0; n < 10_000; n++) expect(found(index, `+44${7_400_000_000 + n}`)).toEqual([2 * n, 2 * n + 1]);
  for (let n = 10_000; n < 20_000; n++) expect(found(index, `+44${7_400_000_000 + n}`)).toEqual([]);
  expect(found(index, 'last')).toEqual([2 ** 32 - 2]);
});

test('may take one recipient for another: the caller has to compare', () => {
  const index = createReachIndex(1);
  index.add(SAME_HASHES[0], 7);
  expect(found(index, SAME_HASHES[1])).toEqual([7]);
});
