import { describe, expect, it, test } from 'vitest';
import { isOtherAddress, isSameAddress } from '../../src/http/answer.ts';
import { answered, BEN, CAT, DOUBT, THREE, told } from './answers.ts';

describe('who is meant', () => {
  const spelt = (to: unknown): unknown => ({ recipients: [{ to }, { to: BEN.to }, { to: CAT.to }] });
  test.each([
    ['with +', '+447700900101'],
    ['without', '447700900101'],
    ['with 00', '00447700900101'],
    ['as a number', 447700900101],
    ['with spaces', ' +44 7700 900-101 '],
    ['with brackets', '+44 (7700) 900101'],
    ['as a URI', 'tel:+447700900101'],
    ['with the name of the channel', 'whatsapp:+447700900101'],
  ])('a number %s', (_label, to) => {
    expect(told(answered(spelt(to)))).toEqual(['accepted null', 'accepted null', 'accepted null']);
  });
  test.each([
    ['in its national form', '07700900101'],
    ['with (0)', '+44 (0)7700 900101'],
    ['cut short', '7700900101'],
    ['masked', '+44770090****'],
    ['null', null],
    ['an object', { a: 1 }],
    ['in a list', ['+447700900101']],
  ])('no number %s', (_label, to) => {
    expect(told(answered(spelt(to)))).toEqual([DOUBT, 'accepted null', 'accepted null']);
  });

  test.each([
    ['as it was sent', 'Ann@Example.COM', 'Ben@example.com'],
    ['with its domain in small letters', 'Ann@example.com', 'Ben@example.com'],
    ['in small letters', 'ann@example.com', 'ben@example.com'],
    ['as a URI', 'mailto:Ann@example.com', 'mailto:Ben@example.com'],
  ])('an email address %s', (_label, ann, ben) => {
    const recipients = [
      { to: 'Ann@Example.COM', reference: 'a' },
      { to: 'Ben@example.com', reference: 'b' },
    ];
    const answer = {
      recipients: [
        { email: ben, id: '2' },
        { email: ann, id: '1' },
      ],
    };
    expect(told(answered(answer, { recipients }))).toEqual(['accepted 1', 'accepted 2']);
  });

  it('is no recipient where several addresses are the same in small letters', () => {
    const recipients = ['ann', 'ANN', 'Ann'].map((name) => ({ to: `${name}@example.com`, reference: name }));
    const answer = {
      recipients: [
        { email: 'ANN@EXAMPLE.com', id: '2' },
        { email: 'aNN@example.com', id: '1' },
      ],
    };
    expect(told(answered(answer, { recipients }))).toEqual([DOUBT, 'accepted 2', DOUBT]);
  });

  it('is a contact by its exact id', () => {
    const recipients = ['0012', '12', 'c-3'].map((to) => ({ to, reference: `r-${to}` }));
    const answer = {
      recipients: [
        { id: 'm1', contact: { id: '12' }, number: '0012' },
        { id: 'm2', contactId: 'c-3' },
      ],
    };
    expect(told(answered(answer, { recipients }))).toEqual([DOUBT, 'accepted m1', 'accepted m2']);
  });

  it('is a recipient by the reference, wherever it is, before the address', () => {
    const answer = {
      results: [
        { recipient: { metaData: { handbill: 'ref-cat' } }, id: '3' },
        { meta: { data: ['ref-ben'] }, id: '2', to: 'hidden' },
        { clientRef: 'ref-ann', id: '1', to: BEN.to },
      ],
    };
    expect(told(answered(answer))).toEqual(['accepted 1', 'accepted 2', 'accepted 3']);
  });

  it('is no other recipient', () => {
    const stranger = { to: '+447700900999', id: '9', error: 'no' };
    const answer = { recipients: [stranger, ...THREE.map(({ to }, i) => ({ to, id: `${i}` }))] };
    expect(told(answered(answer))).toEqual(['accepted 0', 'accepted 1', 'accepted 2']);
  });
});

describe('the address of an answer to one recipient', () => {
  const SAME: readonly (readonly [text: string, to: string])[] = [
    ['+447700900101', '+447700900101'],
    ['07700 900101', '+447700900101'],
    ['+44 (0)7700 900101', '+447700900101'],
    ['tel:447700900101', '+447700900101'],
    // Countries that put digits into mobile numbers which networks leave out.
    ['541123456789', '+5491123456789'],
    ['525512345678', '+5215512345678'],
    ['551187654321', '+5511987654321'],
    ['mailto:ann@example.com', 'Ann@Example.com'],
  ];
  test.each(SAME)('%s may be %s', (text, to) => {
    expect([isOtherAddress(text, to)]).toEqual([false]);
  });
  test.each(SAME.filter(([text]) => !text.includes('(0)')))('%s is %s', (text, to) => {
    expect(isSameAddress(text, to)).toBe(true);
  });
  test.each([
    ['+447700900102', '+447700900101'],
    ['07700900102', '+447700900101'],
    ['ben@example.com', 'ann@example.com'],
  ])('%s is certainly not %s', (text, to) => {
    expect([isOtherAddress(text, to), isSameAddress(text, to)]).toEqual([true, false]);
  });
  test.each([
    ['masked', '+44770090****', '+447700900101'],
    ['an id', 'c-17', '+447700900101'],
    ['a short number', '60123', '+447700900101'],
    ['a number where an email address was sent to', '+447700900102', 'ann@example.com'],
    ['a number where a contact was sent to', '447700900102', 'contact-12'],
    ['a name', 'Ben', 'ann@example.com'],
  ])('that cannot be compared: %s', (_label, text, to) => {
    expect([isOtherAddress(text, to), isSameAddress(text, to)]).toEqual([false, false]);
  });
});
