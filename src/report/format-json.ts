import type { Report } from '../model.ts';
import { jsonText } from '../util/safe.ts';
import type { Outcomes } from './formatter.ts';

/** The summary as one document, described by schemas/report.schema.json. */
export async function* formatJson(report: Report, _outcomes: Outcomes): AsyncGenerator<string> {
  yield `${jsonText(report, 2)}\n`;
}
