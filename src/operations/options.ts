import process from 'node:process';
import { CODES, type Diagnostic, type HandbillError, problem, refuse } from '../errors.ts';
import {
  ALLOWABLE,
  ALLOWABLE_CODES,
  type Allowable,
  type AssumedShares,
  NEVER_ALLOWED,
  RETRIES,
  type Retry,
} from '../model.ts';
import { didYouMean } from '../util/suggest.ts';
import { listWithAnd } from '../util/words.ts';

/** Folder, variables, clock and ledger of a function. */
export interface ProjectOptions {
  /** Base of relative paths; the search for the project starts here. Default: the current folder. */
  readonly cwd?: string;
  /**
   * API keys, secrets, HANDBILL_LEDGER, and variables of git and ssh; no others are read. Default: those of the
   * process.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Wall clock, in ms since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /**
   * Path below the project's root, or address of a shared ledger. Default: HANDBILL_LEDGER in `env`, else the
   * project's.
   */
  readonly ledger?: string | undefined;
}

/** Yes, or a function that gets the question. */
export type Confirm<Question> = boolean | ((question: Question) => boolean | Promise<boolean>);

/** `ProjectOptions` with every default filled in. */
export type ResolvedOptions = Required<Omit<ProjectOptions, 'ledger'>> & Pick<ProjectOptions, 'ledger'>;

/** Fills in the defaults: the only place where the library reads from the process. */
export function resolveOptions(options: ProjectOptions): ResolvedOptions {
  const { cwd = process.cwd(), env = process.env, now = Date.now, ledger } = options;
  return { cwd, env, now, ledger: (ledger ?? env['HANDBILL_LEDGER']) || undefined };
}

/**
 * Options with the defaults of `ProjectOptions` filled in, and without what is undefined.
 * @throws HandbillError exit 2: one is out of its bounds in `table`
 */
export function withDefaults<T extends ProjectOptions>(options: T, table: Bounded = {}): T & ResolvedOptions {
  checkNumbers(options, table);
  return { ...(present(options) as T), ...resolveOptions(options) };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves out what is undefined: programs in JavaScript, and in less strict TypeScript, write it for "not given". */
export function present<T extends object>(options: T): Present<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>;
}

export function asker<Question>(confirm: Confirm<Question> | undefined): (question: Question) => Promise<boolean> {
  return async (question) => (typeof confirm === 'function' ? await confirm(question) : confirm === true);
}

/** @throws HandbillError exit 2 (`not-confirmed`) where the answer is no; `what` says what was not done */
export async function requireYes<Question>(
  confirm: Confirm<Question> | undefined,
  question: Question,
  what: string,
  more = '',
): Promise<void> {
  if (!(await asker(confirm)(question))) throw notConfirmed(what, more);
}

export function notConfirmed(what: string, more = ''): HandbillError {
  const hint = `Without a terminal, add --yes.${more}`;
  return refuse(problem('not-confirmed', `${what}: it was not confirmed.`, { hint }));
}

type Bounds = readonly [least: number, most: number, kind?: 'whole'];

