import type { Report } from '../model.ts';
import { csvCell } from '../util/csv-cell.ts';
import type { Outcomes, ReportOptions } from './formatter.ts';
import { CSV_FIELDS, cellsOf } from './record.ts';

/** A header and one record per row of the list, lines ended by LF; safe to open in a spreadsheet. */
export async function* formatCsv(_report: Report, outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  yield `${CSV_FIELDS.map(csvCell).join(',')}\n`;
  for await (const batch of outcomes) {
    let lines = '';
    for (const outcome of batch) lines += `${cellsOf(outcome, options.referenceOf).map(csvCell).join(',')}\n`;
    if (lines !== '') yield lines;
  }
}
