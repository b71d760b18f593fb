import type { CommanderError } from 'commander';
import { type HandbillError, problem, refuse } from '../errors.ts';
import { maskText } from '../util/redact.ts';

/** An error of commander in handbill's words, with the next step. */
export function usageError(error: CommanderError, command: string | null): HandbillError {
  const more = `handbill ${command === null ? '' : `${command} `}--help shows what it takes.`;
  if (error.code === 'commander.help')
    return refuse(problem('usage', 'What is to be done is missing.', { hint: more }));
  // A superfluous argument may be an address, which must not get into the log of a cron job.
  const lines = maskText(error.message.replace(/^error: /, '')).split('\n');
  const suggestion = lines.length > 1 ? SUGGESTION.exec(lines.at(-1) ?? '')?.[1] : undefined;
  const sentence = (suggestion === undefined ? lines : lines.slice(0, -1)).join(' ').replace(/\.?$/, '.');
  const hint = suggestion === undefined ? more : `Did you mean "${suggestion.replace(/^one of /, '')}"?`;
  return refuse(problem('usage', sentence.charAt(0).toUpperCase() + sentence.slice(1), { hint }));
}

const SUGGESTION = /^\(Did you mean (.*)\?\)$/;
