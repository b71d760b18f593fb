import type { ColumnType } from '../model.ts';
import { readCell } from './cell.ts';
import { shorten, show } from './show.ts';

/** A column whose cells must hold a number or a date. */
export interface TypedColumn {
  readonly index: number;
  readonly name: string;
  readonly type: Exclude<ColumnType, 'string'>;
}

/** The columns with a type that cells can miss. Names that the list does not have are left out. */
export function typedColumns(types: Readonly<Record<string, ColumnType>>, columns: readonly string[]): TypedColumn[] {
  return Object.entries(types).flatMap(([written, type]) => {
    const name = columnName(written);
    const index = columns.indexOf(name);
    return index === -1 || type === 'string' ? [] : [{ index, name, type }];
  });
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
  for (const { index, type } of typed) {
    if (readCell(type, values[index] ?? '') === null) return explain(typed, values);
  }
  return null;
}

function explain(typed: readonly TypedColumn[], values: readonly string[]): { message: string; hint: string } {
  const wrong = typed.filter(({ index, type }) => readCell(type, values[index] ?? '') === null);
  const parts = wrong.map(
    ({ index, name, type }) => `"${name}" holds ${showCell(values[index] ?? '')}, not ${A[type]}`,
  );
  const one = wrong[0];
  const hint = one === undefined ? '' : hintFor(one.type, (values[one.index] ?? '').trim());
  return { message: `The column ${parts.join('; ')}.`, hint };
}

const A = { number: 'a number', date: 'a date' } as const;

/** A long run of digits may be somebody's number, but a date may be shown. */
function showCell(cell: string): string {
  return /^(?!.*\d{9})[\d\s.,:/TZ+-]{1,12}$/.test(cell.trim()) ? `"${shorten(cell.trim())}"` : show(cell);
}

function hintFor(type: TypedColumn['type'], text: string): string {
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
