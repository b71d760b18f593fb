import { type Diagnostic, EXIT, HandbillError, problem } from '../../errors.ts';
import type { CallerKind } from '../../operations/schedule-callers.ts';
import { isPostgres } from '../../util/ledger-address.ts';

export type ScheduleFormat = 'text' | CallerKind;

/** For which formats an option is, where it is not for all. */
const FORMATS_OF: Readonly<Record<string, readonly ScheduleFormat[]>> = {
  at: ['text'],
  env: ['crontab', 'systemd', 'kubernetes', 'github-actions'],
  environmentFile: ['crontab', 'systemd'],
  image: ['kubernetes'],
  folder: ['kubernetes'],
  runner: ['github-actions'],
  output: ['crontab', 'systemd', 'kubernetes', 'github-actions'],
};

/**
 * Refuses what was asked for and would be ignored: whoever names a ledger or a file relies on it.
 *
 * @throws HandbillError exit 2 with all of it
 */
export function refuseIdle(
  format: ScheduleFormat,
  flags: Readonly<Record<string, unknown>> & { readonly ledger?: string },
): void {
  const idle = Object.entries(FORMATS_OF).flatMap(([flag, formats]): Diagnostic[] =>
    flags[flag] === undefined || formats.includes(format) ? [] : [idleProblem(flag, format, formats)],
  );
  if (format === 'kubernetes' && flags.ledger !== undefined && !isPostgres(flags.ledger)) {
    const hint = 'Leave it out: the ledger of a CronJob lies on its volume, where nothing else is.';
    idle.push(problem('usage', '--ledger says nothing to kubernetes.', { hint }));
  }
  if (idle.length > 0) throw new HandbillError(EXIT.refused, idle);
}

function idleProblem(flag: string, format: ScheduleFormat, formats: readonly ScheduleFormat[]): Diagnostic {
  const option = `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const hint = `It is for --format ${formats.join(', ')}.`;
  return problem('usage', `${option} says nothing to ${format}.`, { hint });
}
