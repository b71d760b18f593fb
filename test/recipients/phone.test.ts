import { describe, expect, it } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { createPhoneReader } from '../../src/recipients/phone.ts';
import { golden } from '../helpers/golden.ts';

golden(
  'a number is read as it is dialled in its country, or refused without its digits',
  'recipients/phone',
  (input) => {
    const [, country = '', raw = ''] = /^(\S+) (.*)$/s.exec(input) ?? [];
    const read = createPhoneReader(country === '-' ? null : country);
    const found = read(raw);
    if ('problem' in found) {
      const words = [found.problem, found.hint ?? ''].filter(Boolean).join(' / ');
      return words.includes('7400') ? 'the digits are shown' : `! ${words}`;
    }
    expect(createPhoneReader('GB')(found.to)).toEqual(found);
    return `${found.to} of ${found.country}${found.assigned ? '' : ', not assigned'}`;
  },
);

describe('numbers that are refused', () => {
  it('has at most so many characters', () => {
    expect(createPhoneReader('GB')('1'.repeat(100_000))).toMatchObject({
      problem: expect.stringMatching(/has 100000 characters/),
    });
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
