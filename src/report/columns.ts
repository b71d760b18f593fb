import { type ItemColumn, itemTable, proseWidth } from '../util/table.ts';
import { type Formats, PLAIN } from './locale.ts';

/** A column of the terminal, about one item in each line. */
export interface ReportColumn<T> extends Omit<ItemColumn<T>, 'cell'> {
  /** Columns of the narrowest terminal that shows it. */
  readonly least: number;
  cell(item: T, formats: Formats): string;
}

export function figures<T>(title: string, least: number, of: (item: T) => number): ReportColumn<T> {
  return { title, align: 'right', least, cell: (item, { number }) => number(of(item)) };
}

/** One line for each item, within the width: a narrow terminal gets fewer columns. */
export function reportTable<T>(
  items: readonly T[],
  columns: readonly ReportColumn<T>[],
  width: number,
  formats: Formats = PLAIN,
): string {
  if (items.length === 0) return '';
  const shown = columns.filter(({ least }) => proseWidth(width) >= least);
  const written = shown.map((column) => ({ ...column, cell: (item: T) => column.cell(item, formats) }));
  return itemTable(items, written, { width, indent: 2 });
}
