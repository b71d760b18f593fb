import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { asError } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { countOf } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { writeOutput } from '../../util/files.ts';
import { createWriter } from './writer.ts';

interface Destination {
  /** File, relative to the working directory; stdout if absent. */
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
}

/**
 * Writes to stdout, or to a file as a whole, and reports the file on stderr with `records`, such as `3 replies`. Throws
 * as `writeOutput` and the source of the text; then there is no file.
 */
export async function writeResult(
  text: AsyncIterable<string> | Iterable<string>,
  { output, quiet = false }: Destination,
  context: Pick<CommandContext, 'cwd' | 'out' | 'err' | 'stamp'>,
  records?: string,
): Promise<void> {
  if (output === undefined) {
    for await (const piece of text) await context.out(piece);
    return;
  }
  const size = countOf(await writeOutput(resolve(context.cwd, output), stamped(text, context.stamp)), 'byte');
  const holds = records === undefined ? size : `${records}, ${size}`;
  if (!quiet) context.err(`Written: ${safeLine(output)} (${holds})\n`);
}

async function* stamped(text: AsyncIterable<string> | Iterable<string>, stamp: CommandContext['stamp']) {
  for await (const piece of text) yield stamp?.(piece) ?? piece;
}

/** As `writeResult`, for results that are written as they are found. If `write` throws, there is no file. */
export async function withOutput<T>(
  destination: Destination,
  context: Pick<CommandContext, 'cwd' | 'out' | 'err' | 'stamp'>,
  write: (out: CommandContext['out']) => Promise<T>,
): Promise<T> {
  if (destination.output === undefined) return await write(context.out);
  const pipe = new PassThrough({ encoding: 'utf8' });
  const out = createWriter(pipe);
  const writing = writeResult(pipe, destination, context).then(
    () => ({ failed: false as const }),
    (error: unknown) => {
      // The reader is gone: a writer that waits must get an error.
      pipe.destroy(asError(error));
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
    pipe.destroy(asError(error));
    const written = await writing;
    throw written.failed ? written.error : error;
  }
}
