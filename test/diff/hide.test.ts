import { describe, expect, it } from 'vitest';
import { hideAddresses, hidePersonal, isSecret } from '../../src/diff/rules.ts';

describe('what could be an address is masked', () => {
  it.each([
    '+447700900123',
    '00447700900123',
    '07700 900 123',
    '+44 (0)7700 900123',
    '+1-202-555-0199',
    '447700900123',
    '7700900123',
    'tel:+447700900123',
    'https://example.com/07700900123',
    'The number "+447700900123" is too long.',
    'columns +447700900123, Ann',
  ])('%s', (text) => {
    expect(hideAddresses(text)).not.toMatch(/900 ?123|0199.*0199|7700|555/);
  });

  it.each(['ann@example.com', 'To: <ann.b+c@example.com>', '{"$in":["ann@example.com"]}'])('%s', (text) => {
    expect(hideAddresses(text)).toContain('a•••@example.com');
    expect(hideAddresses(text)).not.toContain('ann');
  });
});

describe('what is none is left as it is', () => {
  it.each([
    '2026-11-21',
    '2026-11-21T09:00:00.000000000+01:00',
    '20261121',
    '0 9 * * 1-5',
    '08:00',
    '09:00:00',
    '0.0425',
    '50/s',
    '1,000,000',
    'PT30S',
    'https://api.example.com:8443/v2',
    '10.0.0.12',
    '["saturday","sunday"]',
  ])('%s', (text) => {
    expect(hidePersonal(text)).toBe(text);
  });
});

it('no text takes long', () => {
  // A pattern that backtracks would need minutes, and the test's time limit would end it.
  for (const text of ['a'.repeat(300_000), '0'.repeat(300_000), '+1 '.repeat(100_000), '@'.repeat(300_000)]) {
    expect(hideAddresses(`${text} ada@example.com`)).not.toContain('ada@example.com');
  }
});

describe('names of secrets', () => {
  it.each([
    ['apiKey'],
    ['environments', 'production', 'webhook', 'secrets', '0', 'env'],
    ['suppressionKey', 'file'],
    ['Authorization'],
    ['x-api-key'],
  ])('%s', (...segments) => expect(isSecret(segments)).toBe(true));

  it.each([
    ['recipients', 'key'],
    ['send', 'rate'],
    ['frequency', 'max'],
  ])('and not %s.%s', (...segments) => {
    expect(isSecret(segments)).toBe(false);
  });
});
