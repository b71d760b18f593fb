import type { Report } from '../model.ts';
import { csvCell, excelCell, REPORT_COLUMN_PREFIX } from '../util/csv.ts';
import { CSV_FIELDS, cellsOf, type Outcomes, type ReportOptions } from './record.ts';

/** A header and one record per row of the list, lines ended by LF; safe to open in a spreadsheet. */
export async function* formatCsv(_report: Report, outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  const { columns, referenceOf, excelLocale } = options;
  const cell = excelLocale === undefined ? csvCell : excelCell;
  // Where numbers have a decimal comma, Excel separates cells by semicolons.
  const parts = excelLocale === undefined ? [] : new Intl.NumberFormat(excelLocale).formatToParts(0.5);
  const hasComma = parts.some(({ type, value }) => type === 'decimal' && value === ',');
  const delimiter = excelLocale === undefined ? (columns?.delimiter ?? ',') : hasComma ? ';' : ',';
  const lineOf = (cells: readonly (string | number | null)[]): string => `${cells.map(cell).join(delimiter)}\n`;
  if (excelLocale !== undefined || columns?.needsMark) yield '\ufeff';
  const { names = [] } = columns ?? {};
  // Beside the columns of the list, names of ours are unique, and replace those of an earlier such file.
  const own = CSV_FIELDS.map((field) => (columns === undefined ? field : `${REPORT_COLUMN_PREFIX}${field}`));
  const kept = names.flatMap((name, i) => (own.includes(name) ? [] : [i]));
  yield lineOf([...kept.map((i) => names[i] ?? ''), ...own]);
  for await (const batch of outcomes) {
    const values = await columns?.valuesOf(batch);
    let lines = '';
    for (const [n, outcome] of batch.entries()) {
      lines += lineOf([...kept.map((i) => values?.[n]?.[i] ?? null), ...cellsOf(outcome, referenceOf)]);
    }
    if (lines !== '') yield lines;
  }
}
