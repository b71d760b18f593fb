import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { userHere } from '../../operations/doubt.ts';
import { pauseSending } from '../../operations/pause.ts';
import { optionsHere, sayLedger } from '../../operations/project.ts';
import { pausedScope, pauseText, resumeCommand } from '../../report/pause-words.ts';
import { safeLine } from '../../util/escape.ts';
import { addExamples, addLedger, addLog } from '../shared/options.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .requiredOption('--env <name>', 'environment in which nothing is sent any more')
    .option('--campaign <name>', 'only this campaign (default: all of the environment)')
    .requiredOption('--reason <text>', 'why; every send that it halts says so')
    .option('--by <name>', 'who pauses it (default: user@host)')
    .option('-q, --quiet', 'print nothing when all is well');
  addExamples(addLog(addLedger(command)), [
    ['handbill pause --env production --reason "wrong prices"', 'every send halts within a second'],
    ['handbill pause --env production --campaign spring-sale --reason "wrong prices"', 'only this one'],
  ]).action((given: Given) => run(given, context));
}

interface Given {
  readonly env: string;
  readonly campaign?: string;
  readonly reason: string;
  readonly by?: string;
  readonly ledger?: string;
  readonly quiet?: true;
}

async function run(given: Given, context: CommandContext): Promise<void> {
  const { campaign } = given;
  const { pause, isNew } = await pauseSending({
    ...optionsHere(context, given.ledger),
    environment: given.env,
    ...(campaign === undefined ? {} : { campaign }),
    reason: given.reason,
    by: given.by ?? userHere(),
  });
  const about = { environment: pause.environment, campaign: pause.campaign };
  const fields = { reason: pause.reason, by: pause.who, isNew };
  context.telemetry?.note('info', 'paused', `${pausedScope(pause)} is paused.`, fields, about);
  if (given.quiet === true) return;
  const said = isNew
    ? `${pausedScope(pause)} is paused. Running sends halt within a second, and nothing is sent until:`
    : `Nothing changed: ${pauseText(pause)}\nIt goes on until:`;
  await context.out(`${said.split('\n').map(safeLine).join('\n')}\n  ${safeLine(resumeCommand(pause))}\n`);
  await sayLedger(context, given.ledger);
}
