import { expect, test } from 'vitest';
import { nationalDigits } from '../../src/recipients/phone.ts';
import { traceOf } from '../../src/util/address-trace.ts';

const ANN = '+447400900150';
const trace = (address: string) => traceOf(address, nationalDigits);

test.each([
  '+447400900150',
  '447400900150',
  '{"odd":447400900150}',
  '44 7400 900150',
  '+44 (0)7400 900150',
  '07400900150',
  '07400 900 150',
  '0044-7400-900150',
  '０７４００９００１５０',
  'tel:+44.7400.900.150',
  '+44\u00a07400\u200b900150',
  'of 07400/900150, and more',
])('a number is found in %j, and taken out', (text) => {
  expect(trace(ANN).isIn(text)).toBe(true);
  expect(trace(ANN).isIn(trace(ANN).without(text))).toBe(false);
  expect(trace(ANN).without(text)).toContain('[erased]');
});

test.each(['+447400900151', '07400 900 15', '4474009001500', '7400 a 900150', ''])('another is not: %j', (text) => {
  expect(trace(ANN).isIn(text)).toBe(false);
  expect(trace(ANN).without(text)).toBe(text);
});

test.each([
  ['+14155550123', '+13155550123'],
  ['+3725123456', '+3715123457'],
])('%s is not %s, which ends alike', (address, other) => {
  expect(trace(address).isIn(other)).toBe(false);
});

test('text around a number is kept', () => {
  expect(trace(ANN).without('Call Bob on +44 7400 900150 or 07400 900151.')).toBe(
    'Call Bob on [erased] or 07400 900151.',
  );
});

test.each([
  ['ann.b@example.com', '{"to":"Ann.B@Example.com"}', '{"to":"annxb@example.com"}'],
  ['contact:7', '{"id":"contact:7"}', '{"id":"contact:77"}'],
])('%s is found as it is', (address, text, other) => {
  expect(trace(address).isIn(text)).toBe(true);
  expect(trace(address).isIn(other)).toBe(false);
});

test.each([
  ['+5511987654321', '+55 11 8765-4321'],
  ['+551187654321', '(11) 98765-4321'],
  ['+5491123456789', 'tel:+54 11 2345 6789'],
  ['+541123456789', '{"to":5491123456789}'],
  ['+525512345678', '+52 1 55 1234 5678'],
  ['+5215512345678', '52 55 1234 5678'],
])('of a phone that is written in two ways, %s, the other one is found: %j', (address, text) => {
  expect(trace(address).isIn(text)).toBe(true);
  expect(trace(address).without(`${text}!`)).toMatch(/\[erased\]"?\}?!$/);
});
