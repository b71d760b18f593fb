/** docs/commands.md: the help of every command. */
import { Command } from 'commander';
import { configureCommand } from '../src/cli/configure.ts';
import { COMMANDS } from '../src/cli/table.ts';
import { EXIT } from '../src/errors.ts';
import type { CommandContext } from '../src/operations/context.ts';
import { block, page, table } from './docs-markdown.ts';

type ExitName = keyof typeof EXIT;

/** Commands by their group, exit statuses, and a section for each command. */
export async function commandsPage(): Promise<string> {
  const sections = await Promise.all(COMMANDS.map(commandSection));
  return page('Commands and exit statuses', INTRO, ...overview(), exitTable(), ...sections);
}

const INTRO = `Each command has a section with what it takes, as \`handbill COMMAND --help\` says it. There, \`<...>\` is a required value,
\`[...]\` an optional one, \`...\` several. Results go to stdout, progress and diagnostics to stderr.
\`NO_COLOR\` switches colours off, \`HANDBILL_ENV\` sets \`--env\`, \`HANDBILL_LEDGER\` sets \`--ledger\`, \`HANDBILL_LEDGER_WAIT\` and
\`HANDBILL_LEASE\` are of [shared ledgers](shared-ledger.md). Durations are \`30s\`, \`5m\`, \`24h\`, \`7d\`
or ISO 8601 (\`PT30S\`). What \`--format json\` prints is described in [formats.md](formats.md).`;

function overview(): readonly string[] {
  const groups = Map.groupBy(COMMANDS, ({ group }) => group);
  return [...groups].map(([group, entries]) => {
    const rows = entries.map(({ name, summary }) => [`[\`handbill ${name}\`](#handbill-${name})`, summary]);
    return `## ${group.replace(':', '')}\n\n${table(['command', 'does'], rows)}`;
  });
}

const EXITS: Readonly<Record<ExitName, string>> = {
  done: 'done for now, nothing bad: skipped and deferred recipients are not bad, nor are those that `--limit` left',
  bug: 'a bug in handbill; please report it',
  refused: 'refused before any request: usage, invalid or changed input, missing key, too late, clock, not confirmed',
  unsent: 'recipients were rejected or failed',
  inDoubt: 'recipients are in doubt',
  halted: 'a stop rule halted this start; running again continues',
  locked: 'another process holds this run',
  ledger: 'the ledger cannot be used or written',
  missed: 'an occurrence was missed, or its run became too old with recipients left; once for each occurrence',
  hangup: 'hangup: the terminal was closed',
  interrupted: 'interrupt: Ctrl-C',
  terminated: 'told to terminate',
};

function exitTable(): string {
  const rows = Object.entries(EXIT).map(([name, status]) => [String(status), EXITS[name as ExitName]]);
  return `## Exit statuses\n\n${table(['status', 'meaning'], rows)}\n\nWhere several hold, 2 comes before 8, 8 before 5, 5 before 4, and 4 before 3. A signal ends
a command in good order: what was recorded is in the ledger, and the same command continues.`;
}

const SIGNALS: readonly ExitName[] = ['hangup', 'interrupted', 'terminated'];
const READS: readonly ExitName[] = ['done', 'refused', 'ledger'];
const SENDS: readonly ExitName[] = ['done', 'refused', 'unsent', 'inDoubt', 'halted', 'locked', 'ledger', ...SIGNALS];

/** Besides 1, which no command should ever end with. A command that is not here ends with 0 or 2. */
const STATUSES: Readonly<Record<string, readonly ExitName[]>> = {
  validate: ['done', 'refused', ...SIGNALS],
  preview: READS,
  plan: READS,
  diff: ['done', 'refused', 'ledger', ...SIGNALS],
  rehearse: ['done', 'refused', 'ledger', ...SIGNALS],
  send: SENDS,
  due: [...SENDS, 'missed'],
  pause: READS,
  resume: READS,
  report: [...READS, ...SIGNALS],
  runs: ['done', 'refused', 'locked', 'ledger'],
  doubt: ['done', 'refused', 'locked', 'ledger'],
  listen: [...READS, ...SIGNALS],
  replies: READS,
  suppress: READS,
  person: ['done', 'refused', 'locked', 'ledger', ...SIGNALS],
  purge: ['done', 'refused', 'locked', 'ledger', ...SIGNALS],
  doctor: READS,
};

