import { describe, expect, it, test } from 'vitest';
import { RenderError } from '../../src/templates/compile.ts';
import { readDate } from '../../src/templates/helpers/date.ts';
import { render } from './harness.ts';

describe('title', () => {
  test.each([
    ['jane doe', 'Jane Doe'],
    ['JANE DOE', 'Jane Doe'],
    ["o'brien", "O'Brien"],
    ['SEÁN O’BRIEN', 'Seán O’Brien'],
    ["d'angelo l'eau", "D'Angelo L'Eau"],
    ["don't", "Don't"],
    ["rock'n'roll", "Rock'n'Roll"],
    ['jean-luc', 'Jean-Luc'],
    ['McDonald', 'McDonald'],
    ['john McDonald', 'John McDonald'],
    ['élodie', 'Élodie'],
    ['e\u0301lodie', 'E\u0301lodie'],
    ['ивáн', 'Ивáн'],
    ['3rd floor', '3rd Floor'],
    ['x', 'X'],
    ['😀 smile', '😀 Smile'],
    ['𐐨𐐨', '𐐀𐐨'],
    ['  two  spaces ', '  Two  Spaces '],
    ['中文', '中文'],
  ])('%s', (value, expected) => {
    expect(render('{{title a}}', { a: value })).toBe(expected);
  });
});

describe('upper and lower', () => {
  test.each([
    ['en-GB', 'istanbul ß', 'ISTANBUL SS', 'istanbul ß'],
    ['tr', 'istanbul', 'İSTANBUL', 'istanbul'],
    ['tr-TR', 'ISPARTA', 'ISPARTA', 'ısparta'],
    ['az-Latn-AZ', 'i', 'İ', 'i'],
    ['el', 'άνω', 'ΑΝΩ', 'άνω'],
    ['de', 'ä', 'Ä', 'ä'],
  ])('in %s', (locale, value, upper, lower) => {
    expect(render('{{upper a}}|{{lower a}}', { a: value }, { locale })).toBe(`${upper}|${lower}`);
    expect(render('{{upper a locale=l}}|{{lower a locale=l}}', { a: value, l: locale })).toBe(`${upper}|${lower}`);
  });

  it('refuses a language from a column that is none', () => {
    expect(() => render('{{date a locale=l}}', { a: '2026-01-02', l: 'klingon!' })).toThrow(
      '"klingon!" is not a language such as "en-GB".',
    );
  });
});

describe('reading dates', () => {
  const utc = (...parts: [number, number, number?, number?, number?, number?, number?]) => Date.UTC(...parts);
  test.each([
    ['2026-01-02', 'date', utc(2026, 0, 2)],
    [' 2026-01-02 ', 'date', utc(2026, 0, 2)],
    ['20260102', 'date', utc(2026, 0, 2)],
    ['2024-02-29', 'date', utc(2024, 1, 29)],
    ['0099-01-01', 'date', -59042995200000],
    ['2026-01-02T09:30', 'local', utc(2026, 0, 2, 9, 30)],
    ['2026-01-02 09:30:15', 'local', utc(2026, 0, 2, 9, 30, 15)],
    ['2026-01-02 09:30:15,25', 'local', utc(2026, 0, 2, 9, 30, 15, 250)],
    ['2026-01-02T09:30:15.123456Z', 'instant', utc(2026, 0, 2, 9, 30, 15, 123)],
    ['2026-01-02t09:30z', 'instant', utc(2026, 0, 2, 9, 30)],
    ['2026-01-02T09:30 GMT', 'instant', utc(2026, 0, 2, 9, 30)],
    ['2026-01-02T09:30:00+01:00', 'instant', utc(2026, 0, 2, 8, 30)],
    ['2026-01-02 09:30:00 +0530', 'instant', utc(2026, 0, 2, 4, 0)],
    ['2026-01-02 23:30-08', 'instant', utc(2026, 0, 3, 7, 30)],
    ['1767364200', 'instant', 1767364200000],
    ['999999999', 'instant', 999999999000],
    ['1767364200123', 'instant', 1767364200123],
  ] as const)('%s', (value, kind, epochMs) => {
    expect(readDate(value)).toEqual({ kind, ms: epochMs });
  });

  test.each([
    '',
    'tomorrow',
    '02/01/2026',
    '1/2/26',
    '2026-1-2',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '2026-00-10',
    '2026-01-00',
    '20261301',
    '2026-01-02T24:00',
    '2026-01-02T09:60',
    '2026-01-02T09:30:60',
    '2026-01-02T9:30',
    '2026-01-02T',
    '2026-01-02Z',
    '2026-01-02T09:30+24:00',
    '2026-01-02T09:30+01:60',
    '2026-01-02T09:30 CET',
    '46024',
    '46024.5',
    '12345678901',
    '-1767364200',
    '1.767e9',
    '２０２６-01-02',
    '+002026-01-02',
    '2026-W01-5',
    '2026-002',
  ])('%j is not a date', (value) => {
    expect(readDate(value)).toBeNull();
  });
});

