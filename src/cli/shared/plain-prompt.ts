import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import type { CommandContext } from '../../operations/context.ts';

/**
 * Asks for a line where nothing can be drawn (`TERM=dumb`), or nothing should be (`ACCESSIBLE`, for screen readers);
 * null when the terminal is closed, or when `stopped` comes first.
 */
export async function askPlainly(
  question: string,
  context: Pick<CommandContext, 'err'>,
  input: Readable,
  stopped?: AbortSignal,
): Promise<string | null> {
  // Without an output: the terminal echoes by itself, and what is asked goes where everything is printed.
  const terminal = createInterface({ input, terminal: false });
  context.err(question);
  try {
    return await new Promise<string | null>((resolve) => {
      terminal.once('line', (line) => resolve(line.trim()));
      terminal.once('close', () => resolve(null));
      stopped?.addEventListener('abort', () => resolve(null), { once: true });
      if (stopped?.aborted === true) resolve(null);
    });
  } finally {
    terminal.close();
  }
}
