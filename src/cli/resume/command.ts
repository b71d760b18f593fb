import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { userHere } from '../../operations/doubt.ts';
import { type FlagsOf, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { RESUME, resumeSending } from '../../operations/pause.ts';
import { optionsHere, sayLedger } from '../../operations/project.ts';
import { pausedScope, pauseText } from '../../report/pause-words.ts';
import { safeLine } from '../../util/escape.ts';
import { addExamples, addOptions } from '../shared/options.ts';

const FLAGS = {
  ...RESUME,
  by: { flag: '--by <name>', says: 'who resumes it (default: user@host)' },
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
  ...LOGGING,
} as const satisfies OptionTable;

export function configure(command: Command, context: CommandContext): void {
  addExamples(addOptions(command, FLAGS, context), [
    ['handbill resume --env production', '`send` and `due` work again'],
    ['handbill resume --env production --campaign spring-sale', ''],
  ]).action((flags: FlagsOf<typeof FLAGS>) => run(flags, context));
}

async function run(flags: FlagsOf<typeof FLAGS>, context: CommandContext): Promise<void> {
  const { campaign } = flags;
  const { ended, remaining } = await resumeSending({
    ...flags,
    ...optionsHere(context, flags.ledger),
    by: flags.by ?? userHere(),
  });
  const meant = ended ?? { environment: flags.environment, campaign: campaign ?? null };
  const about = { environment: meant.environment, campaign: meant.campaign };
  const fields = { by: flags.by ?? userHere(), isNew: ended !== null };
  context.telemetry?.note('info', 'resumed', `${pausedScope(meant)} is resumed.`, fields, about);
  if (flags.quiet === true) return;
  const scope = pausedScope({ environment: flags.environment, campaign: campaign ?? null });
  const first =
    ended === null
      ? `Nothing changed: ${scope} was not paused.`
      : `${pausedScope(ended)} is resumed. Nothing was sent by that: continue with \`handbill send\`, or leave it to \`handbill due\`.`;
  const lines = [first, ...remaining.map((pause) => `Still paused: ${pauseText(pause)}`)];
  await context.out(lines.map((line) => `${safeLine(line)}\n`).join(''));
  await sayLedger(context, flags.ledger);
}
