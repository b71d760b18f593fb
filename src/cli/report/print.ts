import { problem, refuse } from '../../errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { RunRecord } from '../../ledger/records.ts';
import type { Outcome, Project, Report } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { FlagsOf } from '../../operations/options.ts';
import { filterFlag, openSummary, type RowFilter, rowsOf, type Summary } from '../../operations/report.ts';
import { FORMATS, formatReport, PRINT_FORMATS, type ReportFormat } from '../../report/formats.ts';
import { feedbackOf } from '../../send/deliveries.ts';
import { createYields, metered } from '../../util/long-work.ts';
import { listWithOr } from '../../util/words.ts';
import { complain } from '../shared/complain.ts';
import { type FormatsOf, idleOptions } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { withProgress } from '../shared/progress.ts';
import { openColumns } from './columns.ts';
import { REPORT_FLAGS } from './flags.ts';

export type PrintOptions = Omit<FlagsOf<typeof REPORT_FLAGS>, 'ledger' | 'metricsFile'>;

const ROWS = PRINT_FORMATS.filter((name) => FORMATS[name].rows).toSorted();

const FORMATS_OF: FormatsOf<typeof REPORT_FLAGS> = {
  withColumns: ['csv', 'jsonl'],
  for: ['csv'],
  full: ['html'],
  causes: ['text'],
  follow: ['text', 'jsonl'],
};

/** @throws HandbillError (exit status 2) for options that do not go together */
export function checkOptions(options: PrintOptions): void {
  const { format, withColumns, recipients, follow, output } = options;
  const wrong = [...idleOptions(options, REPORT_FLAGS, FORMATS_OF)];
  const filter = filterFlag(options);
  if (filter !== undefined && !FORMATS[format].rows) {
    const message = `${filter} chooses recipients, and --format ${format} shows none by themselves.`;
    wrong.push(problem('usage', message, { hint: `Add --format ${listWithOr(ROWS)}.` }));
  }
  if (recipients !== undefined && !withColumns) {
    wrong.push(problem('usage', '--recipients says where the columns are.', { hint: 'Add --with-columns.' }));
  }
  if (follow && (output !== undefined || withColumns)) {
    const hint = 'Leave out --output and --with-columns.';
    wrong.push(problem('usage', '--follow prints as things happen.', { hint }));
  }
  if (wrong.length > 0) throw refuse(...wrong);
}

export async function printReport(
  ledger: Ledger,
  run: RunRecord,
  options: PrintOptions,
  context: CommandContext,
  project: Project,
): Promise<void> {
  const { format, output } = options;
  const summary = await openSummary(ledger, run, context, project);
  if (format === 'html') {
    const { runPage } = await import('../../web/report/run-page.ts');
    return await withProgress(context, workOf(options), async (meter) => {
      meter.total = run.rows;
      // Nothing is written before the whole list was counted: without turns no timer would draw meanwhile.
      const page = { ...options, nowMs: context.now(), meter, turn: createYields() };
      await writeResult(runPage(ledger, run, page, summary), options, context);
    });
  }
  const columns = options.withColumns
    ? await openColumns(run, {
        campaign: summary.now,
        project,
        cwd: context.cwd,
        given: options.recipients ?? null,
      })
    : null;
  try {
    const { rows, report } = passOf(ledger, run, { ...options, format }, summary);
    const shown = {
      ...summary.options,
      colour: context.colour.out && output === undefined,
      causes: options.causes === true,
      ...(output === undefined ? {} : { width: Number.POSITIVE_INFINITY }),
      ...(columns === null ? {} : { columns }),
      ...(options.for === undefined ? {} : { excelLocale: project.locale ?? summary.now?.locale ?? 'en' }),
    };
    await withProgress(context, workOf(options), (meter) => {
      if (filterFlag(options) === undefined) meter.total = report.totals.recipients;
      return writeResult(formatReport(format, report, metered(rows, meter), shown), options, context);
    });
    const found = columns?.warning() ?? null;
    if (found !== null) complain(context, [found]);
  } finally {
    await columns?.close();
  }
}

/** Only where the report goes to a file: on the terminal it is seen to come. */
function workOf({ output, quiet }: PrintOptions) {
  return { label: 'Report', unit: 'rows', quiet: output === undefined || quiet, output } as const;
}

/** The rows and the summary that a format needs: never two joins of the same rows. */
function passOf(
  ledger: Ledger,
  run: RunRecord,
  { format, ...filter }: RowFilter & { readonly format: ReportFormat },
  { plain, reportOf, options: { referenceOf } }: Pick<Summary, 'plain' | 'reportOf' | 'options'>,
): { readonly rows: Iterable<readonly Outcome[]>; readonly report: Report } {
  if (!FORMATS[format].rows) {
    using _ = ledger.hold();
    return { rows: [], report: reportOf(feedbackOf(ledger, run)) };
  }
  return { rows: rowsOf(ledger, run, filter, { referenceOf }), report: plain() };
}
