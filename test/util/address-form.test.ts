import { describe, expect, test } from 'vitest';
import { formsOf, kindOf, listedForm, spellingsOf } from '../../src/util/address-form.ts';

describe('the forms of a recipient', () => {
  test.each<[label: string, to: string, key: string, forms: string[]]>([
    ['a number', '+447700900123', '+447700900123', ['+447700900123']],
    ['an email address, in lower case as a whole', 'Jane@example.com', 'Jane@example.com', ['jane@example.com']],
    ['a contact, exactly', 'Ab1', 'Ab1', ['Ab1']],
    ['a customer number is not an address', '+447700900123', '17', ['+447700900123']],
    ['nor a name', '+447700900123', 'Jane', ['+447700900123']],
    ['another number', '+447700900123', '+447700900124', ['+447700900123', '+447700900124']],
    ['another number with blanks', '+447700900123', '+44 (7700) 900-124', ['+447700900123', '+447700900124']],
    ['a national number may be a customer number', '+447700900123', '07700900124', ['+447700900123']],
    ['an email address', '+447700900123', 'Jane@Example.com', ['+447700900123', 'jane@example.com']],
    ['the same address otherwise spelt', 'jane@example.com', 'JANE@example.com', ['jane@example.com']],
    ['a key too long for an address', '+447700900123', `${'a'.repeat(300)}@b.example`, ['+447700900123']],
    ['only a plus', '+447700900123', '+', ['+447700900123']],
    ['both spellings', '+551187654321', '+551187654321', ['+5511987654321', '+551187654321']],
    [
      'both spellings of a key',
      '+447700900123',
      '+54 11 2345 6789',
      ['+447700900123', '+5491123456789', '+541123456789'],
    ],
    ['a key that is its other spelling', '+551187654321', '+5511987654321', ['+5511987654321', '+551187654321']],
  ])('%s', (_, to, key, forms) => expect(formsOf(to, key)).toEqual(forms));
});

test.each([
  ['+447700900123', 'msisdn'],
  ['jane@example.com', 'email'],
  ['c-1042', 'contact'],
  ['', 'contact'],
])('%s is of the kind %s', (form, kind) => {
  expect(kindOf(form)).toBe(kind);
  expect(listedForm(form)).toBe(form);
});

test.each<[label: string, one: string, other: string]>([
  ['Brazil, mobile', '+5511987654321', '+551187654321'],
  ['Brazil, mobile of another area', '+5585961234567', '+558561234567'],
  ['Argentina', '+5491123456789', '+541123456789'],
  ['Argentina, long area code', '+5492966412345', '+542966412345'],
  ['Mexico', '+525512345678', '+5215512345678'],
  ['Benin', '+2290197123456', '+22997123456'],
])('%s: two spellings are one phone', (_, one, other) => {
  expect(listedForm(one)).toBe(one);
  expect(listedForm(other)).toBe(one);
  expect(spellingsOf(other)).toEqual([one, other]);
  expect(spellingsOf(one)).toEqual([one, other]);
});

test.each<[label: string, number: string]>([
  ['a Brazilian landline', '+551133334444'],
  ['a landline that begins with 5', '+551153334444'],
  ['an Argentine toll-free number', '+548001234567'],
  ['Chile', '+56912345678'],
  ['Colombia', '+573001234567'],
])('%s has one spelling', (_, number) => expect(spellingsOf(number)).toEqual([number]));
