import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, type ExitStatus, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { type DueItem, type DueOptions, due } from '../../operations/due.ts';
import { ledgerPrinter } from '../../operations/ledger-text.ts';
import type { Telemetry } from '../../operations/observer.ts';
import { ledgerOption } from '../../operations/project-ledger.ts';
import { placeOfLedger } from '../../util/ledger-address.ts';
import { safeLine } from '../../util/safe.ts';
import { instantMs } from '../../util/units.ts';
import { confirm } from '../shared/confirm.ts';
import { addExamples, addFormat, addLedger } from '../shared/options.ts';
import { startProgressLine } from '../shared/progress-line.ts';
import { watchSignals } from '../shared/signals.ts';
import { addLog, addMetricsFile } from '../shared/telemetry-options.ts';
import { printItem, printLast, printResult } from './print.ts';

interface DueFlags {
  readonly env: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly at?: number;
  readonly ifLocked: 'fail' | 'skip';
  readonly ledger?: string;
  readonly format: 'text' | 'json';
  readonly workers?: boolean;
  readonly quiet?: boolean;
}

/** `handbill due [PATH...]`. */
export function configure(command: Command, context: CommandContext): void {
  command
    .argument(
      '[path...]',
      'campaign files, folders or names (default: every campaigns/**/campaign.yaml below this folder)',
    )
    .option('--env <name>', 'environment of handbill.yaml', 'sandbox')
    .option('--yes', 'send without asking')
    .option('--dry-run', 'say what would be sent, and send nothing')
    .option('--at <instant>', 'with --dry-run: as if it were then, for example 2026-12-01T09:00:00Z', instant)
    .addOption(
      new Option('--if-locked <what>', 'when another process holds a run: leave it to that one, or exit 6')
        .choices(['skip', 'fail'])
        .default('skip', 'skip'),
    )
    .option('--workers', 'share the runs with every `handbill worker` of a shared ledger')
    .option('--quiet', 'print nothing when all is well');
  addFormat(addLedger(command), ['text', 'json']);
  addMetricsFile(addLog(command));
  addExamples(command, [
    ['handbill due --env production --yes --quiet', 'for cron, every few minutes; `handbill schedule` prints the line'],
    ['handbill due --dry-run', 'what would be sent now'],
    ['handbill due --dry-run --at 2026-12-01T09:00:00Z', 'and then'],
  ]).action(async (paths: readonly string[], flags: DueFlags) => {
    context.exit(await run(paths, flags, context));
  });
}

async function run(paths: readonly string[], flags: DueFlags, context: CommandContext): Promise<ExitStatus> {
  if (flags.at !== undefined && flags.dryRun !== true) {
    const hint = 'Add --dry-run. What is sent is sent now.';
    throw refuse(problem('usage', '--at is only for --dry-run.', { hint }));
  }
  const quiet = flags.quiet === true;
  const signals = watchSignals(context.err);
  const line = startProgressLine(context, quiet);
  const printing = { ...context, quiet, format: flags.format, environment: flags.env, dryRun: flags.dryRun === true };
  const { telemetry } = context;
  telemetry?.metrics?.overall(flags.env);
  try {
    const result = await due(paths, {
      cwd: context.cwd,
      env: context.env,
      now: context.now,
      environment: flags.env,
      dryRun: flags.dryRun === true,
      ...(flags.at === undefined ? {} : { at: flags.at }),
      ifLocked: flags.ifLocked,
      workers: flags.workers === true,
      ...ledgerOption(flags.ledger, context),
      confirm: async (question) => {
        if (flags.yes === true) return true;
        line.stop();
        return await confirm(question, context, signals.first);
      },
      interrupt: signals.first,
      abort: signals.second,
      onStart: line.start,
      onLedger: ledgerPrinter(context, line, quiet),
      onItem: async (item) => {
        line.stop();
        await printItem(item, printing);
        if (telemetry !== undefined) tell(item, flags.env, telemetry);
      },
      ...(telemetry === undefined ? {} : watching(telemetry, flags.env)),
    });
    if (flags.format === 'json') await printResult(result, printing);
    printLast(result, printing);
    const ledgers = new Set(result.items.flatMap(({ result: sent }) => (sent === null ? [] : [sent.report.ledger])));
    if (!quiet) for (const ledger of ledgers) context.err(`Ledger: ${safeLine(placeOfLedger(ledger, context.cwd))}\n`);
    if (result.exit === EXIT.bug || result.exit === EXIT.ledger) return result.exit;
    return signals.status() ?? result.exit;
  } finally {
    line.stop();
    signals.stop();
  }
}

function watching(telemetry: Telemetry, environment: string): Pick<DueOptions, 'onCampaign' | 'watchSend'> {
  return {
    onCampaign: (campaign) => telemetry.metrics?.looked(campaign, environment),
    watchSend: (target) => telemetry.sending(target, environment),
  };
}

/** What became of one campaign, for the log and the metrics file. */
function tell(item: DueItem, environment: string, telemetry: Telemetry): void {
  const { campaign, file, occurrence, action, why, next, exit, result, diagnostics } = item;
  const about = { campaign, environment, occurrence, run: result?.report.run ?? null };
  const said = `${campaign ?? file}: ${action}.`;
  telemetry.note(
    exit === EXIT.done ? 'info' : 'warn',
    'campaign-due',
    said,
    { action, why, next, exitStatus: exit },
    about,
  );
  telemetry.said(diagnostics, about);
  if (action !== 'none' && action !== 'leave') telemetry.metrics?.ended(item, environment, exit);
}

function instant(text: string): number {
  const ms = instantMs(text);
  if (ms === null) throw new InvalidArgumentError('Write an instant with its offset, such as 2026-12-01T09:00:00Z.');
  return ms;
}
