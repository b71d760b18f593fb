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
import { writeResult } from '../shared/output-sink.ts';
import { type Work, withProgress } from '../shared/progress.ts';
import { openColumns } from './columns.ts';
import type { REPORT_FLAGS } from './flags.ts';

export type PrintOptions = Omit<FlagsOf<typeof REPORT_FLAGS>, 'ledger' | 'metricsFile'>;

/** @throws HandbillError (exit status 2) for options that do not go together */
export function checkOptions(options: PrintOptions): void {
  const { format, withColumns, recipients, follow, full, causes, output } = options;
  const refuseUse = (message: string, hint: string): never => {
    throw refuse(problem('usage', message, { hint }));
  };
  const filter = filterFlag(options);
  if (filter !== undefined && !FORMATS[format].rows) {
    const hint = `Add --format ${listWithOr(PRINT_FORMATS.filter((name) => FORMATS[name].rows).toSorted())}.`;
    refuseUse(`${filter} chooses recipients, and --format ${format} shows none by themselves.`, hint);
  }
  if (withColumns && format !== 'csv' && format !== 'jsonl') {
    refuseUse(`--with-columns has no place in --format ${format}.`, 'Add --format csv or --format jsonl.');
  }
  if (options.for !== undefined && format !== 'csv') {
    refuseUse(`--for excel has no place in --format ${format}.`, 'Add --format csv.');
  }
  if (full && format !== 'html') {
    const hint = 'text, brief and json show no address, and jsonl and csv show all of them whole.';
    refuseUse(`--full has no place in --format ${format}.`, hint);
  }
  if (recipients !== undefined && !withColumns) {
    refuseUse('--recipients says where the columns are.', 'Add --with-columns.');
  }
  if (causes && format !== 'text') {
    const isRow = format === 'csv' || format === 'jsonl';
    const inRows = `Leave out --causes: each row of ${format} has its cause.`;
    const hint = isRow ? inRows : 'Add --format text; json has all causes by itself.';
    refuseUse(`--causes has no place in --format ${format}.`, hint);
  }
  if (follow && format !== 'text' && format !== 'jsonl') {
    refuseUse(`--follow has no place in --format ${format}.`, 'Take --format text or --format jsonl.');
  }
  if (follow && (output !== undefined || withColumns)) {
    refuseUse('--follow prints as things happen.', 'Leave out --output and --with-columns.');
  }
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
function workOf({ output, quiet }: PrintOptions): Work {
  return { label: 'Report', unit: 'rows', quiet: output === undefined || quiet === true, toFile: true };
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
