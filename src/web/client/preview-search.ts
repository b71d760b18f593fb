/** Independent of the page, so that tests can compare the search with a slow version of the rules. */

import { fold } from '../../util/fold.ts';
import { FIELD_END, ROW_END } from '../preview/delta.ts';

/** Rows as one text, so that each word takes one native search. */
export interface Searched {
  /** The fields of all rows, folded. */
  readonly folded: string;
  /** Start of each row in it, then the end of the last one. */
  readonly starts: Uint32Array;
  readonly lines: Uint32Array;
}

/** A row matches by its line, by the whole text as a number, or by its words. */
interface Query {
  /** Null: the search is not a line. */
  readonly line: number | null;
  /** The digits of a phone number; empty: the text is not a number. */
  readonly digits: string;
  /** All words must occur, anywhere; empty: only the line counts. */
  readonly words: readonly string[];
}

/** Null: the search is empty, so that all recipients match. */
export function parseQuery(typed: string): Query | null {
  const text = fold(typed.replace(SEPARATORS, ' ')).trim();
  if (text === '') return null;
  const named = /^(?:line\s*:?\s*|#)(\d{1,9})$/.exec(text);
  if (named !== null) return { line: Number(named[1]), digits: '', words: [] };
  return {
    line: /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null,
    digits: NUMBER.test(text) ? digitsOf(text) : '',
    words: text.split(/\s+/),
  };
}

const SEPARATORS = new RegExp(`[${ROW_END}${FIELD_END}]`, 'g');
/** At least three digits, and usual separators. */
const NUMBER = /^\+?(?:[\s()./-]*\d){3,}[\s()./-]*$/;

/** In any spelling: without separators, the zero of national numbers and the zeros of international ones. */
function digitsOf(text: string): string {
  const digits = text.replace(/\(0\)/g, '').replace(/\D+/g, '');
  if (text.startsWith('+')) return digits;
  // A short one may be an order number, whose zeros count.
  if (digits.length >= 7 && digits.startsWith('00')) return digits.slice(2);
  return digits.length >= 5 && digits.startsWith('0') ? digits.slice(1) : digits;
}

interface Block {
  readonly facets: Uint32Array;
  /** Takes long when it is first called. */
  searched(): Searched;
}

/** The rows of a block that match. An empty search reads none of its text. */
export function search({ facets, searched }: Block, query: Query | null, accepted: Uint8Array | null): number[] {
  const fits = query === null ? null : fitting(searched(), query);
  const found: number[] = [];
  for (let row = 0; row < facets.length; row++) {
    if (fits?.[row] !== 0 && accepted?.[facets[row] ?? 0] !== 0) found.push(row);
  }
  return found;
}

function fitting(rows: Searched, { line, digits, words }: Query): Uint8Array {
  const fits = new Uint8Array(rows.lines.length);
  for (const [i, word] of words.entries()) {
    if (i === 0) {
      mark(rows, word, fits);
      continue;
    }
    const also = new Uint8Array(fits.length);
    mark(rows, word, also);
    for (let row = 0; row < fits.length; row++) fits[row] = (fits[row] ?? 0) & (also[row] ?? 0);
  }
  if (digits !== '' && digits !== words[0]) mark(rows, digits, fits);
  if (line !== null) {
    for (let row = 0; row < fits.length; row++) if (rows.lines[row] === line) fits[row] = 1;
  }
  return fits;
}

/** Marks every row that holds the text: from one place to the next, continuing with the row after it. */
function mark({ folded, starts }: Searched, text: string, fits: Uint8Array): void {
  let row = 0;
  let at = folded.indexOf(text);
  while (at !== -1) {
    while ((starts[row + 1] ?? folded.length) <= at) row++;
    fits[row] = 1;
    at = folded.indexOf(text, starts[row + 1] ?? folded.length);
    if (row + 1 >= fits.length) return;
  }
}
