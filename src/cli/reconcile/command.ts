import type { Command } from 'commander';
import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { ledgerOption, sayLedger } from '../../operations/project-ledger.ts';
import { type ReconcileResult, reconcile } from '../../operations/reconcile.ts';
import { diagnosticRecord } from '../../util/diagnostic-record.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { jsonText } from '../../util/safe.ts';
import { addExamples, addFormat, addLedger } from '../shared/options.ts';
import { withProgress } from '../shared/progress.ts';
import { addLog } from '../shared/telemetry-options.ts';
import { reconcileText } from './print.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .argument('<files...>', 'exported reports as JSON, JSON lines or CSV; - for standard input')
    .option('--env <name>', 'environment that the reports are of (default: the only one of handbill.yaml)')
    .option('--dry-run', 'show what would be done, on a copy of the ledger; changes nothing')
    .option('-q, --quiet', 'print nothing when all is well');
  addLog(addLedger(addFormat(command, ['text', 'json'])));
  addExamples(command, [
    ['handbill reconcile reports.csv', 'columns such as messageId,status,timestamp,error'],
    ['handbill reconcile replies.csv', 'columns such as from,to,text,timestamp'],
    ['handbill reconcile --env production reports.csv', 'where there are several environments'],
    ['handbill reconcile --dry-run events-*.jsonl', 'what would be new'],
    ['curl -s https://provider.example/export | handbill reconcile -', ''],
  ]);
  command.action((files: readonly string[], given: Given) => run(files, given, context));
}

interface Given {
  readonly env?: string;
  readonly dryRun?: true;
  readonly quiet?: true;
  readonly format: 'text' | 'json';
  readonly ledger?: string;
}

async function run(files: readonly string[], given: Given, context: CommandContext): Promise<void> {
  const { cwd, env, now } = context;
  const environment = given.env === undefined ? {} : { environment: given.env };
  const options = {
    cwd,
    env,
    now,
    ...ledgerOption(given.ledger, context),
    ...environment,
    dryRun: given.dryRun === true,
  };
  const work = { label: 'Reading', unit: 'bytes', quiet: given.quiet === true } as const;
  const result = await withProgress(context, work, (meter) => reconcile(files, { ...options, meter }));
  tell(result, context);
  const isWrong = result.diagnostics.some(({ severity }) => severity === 'error');
  if (isWrong) context.exit(EXIT.refused);
  const isQuiet = given.quiet === true && !isWrong;
  if (given.format === 'text' && result.diagnostics.length > 0 && !isQuiet) {
    context.err(formatDiagnostics(result.diagnostics, { colour: context.colour.err }));
  }
  if (isQuiet) return;
  await context.out(given.format === 'json' ? jsonOf(result) : reconcileText(result));
  if (given.dryRun !== true) await sayLedger(context, given.ledger);
}

function tell(
  { dryRun, doubtsSettled, suppressed, lifted, files, diagnostics }: ReconcileResult,
  context: CommandContext,
): void {
  const { telemetry } = context;
  if (telemetry === undefined) return;
  const sum = (name: 'reports' | 'replies' | 'unread' | 'known'): number =>
    files.reduce((total, file) => total + file[name], 0);
  const counts = { reports: sum('reports'), replies: sum('replies'), unread: sum('unread'), known: sum('known') };
  const fields = { ...counts, suppressed: suppressed.length, lifted: lifted.length, dryRun, doubtsSettled };
  telemetry.note('info', 'reconciled', `${files.length} files were read.`, fields);
  telemetry.said(diagnostics);
}

function jsonOf(result: ReconcileResult): string {
  const diagnostics = result.diagnostics.map(diagnosticRecord);
  return `${jsonText({ ...result, diagnostics }, 2)}\n`;
}
