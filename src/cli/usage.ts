import type { CommanderError } from 'commander';
import { type HandbillError, problem, refuse } from '../errors.ts';
import { maskText } from '../util/redact.ts';
import { capital } from '../util/words.ts';
import { COMMANDS } from './table.ts';

/**
 * An error of commander in handbill's words, with the next step.
 *
 * @param environments those of the project, asked for where one has to be named
 */
export async function usageError(
  error: CommanderError,
  command: string | null,
  environments: () => Promise<readonly string[]>,
): Promise<HandbillError> {
  const more = `handbill ${command === null ? '' : `${command} `}--help shows what it takes.`;
  if (error.code === 'commander.help')
    return refuse(problem('usage', 'What is to be done is missing.', { hint: more }));
  // A superfluous argument may be an address, which must not get into the log of a cron job.
  const lines = maskText(error.message.replace(/^error: /, '')).split('\n');
  const near = lines.length > 1 ? SUGGESTION.exec(lines.at(-1) ?? '')?.[1]?.replace(/^one of /, '') : undefined;
  const sentence = (near === undefined ? lines : lines.slice(0, -1)).join(' ').replace(/\.?$/, '.');
  const [, word = ''] = /^unknown command '(.*)'/i.exec(lines[0] ?? '') ?? [];
  const meant = (command === null ? INTENTS.get(word) : undefined) ?? near;
  const known = error.message.includes("'--env <name>' not specified") ? await environments() : [];
  const named = known.length === 0 ? more : `Environments here: ${known.join(', ')}. ${more}`;
  const hint = meant === undefined ? named : `Did you mean "${meant}"?`;
  return refuse(problem('usage', capital(sentence), { hint }));
}

const SUGGESTION = /^\(Did you mean (.*)\?\)$/;

/** The words of other tools, some of them spelled nearly as a command that does something else: its name by each. */
export const INTENTS: ReadonlyMap<string, string> = new Map(
  COMMANDS.flatMap(({ name, intents }) => intents?.split(' ').map((word) => [word, name] as const) ?? []),
);
