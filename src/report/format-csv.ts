import type { Report } from '../model.ts';
import { csvCell, REPORT_COLUMN_PREFIX } from '../util/csv.ts';
import {
  CSV_FIELDS,
  cellsOf,
  type ListColumns,
  type Outcomes,
  type ReferenceOf,
  type ReportOptions,
} from './record.ts';

/** A header and one record per row of the list, lines ended by LF; safe to open in a spreadsheet. */
export async function* formatCsv(_report: Report, outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  const { columns, referenceOf } = options;
  if (columns !== undefined) return yield* withColumns(outcomes, columns, referenceOf);
  yield lineOf(CSV_FIELDS, ',');
  for await (const batch of outcomes) {
    let lines = '';
    for (const outcome of batch) lines += lineOf(cellsOf(outcome, referenceOf), ',');
    if (lines !== '') yield lines;
  }
}

/**
 * The rows of the list as they are, and behind them what became of each, under names that no list has of its own: so
 * the file is a list again. Columns that an earlier such file left in it are replaced.
 */
async function* withColumns(
  outcomes: Outcomes,
  { names, delimiter, needsMark, valuesOf }: ListColumns,
  referenceOf: ReferenceOf,
): AsyncGenerator<string> {
  const own = CSV_FIELDS.map((field) => `${REPORT_COLUMN_PREFIX}${field}`);
  const kept = names.flatMap((name, i) => (own.includes(name) ? [] : [i]));
  yield `${needsMark ? '\ufeff' : ''}${lineOf([...kept.map((i) => names[i] ?? ''), ...own], delimiter)}`;
  for await (const batch of outcomes) {
    const values = await valuesOf(batch);
    let lines = '';
    for (const [n, outcome] of batch.entries()) {
      const cells = kept.map((i) => values[n]?.[i] ?? null);
      lines += lineOf([...cells, ...cellsOf(outcome, referenceOf)], delimiter);
    }
    if (lines !== '') yield lines;
  }
}

function lineOf(cells: readonly (string | number | null)[], delimiter: string): string {
  return `${cells.map(csvCell).join(delimiter)}\n`;
}
