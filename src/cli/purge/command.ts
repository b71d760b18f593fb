import { type Command, InvalidArgumentError } from 'commander';
import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { ledgerOption } from '../../operations/project-ledger.ts';
import { purge, purgeExit } from '../../operations/purge-ledger.ts';
import { jsonText } from '../../util/safe.ts';
import { durationMs } from '../../util/units.ts';
import { askYes } from '../shared/ask.ts';
import { addExamples, addFormat, addLedger } from '../shared/options.ts';
import { addLog } from '../shared/telemetry-options.ts';
import { purgeQuestion, purgeText } from './print.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .requiredOption('--older-than <duration>', 'what was last touched longer ago: 90d, 12h, P13W', age)
    .option('--env <name>', 'only runs of this environment; suppressions are left alone')
    .option('--campaign <name>', 'only runs of this campaign; suppressions are left alone')
    .option('--with-open', 'runs too in which somebody is in doubt, failed, deferred or pending')
    .option('--dry-run', 'show what would be done; changes nothing')
    .option('--yes', 'do it without asking')
    .option('-q, --quiet', 'print nothing when all is well');
  addLog(addLedger(addFormat(command, ['text', 'json'])));
  addExamples(command, [
    ['handbill purge --older-than 90d --dry-run', 'what would leave'],
    ['handbill purge --older-than 90d --yes --quiet', 'every night, from cron'],
    ['handbill purge --older-than 12h --campaign one-time-codes', ''],
  ]);
  command.action((given: Given) => run(given, context));
}

interface Given {
  readonly olderThan: number;
  readonly env?: string;
  readonly campaign?: string;
  readonly withOpen?: true;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly quiet?: true;
  readonly format: 'text' | 'json';
  readonly ledger?: string;
}

function age(text: string): number {
  const ms = durationMs(text);
  if (ms !== null && ms > 0) return ms;
  throw new InvalidArgumentError('Give a duration such as 90d, 12h or P13W.');
}

async function run(given: Given, context: CommandContext): Promise<void> {
  const result = await purge({
    cwd: context.cwd,
    env: context.env,
    now: context.now,
    ...ledgerOption(given.ledger, context),
    olderThanMs: given.olderThan,
    ...(given.env === undefined ? {} : { environment: given.env }),
    ...(given.campaign === undefined ? {} : { campaign: given.campaign }),
    withOpen: given.withOpen === true,
    dryRun: given.dryRun === true,
    confirm: async (question) => {
      if (given.yes === true) return true;
      context.err(purgeQuestion(question, context.width));
      return await askYes('Type "yes" to purge', context);
    },
  });
  const exit = purgeExit(result);
  const { dryRun, purged, left } = result;
  context.telemetry?.note(
    'info',
    'purged',
    `Personal data of ${purged.length} runs ${dryRun ? 'would be' : 'was'} taken out.`,
    {
      dryRun,
      runs: purged.length,
      left: left.length,
    },
  );
  if (exit !== EXIT.done) context.exit(exit);
  if (given.quiet === true && exit === EXIT.done) return;
  await context.out(
    given.format === 'json' ? `${jsonText(result, 2)}\n` : purgeText(result, context.tableWidth ?? context.width),
  );
}
