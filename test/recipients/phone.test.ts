import { describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { createPhoneReader } from '../../src/recipients/phone.ts';

type Case = readonly [
  label: string,
  country: string | null,
  raw: string,
  e164: string,
  owner: string | null,
  assigned?: false,
];

const READ: readonly Case[] = [
  ['E.164', null, '+447400123456', '+447400123456', 'GB'],
  ['reserved for documentation, GB', null, '+447700900123', '+447700900123', 'GB', false],
  ['reserved for documentation, FR', null, '+33639980000', '+33639980000', 'FR', false],
  ['documentation, US', null, '+12025550199', '+12025550199', 'US'],
  ['documentation, AU', null, '+61491570156', '+61491570156', 'AU'],
  ['Isle of Man, within +44', null, '+447624369230', '+447624369230', 'IM'],
  ['Canada, within +1', null, '+14165550199', '+14165550199', 'CA'],
  ['Kazakhstan, within +7', null, '+77011234567', '+77011234567', 'KZ'],
  ['a network that is not a country', null, '+870773111632', '+870773111632', null],
  ['a small country', null, '+6834002', '+6834002', 'NU'],
  ['national, with its prefix', 'GB', '07400123456', '+447400123456', 'GB'],
  ['national, its prefix lost in a spreadsheet', 'GB', '7400123456', '+447400123456', 'GB'],
  ['national documentation number', 'GB', '07700900123', '+447700900123', 'GB', false],
  ['national, in a country without a prefix', 'ES', '612345678', '+34612345678', 'ES'],
  ['national, where the zero belongs to the number', 'IT', '0612345678', '+390612345678', 'IT'],
  ['national, prefix 8', 'RU', '89123456789', '+79123456789', 'RU'],
  ['national, prefix 06', 'HU', '06201234567', '+36201234567', 'HU'],
  ['national, rewritten (Argentina, 15)', 'AR', '0111523456789', '+5491123456789', 'AR'],
  ['calling code without its plus, where only that is in use', 'ID', '6281234567890', '+6281234567890', 'ID'],
  ['a mobile number that begins like the calling code', 'CU', '53481043', '+5353481043', 'CU'],
  ['a landline that does, in a country that dials no 0', 'PL', '483004372', '+48483004372', 'PL'],
  ['the digits of the calling code, behind the prefix', 'DE', '04915123456789', '+494915123456789', 'DE'],
  ['calling code without its plus', 'GB', '447400123456', '+447400123456', 'GB'],
  ['foreign number in a list with a country', 'GB', '+33612345678', '+33612345678', 'FR'],
  ['short, but in use', 'AU', '131114', '+61131114', 'AU'],
  ['00 for +', null, '00447400123456', '+447400123456', 'GB'],
  ['00 for +, in a country that dials 011', 'US', '0044 7400 123456', '+447400123456', 'GB'],
  ['00 for +, in a country with numbers of many lengths', 'JP', '00447400123456', '+447400123456', 'GB'],
  ['011 for +, in a country that dials it', 'US', '011 44 7400 123456', '+447400123456', 'GB'],
  ['0011 for +, in AU', 'AU', '0011 65 9234 5678', '+6592345678', 'SG'],
  ['0011 for +, in brackets', 'AU', '(0011) 47 925 12 345', '+4792512345', 'NO'],
  ['001 for +, in HK', 'HK', '001 45 82 34 56 78', '+4582345678', 'DK'],
  ['001 for +, with typographic dashes', 'TH', '001\u201365\u20139234\u20135678', '+6592345678', 'SG'],
  ['0014 of a carrier in BR is not +1', 'BR', '0014 65 9234 5678', '+6592345678', 'SG'],
  ['0041 of a carrier in BR is not +41', 'BR', '0041 1 212 555 0199', '+12125550199', 'US'],
  ['00 for +, where 0041 is a carrier', 'BR', '0041 79 123 45 67', '+41791234567', 'CH'],
  ['00700 for +, in KR', 'KR', '00700 44 7400 123456', '+447400123456', 'GB'],
  ['001 for +, in ID', 'ID', '001 45 82 34 56 78', '+4582345678', 'DK'],
  ['007 for +, in ID, is not +7', 'ID', '007 45 82 34 56 78', '+4582345678', 'DK'],
  ['00 for +, in ID', 'ID', '0062 812 3456 7890', '+6281234567890', 'ID'],
  ['009 for +, in CO', 'CO', '009 44 7400 123456', '+447400123456', 'GB'],
  ['009 for +, in NG', 'NG', '009447400123456', '+447400123456', 'GB'],
  ['8~10 for +, in RU', 'RU', '8~10 44 7400 123456', '+447400123456', 'GB'],
  ['00 for +, in SG, where 006 may be a carrier', 'SG', '0061 412 345 678', '+61412345678', 'AU'],
  ['00 and 1, in a country that dials 00', 'GB', '001 212 555 0199', '+12125550199', 'US'],
  ['00 and 1, in a country that dials 011', 'US', '001 212 555 0199', '+12125550199', 'US'],
  ['spaces', null, '+44 7400 123 456', '+447400123456', 'GB'],
  ['white space around', null, '\t +447400123456 \n', '+447400123456', 'GB'],
  ['dots', null, '+44.7400.123.456', '+447400123456', 'GB'],
  ['dashes', 'US', '202-555-0199', '+12025550199', 'US'],
  ['typographic dashes', null, '+44 7400\u2013123\u2011456', '+447400123456', 'GB'],
  ['brackets', 'US', '(202) 555-0199', '+12025550199', 'US'],
  ['brackets around the calling code', null, '(+44) 7400 123456', '+447400123456', 'GB'],
  ['(0)', null, '+44 (0)7400 123456', '+447400123456', 'GB'],
  ['(0) after 00', null, '0044 (0) 7400 123456', '+447400123456', 'GB'],
  ['(0), Germany', null, '+49 (0)170 1234567', '+491701234567', 'DE'],
  ['area code before a slash', 'DE', '0171/1234567', '+491711234567', 'DE'],
  ['no-break spaces', null, '+44\u00a07400\u00a0123456', '+447400123456', 'GB'],
  ['narrow no-break spaces', null, '+33\u202f6\u202f12\u202f34\u202f56\u202f78', '+33612345678', 'FR'],
  ['direction marks', null, '\u202a+447400123456\u202c', '+447400123456', 'GB'],
  ['zero width', null, '\u200b+44\u200b7400123456\ufeff', '+447400123456', 'GB'],
  ['full width', null, '＋４４７４００１２３４５６', '+447400123456', 'GB'],
  ['Arabic digits', null, '+٤٤٧٤٠٠١٢٣٤٥٦', '+447400123456', 'GB'],
  ['tel:', null, 'tel:+44-7400-123456', '+447400123456', 'GB'],
  ['a formula that keeps the number', null, '="+447400123456"', '+447400123456', 'GB'],
  ["a ' that keeps the number", 'GB', "'07400123456", '+447400123456', 'GB'],
  ['the 1 of Mexican mobiles, as messaging apps write it', null, '+52 1 55 1234 5678', '+525512345678', 'MX'],
  ['the same without a plus', 'MX', '5215512345678', '+525512345678', 'MX'],
  ['a number of Benin without 01, as messaging apps write it', null, '+22997123456', '+2290197123456', 'BJ'],
  ['a unit separator in front, as exporters write it to keep a zero', 'GB', '\u001f07400123456', '+447400123456', 'GB'],
  ['quotes around it', 'GB', '“07400123456”', '+447400123456', 'GB'],
  ['a Brazilian mobile without its ninth digit', null, '+551187654321', '+551187654321', 'BR', false],
  ['15 digits', null, '+491512345678901', '+491512345678901', 'DE', false],
];

describe('numbers that are read', () => {
  for (const [label, country, raw, e164, owner, assigned = true] of READ) {
    test(label, () => {
      expect(createPhoneReader(country)(raw)).toEqual({ to: e164, country: owner, assigned });
    });
  }

  it('does not change what it has read', () => {
    const read = createPhoneReader('GB');
    for (const [, , , e164, country, assigned = true] of READ)
      expect(read(e164)).toEqual({ to: e164, country, assigned });
  });
});

const NOT_READ: readonly (readonly [
  label: string,
  country: string | null,
  raw: string,
  problem: RegExp,
  hint?: RegExp,
])[] = [
  ['nothing', null, '', /is empty/],
  ['white space and marks', 'GB', ' \u00a0\u200b', /is empty/],
  ['a word', 'GB', 'unknown', /is not a phone number/],
  ['words with a number', 'GB', 'call 07400123456', /is not a phone number/],
  ['letters for digits', 'US', '1-800-FLOWERS', /is not a phone number/],
  ['an email address', 'GB', 'a@example.com', /is not a phone number/],
  ['a template', 'GB', '{{msisdn}}', /is not a phone number/],
  ['only a plus', 'GB', '+', /is not a phone number/],
  ['00 and 1, in a country that dials 001', 'HK', '001 212 555 0199', /in two ways/, /"\+" and the country code/],
  ['00 and 1, in a country that dials 0011', 'AU', '0012125550199', /in two ways/],
  ['00 and 1, in ID', 'ID', '001 212 555 0199', /in two ways/],
  ['00 and 1, in a country with 0015', 'BR', '0015 85 862 7391', /in two ways/],
  ['0011, in a country that dials 00', 'GB', '0011 65 9234 5678', /in two ways/],
  ['0011 without a country', null, '0011 65 9234 5678', /in two ways/],
  ['a lost plus, or a landline without its 0', 'DE', '4915123456789', /in two ways.*country code 49/, /"\+"/],
  ['a lost plus or a lost 0, with blanks', 'DE', '49 151 2345 6789', /in two ways/],
  ['a lost plus or a lost 0, in ID', 'ID', '62 812 345 678', /in two ways.*country code 62/],
  ['a lost plus or a lost 0, in XK', 'XK', '38343201234', /in two ways.*country code 383/],
  ['two pluses', 'GB', '++447400123456', /is not a phone number/],
  ['an extension', 'GB', '07400123456 ext. 5', /has an extension/],
  ['an extension, x', 'US', '202-555-0199 x12', /has an extension/],
  ['an extension, RFC 3966', null, 'tel:+442079460018;ext=5', /has an extension/],
  ['two numbers, semicolon', 'GB', '07400123456; 07400123457', /more than one number/, /its own row/],
  ['two numbers, slash', 'GB', '07400123456/07400123457', /more than one number/],
  ['two numbers, comma', 'GB', '07400123456, 07400123457', /more than one number/],
  ['two numbers, space', null, '+447400123456 +447400123457', /more than one number/],
  ['two numbers, or', 'GB', '07400 123456 or 07400 123457', /more than one number/],
  ['two numbers, line', 'GB', '07400123456\n07400123457', /has 22 digits/, /several/],
  ['two endings', 'DE', '030 1234567/68', /more than one number/],
  ['scientific notation', 'GB', '4.47701E+11', /a spreadsheet turned this number/, /lost.*Text/],
  ['scientific notation, comma', 'GB', ' 4,47701e+11 ', /a spreadsheet turned this number/],
  ['a decimal', 'DE', '491701234567.0', /is a decimal/],
  ['no country code, no country', null, '07400123456', /has no country code/, /recipients\.defaultCountry/],
  ['a lost plus', null, '447400123456', /has no country code/, /of GB with a "\+" in front/],
  [
    'a lost plus in a list of another country',
    'GB',
    '33612345678',
    /cannot be a number of GB/,
    /of FR with a "\+" in front/,
  ],
  ['a calling code that is not in use', null, '+999123456789', /country code that is in use/],
  ['a calling code with a zero', null, '+0447400123456', /country code that is in use/],
  ['emergency number', 'GB', '999', /is too short/],
  ['emergency number, international', null, '+44999', /cannot be a number of/],
  ['short code that is possible in Germany', 'DE', '11833', /is too short/],
  ['short code that is possible in Finland', 'FI', '11200', /is too short/],
  ['two digits', 'GB', '12', /too short/],
  ['too short', null, '+44740012', /cannot be a number of/],
  ['too long', 'GB', '0740012345678', /cannot be a number of GB/],
  ['more than 15 digits, which libphonenumber lets pass in Germany', null, '+4915123456789012', /has 16 digits/],
  ['a very long cell', 'GB', '1'.repeat(100_000), /has 100000 characters/],
];

describe('numbers that are refused', () => {
  for (const [label, country, raw, problem, hint] of NOT_READ) {
    test(label, () => {
      const found = createPhoneReader(country)(raw);
      expect(found).toMatchObject({ problem: expect.stringMatching(problem) });
      if (hint !== undefined) expect(found).toMatchObject({ hint: expect.stringMatching(hint) });
    });
  }

  it('never repeats the digits: they are masked elsewhere', () => {
    for (const [, country, raw] of NOT_READ) {
      expect(JSON.stringify(createPhoneReader(country)(raw))).not.toMatch(/7400/);
    }
  });

  it('refuses a country that is none', () => {
    for (const country of ['UK', 'gb', '', '001', '__proto__']) {
      expect(() => createPhoneReader(country)).toThrow(HandbillError);
    }
  });

  it('reads long cells to their end', () => {
    const read = createPhoneReader('GB');
    const fillers = ['1', ' ', '(', '-1', '; 1', '+', 'x', ',', '\u200b', ' ext', '1,'];
    for (const filler of fillers) {
      for (const length of [249, 1024 * 1024])
        expect(read(filler.repeat(length).slice(0, length))).toHaveProperty('problem');
    }
  });
});
