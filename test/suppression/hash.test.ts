import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHasher, readHash, writeHash } from '../../src/suppression/hash.ts';
import { kindOf } from '../../src/util/address-form.ts';

test('hashes are HMAC-SHA256 over kind and address, for keys and addresses of any length', () => {
  const key = fc.uint8Array({ minLength: 1, maxLength: 200 });
  const address = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 600 }), fc.emailAddress(), fc.constant('+44'));
  fc.assert(
    fc.property(key, fc.array(address, { minLength: 1, maxLength: 5 }), (bytes, forms) => {
      const hasher = createHasher(bytes);
      const hmac = (text: string) => createHmac('sha256', bytes).update(text).digest('hex');
      expect(hasher.keyId).toBe(hmac('hb1:key-id').slice(0, 8));
      for (const form of forms) {
        const expected = hmac(`hb1:${kindOf(form)}:${form}`);
        expect(hasher.hash(form)).toBe(expected);
      }
    }),
  );
});

test('the guide shows what others must make', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'hashed-suppression.md'), 'utf8');
  const { keyId, hash } = createHasher(Buffer.from('an example key for this page'));
  expect(page).toContain(`| \`${keyId}\` |`);
  for (const form of ['+447700900123', 'jane@example.com', 'c-1042']) {
    expect(page).toContain(`\`hb1:${kindOf(form)}:${form}\``);
    expect(page).toContain(`| \`${hash(form)}\` |`);
  }
});

describe('a written hash', () => {
  const hash = 'ab'.repeat(32);
  test('is read as it is written, in capitals and with blanks too', () => {
    const written = { keyId: '0123abcd', hash };
    expect(readHash(writeHash(written))).toEqual(written);
    expect(readHash(`  HB1:0123ABCD:${hash.toUpperCase()} `)).toEqual(written);
  });
  test.each([
    ['no key', `hb1:${hash}`],
    ['bare', hash],
    ['too short', `hb1:0123abcd:${hash.slice(1)}`],
    ['too long', `hb1:0123abcd:${hash}a`],
    ['another version', `hb2:0123abcd:${hash}`],
    ['no hex', `hb1:0123abcd:${'g'.repeat(64)}`],
    ['empty', ''],
  ])('is not %s', (_, text) => expect(readHash(text)).toBeNull());
});
