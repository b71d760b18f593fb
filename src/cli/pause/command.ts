import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { userHere } from '../../operations/doubt.ts';
import { type FlagsOf, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { PAUSE, pauseSending } from '../../operations/pause.ts';
import { optionsHere, sayLedger } from '../../operations/project.ts';
import { pausedScope, pauseText, resumeCommand } from '../../report/pause-words.ts';
import { safeLine } from '../../util/escape.ts';
import { addExamples, addOptions } from '../shared/options.ts';

const FLAGS = {
  ...PAUSE,
  by: { flag: '--by <name>', says: 'who pauses it (default: user@host)' },
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
  ...LOGGING,
} as const satisfies OptionTable;

export function configure(command: Command, context: CommandContext): void {
  addExamples(addOptions(command, FLAGS, context), [
    ['handbill pause --env production --reason "wrong prices"', 'every send halts within a second'],
    ['handbill pause --env production --campaign spring-sale --reason "wrong prices"', 'only this one'],
  ]).action((flags: FlagsOf<typeof FLAGS>) => run(flags, context));
}

async function run(flags: FlagsOf<typeof FLAGS>, context: CommandContext): Promise<void> {
  const { pause, isNew } = await pauseSending({
    ...flags,
    ...optionsHere(context, flags.ledger),
    by: flags.by ?? userHere(),
  });
  const about = { environment: pause.environment, campaign: pause.campaign };
  const fields = { reason: pause.reason, by: pause.who, isNew };
  context.telemetry?.note('info', 'paused', `${pausedScope(pause)} is paused.`, fields, about);
  if (flags.quiet === true) return;
  const said = isNew
    ? `${pausedScope(pause)} is paused. Running sends halt within a second, and nothing is sent until:`
    : `Nothing changed: ${pauseText(pause)}\nIt goes on until:`;
  await context.out(`${said.split('\n').map(safeLine).join('\n')}\n  ${safeLine(resumeCommand(pause))}\n`);
  await sayLedger(context, flags.ledger);
}
