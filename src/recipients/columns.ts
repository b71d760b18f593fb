import { type Diagnostic, problem } from '../errors.ts';
import type { ColumnType, ColumnTypes, ListSpec } from '../model.ts';
import { maskText } from '../util/redact.ts';
import { didYouMean } from '../util/suggest.ts';
import { type DateFormat, dateHint, dayMs, instantMs, readDateFormat } from '../util/time.ts';
import { ADDRESS_WORDS } from './address.ts';
import { shorten, show } from './show.ts';

/** Positions of the columns that say who a recipient is. */
interface AddressColumns {
  readonly to: number;
  /** None: the address identifies the recipient. */
  readonly key: readonly number[];
  /** null: only the number tells a time zone. */
  readonly timeZone: number | null;
}

/** More names than fit into a hint. */
const MOST_NAMES = 20;

type Named = Pick<ListSpec, 'file' | 'kind' | 'to' | 'key' | 'timeZone' | 'columns'>;

/**
 * Finds the columns that `recipients.to` (or `contact`), `recipients.key` and `recipients.timeZone` name, and looks for those of
 * `recipients.columns`.
 * @param columns names as the list's header has them
 * @param headerLine line of the header, for the position
 * @returns the positions of those columns, or everything that is wrong
 */
export function resolveColumns(spec: Named, columns: readonly string[], headerLine = 1): AddressColumns | Diagnostic[] {
  const to = find(columns, spec.to);
  const key = spec.key.map((name) => find(columns, name));
  const timeZone = spec.timeZone === null ? null : find(columns, spec.timeZone);
  const problems: Diagnostic[] = [];
  const missing = (setting: string, name: string, extra?: string): void => {
    const message = `The list has no column "${name}" (\`recipients.${setting}\`).`;
    const hint = [didYouMean(name, columns).hint, extra, listed(columns)]
      .filter((part) => part !== undefined)
      .join(' ');
    problems.push(problem('unknown-column', message, { at: { file: spec.file, line: headerLine }, hint }));
  };
  const words = ADDRESS_WORDS[spec.kind];
  const unset = `Set \`recipients.${words.setting}\` to the column with the ${words.many}.`;
  if (to === -1) missing(words.setting, spec.to, spec.to === words.column ? unset : undefined);
  for (const [i, name] of spec.key.entries()) if (key[i] === -1) missing('key', name);
  if (timeZone === -1 && spec.timeZone !== null) missing('timeZone', spec.timeZone);
  for (const name of Object.keys(spec.columns)) if (find(columns, name) === -1) missing('columns', name);
  return problems.length > 0 ? problems : { to, key, timeZone };
}

function find(columns: readonly string[], name: string): number {
  return columns.indexOf(columnName(name));
}

/** The names of a list's columns, for a hint. */
export function listed(columns: readonly string[]): string {
  // Without a header, the first line is a recipient, so names are masked.
  const names = columns.slice(0, MOST_NAMES).map(maskText).join(', ');
  const more = columns.length > MOST_NAMES ? ` and ${columns.length - MOST_NAMES} more` : '';
  return `Its columns: ${names}${more}.`;
}

/** A column whose cells must hold what `recipients.columns` says. */
export interface TypedColumn {
  readonly index: number;
  readonly name: string;
  readonly type: ColumnType;
  /** How its dates are written; null: as ISO 8601. */
  readonly format: DateFormat | null;
  /** No cell may be empty; absent: any may. */
  readonly required?: boolean;
  /** What a cell may hold, as `readText` reads it; absent: any text. */
  readonly values?: ReadonlySet<string>;
}

/** The columns that a cell can be wrong for. Names that the list does not have are left out. */
export function typedColumns(types: ColumnTypes, columns: readonly string[]): TypedColumn[] {
  return Object.entries(types).flatMap(([written, column]) => {
    const name = columnName(written);
    const index = columns.indexOf(name);
    const { required = false, values } = typeof column === 'string' ? {} : column;
    const { type, format } = readType(column);
    if (index === -1 || (type === 'string' && !required && values === undefined)) return [];
    const allowed = values === undefined ? {} : { values: new Set(values.map(readText)) };
    return [{ index, name, type, format, ...(required ? { required } : {}), ...allowed }];
  });
}

/** What a column holds. The format was checked when the campaign was read. */
export function readType(column: ColumnTypes[string]): {
  readonly type: ColumnType;
  readonly format: DateFormat | null;
} {
  if (typeof column === 'string') return { type: column, format: null };
  if (column.format === undefined) return { type: column.type, format: null };
  const format = readDateFormat(column.format);
  if ('problem' in format) throw new Error(`The format ${column.format} ${format.problem}.`);
  return { type: column.type, format };
}

/** A name as the header has it. */
export function columnName(written: string): string {
  return written.trim().normalize('NFC');
}

/** All faults of the typed cells of one row, and what to do; null if each holds what it should. */
export function typeFault(
  typed: readonly TypedColumn[],
  values: readonly string[],
): { readonly message: string; readonly hint: string } | null {
  for (const column of typed) if (isWrong(column, values[column.index] ?? '')) return explain(typed, values);
  return null;
}

function isWrong({ type, format, required, values }: TypedColumn, cell: string): boolean {
  if (type !== 'string' && readCell(type, cell, format) === null) return true;
  if (required === undefined && values === undefined) return false;
  const text = readText(cell);
  return text === '' ? required === true : values !== undefined && !values.has(text);
}

