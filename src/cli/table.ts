import type { CommandContext } from '../operations/context.ts';
import type { OptionTable } from '../operations/options.ts';
import { version } from '../util/version.ts';
import FILE from './commands.json' with { type: 'json' };

/** The help of a command, or of a part of one such as `suppress list`; its options are in its module. */
export interface CommandText {
  readonly arguments?: readonly {
    readonly name: string;
    readonly says?: string;
    readonly preset?: string;
    readonly choices?: readonly string[];
  }[];
  readonly examples?: readonly (readonly string[])[];
  readonly usage?: string;
  /** The description of a part. */
  readonly says?: string;
  /** This part runs where the command line names none. */
  readonly isDefault?: boolean;
}

interface CommandEntry extends CommandText {
  readonly summary: string;
  readonly guide?: string;
  /** The words of other tools for it. */
  readonly intents?: string;
  readonly commands?: Readonly<Record<string, CommandText>>;
}

/** In the order of the help, first the commands of a working day. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, CommandEntry>>>> = FILE;

export const COMMANDS = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, entry]) => ({ name, group, ...entry })),
);

/** The options and the work of a command; one that only holds others has no `run`. */
export interface CommandModule {
  readonly FLAGS?: OptionTable;
  /** Further options, by their title in the help. */
  readonly FLAG_GROUPS?: Readonly<Record<string, OptionTable>>;
  readonly COMMANDS?: Readonly<Record<string, CommandModule>>;
  /** Reads each value of a variadic argument. */
  readonly readArgument?: (text: string, before: never) => unknown;
  /** Also gets the arguments, and last the command of commander. */
  readonly run?: (context: CommandContext, flags: never, ...given: never[]) => Promise<void>;
}

/** Imports the module of one command only, so that help and short commands stay quick. */
export async function commandModule(name: string): Promise<CommandModule> {
  if (name === 'resume') return (await import('./pause/command.ts')).RESUME_COMMAND;
  return await import(`./${name}/command.ts`);
}

/** For `--help`, `--version` and no arguments; else null. commander would take as long to load as Node itself. */
export function overviewFor(args: readonly string[]): { readonly text: string; readonly asked: boolean } | null {
  const [first, ...rest] = args;
  if (first === undefined) return { text: overview(), asked: false };
  if (rest.length > 0) return null;
  if (first === '--help' || first === '-h' || first === 'help') return { text: overview(), asked: true };
  return first === '--version' || first === '-V' ? { text: `${version()}\n`, asked: true } : null;
}

export function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const groups = [...Map.groupBy(COMMANDS, ({ group }) => group)].map(([group, commands]) => {
    const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
    return `${group}\n${lines.join('')}`;
  });
  return `${HEAD}\n${groups.join('\n')}\n${EXAMPLES}`;
}

const HEAD = `Usage: handbill COMMAND [options]

Sends message campaigns from git: checked, previewed, at most once per
recipient, every recipient accounted for.
`;

const EXAMPLES = `Options:
  -V, --version  print the version
  -h, --help     show help; also of a command: handbill send --help
                 handbill help guides lists the guides

Examples:
  handbill validate                    check every campaign below this folder
  handbill preview campaigns/hello     see what each recipient would get
  handbill send campaigns/hello        send it to the sandbox on this machine
  handbill send campaigns/hello --env production
  handbill report hello --format csv -o results.csv
`;
