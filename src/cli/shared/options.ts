import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Diagnostic, problem } from '../../errors.ts';
import type { AssumedShares } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { FlagsOf, OptionSpec, OptionTable, ResolvedOptions } from '../../operations/options.ts';
import { instantMs } from '../../util/time.ts';
import { durationMs, ratePerSecond, share } from '../../util/units.ts';
import { listWithOr } from '../../util/words.ts';

/** The options of a table as a command gets them, with folder, variables and clock for the function that it calls. */
export type Flags<T> = FlagsOf<T> & Pick<ResolvedOptions, 'cwd' | 'env' | 'now'>;

/** The options of a table; values are parsed, and have the names of the table. */
export function addOptions(
  command: Command,
  table: OptionTable,
  context: Pick<CommandContext, 'env' | 'now'>,
  group = 'Options:',
) {
  for (const [name, { flag, says, inHelp = '', kind, range, choices, preset, required = false }] of Object.entries(
    table,
  )) {
    if (flag === undefined) continue;
    const option = new Option(flag, `${says}${inHelp}`).makeOptionMandatory(required).helpGroup(group);
    option.attributeName = () => name;
    if (kind === 'environment') option.default(namedIn(context.env) ?? 'sandbox', 'HANDBILL_ENV, else sandbox');
    else if (kind === 'only-environment') option.default(namedIn(context.env), '');
    else if (kind === 'codes' || kind === 'words') option.argParser(words(choices));
    else if (choices !== undefined) option.choices(choices);
    else if (kind !== undefined || range !== undefined) {
      const [least = 0, most = 0] = range ?? [];
      const parse =
        kind === undefined ? wholeNumber(least, most) : kind === 'duration' ? duration(least, most) : PARSERS[kind];
      option.argParser<unknown>((text, before) => {
        const value = parse(text, context.now);
        return option.variadic ? [...((before as readonly unknown[] | undefined) ?? []), value] : value;
      });
    }
    if (preset !== undefined) option.default(preset, String(preset));
    command.addOption(option);
  }
  return command;
}

const PARSERS = {
  age: parser((text) => durationMs(text) || null, 'Give a duration such as 90d, 12h or P13W.'),
  instant,
  day: (text: string, now: () => number) =>
    /^[0-9-]*$/.test(text) ? text : instant(text, now, 'a day such as 2026-12-01, '),
  rate: parser(ratePerSecond, 'Write it as 50/s, 600/min or 1000/h.'),
  share: parser(share, 'Give a share from 0% to 100%, such as 2.5%.'),
  shares: assumedShares,
  waits: (text: string) => (text === 'none' ? [] : text.split(',').map((one) => wholeNumber(0, A_DAY_MS)(one.trim()))),
  // An empty name would be every address of this machine.
  host: parser(
    (text) => (/^[A-Za-z0-9.:_-]{1,253}$/.test(text) ? text : null),
    'Give a name or an address, such as 127.0.0.1.',
  ),
};

const A_DAY_MS = 86_400_000;

function parser<T>(parse: (text: string) => T | null, hint: string): (text: string) => T {
  return (text) => {
    const value = parse(text);
    if (value === null) throw new InvalidArgumentError(hint);
    return value;
  };
}

const SHARES = { delivered: 'delivered', replied: 'replied', 'opted-out': 'optedOut' } as const;

/** `delivered=95%,replied=3%` */
function assumedShares(text: string): Partial<AssumedShares> {
  const shares = new Map<string, number>();
  for (const one of text.split(',')) {
    const [word = '', part = ''] = one.split('=').map((piece) => piece.trim());
    const value = share(part);
    if (!isShare(word)) {
      throw new InvalidArgumentError(
        `"${one.trim()}" is none of ${Object.keys(SHARES).join(', ')}: write delivered=95%,replied=3%.`,
      );
    }
    if (value === null) throw new InvalidArgumentError(`"${word}" takes a share from 0% to 100%, such as ${word}=95%.`);
    if (shares.has(SHARES[word])) throw new InvalidArgumentError(`"${word}" is there twice.`);
    shares.set(SHARES[word], value);
  }
  return Object.fromEntries(shares);
}

function isShare(word: string): word is keyof typeof SHARES {
  return Object.hasOwn(SHARES, word);
}

function duration(leastMs: number, mostMs: number): (text: string) => number {
  if (mostMs === 0 || mostMs > A_DAY_MS) return parser(durationMs, 'Write it as 30s, 5m or 1h.');
  const read = (text: string): number | null => {
    const ms = durationMs(text);
    return ms === null || ms < leastMs || ms > mostMs ? null : ms;
  };
  return parser(read, `Write a time from ${leastMs / 60_000}m to ${mostMs / 3_600_000}h, such as 5m or 1h.`);
}

function words(choices: readonly string[] | undefined) {
  return (text: string, before: readonly string[] = []): readonly string[] => {
    const found = text.split(',').map((word) => word.trim());
    if (choices === undefined || found.every((word) => choices.includes(word))) return [...before, ...found];
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  };
}

function namedIn(env: CommandContext['env']): string | undefined {
  const named = env['HANDBILL_ENV'];
  return named === '' ? undefined : named;
}

/** `--limit` of `--limit <n>`, and of `-l, --limit <n>`. */
export function flagOf({ flag = '' }: OptionSpec): string {
  return /--[\w-]+/.exec(flag)?.[0] ?? '';
}

/** For which formats an option is, by its name, where it is not for all. */
export type FormatsOf<T> = { readonly [Name in keyof T]?: readonly string[] };

/** The given options that the format would ignore, as errors: who names a ledger or a file relies on it. */
export function idleOptions<T extends OptionTable>(
  given: Readonly<Record<string, unknown>> & { readonly format: string },
  table: T,
  formatsOf: FormatsOf<T>,
): readonly Diagnostic[] {
  return Object.entries<readonly string[] | undefined>(formatsOf).flatMap(([name, formats = []]) => {
    const option = table[name];
    if (option === undefined || given[name] === undefined || formats.includes(given.format)) return [];
    const hint = `It is for --format ${listWithOr(formats)}.`;
    return [problem('usage', `${flagOf(option)} is not for --format ${given.format}.`, { hint })];
  });
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
  const read = (text: string): number | null => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : null;
  };
  return parser(read, `Give a whole number from ${least} to ${most}.`);
}

/** An instant, or a time from now such as `+14d`; in ms since 1970. `also`: what else the option takes. */
export function instant(text: string, now: () => number, also = ''): number {
  const fromNow = text.startsWith('+') ? durationMs(text.slice(1)) : null;
  const ms = fromNow === null ? instantMs(text) : now() + fromNow;
  if (ms !== null) return ms;
  throw new InvalidArgumentError(
    `Write ${also}an instant with its offset, such as 2026-12-01T09:00:00Z, or a time from now: +14d.`,
  );
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
