import type { Report } from '../model.ts';
import { csvCell, excelCell, REPORT_COLUMN_PREFIX } from '../util/csv.ts';
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
  const { columns, referenceOf, excelLocale } = options;
  const cell = excelLocale === undefined ? csvCell : excelCell;
  const delimiter = excelLocale === undefined ? (columns?.delimiter ?? ',') : excelDelimiter(excelLocale);
  const lineOf = (cells: Cells): string => `${cells.map(cell).join(delimiter)}\n`;
  if (excelLocale !== undefined || columns?.needsMark) yield '\ufeff';
  if (columns !== undefined) return yield* withColumns(outcomes, columns, referenceOf, lineOf);
  yield lineOf(CSV_FIELDS);
  for await (const batch of outcomes) {
    let lines = '';
    for (const outcome of batch) lines += lineOf(cellsOf(outcome, referenceOf));
    if (lines !== '') yield lines;
  }
}

type Cells = readonly (string | number | null)[];

/** Where numbers have a decimal comma, Excel separates cells by semicolons. */
function excelDelimiter(locale: string): string {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5);
  return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ';' : ',';
}

/** The rows of the list, then outcomes in columns with unique names, which replace those of an earlier such file. */
async function* withColumns(
  outcomes: Outcomes,
  { names, valuesOf }: ListColumns,
  referenceOf: ReferenceOf,
  lineOf: (cells: Cells) => string,
): AsyncGenerator<string> {
  const own = CSV_FIELDS.map((field) => `${REPORT_COLUMN_PREFIX}${field}`);
  const kept = names.flatMap((name, i) => (own.includes(name) ? [] : [i]));
  yield lineOf([...kept.map((i) => names[i] ?? ''), ...own]);
  for await (const batch of outcomes) {
    const values = await valuesOf(batch);
    let lines = '';
    for (const [n, outcome] of batch.entries()) {
      const cells = kept.map((i) => values[n]?.[i] ?? null);
      lines += lineOf([...cells, ...cellsOf(outcome, referenceOf)]);
    }
    if (lines !== '') yield lines;
  }
}
