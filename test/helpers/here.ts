import process from 'node:process';
import { handbillHere } from '../cli/in-process.ts';
import { type CliOptions, type CliResult, runCli } from './cli.ts';
import { QUICK } from './quick.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

/**
 * Runs `handbill ARGS` to its end in this process: a tenth of what a process of its own takes. Nothing that is printed is
 * redacted here, as `main` does: a key may not come that far.
 */
export async function runHere(
  args: readonly string[],
  { cwd, env = {}, now = Date.now }: Pick<CliOptions, 'cwd' | 'env'> & { readonly now?: () => number },
): Promise<CliResult> {
  const all = { PATH: process.env['PATH'], HOME: cwd, ...env };
  const { status, out, err } = await handbillHere(cwd, args, { env: all, now });
  return { status, signal: null, stdout: out, stderr: err };
}

/**
 * How the case of a table is run: in the sample every `nth` one in a process of its own and the others in this process,
 * in the whole sets each in a process of its own.
 */
export function runnerOf(at: number, nth: number): typeof runHere {
  return FULL || at % nth === 0 ? runCli : runHere;
}

/** How a command is run whose process proves nothing more: in this process, but in one of its own in whole sets and hunts. */
export function commandRunner(): typeof runHere {
  return QUICK ? runHere : runCli;
}
