import { Socket } from 'node:net';
import process from 'node:process';
import { EXIT, HandbillError, problem, thrownText } from '../errors.ts';
import type { CommandContext, Terminal } from '../operations/context.ts';
import { safe, withoutCommands } from '../util/escape.ts';
import { createRedactor, secretsIn } from '../util/redact.ts';
import { fill } from '../util/table.ts';
import { createWriter } from './shared/writer.ts';
import { overviewFor } from './table.ts';

/** Sets the exit status. Prints an expected error as its diagnostics, any other as a line that asks for a report. */
export async function main(args: readonly string[]): Promise<void> {
  // Under an older Node.js this process has a parent that passes signals on (older-node.ts). Killed, it cannot.
  if (process.env['HANDBILL_PARENT'] === String(process.ppid)) {
    process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
    process.channel?.unref();
  }
  let context = contextOf(process);
  process.on('uncaughtException', (error) => {
    // After an error outside of any promise the process cannot continue.
    void fail(error, context).finally(() => process.exit());
  });
  try {
    const overview = overviewFor(args);
    if (overview === null) {
      if (!HELP.some((word) => args.includes(word))) {
        const { withEnvFile } = await import('./shared/env-file.ts');
        const { env, warnings } = await withEnvFile(process.env, context.cwd);
        // Output is cleared of the secrets in that file too.
        if (env !== process.env) context = contextOf(process, env);
        if (warnings.length > 0 && !QUIET.some((word) => args.includes(word))) {
          context.err(await shown(new HandbillError(EXIT.refused, warnings), context));
        }
      }
      const { runProgram } = await import('./program.ts');
      return await runProgram(args, context);
    }
    if (overview.asked) return await context.out(fill(overview.text, context.tableWidth ?? context.width));
    context.err(overview.text);
    context.exit(EXIT.refused);
  } catch (error) {
    await fail(error, context);
  } finally {
    if (AT_ONCE.has(process.exitCode)) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
  }
}

/** Help and the completion of words need no secret. */
const HELP: readonly string[] = ['help', 'completion', '--help', '-h'];
const QUIET: readonly string[] = ['--quiet', '-q'];

/**
 * A usual end closes SQLite files, which writes and syncs once more: not after an I/O error (failures.md, H1). It also
 * restores the default signal handling too early (failures.md, I3). `exit` does neither; pending output is written
 * first.
 */
const AT_ONCE: ReadonlySet<unknown> = new Set([EXIT.ledger, EXIT.hangup, EXIT.interrupted, EXIT.terminated]);

export function contextOf(here: NodeJS.Process, env: CommandContext['env'] = here.env): CommandContext {
  const { stdout, stderr, stdin } = here;
  const complain = createWriter(stderr);
  const say = createWriter(stdout);
  // All output passes here. A key should not get this far, but if one was typed as an argument, or is part of an error,
  // it is removed here. 0.1 ns a character.
  const redact = createRedactor(secretsIn(env));
  const write = async (text: string): Promise<void> => await complain(withoutCommands(redact(text)));
  const plain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  // A failed write to stderr must not stop a run, whatever the reason (failures.md, I4).
  const draw = (text: string): void => void write(text).catch(() => undefined);
  let clear: (() => void) | null = null;
  const beforePrint = (clearing: (() => void) | null): void => {
    clear = clearing;
  };
  return {
    cwd: here.cwd(),
    env,
    now: Date.now,
    out: (text) => {
      clear?.();
      return say(redact(text));
    },
    err: (text) => {
      clear?.();
      draw(stderr.isTTY === true ? fill(text, stderr.columns || 80) : text);
    },
    colour: { out: stdout.isTTY === true && !plain, err: stderr.isTTY === true && !plain },
    width: stdout.columns || stderr.columns || 80,
    outIsTerminal: stdout.isTTY === true,
    tableWidth: stdout.isTTY === true ? stdout.columns || 80 : Number.POSITIVE_INFINITY,
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    ...(stderr.isTTY === true ? { terminal: { ...terminalOf(here), draw, beforePrint } } : {}),
    exit: (status) => {
      here.exitCode = status;
    },
  };
}

function terminalOf({ stdin, stdout, stderr, platform }: NodeJS.Process): Omit<Terminal, 'draw' | 'beforePrint'> {
  return {
    input: stdin,
    // A terminal that does not know its size says 0.
    size: () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }),
    onResize: (listener) => {
      stderr.on('resize', listener);
      return () => void stderr.off('resize', listener);
    },
    platform,
    // A file uses another kind of stream, and a terminal has `isTTY`.
    isPiped: stdout.isTTY !== true && stdout instanceof Socket,
  };
}

async function fail(error: unknown, context: CommandContext): Promise<void> {
  if (error instanceof HandbillError) {
    context.exit(error.exit);
    context.err(await shown(error, context));
    return;
  }
  // Not a bug of handbill, wherever it happens: modules are loaded when they are needed (failures.md, B3).
  if (isOutOfFiles(error)) {
    const hint = 'Raise the limit with `ulimit -n`, then run the command again: what is recorded is in the ledger.';
    const found = problem('connection-limit', 'This process may open too few files.', { hint });
    return await fail(new HandbillError(EXIT.halted, [found]), context);
  }
  const message = thrownText(error);
  const trace = context.env['HANDBILL_DEBUG'] === '1' && error instanceof Error ? `${error.stack}\n` : '';
  context.err(safe(`${trace}handbill: a bug: ${message.replaceAll('\n', ' ')}\n${REPORT}\n`));
  context.exit(EXIT.bug);
}

const TOO_MANY = /too many open files/;

function isOutOfFiles(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Where Node cannot read the package.json of a module for want of a file descriptor, its error has no such code.
  return ('code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')) || TOO_MANY.test(error.message);
}

async function shown({ diagnostics, total }: HandbillError, context: CommandContext): Promise<string> {
  try {
    const { formatDiagnostics } = await import('../util/diagnostic-text.ts');
    const { colour, terminal, width } = context;
    const explain = terminal !== undefined;
    return formatDiagnostics(diagnostics, { colour: colour.err, limit: SHOWN, total, explain, width });
  } catch {
    // Without a free file descriptor no module can be loaded, so the error is printed without formatting (failures.md,
    // B3).
    const bare = diagnostics.slice(0, SHOWN).map(({ code, message }) => `error[${code}]: ${message}`);
    return bare.map((line) => `${line.replace(/[^ -~]/g, '?')}\n`).join('');
  }
}

const SHOWN = 20;

const REPORT =
  'Please report it with the command and what HANDBILL_DEBUG=1 adds; leave out addresses and keys. ' +
  'Whatever was recorded is in the ledger: running again continues.';
