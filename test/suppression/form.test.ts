import { describe, expect, test } from 'vitest';
import { formsOf, kindOf, listedForm } from '../../src/suppression/form.ts';

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
