import { Command, CommanderError } from 'commander';
import type { Diagnostic } from '../errors.ts';
import { LEDGER_WARNINGS } from '../ledger/warnings.ts';
import type { CommandContext } from '../operations/context.ts';
import { formatDiagnostics } from '../util/diagnostic-text.ts';
import { forReader, jsonText } from '../util/escape.ts';
import { fill } from '../util/table.ts';
import { version } from '../util/version.ts';
import { capital } from '../util/words.ts';
import { configureCommand } from './configure.ts';
import { boundMemory } from './shared/memory.ts';
import { frameTelemetry } from './shared/telemetry-frame.ts';
import { COMMANDS, overview } from './table.ts';

/** Throws `usage` (exit 2) for a command line that it does not understand. */
export async function runProgram(asked: readonly string[], given: CommandContext): Promise<void> {
  // `help send` is `send --help`; other topics are for the command `help`.
  const [first, ...topic] = asked;
  const isOfCommand = first === 'help' && COMMANDS.some(({ name }) => name === topic[0]);
  const args = isOfCommand ? [...topic, '--help'] : asked;
  const written: (Promise<void> | void)[] = [];
  let format = 'text';
  // The one place that knows the format of a result, and whether a terminal reads it.
  const isTerminal = given.outIsTerminal === true;
  let isJson = false;
  let isBegun = false;
  // A warning of the ledger, from its opening: printed once, before the first piece of the result, and in it where that
  // is JSON.
  let warning: Diagnostic | null = null;
  let isTold = false;
  const hear = (heard: unknown): void => {
    warning ??= heard as Diagnostic;
  };
  const stamp = (piece: string): string => {
    const isFirst = !isBegun;
    isBegun ||= piece !== '';
    if (warning === null || isTold) return piece;
    isTold = true;
    given.err(formatDiagnostics([warning], { colour: given.colour.err, width: given.width }));
    const { code, message, hint } = warning;
    if (!isJson || !isFirst) return piece;
    return piece.replace('{', () => `{"warnings":${jsonText([{ code, message, hint }])},`);
  };
  const out = (text: string) => {
    const shown = forReader(stamp(text), format, isTerminal);
    return given.out(isTerminal && format === 'text' ? fill(shown, given.width) : shown);
  };
  const context: CommandContext = { ...given, out, stamp };
  const program = createProgram(context, (text) => written.push(context.out(text)));
  // Not before the command is loaded: V8 takes no code that Node has compiled for it once a flag has changed.
  program.hook('preAction', boundMemory);
  program.hook('preAction', (_program, command) => {
    const asked = command.opts<{ format?: string }>().format;
    isJson = asked === 'json';
    // A terminal gets the figures of a plan.
    const exact = isTerminal && command.name() === 'plan' ? undefined : EXACT.get(command.name());
    format = asked ?? exact ?? format;
  });
  program.hook('preAction', async (_program, command) => {
    if ((context.env['HANDBILL_ENV'] ?? '') === '') return;
    const { refuseUnknownEnvironment } = await import('./shared/named-environment.ts');
    await refuseUnknownEnvironment(command, context);
  });
  const telemetry = frameTelemetry(program, context);
  const chosen = args.find((arg) => !arg.startsWith('-'));
  const entry = COMMANDS.find((command) => command.name === chosen);
  // The words of all commands are completed.
  for (const one of entry?.name === 'completion' ? COMMANDS : COMMANDS.filter((command) => command === entry)) {
    await configure(program, one, telemetry.context);
  }
  LEDGER_WARNINGS.subscribe(hear);
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
      const { environmentsHere } = await import('./shared/named-environment.ts');
      const name = entry === undefined ? null : fullName(program, entry.name, args);
      throw await usageError(error, name, () => environmentsHere(context.cwd));
    }
  } finally {
    LEDGER_WARNINGS.unsubscribe(hear);
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
    // Else a command would get the options behind the name of its part.
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError();
  program.helpInformation = overview;
  for (const { name, summary, group } of COMMANDS) {
    program
      .command(name)
      .summary(summary)
      .description(`${capital(summary)}.`)
      .helpGroup(group);
  }
  return program;
}

async function configure(program: Command, entry: (typeof COMMANDS)[number], context: CommandContext): Promise<void> {
  const command = program.commands.find((one) => one.name() === entry.name);
  if (command === undefined) return;
  await configureCommand(command, entry.name, context);
  if (entry.guide !== undefined) command.addHelpText('after', `\nGuide: handbill help guide ${entry.guide}`);
}
