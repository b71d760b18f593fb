import { runProgram } from '../../src/cli/program.ts';
import { EXIT, HandbillError } from '../../src/errors.ts';
import type { CommandContext } from '../../src/operations/context.ts';
import { formatDiagnostics } from '../../src/util/diagnostic-text.ts';
import type { Finished } from './run-handbill.ts';

/**
 * Runs a command in this process, as the command line does: a separate process takes ten times as long.
 *
 * @param shown gets what a terminal shows: both streams, in the order in which they are written
 */
export async function handbillHere(
  cwd: string,
  args: readonly string[],
  options: Partial<Pick<CommandContext, 'env' | 'now' | 'width' | 'tableWidth' | 'outIsTerminal'>> = {},
  shown: (text: string) => void = () => {},
): Promise<Finished> {
  let [out, err] = ['', ''];
  let status: number = EXIT.done;
  const context: CommandContext = {
    cwd,
    env: {},
    now: Date.now,
    width: 80,
    ...options,
    out(text) {
      out += text;
      shown(text);
    },
    err(text) {
      err += text;
      shown(text);
    },
    colour: { out: false, err: false },
    interactive: false,
    exit(given) {
      status = given;
    },
  };
  try {
    await runProgram(args, context);
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    status = error.exit;
    context.err(formatDiagnostics(error.diagnostics, { colour: false, limit: 20, total: error.total }));
  }
  return { status, out, err };
}
