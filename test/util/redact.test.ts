import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createRedactor, secretsIn } from '../../src/util/redact.ts';

const KEY = 'SEKRET-a+b/c="d"&<e>\'f%~0123';
const redact = createRedactor([KEY]);

/** `System.Text.Json` escapes these although it need not. */
function netJson(text: string): string {
  const numbered = (c: string): string => `\\u00${c.charCodeAt(0).toString(16).toUpperCase()}`;
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(/[+<>&'`]/g, numbered);
}

describe('a redactor (S7)', () => {
  test.each([
    ['as it is', KEY],
    ['URL-encoded', encodeURIComponent(KEY)],
    ['URL-encoded in lower case', encodeURIComponent(KEY).replace(/%../g, (byte) => byte.toLowerCase())],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64 without padding', Buffer.from(KEY).toString('base64').replaceAll('=', '')],
    ['in base64url', Buffer.from(KEY).toString('base64url')],
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['in JSON that is a text in JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ['in JSON as .NET writes it', netJson(KEY)],
    [
      'in HTML',
      KEY.replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;'),
    ],
  ])('replaces the key %s', (_label, form) => {
    expect(redact(`<<${form}>> and ${form}`)).toBe('<<[key]>> and [key]');
  });

  test.each(['', 'u', 'us', 'usr', 'user'])('replaces the key in base64 behind %j', (user) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const text = redact(`Basic ${Buffer.from(`${user}:${KEY}:more`).toString(encoding)}`);
      expect(text).toContain('[key]');
      expect(Buffer.from(text.slice(6).split('[key]')[0] ?? '', encoding).toString('latin1')).not.toContain('SEK');
    }
  });

  it('changes nothing else', () => {
    expect(redact('nothing here: SEKRET')).toBe('nothing here: SEKRET');
    expect(createRedactor([])('text')).toBe('text');
    expect(createRedactor([''])('text')).toBe('text');
  });

  it('takes several secrets, the longest first', () => {
    expect(createRedactor(['abc', 'abcdef'])('abcdef abc')).toBe('[key] [key]');
  });

  it('leaves no trace of any key in any text', () => {
    const key = fc.string({
      minLength: 12,
      maxLength: 60,
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
    });
    fc.assert(
      fc.property(key, fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(!'[key]'.includes(secret));
        const clean = createRedactor([secret]);
        expect(clean(before + secret + after).includes(secret)).toBe(false);
        expect(
          clean(JSON.stringify({ x: before + secret + after })).includes(JSON.stringify(secret).slice(1, -1)),
        ).toBe(false);
      }),
    );
  });
});

test('the secrets of an environment are long values of variables whose names say so', () => {
  const env = {
    HANDBILL_API_KEY: 'SEKRET-1234567890',
    MESSAGING_APIKEY: 'SEKRET-2345678901',
    GH_TOKEN: 'SEKRET-3456789012',
    password: 'SEKRET-4567890123',
    SANDBOX_API_KEY: 'sandbox',
    EMPTY_KEY: '',
    ABSENT_KEY: undefined,
    KEY_FILE: '/home/you/key-of-the-api',
    MONKEY: 'not-a-secret-at-all',
    PATH: '/usr/bin:/usr/local/bin',
  };
  expect(secretsIn(env).map((secret) => secret.slice(0, 8))).toEqual(['SEKRET-1', 'SEKRET-2', 'SEKRET-3', 'SEKRET-4']);
});

it('the name of a key file is shown; a private key in its place is not', () => {
  expect(secretsIn({ HANDBILL_SIGNING_KEY: '/home/you/.ssh/id_ed25519' })).toEqual([]);
  const slip = '-----BEGIN OPENSSH PRIVATE KEY-----\nSEKRET\n';
  expect(secretsIn({ HANDBILL_SIGNING_KEY: slip })).toEqual([slip]);
});
