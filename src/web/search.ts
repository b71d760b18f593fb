import type { Outcome } from '../model.ts';
import type { AddressReader } from '../recipients/phone.ts';
import { listedForm, spellingsOf } from '../util/address-form.ts';
import { fold, holdsWords } from '../util/fold.ts';

/** A search for a recipient: a line, a key, an address in any spelling, an id of the API. */
export type Search = NonNullable<ReturnType<typeof readSearch>>;

const SHORTEST_PART = 4;
const LONGEST_TEXT = 300;

/** @param phone reads a number in any spelling; null if no search was given */
export function readSearch(text: string, phone: AddressReader, rows: ReadonlySet<number> = new Set()) {
  const wanted = text.trim().slice(0, LONGEST_TEXT);
  if (wanted === '') return null;
  const number = phone(wanted);
  const digits = wanted.replace(/[\s()./-]/g, '');
  const isNumber = /^\+?\d+$/.test(digits);
  const email = wanted.includes('@')
    ? [listedForm(wanted), wanted.replace(/@[^@]*$/, (host) => host.toLowerCase())]
    : [];
  const spelled = 'to' in number ? spellingsOf(number.to) : [];
  const names = [wanted, ...spelled, ...email, ...(isNumber ? [digits] : [])];
  const part = isNumber ? digits.replace(/^(?:\+|0+)/, '') : wanted;
  const line = /^(?:line\s+)?(\d{1,9})$/i.exec(wanted)?.[1];
  return {
    text: wanted,
    /** Whole keys, addresses and ids that it may mean. */
    names: [...new Set(names)] as readonly string[],
    line: line === undefined ? null : Number(line),
    /** Part of a key or address; null: too short for one. */
    part: part.length < SHORTEST_PART || 'to' in number ? null : part,
    /** Rows of the list that have its words, ascending. */
    rows,
  };
}

export function matchesSearch(search: Search, { steps, ...outcome }: Outcome): boolean {
  if (outcome.line === search.line) return true;
  const { key, row } = outcome;
  // Without a key, the ledger has no person in this row any more.
  if (key !== null && search.rows.has(row)) return true;
  const all = steps ?? [outcome];
  if (all.some(({ messageId }) => messageId !== null && search.names.includes(messageId))) return true;
  return isNamed(search, [key, ...all.map(({ to }) => to)]);
}

function isNamed({ names, part }: Search, ids: readonly (string | null)[]): boolean {
  return ids.some((id) => id !== null && (names.includes(id) || (part !== null && id.includes(part))));
}

/** A short number: many cells of a list hold it by chance. */
export const IN_MANY_CELLS = /^[\d\s]{0,5}$/;

/**
 * The same search where a list cannot be filtered by the database: by keys and addresses, by words of a text, and by
 * the cells of the person. Null if no search was given.
 */
export function createMatcher(text: string, phone: AddressReader) {
  const search = readSearch(text, phone);
  if (search === null) return null;
  const holds = holdsWords(search.text);
  return (ids: readonly (string | null)[], texts: readonly string[], cells: readonly string[]): boolean =>
    isNamed(search, ids) || holds(fold([...texts, ...(IN_MANY_CELLS.test(text) ? [] : cells)].join('\n')));
}