function explain(typed: readonly TypedColumn[], values: readonly string[]): { message: string; hint: string } {
  const wrong = typed.filter((column) => isWrong(column, values[column.index] ?? ''));
  const parts = wrong.map((column) => faultOf(column, values[column.index] ?? ''));
  const hint = [...new Set(wrong.map((column) => hintFor(column, (values[column.index] ?? '').trim())))].join(' ');
  return { message: `The column ${parts.join('; ')}.`, hint };
}

function faultOf({ name, type, format, values }: TypedColumn, cell: string): string {
  if (readText(cell) === '') return `"${name}" is empty`;
  if (type !== 'string' && readCell(type, cell, format) === null) {
    return `"${name}" holds ${showCell(cell)}, not ${A[type]}${format === null ? '' : ` as ${format.pattern}`}`;
  }
  const all = [...(values ?? [])];
  const more = all.length > MOST_VALUES ? ` or ${all.length - MOST_VALUES} more` : '';
  return `"${name}" holds ${show(cell)}, not one of ${all.slice(0, MOST_VALUES).join(', ')}${more}`;
}

/** More values than fit into a sentence. */
const MOST_VALUES = 5;

const A = { number: 'a number', date: 'a date' } as const;

/** A long run of digits may be a phone number and is masked; a date is shown. */
function showCell(cell: string): string {
  return /^(?!.*\d{9})[\d\s.,:/TZ+-]{1,12}$/.test(cell.trim()) ? `"${shorten(cell.trim())}"` : show(cell);
}

function hintFor(column: TypedColumn, text: string): string {
  const { required, values } = column;
  if (text === '') return '`recipients.columns` requires a value in every row.';
  if (values !== undefined) {
    const near = didYouMean(text, [...values]).hint;
    return near ?? 'Write one of them as `recipients.columns` does: upper and lower case count.';
  }
  const hint = hintForType(column, text);
  return required === true ? hint.replace(' A cell may be empty.', '') : hint;
}

function hintForType({ name, type, format }: TypedColumn, text: string): string {
  const asWritten = type === 'date' ? ` ${dateHint(name, text) ?? ''}`.trimEnd() : '';
  if (format !== null) {
    const isOther = format.toIso(text) === null && readCell('date', text) !== null;
    const iso = isOther ? ' For ISO dates write `date`, without a format.' : asWritten;
    return `Dates are written ${format.pattern}, such as ${format.example}, and must exist. A cell may be empty.${iso}`;
  }
  if (type === 'date') {
    if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text)) {
      return 'An instant needs its zone: write "Z" or an offset such as "+01:00" behind it.';
    }
    return `Dates are written 2026-11-21, or 2026-11-21T09:00:00Z, and must exist. A cell may be empty.${asWritten}`;
  }
  if (/^-?[\d.,' ]+$/.test(text) && text.replace(/\D/g, '').length > 15) {
    return 'Numbers of more than 15 digits cannot be compared exactly. Is it an id? Then leave its type out.';
  }
  return 'Numbers are written 1234.5: no thousands separators, a point for the fraction. A cell may be empty.';
}

/** A plain decimal: no thousands separators, no exponent, a point for the fraction. */
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** Up to 15 digits are exact in a double, so two different numbers are never equal. */
const MAX_DIGITS = 15;

/**
 * The value of a cell that holds a number or a date (`2026-11-21`, which is midnight in UTC, or an instant with `Z` or
 * an offset), dates in ms since 1970; undefined when it is empty, null when it holds something else.
 * @param format how the dates are written; null: as ISO 8601. Its times of day are those of a clock in UTC.
 */
export function readCell(
  type: Exclude<ColumnType, 'string'>,
  cell: string,
  format: DateFormat | null = null,
): number | null | undefined {
  const text = cell.trim();
  if (text === '') return undefined;
  if (type === 'number') return readNumber(text);
  if (format === null) return readDate(text);
  const iso = format.toIso(text);
  return iso === null ? null : readDate(iso.includes('T') ? `${iso}Z` : iso);
}

/**
 * The calendar day of a cell with a date: as it is written, and of an instant that of the zone; undefined when the cell
 * is empty, null when it holds something else.
 * @param dayOf the day of an instant in the zone
 */
export function readCellDay(
  cell: string,
  format: DateFormat | null,
  dayOf: (ms: number) => number,
): number | null | undefined {
  const text = cell.trim();
  if (text === '') return undefined;
  if (format !== null) {
    const iso = format.toIso(text);
    return iso === null ? null : dayMs(iso.slice(0, 10));
  }
  const day = dayMs(text);
  if (day !== null) return day;
  const ms = readDate(text);
  return ms === null ? null : dayOf(ms);
}

function readNumber(text: string): number | null {
  if (!NUMBER.test(text)) return null;
  if (text.length > MAX_DIGITS && text.replace(/[-.]/g, '').length > MAX_DIGITS) return null;
  // Minus zero would be another value than zero to some comparisons.
  return Number(text) + 0;
}

function readDate(text: string): number | null {
  return dayMs(text) ?? instantMs(text.replace(' ', 'T'));
}

/** The text of a cell as it is compared: trimmed, and in Unicode's composed form. */
export function readText(cell: string): string {
  return cell.trim().normalize('NFC');
}
