import { askText, type PromptContext } from './prompt.ts';

/**
 * Asks on the terminal for "yes" or "y", and the Enter key: one key, perhaps pressed before the question was there, is not
 * enough where something cannot be undone. Without a terminal, or when `stopped` comes first, the answer is no.
 */
export async function askYes(question: string, context: PromptContext, stopped?: AbortSignal): Promise<boolean> {
  return /^y(es)?$/.test((await askLine(question, context, stopped)).trim());
}

/** Asks on the terminal for a line, in lower case; empty without a terminal, or when it is closed or `stopped`. */
export async function askLine(question: string, context: PromptContext, stopped?: AbortSignal): Promise<string> {
  const answer = await askText(context, { question, ...(stopped === undefined ? {} : { stopped }) });
  return (answer ?? '').toLowerCase();
}
