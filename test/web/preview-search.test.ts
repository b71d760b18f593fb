import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold } from '../../src/util/fold.ts';
import { parseQuery, type Searched, search } from '../../src/web/client/preview-search.ts';
import { FIELD_END, ROW_END } from '../../src/web/preview/delta.ts';
import { examples } from '../helpers/quick.ts';

interface Row {
  readonly line: number;
  readonly fields: readonly string[];
}

const ROWS: readonly Row[] = [
  { line: 2, fields: ['+447700900123', '', '', '07700 900123', "Siobhán O'Brien", 'R-0042'] },
  { line: 3, fields: ['+33639980123', 'c-7', '', '06 39 98 01 23', 'Łukasz Groß', 'R-0043'] },
  { line: 5, fields: ['', '', '0770090', '0770 090', 'Ænne ΟΔΟΣ', ''] },
  { line: 7, fields: ['', '', '', '', 'Þóra Ðóróthea Þórsdóttir', ''] },
  { line: 42, fields: ['Ann@example.com', '', '', 'Ann@example.com', 'Zoë １２３', 'R-1'] },
];

describe('who fits', () => {
  const cases: readonly (readonly [what: string, typed: string, lines: readonly number[]])[] = [
    ['nothing is typed', '  ', [2, 3, 5, 7, 42]],
    ['a name in other case', 'SIOBHÁN', [2]],
    ['a name without its accents', 'siobhan', [2]],
    ['letters that do not come apart', 'lukasz gross', [3]],
    ['Icelandic letters', 'thorsdottir dorothea', [7]],
    ['a ligature', 'aenne', [5]],
    ['a sigma at the end of a word', 'οδοσ', [5]],
    ['digits of another width', '123', [2, 3, 42]],
    ['an apostrophe as phones write it', 'o’brien', [2]],
    ['words in any order, from several columns', 'r-0043 łuk', [3]],
    ['words of which one is nowhere', 'siobhan nobody', []],
    ['a key', 'c-7', [3]],
    ['an address', 'ann@EXAMPLE', [42]],
    ['only digits', '447700900123', [2]],
    ['a national number', '07700900123', [2]],
    ['a national number with spaces', '07700 900 123', [2]],
    ['an international number', '+44 7700 900123', [2]],
    ['with the zero in brackets', '+44 (0)7700-900.123', [2]],
    ['with 00', '0044 7700 900123', [2]],
    ['another country', '+33 6 39 98 01 23', [3]],
    ['a part of a number', '900123', [2]],
    ['a number that is none, as it is written', '0770 090', [2, 5]],
    ['the same in digits', '0770090', [2, 5]],
    ['zeros of an order number', '0042', [2]],
    ['a line', 'line 5', [5]],
    ['a line, shorter', '#42', [42]],
    ['a number that is a line too', '42', [2, 42]],
    ['what separates rows in the page', `siobhan${ROW_END}${FIELD_END}`, [2]],
  ];
  it.each(cases)('%s', (_, typed, lines) => expect(found(ROWS, typed)).toEqual(lines));
});

it('the same rows as a reading of the rules one row at a time', () => {
  const cell = fc.oneof(
    fc.constantFrom('Siobhán', 'LEE', 'Straße 12', '07700 900123', 'R-0042', '', 'a', 'İstanbul', 'ﬁne'),
    fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => text.replaceAll(ROW_END, '').replaceAll(FIELD_END, '')),
  );
  const number = fc.integer({ min: 100, max: 999 }).map((end) => `+447700900${end}`);
  const rows = fc
    .array(fc.tuple(number, cell, cell), { minLength: 1, maxLength: 12 })
    .map((list) => list.map(([to, ...cells], i): Row => ({ line: 2 + i * 3, fields: [to, '', '', ...cells] })));
  const typed = fc.oneof(
    cell,
    fc.tuple(cell, cell).map((words) => words.join(' ')),
    fc.integer({ min: 0, max: 99_999 }).map(String),
    fc.constantFrom('07700 900', '+44 770', '0044 7700 900', 'line 5', '900', 's', '7 7'),
  );
  fc.assert(
    fc.property(rows, typed, (list, text) => {
      const expected = list.filter((row) => fits(row, text)).map(({ line }) => line);
      expect(found(list, text)).toEqual(expected);
    }),
    { numRuns: examples(2000) },
  );
});

it('all rows are shown, and filtered, before any text is made ready for a search', () => {
  let made = 0;
  const block = {
    facets: Uint32Array.of(0, 1, 0, 1, 0),
    searched() {
      made += 1;
      return searchedOf(ROWS);
    },
  };
  expect(search(block, parseQuery(' '), null)).toEqual([0, 1, 2, 3, 4]);
  expect(search(block, null, Uint8Array.of(0, 1))).toEqual([1, 3]);
  expect(made).toBe(0);
  expect(search(block, parseQuery('siobhan'), null)).toEqual([0]);
  expect(search(block, parseQuery('r-0043'), Uint8Array.of(1, 0))).toEqual([]);
  expect(made).toBe(2);
});

/** What the help of the page says, said once more. */
function fits({ line, fields }: Row, typed: string): boolean {
  const text = fold(typed.replaceAll(ROW_END, ' ').replaceAll(FIELD_END, ' ')).trim();
  if (text === '') return true;
  const named = text.match(/^(line\s*:?|#)\s*(\d{1,9})$/);
  if (named !== null && (named[1] !== '#' || /^#\d/.test(text))) return Number(named[2]) === line;
  if (text === String(line)) return true;
  const all = fields.map(fold);
  if (text.split(/\s+/).every((word) => all.some((field) => field.includes(word)))) return true;
  const digits = text.replaceAll('(0)', '').replaceAll(/\D/g, '');
  if (!/^\+?[\d\s()./-]+$/.test(text) || (text.match(/\d/g) ?? []).length < 3) return false;
  const isNational = !text.startsWith('+') && digits.startsWith('0') && digits.length >= 5;
  const isInternational = !text.startsWith('+') && digits.startsWith('00') && digits.length >= 7;
  const meant = isInternational ? digits.slice(2) : isNational ? digits.slice(1) : digits;
  return all.some((field) => field.includes(meant));
}

function found(list: readonly Row[], typed: string): readonly number[] {
  const block = { facets: new Uint32Array(list.length), searched: () => searchedOf(list) };
  return search(block, parseQuery(typed), null).map((row) => list[row]?.line ?? -1);
}

function searchedOf(list: readonly Row[]): Searched {
  const texts = list.map(({ fields }) => fold(fields.join(FIELD_END)));
  const starts = new Uint32Array(list.length + 1);
  for (const [i, text] of texts.entries()) starts[i + 1] = (starts[i] ?? 0) + text.length + 1;
  const folded = texts.join(ROW_END);
  starts[list.length] = folded.length;
  return { folded, starts, lines: Uint32Array.from(list, ({ line }) => line) };
}
