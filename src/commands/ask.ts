import { createInterface } from 'node:readline/promises';
import type { CommandContext } from './context.ts';

/** Asks on the terminal for a whole "yes"; without a terminal, or when `stopped` comes first, the answer is no. */
export async function askYes(
  prompt: string,
  context: Pick<CommandContext, 'interactive'>,
  stopped?: AbortSignal,
): Promise<boolean> {
  if (!context.interactive) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While it reads a line the terminal makes no signals of its own: Ctrl-C comes here.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    // A terminal that is closed (Ctrl-D, or it is gone) never answers the question.
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    const asked = stopped === undefined ? terminal.question(prompt) : terminal.question(prompt, { signal: stopped });
    return (await Promise.race([closed, asked])).trim().toLowerCase() === 'yes';
  } catch (error) {
    if (stopped?.aborted === true) return false;
    throw error;
  } finally {
    terminal.close();
  }
}
