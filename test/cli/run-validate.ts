import { Command } from 'commander';
import { configure } from '../../src/cli/validate/command.ts';
import { type ExitStatus, HandbillError } from '../../src/errors.ts';
import type { CommandContext } from '../../src/operations/context.ts';

export interface Validated {
  readonly status: ExitStatus | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `handbill validate ARGS` in this process: what an error that is thrown would print is its `err`. */
export async function runValidate(
  cwd: string,
  args: readonly string[],
  env: CommandContext['env'] = {},
): Promise<Validated> {
  let out = '';
  let err = '';
  let status: ExitStatus | null = null;
  const context: CommandContext = {
    cwd,
    env,
    now: () => Date.UTC(2026, 10, 21),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    colour: { out: false, err: false },
    width: 80,
    interactive: false,
    exit: (given) => {
      status = given;
    },
  };
  const command = new Command('validate').exitOverride();
  configure(command, context);
  try {
    await command.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    status = error.exit;
    err += error.diagnostics.map(({ code, message }) => `${code}: ${message}\n`).join('');
  }
  return { status, out, err };
}
