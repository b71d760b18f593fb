import { Argument, type Command } from 'commander';
import type { CommandContext } from '../operations/context.ts';
import { runAt } from '../util/next-command.ts';
import { addOptions } from './shared/options.ts';
import { COMMANDS, type CommandModule, type CommandText, commandModule } from './table.ts';

/** Gives a command its arguments, options, parts, examples and action. Throws for a name that no command has. */
export async function configureCommand(command: Command, name: string, context: CommandContext): Promise<void> {
  const entry = COMMANDS.find((one) => one.name === name);
  if (entry === undefined) throw new Error(`There is no command ${name}.`);
  const module = await commandModule(name);
  // Options behind the name of a part belong to that part.
  if (module.run !== undefined && module.COMMANDS !== undefined) command.enablePositionalOptions();
  configure(command, entry, module, context);
  for (const [part, text] of Object.entries(entry.commands ?? {})) {
    const below = command.command(part, { isDefault: text.isDefault === true }).description(text.says ?? '');
    configure(below, text, module.COMMANDS?.[part] ?? {}, context);
  }
}

function configure(command: Command, text: CommandText, module: CommandModule, context: CommandContext): void {
  for (const { name, says, preset, choices } of text.arguments ?? []) {
    const argument = new Argument(name, says);
    if (choices !== undefined) argument.choices(choices);
    if (preset !== undefined) argument.default(preset);
    if (module.readArgument !== undefined) argument.argParser(module.readArgument as (text: string) => unknown);
    command.addArgument(argument);
  }
  if (text.usage !== undefined) command.usage(text.usage);
  addOptions(command, module.FLAGS ?? {}, context);
  for (const [title, table] of Object.entries(module.FLAG_GROUPS ?? {})) addOptions(command, table, context, title);
  const examples = text.examples ?? [];
  if (examples.length > 0) {
    const width = Math.max(...examples.map(([line = '']) => line.length));
    const lines = examples.map(([line = '', says = '']) => `  ${line.padEnd(width)}  ${says}`.trimEnd());
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
  const { run } = module;
  if (run === undefined) return;
  command.action(async (...given: unknown[]) => {
    const { cwd, env, now } = context;
    const flags = { ...(given.at(-2) as object), cwd, env, now };
    const { ledger } = flags as { readonly ledger?: string };
    const words = [...given.slice(0, -2), command] as never[];
    await runAt({ ledger, environment: env['HANDBILL_ENV'] }, () => run(context, flags as never, ...words));
  });
}
