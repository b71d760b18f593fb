import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spelled, unspelled } from '../../src/providers/reference.ts';

const reference = fc.string({ unit: fc.constantFrom(...'ABCXYZabcxyz0189-_'), minLength: 22, maxLength: 22 });

test('a reference of letters and digits is read back, in either letter case', () => {
  fc.assert(
    fc.property(reference, (own) => {
      expect(spelled(own)).toMatch(/^[0-9a-z]{26}$/);
      expect(unspelled(spelled(own))).toBe(own);
      expect(unspelled(spelled(own).toUpperCase())).toBe(own);
    }),
  );
});

test('two references are never spelled as one', () => {
  fc.assert(
    fc.property(reference, reference, (a, b) => {
      expect(spelled(a) === spelled(b)).toBe(a === b);
    }),
  );
});

test('what is no reference of ours stays', () => {
  expect(unspelled('SM0000')).toBe('SM0000');
  expect(unspelled('z'.repeat(26))).toBe('z'.repeat(26));
});
