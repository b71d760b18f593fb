import { describe, expect, it, test } from 'vitest';
import { checkBaseUrl, isLoopback } from '../../src/util/base-url.ts';
import { golden } from '../helpers/golden.ts';

golden('a base URL is taken in one form, or refused', 'util/base-url', (written) => {
  const check = checkBaseUrl(written);
  return 'url' in check ? check.url : `! ${check.problem} (${check.hint})`;
});

describe('base URLs that are refused (S2, S4)', () => {
  it('may not be as long as they like', () => {
    const long = `https://api.example.com/${'a'.repeat(3000)}`;
    expect(checkBaseUrl(long)).toHaveProperty('problem', expect.stringMatching(/too long/));
  });

  it('never repeats a password', () => {
    expect(JSON.stringify(checkBaseUrl('https://user:SEKRET@api.example.com'))).not.toContain('SEKRET');
  });
});

describe('this machine', () => {
  test.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['[::1]', true],
    ['127.0.0.1.evil.test', false],
    ['localhost.evil.test', false],
    ['128.0.0.1', false],
    ['[::2]', false],
  ])('%s: %s', (host, is) => {
    expect(isLoopback(host)).toBe(is);
  });
});