describe('date', () => {
  test.each([
    ['a date does not shift, west', '{{date a "iso"}}', '2026-01-02', 'America/Los_Angeles', '2026-01-02'],
    ['a date does not shift, east', '{{date a "full"}}', '2026-01-02', 'Pacific/Kiritimati', 'Friday, 2 January 2026'],
    ['a date does not shift by tz=', '{{date a "long" tz="Asia/Tokyo"}}', '2026-01-02', 'UTC', '2 January 2026'],
    ['a local time does not shift', '{{date a "datetime"}}', '2026-07-02 23:30', 'Asia/Tokyo', '2 Jul 2026, 23:30'],
    [
      'an instant is shown in the campaign’s zone',
      '{{date a "datetime"}}',
      '2026-07-02T23:30:00Z',
      'Europe/London',
      '3 Jul 2026, 00:30',
    ],
    ['tz= counts more', '{{date a "datetime" tz="Asia/Tokyo"}}', '2026-07-02T23:30:00Z', 'UTC', '3 Jul 2026, 08:30'],
    ['Unix seconds', '{{date a "yyyy-MM-dd HH:mm:ss"}}', '1767364200', 'UTC', '2026-01-02 14:30:00'],
    ['the hour that a clock change repeats', '{{date a "HH:mm"}}', '2026-10-25T01:30:00Z', 'Europe/London', '01:30'],
    ['midnight', '{{date a "H:mm h:mm a"}}', '2026-01-02T00:05:00Z', 'UTC', '0:05 12:05 am'],
    ['noon', '{{date a "H:mm hh:mm a"}}', '2026-01-02 12:05', 'UTC', '12:05 12:05 pm'],
    ['two forms of one part', '{{date a "MMM MM M MMMM yy yyyy"}}', '2026-09-02', 'UTC', 'Sept 09 9 September 26 2026'],
    ['letters of other tools', '{{date a "dddd ddd DD/MM/YYYY D"}}', '2026-09-02', 'UTC', 'Wednesday Wed 02/09/2026 2'],
    ['words', `{{date a "d 'of' MMMM 'at' h 'o''clock'"}}`, '2026-09-02 15:00', 'UTC', "2 of September at 3 o'clock"],
    ['only a quote', `{{date a "d''yy"}}`, '2026-09-02', 'UTC', "2'26"],
    ['only minutes', '{{date a "mm ss"}}', '2026-09-02 15:04:05', 'UTC', '04 05'],
    [
      'parts in the order of the language',
      '{{date a weekday="short" day="numeric" month="short"}}',
      '2026-09-02',
      'UTC',
      'Wed 2 Sept',
    ],
    [
      'parts in another order',
      '{{date a day="numeric" month="long" locale="en-US"}}',
      '2026-09-02',
      'UTC',
      'September 2',
    ],
    [
      'the zone’s name',
      '{{date a hour="numeric" minute="2-digit" timeZoneName="short"}}',
      '2026-07-02T12:00:00Z',
      'Europe/London',
      '13:00 BST',
    ],
    [
      'no zone’s name where there is none',
      '{{date a hour="numeric" minute="2-digit" timeZoneName="short"}}',
      '2026-07-02 12:00',
      'Europe/London',
      '12:00',
    ],
    ['German', '{{date a "full" locale="de"}}', '2026-03-02', 'UTC', 'Montag, 2. März 2026'],
    ['Russian, in the right case', '{{date a "d MMMM" locale="ru"}}', '2026-01-02', 'UTC', '2 января'],
    ['Russian, only one', '{{date a "MMMM" locale="ru"}}', '2026-01-02', 'UTC', 'январь'],
    ['American', '{{date a "time" locale="en-US"}}', '2026-01-02 09:30', 'UTC', '9:30 AM'],
  ])('%s', (_, text, value, timeZone, expected) => {
    expect(render(text, { a: value }, { timeZone })).toBe(expected);
  });

  it('takes the time zone from a column', () => {
    const row = { a: '2026-01-02T09:30:00Z', z: 'Asia/Tokyo' };
    expect(render('{{date a "HH:mm" tz=z}}', row)).toBe('18:30');
    expect(() => render('{{date a "HH:mm" tz=z}}', { ...row, z: 'Tokio' })).toThrow(
      '"Tokio" is not a time zone such as "Europe/London".',
    );
  });

  test.each(['time', 'datetime', 'HH:mm', 'h a', 'ss'])('%s needs a time of day', (format) => {
    expect(() => render(`{{date a "${format}"}}`, { a: '2026-01-02' })).toThrow(
      '"2026-01-02" in the column "a" has no time of day, and the template shows one.',
    );
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
});

describe('number and currency', () => {
  test.each([
    ['as written', '{{number a}}', '1234.50', '1,234.50'],
    ['whole', '{{number a}}', '1234567', '1,234,567'],
    ['with a sign', '{{number a}}', '-1234.5', '-1,234.5'],
    ['with a plus', '{{number a}}', '+7', '7'],
    ['with white space', '{{number a}}', ' 7 ', '7'],
    ['without a zero before the point', '{{number a}}', '.5', '0.5'],
    ['with nothing after the point', '{{number a}}', '5.', '5'],
    ['with zeros before it', '{{number a}}', '007', '7'],
    ['of many digits, each kept', '{{number a}}', '123456789012345678901.23', '123,456,789,012,345,678,901.23'],
    ['rounded as on paper', '{{number a decimals=2}}', '1.005', '1.01'],
    ['no minus before zero', '{{number a decimals=0}}', '-0.4', '0'],
    ['filled up', '{{number a decimals=2}}', '5', '5.00'],
    ['German', '{{number a locale="de"}}', '1234.5', '1.234,5'],
    ['French, with plain spaces', '{{number a locale="fr"}}', '1234567.5', '1 234 567,5'],
    ['Swiss, with a plain apostrophe', '{{number a locale="de-CH"}}', '1234.5', "1'234.5"],
    ['Swedish, with a plain minus', '{{number a locale="sv"}}', '-5', '-5'],
    ['pounds', '{{currency a "GBP"}}', '1234.5', '£1,234.50'],
    ['pounds, rounded', '{{currency a "GBP"}}', '0.125', '£0.13'],
    ['yen', '{{currency a "JPY"}}', '1234', 'JP¥1,234'],
    ['euros in German', '{{currency a "EUR" locale="de"}}', '-1234.5', '-1.234,50 €'],
    ['small letters', '{{currency a "gbp"}}', '1', '£1.00'],
    ['no decimals', '{{currency a "GBP" decimals=0}}', '1234.5', '£1,235'],
  ])('%s', (_, text, value, expected) => {
    expect(render(text, { a: value })).toBe(expected);
  });

  test.each([
    '1,234',
    '1.234,50',
    '1 234',
    '£5',
    '5%',
    '1e5',
    '4.47701E+11',
    'NaN',
    'Infinity',
    '0x10',
    '--1',
    '1.2.3',
    '.',
    '-',
    '１２',
    '1'.repeat(41),
    'abc',
  ])('%s is not a number', (value) => {
    for (const text of ['{{number a}}', '{{currency a "EUR"}}', '{{plural a "x" "y"}}']) {
      expect(() => render(text, { a: value })).toThrow(RenderError);
      expect(() => render(text, { a: value })).toThrow('in the column "a" cannot be read as a number: write 1234.50.');
    }
  });

  it('takes the currency from a column', () => {
    expect(render('{{currency a c}}', { a: '5', c: 'usd ' })).toBe('US$5.00');
    expect(() => render('{{currency a c}}', { a: '5', c: 'XXQ' })).toThrow('"XXQ" is not a currency code');
  });
});

describe('plural', () => {
  test.each([
    ['en', '0', 'items'],
    ['en', '1', 'item'],
    ['en', '2', 'items'],
    ['en', '-1', 'item'],
    ['en', '1.0', 'items'],
    ['en', '1.5', 'items'],
    ['fr', '0', 'item'],
    ['fr', '1.5', 'item'],
    ['ja', '1', 'items'],
  ])('in %s, %s is %s', (locale, value, expected) => {
    expect(render('{{plural a "item" "items"}}', { a: value }, { locale })).toBe(expected);
    expect(render('{{plural a one="item" other="items"}}', { a: value }, { locale })).toBe(expected);
  });

  test.each([
    ['1', 'one'],
    ['2', 'few'],
    ['5', 'many'],
    ['22', 'few'],
    ['1.5', 'other'],
  ])('Polish %s is %s', (value, expected) => {
    const text = '{{plural a one="one" few="few" many="many" other="other" locale="pl"}}';
    expect(render(text, { a: value })).toBe(expected);
  });

  it('takes other where a word is missing, and words from columns', () => {
    expect(render('{{plural a "plik" "pliku" locale="pl"}}', { a: '2' })).toBe('pliku');
    expect(render('{{plural a b c}}', { a: '1', b: 'Tag', c: 'Tage' })).toBe('Tag');
    expect(render('{{plural a zero="none" two="two" other="x" locale="ar"}}', { a: '0' })).toBe('none');
  });
});

describe('comparisons', () => {
  test.each([
    ['(eq a "x")', true],
    ['(eq a "X")', false],
    ['(eq a b)', false],
    ['(eq n 5)', true],
    ['(eq n "5")', true],
    ['(eq e "")', true],
    ['(ne a "x")', false],
    ['(ne a e)', true],
    ['(not e)', true],
    ['(not a)', false],
    ['(not (eq a "x"))', false],
    ['(and a b)', true],
    ['(and a e)', false],
    ['(and a b n (eq a "x"))', true],
    ['(and a b e)', false],
    ['(or e a)', true],
    ['(or e (eq a "y"))', false],
    ['(or e e b)', true],
    ['a', true],
    ['e', false],
    ['(eq 1.50 "1.50")', true],
  ])('%s is %s', (condition, expected) => {
    const text = `{{#if ${condition}}}true{{else}}false{{/if}}{{#unless ${condition}}}true{{else}}false{{/unless}}`;
    expect(render(text, { a: 'x', b: 'y', n: '5', e: '' })).toBe(`${expected}${!expected}`);
  });
});
