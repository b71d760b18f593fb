import type { Report } from '../model.ts';
import type { Outcomes, ReportOptions } from './formatter.ts';
import { jsonText } from './json-text.ts';
import { recordOf } from './record.ts';

/** One JSON object per row of the list. */
export async function* formatJsonl(
  _report: Report,
  outcomes: Outcomes,
  options: ReportOptions,
): AsyncGenerator<string> {
  for await (const batch of outcomes) {
    let lines = '';
    for (const outcome of batch) lines += `${jsonText(recordOf(outcome, options.referenceOf))}\n`;
    if (lines !== '') yield lines;
  }
}
