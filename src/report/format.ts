import type { Outcome, Report } from '../model.ts';
import { formatBrief } from './format-brief.ts';
import { formatCsv } from './format-csv.ts';
import { formatJson, formatJsonl } from './format-json.ts';
import { formatText } from './format-text.ts';
import type { Formatter, ReportOptions } from './record.ts';

export const REPORT_FORMATS = ['text', 'brief', 'json', 'jsonl', 'csv'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** A new format is a file and a line here. */
const FORMATTERS: Readonly<Record<ReportFormat, Formatter>> = {
  text: formatText,
  brief: formatBrief,
  json: formatJson,
  jsonl: formatJsonl,
  csv: formatCsv,
};

/**
 * A report as text, in pieces, so that a million recipients are never in memory. `text`, `brief` and `json` are the summary
 * and leave `outcomes` unread; `jsonl` and `csv` have one record per row. `json`, `jsonl` and `csv` hold what they are
 * given; the others are for eyes. The page is not among them: see src/web/report/report.ts.
 */
export function formatReport(
  format: ReportFormat,
  report: Report,
  outcomes: AsyncIterable<readonly Outcome[]> | Iterable<readonly Outcome[]>,
  options: ReportOptions,
): AsyncGenerator<string> {
  return FORMATTERS[format](report, outcomes, options);
}
