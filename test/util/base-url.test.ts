import { describe, expect, it, test } from 'vitest';
import { checkBaseUrl, isLoopback } from '../../src/util/base-url.ts';

const GOOD: readonly [written: string, used: string][] = [
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['HTTPS://API.Example.COM', 'https://api.example.com'],
  ['https://api.example.com:8443/base/', 'https://api.example.com:8443/base'],
  ['https://api.example.com:443', 'https://api.example.com'],
  ['https://api.example.com/a%20b', 'https://api.example.com/a%20b'],
  ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
  ['https://192.0.2.7', 'https://192.0.2.7'],
  ['https://[2001:db8::7]:8443', 'https://[2001:db8::7]:8443'],
  ['http://localhost:4010', 'http://localhost:4010'],
  ['http://LOCALHOST', 'http://localhost'],
  ['http://127.0.0.1:4010/', 'http://127.0.0.1:4010'],
  ['http://127.255.3.4', 'http://127.255.3.4'],
  ['http://[::1]:4010', 'http://[::1]:4010'],
];

const BAD: readonly [label: string, written: string, says: RegExp][] = [
  ['nothing', '', /empty/],
  ['no scheme', 'api.example.com', /https:\/\/ in front/],
  ['scheme-relative', '//evil', /https:\/\/ in front/],
  ['one slash', 'https:/evil', /https:\/\/ in front/],
  ['no slash', 'https:evil', /https:\/\/ in front/],
  ['three slashes', 'https:///evil', /complete/],
  ['no host', 'https://', /complete/],
  ['another scheme', 'ftp://api.example.com', /ftp:/],
  ['a file', 'file:///etc/passwd', /file:/],
  ['javascript', 'javascript:alert(1)', /in front/],
  ['user name', 'https://api.x@evil', /user name/],
  ['user name and password', 'https://user:SEKRET@api.example.com', /user name/],
  ['empty user name', 'https://@api.example.com', /user name/],
  ['backslash before @', 'https://api.x\\@evil', /backslash/],
  ['backslashes for slashes', 'https:\\\\evil', /backslash/],
  ['query', 'https://api.example.com/?x=1', /query/],
  ['empty query', 'https://api.example.com?', /query/],
  ['fragment', 'https://api.example.com/#x', /fragment/],
  ['empty fragment', 'https://api.example.com#', /fragment/],
  ['space in front', ' https://api.example.com', /space/],
  ['newline behind', 'https://api.example.com\n', /space/],
  ['tab inside', 'https://api.exam\tple.com', /space/],
  ['NUL', 'https://api.example.com\0', /space/],
  ['no-break space', 'https://api.example.com\u00a0', /space/],
  ['host outside ASCII', 'https://bücher.example', /outside ASCII/],
  ['full-width dot', 'https://api．example.com', /outside ASCII/],
  ['plain http', 'http://example.test', /plain http/],
  ['plain http to a private address', 'http://10.0.0.1', /plain http/],
  ['plain http to any address', 'http://0.0.0.0', /plain http/],
  ['begins like loopback', 'http://127.0.0.1.evil.test', /plain http/],
  ['begins like localhost', 'http://localhost.evil.test', /plain http/],
  ['ends like localhost', 'http://evil-localhost', /plain http/],
  ['hexadecimal host', 'http://0x7f.1', /unusual/],
  ['short host', 'http://127.1', /unusual/],
  ['decimal host', 'http://2130706433', /unusual/],
  ['octal host', 'http://0177.0.0.1', /unusual/],
  ['long spelling of ::1', 'http://[0:0:0:0:0:0:0:1]', /unusual/],
  ['IPv4 in IPv6', 'http://[::ffff:127.0.0.1]', /unusual/],
  ['percent in the host', 'https://api.ex%61mple.com', /%/],
  ['IPv6 zone', 'http://[fe80::1%25eth0]', /%/],
  ['trailing dot', 'https://api.example.com.', /dot/],
  ['trailing dot of localhost', 'http://localhost.', /dot/],
  ['trailing dot of an address', 'http://127.0.0.1.', /unusual/],
  ['port 0', 'https://api.example.com:0', /port/],
  ['port with zeros', 'https://api.example.com:0443', /port/],
  ['empty port', 'https://api.example.com:', /unusual/],
  ['port too large', 'https://api.example.com:65536', /parsed/],
  ['port is a word', 'https://api.example.com:https', /parsed/],
  ['dots in the path', 'https://api.example.com/a/../b', /path/],
  ['encoded dots in the path', 'https://api.example.com/a/%2e%2e/b', /path/],
  ['two slashes in the path', 'https://api.example.com//evil', /\/\//],
  ['the operation itself', 'https://api.example.com/v2/messages', /already ends/],
  ['the operation itself, with a slash', 'https://api.example.com/v2/messages/', /already ends/],
  ['too long', `https://api.example.com/${'a'.repeat(3000)}`, /too long/],
];

describe('base URLs that are taken', () => {
  test.each(GOOD)('%s', (written, used) => {
    expect(checkBaseUrl(written)).toEqual({ url: used });
  });
});

describe('base URLs that are refused (S2, S4)', () => {
  test.each(BAD)('%s', (_label, written, says) => {
    const check = checkBaseUrl(written);
    expect(check).toHaveProperty('problem', expect.stringMatching(says));
    expect(check).toHaveProperty('hint', expect.stringMatching(/\.$/));
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
