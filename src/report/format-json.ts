import type { Report } from '../model.ts';
import { jsonText } from '../util/escape.ts';
import { type Outcomes, type ReportOptions, recordOf } from './record.ts';

/** The summary as one document, described by schemas/report.schema.json. */
export async function* formatJson(report: Report, _outcomes: Outcomes): AsyncGenerator<string> {
  yield `${jsonText(report, 2)}\n`;
}

/** The row of the list by the names of its columns; null where it could not be read. */
function objectOf(names: readonly string[], values: readonly string[] | null): Readonly<Record<string, string>> | null {
  return values === null ? null : Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
}

/** One JSON object per row of the list. */
export async function* formatJsonl(
  _report: Report,
  outcomes: Outcomes,
  options: ReportOptions,
): AsyncGenerator<string> {
  const { columns, referenceOf } = options;
  for await (const batch of outcomes) {
    const values = await columns?.valuesOf(batch);
    let lines = '';
    for (const [i, outcome] of batch.entries()) {
      const record = recordOf(outcome, referenceOf);
      const own = columns === undefined ? {} : { columns: objectOf(columns.names, values?.[i] ?? null) };
      lines += `${jsonText({ ...record, ...own })}\n`;
    }
    if (lines !== '') yield lines;
  }
}
