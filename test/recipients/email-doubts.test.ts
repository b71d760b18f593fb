import { expect, test } from 'vitest';
import { doubtAboutEmail, readEmail } from '../../src/recipients/email.ts';

test.each([
  ['shaun.o’brien@example.com', /apostrophe/],
  ['“ada”@example.com', /apostrophe/],
  ['o´brien@example.com', /apostrophe/],
  ['adа@example.com', /two alphabets: а|two alphabets.*U\+0430/],
  ['jοe@example.com', /two alphabets/],
  ['oʼbrien@example.com', /apostrophe/],
  ['ada–l@example.com', /hyphen/],
  ['ada@xn--gmil-63d.com', /two alphabets in a name of its domain: а/],
  ['bo£b@example.com', /SMTPUTF8/],
  ['иван@example.com', /SMTPUTF8/],
  ['jürgen@example.com', /SMTPUTF8/],
  ['用户@example.com', /SMTPUTF8/],
])('%s is doubted', (address, why) => expect(doubtAboutEmail(address)?.problem).toMatch(why));

test.each([
  "o'brien@example.com",
  'ada+x@example.com',
  'ada@xn--mnchen-3ya.de',
  'ada@xn--e1afmkfd.xn--p1ai',
  '"a b"@example.com',
])('%s is not', (address) => expect(doubtAboutEmail(address)).toBeNull());

test.each(['xn---bad.example', 'xn--a.example', 'xn--0.pt', 'mail.XN--99999999999.com'])(
  '%s is no domain',
  (domain) => {
    expect(readEmail(`ada@${domain}`)).toMatchObject({ problem: expect.stringContaining('"xn--"') });
  },
);

test.each(['xn--mnchen-3ya.de', 'a.xn--p1ai', 'XN--MNCHEN-3YA.de'])('%s is a domain', (domain) => {
  expect(readEmail(`ada@${domain}`)).toMatchObject({ to: `ada@${domain.toLowerCase()}` });
});

test('quotes around a whole address are not part of it', () => {
  expect(readEmail('"ada@example.com"')).toMatchObject({ to: 'ada@example.com' });
});
