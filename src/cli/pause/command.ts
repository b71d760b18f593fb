import type { CommandContext } from '../../operations/context.ts';
import { userHere } from '../../operations/doubt.ts';
import { LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { PAUSE, pauseSending, RESUME, resumeSending } from '../../operations/pause.ts';
import { sayLedger } from '../../operations/project.ts';
import { pausedScope, pauseText, resumeCommand } from '../../report/pause-words.ts';
import { safeLine } from '../../util/escape.ts';
import { envWords, nextCommand } from '../../util/next-command.ts';
import type { Flags } from '../shared/options.ts';

const BOTH = { by: OPTIONS.by, quiet: OPTIONS.quiet, ledger: OPTIONS.ledger, ...LOGGING } as const;
export const FLAGS = { ...PAUSE, ...BOTH } as const satisfies OptionTable;
const RESUME_FLAGS = { ...RESUME, ...BOTH } as const satisfies OptionTable;

export const RESUME_COMMAND = { FLAGS: RESUME_FLAGS, run: resume };

export async function run(context: CommandContext, flags: Flags<typeof FLAGS>): Promise<void> {
  const { pause: made, isNew } = await pauseSending({
    ...flags,
    by: flags.by ?? userHere(),
  });
  const about = { environment: made.environment, campaign: made.campaign };
  const fields = { reason: made.reason, by: made.who, isNew };
  context.telemetry?.note('info', 'paused', `${pausedScope(made)} is paused.`, fields, about);
  if (flags.quiet === true) return;
  const said = isNew
    ? `${pausedScope(made)} is paused. Running sends halt within a second, and nothing is sent until:`
    : `Nothing changed: ${pauseText(made)}\nIt goes on until:`;
  await context.out(`${said.split('\n').map(safeLine).join('\n')}\n  ${safeLine(resumeCommand(made))}\n`);
  await sayLedger(context, flags.ledger);
}

async function resume(context: CommandContext, flags: Flags<typeof RESUME_FLAGS>): Promise<void> {
  const { environment, campaign = null, by = userHere() } = flags;
  const { ended, remaining } = await resumeSending({ ...flags, by });
  const about = {
    environment: ended?.environment ?? environment,
    campaign: ended === null ? campaign : ended.campaign,
  };
  context.telemetry?.note('info', 'resumed', `${pausedScope(about)} is resumed.`, { by, isNew: ended !== null }, about);
  if (flags.quiet === true) return;
  const scope = pausedScope({ environment, campaign });
  const first =
    ended === null
      ? `Nothing changed: ${scope} was not paused.`
      : `${pausedScope(ended)} is resumed. Nothing was sent by that: continue with \`${nextCommand('send', ended.campaign ?? 'CAMPAIGN', ...envWords(ended.environment))}\`, or leave it to \`${nextCommand('due', ...envWords(ended.environment))}\`.`;
  const lines = [first, ...remaining.map((pause) => `Still paused: ${pauseText(pause)}`)];
  await context.out(lines.map((line) => `${safeLine(line)}\n`).join(''));
  await sayLedger(context, flags.ledger);
}
