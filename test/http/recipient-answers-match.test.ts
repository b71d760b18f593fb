import { describe, expect, it, test } from 'vitest';
import { isOtherAddress, isSameAddress } from '../../src/http/answer.ts';
import { golden } from '../helpers/golden.ts';
import { answered, BEN, CAT, DOUBT, THREE, told } from './answers.ts';

describe('who is meant', () => {
  const spelt = (to: unknown): unknown => ({ recipients: [{ to }, { to: BEN.to }, { to: CAT.to }] });
  golden('an address is compared however it is spelt', 'http/spelt-addresses', (text) =>
    told(answered(spelt(JSON.parse(text)))),
  );
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
  golden('an answer names the same address, another or neither', 'http/same-address', (text) => {
    const [said = '', to = ''] = text.split(' | ');
    return isOtherAddress(said, to) ? 'another' : isSameAddress(said, to) ? 'the same' : 'not known';
  });
});
