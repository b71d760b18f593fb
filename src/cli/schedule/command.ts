import { join } from 'node:path';
import type { Command } from 'commander';
import { type Diagnostic, EXIT, type ExitStatus, HandbillError, problem } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { optionsHere } from '../../operations/project.ts';
import {
  CALLERS,
  type CallerKind,
  NOTHING_SCHEDULED,
  type ScheduledCampaign,
  schedule,
  scheduleCallers,
} from '../../operations/schedule.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { safeLine } from '../../util/escape.ts';
import { given } from '../../util/given.ts';
import { isPostgres } from '../../util/ledger-address.ts';
import { table } from '../../util/table.ts';
import { addExamples, addFormat, addLedger, instant, onlyEnvironmentOption, wholeNumber } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';

interface ScheduleFlags {
  readonly format: ScheduleFormat;
  readonly next: number;
  readonly at?: number;
  readonly env?: string;
  readonly ledger?: string;
  readonly environmentFile?: string;
  readonly image?: string;
  readonly folder?: string;
  readonly runner?: string;
  readonly output?: string;
  readonly quiet?: true;
}

export function configure(command: Command, context: CommandContext): void {
  command
    .argument(
      '[path...]',
      'campaign files, folders or names (default: every campaigns/**/campaign.yaml below this folder)',
    )
    .option('--next <n>', 'text: how many occurrences of each campaign', wholeNumber(1, 1000), 5)
    .option('--at <instant>', 'text: from then on, for example 2026-12-01T09:00:00Z or +14d', instant(context))
    .addOption(onlyEnvironmentOption(context, 'environment to send to'))
    // Not `--env-file`: node would take that for its own, and fail where the file is not on this machine.
    .option('--environment-file <file>', 'crontab, systemd: file of lines NAME=value with the key')
    .option('--image <image>', 'kubernetes: container image with the project and handbill')
    .option('--folder <folder>', 'kubernetes: folder of the project in the image (default: /campaigns)')
    .option('--runner <label>', 'github-actions: a runner of your own, which keeps its disk')
    .option('-o, --output <folder>', 'write the files into this folder')
    .option('-q, --quiet', 'print nothing about files that were written');
  addFormat(addLedger(command), ['text', ...CALLERS]);
  addExamples(command, [
    ['handbill schedule', 'when each campaign goes out next'],
    ['handbill schedule --format crontab', 'a line for `crontab -e`'],
    ['handbill schedule --format systemd --environment-file /etc/handbill.env -o .', 'a service and its timer'],
    ['handbill schedule --format kubernetes --image IMAGE', 'a CronJob, and the volume of its ledger'],
    ['handbill schedule --format github-actions --runner LABEL --ledger /var/lib/handbill/ledger.db', ''],
  ]).action(async (paths: readonly string[], flags: ScheduleFlags) => {
    const { format } = flags;
    refuseIdle(format, { ...flags });
    context.exit(
      await (format === 'text' ? showTimes(paths, flags, context) : printCallers(format, paths, flags, context)),
    );
  });
}

async function showTimes(paths: readonly string[], flags: ScheduleFlags, context: CommandContext): Promise<ExitStatus> {
  const { campaigns, followUps, refused, missed } = await schedule(paths, {
    cwd: context.cwd,
    now: context.now,
    next: flags.next,
    ...(flags.at === undefined ? {} : { at: flags.at }),
  });
  for (const [i, campaign] of campaigns.entries()) {
    await context.out(`${i === 0 ? '' : '\n'}${timesText(campaign, context.tableWidth ?? context.width)}`);
  }
  for (const { campaign, after, wait } of followUps)
    await context.out(`${safeLine(`${campaign}  ${wait} after ${after}`)}\n`);
  for (const { campaign, environment, occurrence } of missed.filter(
    (one) => (flags.env ?? one.environment) === one.environment,
  ))
    await context.out(`${safeLine(`${campaign}  missed in ${environment}: ${occurrence}`)}\n`);
  const problems = refused.flatMap(({ diagnostics }) => diagnostics);
  if (problems.length > 0) context.err(formatDiagnostics(problems, { colour: context.colour.err, limit: 20 }));
  else if (campaigns.length + followUps.length === 0) context.err(`${NOTHING_SCHEDULED}\n`);
  return problems.length > 0 ? EXIT.refused : EXIT.done;
}

function timesText({ campaign, cron, at, timeZone, missed, next }: ScheduledCampaign, width: number): string {
  const title = safeLine(`${campaign}  ${at ?? cron}  ${timeZone}, ${missed}`);
  const rows = next.map(({ local, occurrence }) => [local, occurrence]);
  return `${title}\n${rows.length === 0 ? '  Not any more.\n' : table(rows, [{}, {}], { width, indent: 2 })}`;
}

async function printCallers(
  kind: CallerKind,
  paths: readonly string[],
  flags: ScheduleFlags,
  context: CommandContext,
): Promise<ExitStatus> {
  const { env, environmentFile: envFile, output } = flags;
  const files = await scheduleCallers(kind, paths, {
    ...optionsHere(context, flags.ledger),
    ...(env === undefined ? {} : { environment: env }),
    ...(envFile === undefined ? {} : { envFile }),
    ...given(flags, 'image', 'folder', 'runner'),
  });
  if (output !== undefined) {
    for (const { name, text } of files) {
      await writeResult([text], { output: join(output, name), quiet: flags.quiet }, context);
    }
    return EXIT.done;
  }
  // Several files on one screen are separated by their names, in a comment of all these formats.
  const shown = files.map(({ name, text }) => (files.length === 1 ? text : `# ${name}\n${text}`));
  await context.out(shown.join('\n'));
  return EXIT.done;
}

type ScheduleFormat = 'text' | CallerKind;

/** For which formats an option is, where it is not for all. */
const FORMATS_OF: Readonly<Record<string, readonly ScheduleFormat[]>> = {
  at: ['text'],
  environmentFile: ['crontab', 'systemd'],
  image: ['kubernetes'],
  folder: ['kubernetes'],
  runner: ['github-actions'],
  output: ['crontab', 'systemd', 'kubernetes', 'github-actions'],
};

/**
 * Refuses options that would be ignored: a user who names a ledger or a file relies on it.
 *
 * @throws HandbillError exit 2 with all of them
 */
function refuseIdle(
  format: ScheduleFormat,
  flags: Readonly<Record<string, unknown>> & { readonly ledger?: string },
): void {
  const idle = Object.entries(FORMATS_OF).flatMap(([flag, formats]): Diagnostic[] =>
    flags[flag] === undefined || formats.includes(format) ? [] : [idleProblem(flag, format, formats)],
  );
  if (format === 'kubernetes' && flags.ledger !== undefined && !isPostgres(flags.ledger)) {
    const hint = 'Leave it out: the ledger of a CronJob lies on its volume, where nothing else is.';
    idle.push(problem('usage', '--ledger is not for --format kubernetes.', { hint }));
  }
  if (idle.length > 0) throw new HandbillError(EXIT.refused, idle);
}

function idleProblem(flag: string, format: ScheduleFormat, formats: readonly ScheduleFormat[]): Diagnostic {
  const option = `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const hint = `It is for --format ${formats.join(', ')}.`;
  return problem('usage', `${option} is not for --format ${format}.`, { hint });
}
