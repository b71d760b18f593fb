import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Diagnostic, problem } from '../../errors.ts';
import type { Allowable } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { allowOption, formatOption, OPTIONS, type OptionSpec, type OptionTable } from '../../operations/options.ts';
import { instantMs } from '../../util/time.ts';
import { durationMs, ratePerSecond } from '../../util/units.ts';

/** The options of a table; values are parsed, and have the names of the table. */
export function addOptions(command: Command, table: OptionTable, context: Pick<CommandContext, 'env' | 'now'>) {
  for (const [name, { flag, says, inHelp = '', kind, range, choices, preset, required = false }] of Object.entries(
    table,
  )) {
    if (flag === undefined) continue;
    const option = new Option(flag, `${says}${inHelp}`).makeOptionMandatory(required);
    option.attributeName = () => name;
    if (kind === 'environment') option.default(namedIn(context.env) ?? 'sandbox', 'HANDBILL_ENV, else sandbox');
    else if (kind === 'only-environment') option.default(namedIn(context.env), '');
    else if (kind === 'codes' || kind === 'words') option.argParser(words(choices));
    else if (choices !== undefined) option.choices(choices);
    else if (kind !== undefined || range !== undefined) {
      const [least = 0, most = 0] = range ?? [];
      const parse: (text: string) => unknown = kind === undefined ? wholeNumber(least, most) : PARSERS[kind](context);
      option.argParser<unknown>((text, before) =>
        option.variadic ? [...((before as readonly unknown[] | undefined) ?? []), parse(text)] : parse(text),
      );
    }
    if (preset !== undefined) option.default(preset, String(preset));
    command.addOption(option);
  }
  return command;
}

const PARSERS = {
  duration: () => time,
  age: () => age,
  instant:
    ({ now }: Pick<CommandContext, 'now'>) =>
    (text: string) =>
      instant(text, now),
  rate: () => rate,
  host: () => hostName,
};

function words(choices: readonly string[] | undefined) {
  return (text: string, before: readonly string[] = []): readonly string[] => {
    const found = text.split(',').map((word) => word.trim());
    if (choices === undefined || found.every((word) => choices.includes(word))) return [...before, ...found];
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  };
}

function age(text: string): number {
  const ms = durationMs(text);
  if (ms !== null && ms > 0) return ms;
  throw new InvalidArgumentError('Give a duration such as 90d, 12h or P13W.');
}

function namedIn(env: CommandContext['env']): string | undefined {
  const named = env['HANDBILL_ENV'];
  return named === '' ? undefined : named;
}

/** `--limit` of `--limit <n>`, and of `-l, --limit <n>`. */
export function flagOf({ flag = '' }: OptionSpec): string {
  return /--[\w-]+/.exec(flag)?.[0] ?? '';
}

/** The flags of a table that the command line has, as it has them; empty where it has none. */
export function flagsGiven(command: Command, names: readonly string[]): string {
  const isGiven = (name: string): boolean => names.includes(name) && command.getOptionValueSource(name) === 'cli';
  return command.options
    .filter((option) => isGiven(option.attributeName()))
    .map(({ long }) => long)
    .join(', ');
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** `30s`; in ms. */
export function time(text: string): number {
  const ms = durationMs(text);
  if (ms === null) throw new InvalidArgumentError('Write it as 30s, 5m or 1h.');
  return ms;
}

/** An instant, or a time from now such as `+14d`; in ms since 1970. */
export function instant(text: string, now: () => number): number {
  const fromNow = text.startsWith('+') ? durationMs(text.slice(1)) : null;
  const ms = fromNow === null ? instantMs(text) : now() + fromNow;
  if (ms !== null) return ms;
  throw new InvalidArgumentError(
    'Write an instant with its offset, such as 2026-12-01T09:00:00Z, or a time from now: +14d.',
  );
}

function rate(text: string): number {
  const perSecond = ratePerSecond(text);
  if (perSecond === null) throw new InvalidArgumentError('Write it as 50/s, 600/min or 1000/h.');
  return perSecond;
}

export function addExamples(command: Command, examples: readonly (readonly [line: string, says: string])[]): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, says]) => `  ${line.padEnd(width)}  ${says}`.trimEnd());
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

export const STANDING = {
  standing: { flag: '--standing', says: 'for every occurrence until a day, whatever its list holds: needs no list' },
  until: { flag: '--until <day>', says: 'with --standing: the last day, in UTC, such as 2026-12-31' },
  environment: { flag: '--env <name>', says: 'with --standing: environment of handbill.yaml', kind: 'environment' },
  output: {
    flag: '-o, --output <file>',
    says: 'with --standing: write it here (default: where `send` and `due` find it)',
  },
} as const satisfies OptionTable;

export const SIGN = {
  flag: '--sign [key]',
  says: 'sign it with this SSH key, private or in ssh-agent (default: HANDBILL_SIGNING_KEY)',
} as const satisfies OptionSpec;

export function untilMissing(): Diagnostic {
  return problem('usage', 'A standing approval has a last day.', { hint: 'Add it: --until 2026-12-31' });
}

/** For `--host`: an empty name would be every address of this machine. */
export function hostName(text: string): string {
  if (/^[A-Za-z0-9.:_-]{1,253}$/.test(text)) return text;
  throw new InvalidArgumentError('Give a name or an address, such as 127.0.0.1.');
}

export function addFormat(command: Command, formats: readonly [string, ...string[]]): Command {
  return addOptions(command, { format: formatOption(formats) }, NOWHERE);
}

/** `--output`, and `--quiet` for the message about the file. */
export function addOutput(command: Command): Command {
  return addOptions(command, { output: OPTIONS.output, quiet: OPTIONS.quietOutput }, NOWHERE);
}

export function environmentOption({ env }: Pick<CommandContext, 'env'>, what = 'environment of handbill.yaml'): Option {
  return new Option('--env <name>', what).default(namedIn(env) ?? 'sandbox', 'HANDBILL_ENV, else sandbox');
}

/** `--env` of a command that takes the only environment where none is named. */
export function onlyEnvironmentOption({ env }: Pick<CommandContext, 'env'>, what: string): Option {
  return new Option('--env <name>', `${what} (default: HANDBILL_ENV, else the only one of handbill.yaml)`).default(
    namedIn(env),
    '',
  );
}

export function addLedger(command: Command): Command {
  return addOptions(command, { ledger: OPTIONS.ledger }, NOWHERE);
}

export function addLog(command: Command): Command {
  return addOptions(command, { log: OPTIONS.log, logLevel: OPTIONS.logLevel }, NOWHERE);
}

export function addMetricsFile(command: Command): Command {
  return addOptions(command, { metricsFile: OPTIONS.metricsFile }, NOWHERE);
}

export function addAllow(command: Command, codes?: readonly Allowable[]): Command {
  return addOptions(command, { allow: allowOption(codes) }, NOWHERE);
}

const NOWHERE = { env: {}, now: Date.now };
