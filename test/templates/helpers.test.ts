import { expect, it } from 'vitest';
import { readDate } from '../../src/templates/helpers/date.ts';
import { golden } from '../helpers/golden.ts';
import { render } from './harness.ts';

golden('each helper writes what its guide says', 'templates/helpers', (input) => {
  const [text = '', ...given] = input.split(' | ');
  const { locale, timeZone, ...row } = Object.fromEntries(given.map((one) => one.split(/=(.*)/s)));
  return render(text, row, { ...(locale === undefined ? {} : { locale }), ...(timeZone ? { timeZone } : {}) });
});

golden('a date is read in these forms only', 'templates/dates', (value) => {
  const date = readDate(value);
  return date === null ? 'no date' : `${date.kind} ${new Date(date.ms).toISOString()}`;
});

golden('a number is read in one form only, by each helper', 'templates/no-numbers', (value) => {
  const said = ['{{number a}}', '{{currency a "EUR"}}', '{{plural a "x" "y"}}'].map((text) => {
    try {
      return render(text, { a: value });
    } catch (error) {
      return (error as Error).message;
    }
  });
  return [...new Set(said)];
});

it('names the column and the value, cut', () => {
  const value = '02/01/2026'.repeat(10);
  expect(() => render('{{date (trim a)}}', { a: value })).toThrow(
    `"${value.slice(0, 40)}…" in the column "a" cannot be read as a date: write 2026-01-02, 2026-01-02 09:30, an ISO instant or Unix seconds.`,
  );
});

it('says how to read a date as a sheet writes it', () => {
  const hint = expect.stringContaining('`recipients.columns: { a: { type: date, format: dd/MM/yyyy } }`');
  expect(() => render('{{date (trim a)}}', { a: '21/11/2026' })).toThrow(expect.objectContaining({ hint }));
  expect(() => render('{{date a}}', { a: 'soon' })).toThrow(expect.objectContaining({ hint: null }));
});

it('keeps what the language writes in HTML', () => {
  const text = '{{number a locale="fr"}} {{number b locale="sv"}}';
  expect(render(text, { a: '1234', b: '-5' }, { escape: 'html' })).toBe('1\u202f234 \u22125');
  expect(render(text, { a: '1234', b: '-5' })).toBe('1 234 -5');
});
