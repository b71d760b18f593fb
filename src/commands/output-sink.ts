import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { writeOutput } from '../util/output-file.ts';
import type { CommandContext } from './context.ts';
import { createWriter } from './writer.ts';

/**
 * Hands `write` the place where results go: stdout, or a file that is whole or not there. For what is written while it
 * is found; what can be asked for piece by piece goes to `writeOutput` directly.
 *
 * Throws what `writeOutput` does, and what `write` throws; then there is no file.
 */
export async function withOutput<T>(
  file: string | undefined,
  context: Pick<CommandContext, 'cwd' | 'out'>,
  write: (out: CommandContext['out']) => Promise<T>,
): Promise<T> {
  if (file === undefined) return await write(context.out);
  const pipe = new PassThrough({ encoding: 'utf8' });
  const out = createWriter(pipe);
  const writing = writeOutput(resolve(context.cwd, file), pipe).then(
    () => ({ failed: false as const }),
    (error: unknown) => {
      // Nobody reads any more: whoever waits to write must be told.
      pipe.destroy(error instanceof Error ? error : new Error(String(error)));
      return { failed: true as const, error };
    },
  );
  try {
    const result = await write(out);
    pipe.end();
    const written = await writing;
    if (written.failed) throw written.error;
    return result;
  } catch (error) {
    pipe.destroy(error instanceof Error ? error : new Error(String(error)));
    const written = await writing;
    throw written.failed ? written.error : error;
  }
}
