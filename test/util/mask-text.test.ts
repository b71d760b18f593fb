import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskInPlace, maskNumbers, maskText } from '../../src/util/redact.ts';

test.each([
  ['asked for +447911123456 now', 'asked for +44••••••3456 now'],
  ['00447911123456', '00••••••••3456'],
  ['(0044) 7911 123456', '(00•••••••••••3456'],
  ['call +44 (0)7911 123456.', 'call +44•••••••••••3456.'],
  ['07911-123456', '07••••••3456'],
  ['07911123456: not reachable', '07•••••3456: not reachable'],
  ['{"msisdn":"447911123456"}', '{"msisdn":"44••••••3456"}'],
  ['tel:+447911123456', 'tel:+44••••••3456'],
  ['to ann.canary@example.com, twice', 'to a•••@example.com, twice'],
  ['"+1 202 555 0123"', '"+1 ••••••••0123"'],
])('%s', (text, masked) => {
  expect(maskText(text)).toBe(masked);
});

test.each([
  '2026-11-21T09:00:00.000Z',
  '2026-11-21 09:00:00 UTC',
  'people.csv:1234567:12',
  'request 3f2504e0-4f89-11d3-9a0c-030582301234 failed',
  '/srv/44791112345/people.csv',
  '12,345,678,901 rows',
  '0.12345678901',
  'status 429, again in 3600 s',
  'HTTP/1.1 400',
])('%s stays', (text) => {
  expect(maskText(text)).toBe(text);
});

test('no number of 11 to 14 digits is left, whatever is around it', () => {
  const number = fc
    .tuple(fc.constantFrom('1', '44', '49', '353'), fc.stringMatching(/^[1-9]\d{9,10}$/))
    .map((p) => p.join(''));
  const around = fc.constantFrom('', ' ', '"', '(', ')', ',', '; ', ': ', '=', '\n', '\t', '<', '>', "'");
  fc.assert(
    fc.property(around, fc.constantFrom('+', '00', ''), number, around, (before, prefix, digits, after) => {
      expect(maskText(`${before}${prefix}${digits}${after}`)).not.toContain(digits);
    }),
  );
});

test('a caret below a masked line still points to its place', () => {
  fc.assert(
    fc.property(fc.constantFrom('+447911123456', '07911123456', 'ann.canary@example.com'), fc.string(), (one, rest) => {
      const line = `${one}, ${rest}`;
      expect(maskInPlace(line).indexOf(', ')).toBe(one.length);
      expect(maskNumbers(line).endsWith(maskNumbers(rest)) || rest !== rest.trimStart()).toBe(true);
    }),
  );
});
test.each([
  ['letters', 'a'.repeat(100_000)],
  ['digits', '7'.repeat(100_000)],
  ['digits in groups', '07 '.repeat(33_000)],
  ['signs', '+(.-'.repeat(25_000)],
  ['at signs', 'a@'.repeat(50_000)],
])('takes no long time with a long run of %s', (_, text) => {
  const began = process.cpuUsage();
  maskText(text);
  const { user } = process.cpuUsage(began);
  // S13: a pattern that goes back again and again would take minutes; a busy machine takes some hundred ms.
  expect(user / 1000).toBeLessThan(10_000);
});
