/**
 * One cell of a CSV that handbill writes: always quoted, and with a leading `'` where a spreadsheet would run it as a
 * formula (`=`, `+`, `-`, `@`, also in full width, and the controls that are skipped before one). Phone numbers begin
 * with `+`, so they get it too. `unguardCell` takes it away again. Null is an empty cell.
 */
export function csvCell(value: string | number | null): string {
  if (value === null) return '""';
  return `"${guardCell(String(value)).replaceAll('"', '""')}"`;
}

/**
 * One cell of a CSV for Excel: `="0740"` where Excel would make another value of the text, such as a number or a date, and
 * else as `csvCell` writes it. `cellOf` takes the formula away again. Counts stay numbers.
 */
export function excelCell(value: string | number | null): string {
  const isFormula = typeof value === 'string' && value.length <= MOST_IN_FORMULA && CHANGED_BY_EXCEL.test(value);
  return isFormula ? `"=""${value}"""` : csvCell(value);
}

/** Excel takes no longer text in a formula. */
const MOST_IN_FORMULA = 255;

/** Figures with at most one word: `+447700900001`, `0740`, `1E5`, `1/2`, `3 May`. */
const CHANGED_BY_EXCEL = /^(?=.*\d)[+-]?[\d \u00a0\u202f.,:/()%-]*(?:\p{L}{1,9}\.?[+-]?[\d .,:/-]*)?$/u;

/** The value with a leading `'` if it needs one; exact: `unguardCell(guardCell(x))` is `x` for every text. */
export function guardCell(value: string): string {
  return NEEDS_GUARD.test(value) ? `'${value}` : value;
}

/** The value without the `'` that `guardCell` put in front. */
export function unguardCell(value: string): string {
  return value.startsWith("'") && NEEDS_GUARD.test(value.slice(1)) ? value.slice(1) : value;
}

/**
 * The value of a cell as it is in a file: `="0740"`, with which programs keep a spreadsheet from changing it, is 0740. In a
 * file that handbill wrote, the `'` in front is taken off, and a value that was such a formula itself stays one.
 */
export function cellOf(written: string, isEscaped: boolean): string {
  const value = isEscaped ? unguardCell(written) : written;
  if (value !== written || !written.startsWith('="')) return value;
  const text = FORMULA.exec(written)?.[1];
  return text === undefined ? written : text.replaceAll('""', '"');
}

const FORMULA = /^="((?:[^"]|"")*)"$/;

// A value that itself begins with `'=` gets a second one: otherwise reading it back would lose the first. The pattern
// is made from a string because it has to name control characters.
const NEEDS_GUARD = /^'*[=+\-@\t\r\n\0＝＋－＠]/;

/**
 * The prefix of the columns that a report adds to those of the list. Such a file can be sent as a list again, and no
 * template needs the results of the last time.
 */
export const REPORT_COLUMN_PREFIX = 'handbill_';

/** Columns that occur together only in a file that handbill wrote: a report of a list, a report, replies. */
const OWN_EXPORTS: readonly (readonly string[])[] = [
  ['handbill_key', 'handbill_reference', 'handbill_outcome'],
  ['key', 'reference', 'outcome', 'httpStatus', 'messageId', 'updatedAt'],
  ['key', 'meaning', 'receivedAt', 'environment', 'occurrence'],
];

/** True for the columns of a CSV that handbill wrote, whose cells have a `'` before what looks like a formula. */
export function isOwnExport(columns: readonly string[]): boolean {
  return OWN_EXPORTS.some((own) => own.every((name) => columns.includes(name)));
}