/** Defines the flag, parsing, checks, help, library type and docs of an option. */
export interface OptionSpec {
  /** As commander writes it: `--limit <n>`. Absent: programs alone have it. */
  readonly flag?: string;
  /** The sentence for help and docs. What holds without the option may end it: `(default: ...)`. */
  readonly says: string;
  /** How the value is written on the command line: the end of the sentence in help. */
  readonly inHelp?: string;
  readonly more?: string;
  /** The default, where the sentence does not have it. */
  readonly without?: string;
  /** How the value is parsed. Default: by `choices` and `range`, else text. */
  readonly kind?: keyof OptionKinds;
  readonly range?: Bounds;
  readonly choices?: readonly string[];
  /** The value of a command line that does not have the flag. */
  readonly preset?: string | number;
  readonly required?: true;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** The type in programs for each kind. */
interface OptionKinds {
  /** In ms. */
  readonly duration: number;
  /** In ms, and more than none. */
  readonly age: number;
  /** In ms since 1970. */
  readonly instant: number;
  /** In ms since 1970, or a day of the project's zone such as `2026-12-01`. */
  readonly day: number | string;
  /** Per second. */
  readonly rate: number;
  readonly codes: readonly Allowable[];
  readonly host: string;
  /** From 0 to 1; on the command line in per cent. */
  readonly share: number;
  /** From 0 to 1; on the command line `delivered=95%,replied=3%`. */
  readonly shares: Partial<AssumedShares>;
  /** In ms, several with commas. */
  readonly waits: number;
  /** Words of `choices`, several with commas. */
  readonly words: never;
  /** HANDBILL_ENV is its default, then the sandbox. */
  readonly environment: string;
  /** HANDBILL_ENV is its default, then the only one of the project. */
  readonly 'only-environment': string;
}

type WordOf<S> = S extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : S extends { readonly kind: infer Kind extends keyof OptionKinds }
    ? OptionKinds[Kind]
    : S extends { readonly range: unknown }
      ? number
      : string;

type ValueOf<S> = S extends { readonly flag: infer Flag }
  ? Flag extends `${string}...>`
    ? readonly WordOf<S>[]
    : Flag extends `${string}...]`
      ? readonly WordOf<S>[] | true
      : Flag extends `${string}[${string}`
        ? WordOf<S> | true
        : Flag extends `${string}<${string}`
          ? WordOf<S>
          : boolean
  : WordOf<S>;

/** The options of a table as a program gives them. */
export type OptionsOf<T> = {
  readonly [Name in keyof T as T[Name] extends { readonly required: true } ? Name : never]: ValueOf<T[Name]>;
} & {
  readonly [Name in keyof T as T[Name] extends { readonly required: true } ? never : Name]?: ValueOf<T[Name]>;
};

/** The options of a table as a command gets them. */
export type FlagsOf<T> = {
  readonly [Name in keyof T as T[Name] extends Given ? Name : never]: ValueOf<T[Name]>;
} & {
  readonly [Name in keyof T as T[Name] extends Given | { readonly flag?: never } ? never : Name]?: ValueOf<T[Name]>;
};

type Given = { readonly preset: unknown } | { readonly required: true } | { readonly kind: 'environment' };

export const OPTIONS = {
  environment: {
    flag: '--env <name>',
    says: 'environment of handbill.yaml',
    kind: 'environment',
    without: '`sandbox`',
  },
  occurrence: {
    flag: '--occurrence <name>',
    says: 'which time this campaign goes out (default: the instant that is due, else once)',
  },
  recipients: {
    flag: '--recipients <file>',
    says: 'take the list from here, inside or outside the project',
    inHelp: '; - is standard input',
    more: 'A path is relative to `cwd`.',
    without: 'the list of the campaign',
  },
  ledger: {
    flag: '--ledger <place>',
    says: 'the ledger to use: a file, relative to the project, or postgres://... (default: HANDBILL_LEDGER, else that of the project)',
  },
  output: { flag: '-o, --output <file>', says: 'write to this file, whole or not at all' },
  quietOutput: { flag: '-q, --quiet', says: 'print nothing about a file that was written' },
  quiet: { flag: '-q, --quiet', says: 'print nothing when all is well' },
  days: {
    flag: '--days <n>',
    says: 'how many days to play, each until midnight in the time zone of the project',
    range: [1, 92, 'whole'],
  },
  by: { flag: '--by <name>', says: 'who does it (default: user@host)' },
  yes: { flag: '--yes', says: 'send without asking' },
  log: {
    flag: '--log <file>',
    says: 'append what happens as JSON lines; - is stderr (default: HANDBILL_LOG, else none)',
  },
  logLevel: {
    flag: '--log-level <level>',
    says: 'debug adds a line for each attempt',
    choices: ['info', 'debug'],
    preset: 'info',
  },
  metricsFile: {
    flag: '--metrics-file <file>',
    says: 'write figures for Prometheus at the end (default: HANDBILL_METRICS_FILE, else none)',
  },
} as const satisfies OptionTable;

export const LOGGING = { log: OPTIONS.log, logLevel: OPTIONS.logLevel } as const;

/** `--output`, and `--quiet` for the message about the file. */
export const WRITING = { output: OPTIONS.output, quiet: OPTIONS.quietOutput } as const;

/** The first format is the default. */
export function formatOption<const Formats extends readonly [string, ...string[]]>(formats: Formats) {
  const says = `how to print: ${formats.join(', ')}`;
  return { flag: '--format <format>', says, choices: formats, preset: formats[0] } as const;
}

/** `--allow`, which may be given several times; the operation checks the codes. */
export function allowOption(codes: readonly Allowable[] = ALLOWABLE_CODES) {
  return {
    flag: '--allow <code>',
    says: 'go on although handbill refuses, by the code of the refusal',
    inHelp: `; several with commas: ${codes.join(', ')}`,
    kind: 'codes',
    without: 'nothing',
  } as const;
}

type Bounded = Readonly<Record<string, Partial<OptionSpec>>>;

/** As the command line does: a value that is no number would show as an endless run. Throws exit 2 (`usage`). */
export function checkNumbers(options: object, table: Bounded): void {
  const wrong = Object.entries(table).flatMap(([name, { range }]) => {
    const value: unknown = (options as Readonly<Record<string, unknown>>)[name];
    if (range === undefined || value === undefined) return [];
    const [least, most, kind] = range;
    const isRight = typeof value === 'number' && value >= least && value <= most;
    if (isRight && (kind === undefined || Number.isInteger(value))) return [];
    const wanted = `${kind === 'whole' ? 'a whole number' : 'a number'} from ${least} to ${most}`;
    return [problem('usage', `The option "${name}" is ${String(value)}, not ${wanted}.`)];
  });
  if (wrong.length > 0) throw refuse(...wrong);
}

/** Checks `allow`, for an operation that meets the codes `takes`, and `retry`. Throws exit 2 (`usage`). */
export function checkAllow(
  { allow = [], retry }: { readonly allow?: readonly Allowable[] | undefined; readonly retry?: Retry | undefined },
  takes: readonly Allowable[] = ALLOWABLE_CODES,
): void {
  const wrong = allow.flatMap((code: string) => notAllowable(code, takes) ?? []);
  if (retry !== undefined && !RETRIES.includes(retry)) {
    wrong.push(problem('usage', `"${retry}" cannot be tried again.`, { hint: `Write one of ${RETRIES.join(', ')}.` }));
  }
  if (wrong.length > 0) throw refuse(...wrong);
}

/** Why a code cannot be allowed here; null: it can. */
function notAllowable(code: string, takes: readonly string[]): Diagnostic | null {
  if (takes.includes(code)) return null;
  const hint = `It can be ${listWithAnd(takes)}.`;
  if (Object.hasOwn(ALLOWABLE, code)) {
    return problem('usage', `"${code}" cannot be allowed here, because nothing here is refused for it.`, { hint });
  }
  if (!Object.hasOwn(CODES, code)) {
    return problem('usage', `"${code}" is not a code that can be allowed.`, { hint, ...didYouMean(code, takes) });
  }
  const why = Object.hasOwn(NEVER_ALLOWED, code)
    ? NEVER_ALLOWED[code as keyof typeof NEVER_ALLOWED]
    : 'Its cause has to be corrected.';
  return problem('usage', `"${code}" can never be allowed. ${why}`, { hint: `What to do: handbill help ${code}` });
}

/** Bounds of instants: what a date can be, in ms since 1970. */
export const INSTANT: Bounds = [-8.64e15, 8.64e15];

/** Bounds of TCP ports; 0 takes a free one. */
export const PORT: Bounds = [0, 65_535, 'whole'];
