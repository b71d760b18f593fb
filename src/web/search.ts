import type { Outcome } from '../model.ts';
import type { PhoneReader } from '../recipients/phone.ts';
import { listedForm, spellingsOf } from '../util/address-form.ts';

/** A search for a recipient: a line, a key, an address in any spelling, an id of the API. */
export interface Search {
  readonly text: string;
  /** Whole keys, addresses and ids that it may mean. */
  readonly names: readonly string[];
  /** First line of a row. */
  readonly line: number | null;
  /** Part of a key or address; null: too short for one. */
  readonly part: string | null;
  /** Rows of the list that have its words, ascending. */
  readonly rows: ReadonlySet<number>;
}

const SHORTEST_PART = 4;
const LONGEST_TEXT = 300;

/** @param phone reads a number in any spelling; null if no search was given */
export function readSearch(text: string, phone: PhoneReader, rows: ReadonlySet<number> = new Set()): Search | null {
  const wanted = text.trim().slice(0, LONGEST_TEXT);
  if (wanted === '') return null;
  const number = phone(wanted);
  const digits = wanted.replace(/[\s()./-]/g, '');
  const isNumber = /^\+?\d+$/.test(digits);
  const email = wanted.includes('@')
    ? [listedForm(wanted), wanted.replace(/@[^@]*$/, (host) => host.toLowerCase())]
    : [];
  const names = [
    wanted,
    ...('e164' in number ? spellingsOf(number.e164) : []),
    ...email,
    ...(isNumber ? [digits] : []),
  ];
  const part = isNumber ? digits.replace(/^(?:\+|0+)/, '') : wanted;
  const line = /^(?:line\s+)?(\d{1,9})$/i.exec(wanted)?.[1];
  return {
    text: wanted,
    names: [...new Set(names)],
    line: line === undefined ? null : Number(line),
    part: part.length < SHORTEST_PART || 'e164' in number ? null : part,
    rows,
  };
}

export function matchesSearch({ names, line, part, rows }: Search, { steps, ...outcome }: Outcome): boolean {
  if (outcome.line === line) return true;
  const { key, row } = outcome;
  // Without a key, the ledger has no person in this row any more.
  if (key !== null && rows.has(row)) return true;
  const ids = [key, ...(steps ?? [outcome]).flatMap(({ to, messageId }) => [to, messageId])];
  if (ids.some((id) => id !== null && names.includes(id))) return true;
  if (part === null) return false;
  return [key, ...(steps ?? [outcome]).map(({ to }) => to)].some((id) => id?.includes(part) === true);
}
