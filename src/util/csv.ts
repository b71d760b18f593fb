/**
 * Always quoted, with a leading `'` where a spreadsheet would run a formula (`=`, also behind blanks, `+`, `-`, `@`, also in
 * full width, and the controls that it skips), so also before phone numbers. `unguardCell` removes it. Null: an empty cell.
 */
export function csvCell(value: string | number | null): string {
  if (value === null) return '""';
  return `"${guardCell(String(value)).replaceAll('"', '""')}"`;
}

/** `="0740"` where Excel would change the text to a number or a date; else as `csvCell`. `cellOf` reverses it. */
export function excelCell(value: string | number | null): string {
  const isFormula = typeof value === 'string' && value.length <= MOST_IN_FORMULA && CHANGED_BY_EXCEL.test(value);
  return isFormula ? `"=""${value}"""` : csvCell(value);
}

/** Excel takes no longer text in a formula. */
const MOST_IN_FORMULA = 255;
/** Figures with at most one word: `+447700900001`, `0740`, `1E5`, `1/2`, `3 May`. */
const CHANGED_BY_EXCEL = /^(?=.*\d)[+-]?[\d \u00a0\u202f.,:/()%-]*(?:\p{L}{1,9}\.?[+-]?[\d .,:/-]*)?$/u;

/** Exact: `unguardCell(guardCell(x))` is `x` for every text. */
export function guardCell(value: string): string {
  return NEEDS_GUARD.test(value) ? `'${value}` : value;
}

export function unguardCell(value: string): string {
  return value.startsWith("'") && NEEDS_GUARD.test(value.slice(1)) ? value.slice(1) : value;
}

/** `="0740"` is 0740. In a file of handbill it takes off the `'` in front, and a value that was a formula stays one. */
export function cellOf(written: string, isEscaped: boolean): string {
  const value = isEscaped ? unguardCell(written) : written;
  if (value !== written || !MAY_BE_FORMULA.test(written)) return value;
  const text = new RegExp(`^${TEXT_FORMULA}$`, 'u').exec(written)?.[1];
  return text === undefined ? written : text.replaceAll('""', '"');
}

const MAY_BE_FORMULA = /^ *=/;
/** A formula that gives a text, as exporters write it to keep a zero: `="0740"`, `=T("0740")`. */
export const TEXT_FORMULA = String.raw` *= *(?:T\()?"((?:[^"]|"")*)"\)? *`;

// A value that itself begins with `'=` gets a second one: otherwise reading it back would lose the first. The pattern
// is made from a string because it has to name control characters.
const NEEDS_GUARD = /^'*(?: *=|[+\-@\t\r\n\0＝＋－＠])/;
/** Begins the columns that a report adds. The file can be sent as a list again: no template needs them. */
export const REPORT_COLUMN_PREFIX = 'handbill_';

/** Columns that occur together only in a file that handbill wrote: a report of a list, a report, replies. */
const OWN_EXPORTS: readonly (readonly string[])[] = [
  ['handbill_key', 'handbill_reference', 'handbill_outcome'],
  ['key', 'reference', 'outcome', 'httpStatus', 'messageId', 'updatedAt'],
  ['key', 'meaning', 'receivedAt', 'environment', 'occurrence'],
];

export function isOwnExport(columns: readonly string[]): boolean {
  return OWN_EXPORTS.some((own) => own.every((name) => columns.includes(name)));
}
