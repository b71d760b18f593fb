import fc from 'fast-check';
import { getCountries } from 'libphonenumber-js/max';
import { describe, expect, it, test } from 'vitest';
import { createSenderCheck, isAlphanumericSender, SENDER_COUNTRIES, senderAdvice } from '../../src/content/senders.ts';

test.each<[label: string, from: string | null, country: string | null, rule: string | null]>([
  ['a name in the United States', 'Riverside', 'US', 'refused'],
  ['a name in Canada', 'Riverside', 'CA', 'refused'],
  ['a name in India', 'RVRSDE', 'IN', 'registered'],
  ['a name in Britain', 'Riverside', 'GB', null],
  ['a name, country not known', 'Riverside', null, null],
  ['a name that begins with a digit', '4ever', 'US', 'refused'],
  ['a name of digits and one letter', '12345a', 'US', 'refused'],
  ['a number', '+447700900100', 'US', null],
  ['a number without +', '447700900100', 'US', null],
  ['a short code', '62244', 'US', null],
  ['no sender', null, 'US', null],
  ['not a country', 'Riverside', 'XX', null],
  ['a name of Object.prototype as the country', 'Riverside', 'constructor', null],
])('%s', (_label, from, country, rule) => {
  expect(createSenderCheck(from, {})(country)).toBe(rule);
});

describe('what a project says', () => {
  const check = createSenderCheck('Riverside', { US: 'free', GB: 'registered', IN: 'refused' });
  it('comes over the table', () => expect(['US', 'GB', 'IN'].map(check)).toEqual([null, 'registered', 'refused']));
  it('leaves the rest of the table', () => expect(check('CA')).toBe('refused'));
  it('does not change the table', () => expect(createSenderCheck('Riverside', {})('US')).toBe('refused'));
});

it('lists countries that exist', () => {
  const known: readonly string[] = getCountries();
  expect(Object.keys(SENDER_COUNTRIES).filter((country) => !known.includes(country))).toEqual([]);
  expect(Object.keys(SENDER_COUNTRIES).length).toBeGreaterThan(30);
});

it('takes only digits for a number, whatever their length', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\+?[0-9]{3,15}$/), (from) => {
      expect(isAlphanumericSender(from)).toBe(false);
    }),
  );
});

it('takes anything with a letter for a name', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9 ]{0,5}[A-Za-z][A-Za-z0-9 ]{0,5}$/), (from) => {
      expect(isAlphanumericSender(from)).toBe(true);
    }),
  );
});

test('the advice names the country, the sender and the way out', () => {
  const refused = senderAdvice('Riverside', 'US', 'refused');
  expect(refused.message).toBe(
    'United States (US): networks refuse names as senders, or replace them; "Riverside" is a name.',
  );
  expect(refused.hint).toMatch(/short code.*senders: \{ US: free \}/);
  expect(senderAdvice('Riverside', 'IN', 'registered').message).toMatch(/^India \(IN\): .*registered/);
  expect(senderAdvice('Riverside', 'XX', 'refused').message).toMatch(/^XX \(XX\): /);
});
