import { Command, CommanderError } from 'commander';
import type { CommandContext } from '../operations/context.ts';
import { forReader } from '../util/escape.ts';
import { version } from '../util/version.ts';
import { frameTelemetry } from './shared/telemetry-frame.ts';
import { COMMANDS, type CommandEntry, overview } from './table.ts';

/**
 * Runs one command line.
 *
 * @throws HandbillError, with code `usage` and exit status 2 for a command line that is not understood
 */
export async function runProgram(asked: readonly string[], given: CommandContext): Promise<void> {
  const args = ofCommand(asked);
  const written: (Promise<void> | void)[] = [];
  let format = 'text';
  // The one place that knows the format of a result, and whether a terminal reads it.
  const isTerminal = given.outIsTerminal === true;
  let toStamp: CommandContext['stamp'] | null = null;
  const stamp = (piece: string): string => {
    const first = toStamp;
    toStamp = null;
    return first?.(piece) ?? piece;
  };
  const out = (text: string) => given.out(forReader(stamp(text), format, isTerminal));
  const context: CommandContext = { ...given, out, stamp };
  const program = createProgram(context, (text) => written.push(context.out(text)));
  program.hook('preAction', (_program, command) => {
    format = command.opts<{ format?: string }>().format ?? EXACT.get(command.name()) ?? format;
  });
  program.hook('preAction', async (_program, command) => {
    if ((context.env['HANDBILL_ENV'] ?? '') === '') return;
    const { refuseUnknownEnvironment } = await import('./shared/named-environment.ts');
    await refuseUnknownEnvironment(command, context);
  });
  program.hook('preAction', async (_program, command) => {
    if (!command.options.some(({ long }) => long === '--ledger')) return;
    const { stampBesideRescued } = await import('./shared/beside-rescued.ts');
    toStamp = await stampBesideRescued(command, context);
  });
  const telemetry = frameTelemetry(program, context);
  const chosen = args.find((arg) => !arg.startsWith('-'));
  const entry = COMMANDS.find((command) => command.name === chosen);
  for (const one of entry?.needsAll === true ? COMMANDS : COMMANDS.filter((command) => command === entry)) {
    await configure(program, one, telemetry.context);
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    // Also where no result was printed.
    stamp('');
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

/** Commands that print a result for programs without being asked for a format. */
const EXACT: ReadonlyMap<string, string> = new Map([
  ['plan', 'json'],
  ['export', 'csv'],
  ['completion', 'script'],
]);

/** `suppress list` if that was called: the help of `suppress` does not show the options of `list`. */
function fullName(program: Command, name: string, args: readonly string[]): string {
  const below = args[args.indexOf(name) + 1];
  const group = program.commands.find((command) => command.name() === name);
  return group?.commands.some((command) => command.name() === below) === true ? `${name} ${below}` : name;
}

/** `help send` is `send --help`; other topics are for the command `help`. */
function ofCommand(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  return first === 'help' && COMMANDS.some(({ name }) => name === rest[0]) ? [...rest, '--help'] : args;
}

function createProgram(context: CommandContext, write: (text: string) => void): Command {
  const program = new Command('handbill');
  program
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .commandsGroup('More:')
    .helpCommand(false)
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
  if (command === undefined) return;
  (await entry.load()).configure(command, context);
  if (entry.guide !== undefined) command.addHelpText('after', `\nGuide: handbill help guide ${entry.guide}`);
}
