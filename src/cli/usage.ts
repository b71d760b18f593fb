import type { CommanderError } from 'commander';
import { type HandbillError, problem, refuse } from '../errors.ts';
import { maskText } from '../util/redact.ts';
import { capital } from '../util/words.ts';

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

/** Words that other tools have for what a command does; some of them are spelled nearly as one that does something else. */
export const INTENTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    runs: 'status ls list ps history budget jobs',
    pause: 'stop cancel abort halt kill freeze',
    resume: 'continue unpause unstop',
    send: 'start run deliver blast execute',
    preview: 'show render view cat',
    validate: 'check lint verify',
    report: 'result results stats log logs summary export',
    schedule: 'cron next calendar upcoming',
    plan: 'cost estimate count price',
    approve: 'sign accept',
    doctor: 'diagnose health setup config',
    init: 'new create scaffold add',
    suppress: 'block unsubscribe optout opt-out blocklist',
    person: 'erase forget delete gdpr who',
    replies: 'inbox answers responses',
    doubt: 'doubts in-doubt unclear resolve',
    serve: 'ui web dashboard open browse',
    listen: 'webhook webhooks receive import',
  }).flatMap(([command, words]) => words.split(' ').map((word) => [word, command] as const)),
);
