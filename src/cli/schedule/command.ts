import { join } from 'node:path';
import { EXIT, type ExitStatus, HandbillError, problem } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, OPTIONS, type OptionTable } from '../../operations/options.ts';
import {
  CALLER,
  CALLERS,
  type CallerKind,
  NOTHING_SCHEDULED,
  SCHEDULE,
  type ScheduledCampaign,
  schedule,
  scheduleCallers,
} from '../../operations/schedule.ts';
import { pauseText } from '../../report/pause-words.ts';
import { scheduleWords } from '../../schedule/words.ts';
import { safeLine } from '../../util/escape.ts';
import { isPostgres } from '../../util/ledger-address.ts';
import { table } from '../../util/table.ts';
import { complain } from '../shared/complain.ts';
import { type Flags, type FormatsOf, idleOptions } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';

export const FLAGS = {
  ...SCHEDULE,
  ...CALLER,
  output: { flag: '-o, --output <folder>', says: 'write the files into this folder' },
  quiet: { flag: '-q, --quiet', says: 'print nothing about files that were written' },
  ledger: OPTIONS.ledger,
  format: formatOption(['text', ...CALLERS]),
} as const satisfies OptionTable;

type ScheduleFlags = Flags<typeof FLAGS>;

export async function run(context: CommandContext, flags: ScheduleFlags, paths: readonly string[]): Promise<void> {
  const { format } = flags;
  refuseIdle(flags);
  context.exit(
    await (format === 'text' ? showTimes(paths, flags, context) : printCallers(format, paths, flags, context)),
  );
}

async function showTimes(paths: readonly string[], flags: ScheduleFlags, context: CommandContext): Promise<ExitStatus> {
  const { campaigns, followUps, refused, missed, pauses } = await schedule(paths, {
    ...flags,
  });
  for (const pause of pauses) await context.out(`${safeLine(pauseText(pause))}\n`);
  for (const [i, campaign] of campaigns.entries()) {
    await context.out(
      `${i === 0 ? '' : '\n'}${timesText(campaign, flags.at ?? context.now(), context.tableWidth ?? context.width)}`,
    );
  }
  for (const { campaign, after, wait } of followUps)
    await context.out(`${safeLine(`${campaign}  ${wait} after ${after}`)}\n`);
  for (const { campaign, environment, occurrence } of missed) {
    if ((flags.environment ?? environment) !== environment) continue;
    await context.out(`${safeLine(`${campaign}  missed in ${environment}: ${occurrence}`)}\n`);
  }
  const problems = refused.flatMap(({ diagnostics }) => diagnostics);
  complain(context, problems, { limit: 20 });
  if (problems.length + campaigns.length + followUps.length === 0) context.err(`${NOTHING_SCHEDULED}\n`);
  return problems.length > 0 ? EXIT.refused : EXIT.done;
}

function timesText(scheduled: ScheduledCampaign, nowMs: number, width: number): string {
  const { campaign, timeZone, missed, next } = scheduled;
  const title = safeLine(`${campaign}  ${scheduleWords(scheduled)}  ${timeZone}, ${missed}`);
  const rows = next.map(({ local, occurrence }, i) => [
    local,
    occurrence,
    i === 0 ? fromNow(Date.parse(occurrence) - nowMs) : '',
  ]);
  return `${title}\n${rows.length === 0 ? '  Not any more.\n' : table(rows, [{}, {}, {}], { width, indent: 2 })}`;
}

/** `in 25 min`, `in 20 h`, `in 3 days` */
function fromNow(ms: number): string {
  if (Number.isNaN(ms) || ms < 0) return '';
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `in ${minutes} min`;
  return minutes < 48 * 60 ? `in ${Math.round(minutes / 60)} h` : `in ${Math.round(minutes / 1440)} days`;
}

async function printCallers(kind: CallerKind, paths: readonly string[], flags: ScheduleFlags, context: CommandContext) {
  const { output } = flags;
  const files = await scheduleCallers(kind, paths, flags);
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

const FORMATS_OF: FormatsOf<typeof FLAGS> = {
  at: ['text'],
  envFile: ['crontab', 'systemd'],
  image: ['kubernetes'],
  folder: ['kubernetes'],
  runner: ['github-actions'],
  output: ['crontab', 'systemd', 'kubernetes', 'github-actions'],
};

/** Throws exit 2 with all options that would be ignored. */
function refuseIdle(flags: ScheduleFlags): void {
  const { format } = flags;
  const idle = [...idleOptions(flags, FLAGS, FORMATS_OF)];
  if (format === 'kubernetes' && flags.ledger !== undefined && !isPostgres(flags.ledger)) {
    const hint = 'Leave it out: the ledger of a CronJob lies on its volume, where nothing else is.';
    idle.push(problem('usage', '--ledger is not for --format kubernetes.', { hint }));
  }
  if (idle.length > 0) throw new HandbillError(EXIT.refused, idle);
}
