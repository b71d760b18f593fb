import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createPrefixHasher } from '../../src/util/prefix-hash.ts';

function expected(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

it('is the beginning of SHA-256, wherever a block of the prefix or the text ends', () => {
  for (let prefix = 0; prefix <= 130; prefix++) {
    const before = 'p'.repeat(prefix);
    const hashOf = createPrefixHasher(before);
    for (let length = 0; (prefix % 64) + length <= 119; length++) {
      const text = 'a1+'.repeat(40).slice(0, length);
      if (hashOf(text) !== expected(before + text)) expect.fail(`${prefix} and ${length} characters`);
    }
  }
});

it('begins with a prefix in any language', () => {
  expect(createPrefixHasher('["Frühling – 春"]\n')('+447700900001')).toBe(expected('["Frühling – 春"]\n+447700900001'));
});

it('leaves what is no ASCII, and what is longer than two blocks, to others, and goes on', () => {
  const hashOf = createPrefixHasher('p');
  expect(hashOf('ü')).toBeNull();
  expect(hashOf('a'.repeat(119))).toBeNull();
  expect(hashOf('a')).toBe(expected('pa'));
});