async function commandSection(entry: (typeof COMMANDS)[number]): Promise<string> {
  const command = new Command(entry.name).exitOverride();
  await configureCommand(command, entry.name, QUIET);
  const statuses = (STATUSES[entry.name] ?? ['done', 'refused']).map((name) => `\`${EXIT[name]}\``);
  const summary = `${entry.summary[0]?.toUpperCase()}${entry.summary.slice(1)}.`;
  const own = partsOf(command, `handbill ${entry.name}`);
  const below = command.commands.flatMap((one) => [
    `### handbill ${entry.name} ${one.name()}`,
    one.description(),
    ...partsOf(one, `handbill ${entry.name} ${one.name()}`),
  ]);
  const exits = `[Exit statuses](#exit-statuses): ${statuses.join(', ')}.`;
  return [`## handbill ${entry.name}`, summary, ...own, ...below, ...examplesOf(command), exits].join('\n\n');
}

/** Usage, arguments and options; nothing for a command that only holds others. */
function partsOf(command: Command, name: string): readonly string[] {
  const { registeredArguments: given, options, commands } = command;
  if (commands.length > 0 && options.length === 0) return [];
  const words = given.map((one) => {
    const word = `${one.name()}${one.variadic ? '...' : ''}`;
    return one.required ? `<${word}>` : `[${word}]`;
  });
  const usage = block('text', [name, ...words, ...(options.length > 0 ? ['[options]'] : [])].join(' '));
  const rows = [
    ...given.filter(({ description }) => description !== '').map((one) => [`\`${one.name()}\``, one.description]),
    ...options.filter(({ hidden }) => !hidden).map((one) => [`\`${one.flags}\``, `${one.description}${extraOf(one)}`]),
  ];
  return rows.length === 0 ? [usage] : [usage, table(['', 'meaning'], rows)];
}

/** The default, where the sentence does not say it, and the choices. */
function extraOf({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
}: Command['options'][number]): string {
  const missing = (argChoices ?? []).filter((choice) => !description.includes(choice));
  const choices = missing.length === 0 ? [] : [`one of ${(argChoices ?? []).map((one) => `\`${one}\``).join(', ')}`];
  const shown = defaultValueDescription ?? (typeof defaultValue === 'boolean' ? undefined : defaultValue);
  const byDefault = shown === undefined || description.includes('default') ? [] : [`default: \`${String(shown)}\``];
  const extra = [...choices, ...byDefault];
  return extra.length === 0 ? '' : ` (${extra.join('; ')})`;
}

/** What the help of the command adds at its end. */
function examplesOf(command: Command): readonly string[] {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
    getOutHelpWidth: () => 200,
  });
  command.outputHelp();
  const [, after] = help.split('\nExamples:\n');
  if (after === undefined) return [];
  const [lines = '', ...rest] = after.split('\n\n');
  return [
    'Examples:',
    block(
      'sh',
      lines.replaceAll(/^ {2}(.*?)(?: {2,}(\S.*))?$/gm, (_line, run: string, says?: string) =>
        says === undefined ? run : `${run}   # ${says}`,
      ),
    ),
    ...rest.map((text) => text.trim()).filter((text) => text !== ''),
  ];
}

/** Commands are only asked what they take. */
const QUIET: CommandContext = {
  cwd: '.',
  env: {},
  now: () => 0,
  out: () => undefined,
  err: () => undefined,
  colour: { out: false, err: false },
  width: 100,
  interactive: false,
  exit: () => undefined,
};
