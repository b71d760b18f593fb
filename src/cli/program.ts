import { Command, CommanderError } from 'commander';
import type { CommandContext } from '../operations/context.ts';
import { version } from '../operations/version.ts';
import { forTerminal } from '../util/safe.ts';
import { frameTelemetry } from './shared/telemetry-frame.ts';
import { COMMANDS, type CommandEntry, overview } from './table.ts';

/**
 * Runs one command line.
 *
 * @throws HandbillError, with code `usage` and exit status 2 for a command line that is not understood
 */
export async function runProgram(args: readonly string[], given: CommandContext): Promise<void> {
  const written: (Promise<void> | void)[] = [];
  let format = 'text';
  // Files and pipes get every byte of a result; the one place that knows its format and that a terminal reads it.
  const context: CommandContext =
    given.outIsTerminal === true ? { ...given, out: (text) => given.out(forTerminal(text, format)) } : given;
  const program = createProgram(context, (text) => written.push(context.out(text)));
  program.hook('preAction', (_program, command) => {
    format = command.opts<{ format?: string }>().format ?? format;
  });
  const telemetry = frameTelemetry(program, context);
  const chosen = chosenName(args);
  const entry = COMMANDS.find((command) => command.name === chosen);
  for (const one of entry?.needsAll === true ? COMMANDS : COMMANDS.filter((command) => command === entry)) {
    await configure(program, one, telemetry.context);
  }
  try {
    // Commander has no complaint about `help` of a command that does not exist, but about the command.
    const parsed = entry === undefined && chosen !== null ? [chosen] : args;
    await program.parseAsync(parsed, { from: 'user' });
    await telemetry.end(null);
  } catch (error) {
    await telemetry.end(error);
    if (!(error instanceof CommanderError)) throw error;
    // `--help` and `--version` are errors with status 0; a group such as `suppress` without a subcommand shows its
    // help.
    if (error.exitCode !== 0) {
      const { usageError } = await import('./usage.ts');
      throw usageError(error, entry === undefined ? null : fullName(program, entry.name, args));
    }
  }
  await Promise.all(written);
}

/** `suppress list` if that was called: the help of `suppress` does not show the options of `list`. */
function fullName(program: Command, name: string, args: readonly string[]): string {
  const below = args[args.indexOf(name) + 1];
  const group = program.commands.find((command) => command.name() === name);
  return group?.commands.some((command) => command.name() === below) === true ? `${name} ${below}` : name;
}

/** The first word that is not an option, or the one after `help`; null if there is none. */
function chosenName(args: readonly string[]): string | null {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  if (first === undefined) return null;
  return first === 'help' ? (second ?? null) : first;
}

function createProgram(context: CommandContext, write: (text: string) => void): Command {
  const program = new Command('handbill');
  program
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .commandsGroup('More:')
    .helpCommand('help [command]', 'show help for a command')
    .configureHelp({ styleTitle: (title) => title, sortSubcommands: false })
    .configureOutput({
      writeOut: write,
      // Usage errors are thrown and shown as diagnostics, so that they look like all others.
      writeErr: () => undefined,
      outputError: () => undefined,
      getOutHelpWidth: () => context.width,
      getErrHelpWidth: () => context.width,
      getOutHasColors: () => context.colour.out,
      getErrHasColors: () => context.colour.err,
    })
    .exitOverride()
    .showSuggestionAfterError();
  program.helpInformation = overview;
  for (const { name, summary, group } of COMMANDS) {
    program
      .command(name)
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .helpGroup(group);
  }
  return program;
}

async function configure(program: Command, entry: CommandEntry, context: CommandContext): Promise<void> {
  const command = program.commands.find((one) => one.name() === entry.name);
  if (command !== undefined) (await entry.load()).configure(command, context);
}
