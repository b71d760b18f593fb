import { setImmediate as afterOthers } from 'node:timers/promises';
import type { Report } from '../model.ts';
import type { Formatter, Outcomes, ReportOptions } from './record.ts';

/**
 * The values of `report --format`. A new format is a file and an entry here. `rows`: with a record for each recipient.
 * `load` is absent for the page, which src/web/report makes.
 */
export const FORMATS = {
  text: { rows: false, load: async () => (await import('./format-text.ts')).formatText },
  brief: { rows: false, load: async () => (await import('./format-brief.ts')).formatBrief },
  json: { rows: false, load: async () => (await import('./format-json.ts')).formatJson },
  jsonl: { rows: true, load: async () => (await import('./format-json.ts')).formatJsonl },
  csv: { rows: true, load: async () => (await import('./format-csv.ts')).formatCsv },
  html: { rows: true },
} as const satisfies Readonly<Record<string, { readonly rows: boolean; readonly load?: () => Promise<Formatter> }>>;

type PrintFormat = keyof typeof FORMATS;
export type ReportFormat = Exclude<PrintFormat, 'html'>;

export const PRINT_FORMATS = Object.keys(FORMATS) as [PrintFormat, ...PrintFormat[]];

/**
 * A report as text, in pieces, so that a million recipients are never in memory. Reads `outcomes` only for formats with
 * `rows`. `json`, `jsonl` and `csv` have exact values; the others are for people.
 */
export async function* formatReport(format: ReportFormat, report: Report, outcomes: Outcomes, options: ReportOptions) {
  const write = await FORMATS[format].load();
  async function* withPauses(): Outcomes {
    for await (const batch of outcomes) {
      yield batch;
      // Other work of this process runs between two batches, such as the timer that bounds memory (cli/shared/memory.ts).
      await afterOthers();
    }
  }
  yield* write(report, withPauses(), options);
}
