import { describe, expect, it } from 'vitest';
import { readEmail } from '../../src/recipients/email.ts';
import { golden } from '../helpers/golden.ts';

const read = readEmail;

/** The address, or what is wrong with it. */
function said(raw: string): string {
  const found = read(raw);
  if ('problem' in found) return `! ${found.problem}`;
  expect(found).toEqual({ to: found.to, country: null, assigned: true });
  return found.to;
}

golden('an email address is read, or refused with what is wrong', 'recipients/email', said);

const a = (length: number, letter = 'a'): string => letter.repeat(length);

describe('text that is not an email address', () => {
  it('is refused where it is nothing, or a text', () => {
    expect(said('')).toBe('! is empty');
    expect(said(a(2000))).toBe('! has 2000 characters, and no address has more than 254');
  });

  it('is read or refused, however it is written', () => {
    const hostile = [
      '@@',
      `@${a(400, ' ')}`,
      a(900, '"'),
      `${a(900, 'a.')}@x`,
      `"${a(900, '\\a')}`,
      `<${a(800, '<')}@`,
    ];
    for (const piece of hostile) {
      for (const text of [piece, piece + a(900, ' '), a(900, ',') + piece]) expect(() => read(text)).not.toThrow();
    }
  });
});
