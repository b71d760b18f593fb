import type { ColumnType, ColumnTypes } from '../model.ts';
import { type DateFormat, readDateFormat } from '../util/date-format.ts';
import { readCell } from './cell.ts';
import { shorten, show } from './show.ts';

/** A column whose cells must hold a number or a date. */
export interface TypedColumn {
  readonly index: number;
  readonly name: string;
  readonly type: Exclude<ColumnType, 'string'>;
  /** How its dates are written; null: as ISO 8601. */
  readonly format: DateFormat | null;
}

/** The columns with a type that cells can miss. Names that the list does not have are left out. */
export function typedColumns(types: ColumnTypes, columns: readonly string[]): TypedColumn[] {
  return Object.entries(types).flatMap(([written, column]) => {
    const name = columnName(written);
    const index = columns.indexOf(name);
    const { type, format } = readType(column);
    return index === -1 || type === 'string' ? [] : [{ index, name, type, format }];
  });
}

/** What a column holds. The format was checked when the campaign was read. */
export function readType(column: ColumnTypes[string]): {
  readonly type: ColumnType;
  readonly format: DateFormat | null;
} {
  if (typeof column === 'string') return { type: column, format: null };
  const format = readDateFormat(column.format);
  if ('problem' in format) throw new Error(`The format ${column.format} ${format.problem}.`);
  return { type: column.type, format };
}

/** A name as the header has it. */
export function columnName(written: string): string {
  return written.trim().normalize('NFC');
}

/** What is wrong with the typed cells of one row, all of it, and what to do; null when each holds its type. */
export function typeFault(
  typed: readonly TypedColumn[],
  values: readonly string[],
): { readonly message: string; readonly hint: string } | null {
  for (const { index, type, format } of typed) {
    if (readCell(type, values[index] ?? '', format) === null) return explain(typed, values);
  }
  return null;
}

function explain(typed: readonly TypedColumn[], values: readonly string[]): { message: string; hint: string } {
  const wrong = typed.filter(({ index, type, format }) => readCell(type, values[index] ?? '', format) === null);
  const parts = wrong.map(
    ({ index, name, type, format }) =>
      `"${name}" holds ${showCell(values[index] ?? '')}, not ${A[type]}${format === null ? '' : ` as ${format.pattern}`}`,
  );
  const hint = [...new Set(wrong.map((column) => hintFor(column, (values[column.index] ?? '').trim())))].join(' ');
  return { message: `The column ${parts.join('; ')}.`, hint };
}

const A = { number: 'a number', date: 'a date' } as const;

/** A long run of digits may be somebody's number, but a date may be shown. */
function showCell(cell: string): string {
  return /^(?!.*\d{9})[\d\s.,:/TZ+-]{1,12}$/.test(cell.trim()) ? `"${shorten(cell.trim())}"` : show(cell);
}

function hintFor({ type, format }: TypedColumn, text: string): string {
  if (format !== null) {
    const isOther = format.toIso(text) === null && readCell('date', text) !== null;
    const iso = isOther ? ' For ISO dates write `date`, without a format.' : '';
    return `Dates are written ${format.pattern}, such as ${format.example}, and must exist. A cell may be empty.${iso}`;
  }
  if (type === 'date') {
    if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text)) {
      return 'An instant needs its zone: write "Z" or an offset such as "+01:00" behind it.';
    }
    return 'Dates are written 2026-11-21, or 2026-11-21T09:00:00Z, and must exist. A cell may be empty.';
  }
  if (/^-?[\d.,' ]+$/.test(text) && text.replace(/\D/g, '').length > 15) {
    return 'Numbers of more than 15 digits cannot be compared exactly. Is it an id? Then leave its type out.';
  }
  return 'Numbers are written 1234.5: no thousands separators, a point for the fraction. A cell may be empty.';
}
