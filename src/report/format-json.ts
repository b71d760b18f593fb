import type { Report } from '../model.ts';
import { jsonText } from '../util/escape.ts';
import { type Outcomes, type ReportOptions, recordOf } from './record.ts';

/** Described by schemas/report.schema.json. */
export async function* formatJson(report: Report, _outcomes: Outcomes): AsyncGenerator<string> {
  yield `${jsonText(report, 2)}\n`;
}

export async function* formatJsonl(_report: Report, outcomes: Outcomes, options: ReportOptions) {
  const { columns, referenceOf } = options;
  for await (const batch of outcomes) {
    const values = await columns?.valuesOf(batch);
    let lines = '';
    for (const [i, outcome] of batch.entries()) {
      const record = recordOf(outcome, referenceOf);
      // Null: the row of the list could not be read.
      const cells = values?.[i] ?? null;
      const named = cells && Object.fromEntries(columns?.names.map((name, at) => [name, cells[at] ?? '']) ?? []);
      const own = columns === undefined ? {} : { columns: named };
      lines += `${jsonText({ ...record, ...own })}\n`;
    }
    if (lines !== '') yield lines;
  }
}
