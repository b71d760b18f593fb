import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { userHere } from '../../operations/doubt.ts';
import { resumeSending } from '../../operations/pause.ts';
import { optionsHere, sayLedger } from '../../operations/project.ts';
import { pausedScope, pauseText } from '../../report/pause-words.ts';
import { safeLine } from '../../util/escape.ts';
import { addExamples, addLedger, addLog } from '../shared/options.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .requiredOption('--env <name>', 'environment that was paused')
    .option('--campaign <name>', 'the campaign that was paused (default: the environment as a whole)')
    .option('--by <name>', 'who resumes it (default: user@host)')
    .option('-q, --quiet', 'print nothing when all is well');
  addExamples(addLog(addLedger(command)), [
    ['handbill resume --env production', '`send` and `due` work again'],
    ['handbill resume --env production --campaign spring-sale', ''],
  ]).action((given: Given) => run(given, context));
}

interface Given {
  readonly env: string;
  readonly campaign?: string;
  readonly by?: string;
  readonly ledger?: string;
  readonly quiet?: true;
}

async function run(given: Given, context: CommandContext): Promise<void> {
  const { campaign } = given;
  const { ended, remaining } = await resumeSending({
    ...optionsHere(context, given.ledger),
    environment: given.env,
    ...(campaign === undefined ? {} : { campaign }),
    by: given.by ?? userHere(),
  });
  const meant = ended ?? { environment: given.env, campaign: campaign ?? null };
  const about = { environment: meant.environment, campaign: meant.campaign };
  const fields = { by: given.by ?? userHere(), isNew: ended !== null };
  context.telemetry?.note('info', 'resumed', `${pausedScope(meant)} is resumed.`, fields, about);
  if (given.quiet === true) return;
  const scope = pausedScope({ environment: given.env, campaign: campaign ?? null });
  const first =
    ended === null
      ? `Nothing changed: ${scope} was not paused.`
      : `${pausedScope(ended)} is resumed. Nothing was sent by that: continue with \`handbill send\`, or leave it to \`handbill due\`.`;
  const lines = [first, ...remaining.map((pause) => `Still paused: ${pauseText(pause)}`)];
  await context.out(lines.map((line) => `${safeLine(line)}\n`).join(''));
  await sayLedger(context, given.ledger);
}
