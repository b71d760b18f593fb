import process from 'node:process';
import { CODES, type Diagnostic, problem, refuse } from '../errors.ts';
import { ALLOWABLE, ALLOWABLE_CODES, type Allowable, NEVER_ALLOWED, RETRIES, type Retry } from '../model.ts';
import { didYouMean } from '../util/suggest.ts';
import { listWithAnd } from '../util/words.ts';

/** Where a function works, and by which clock. */
export interface ProjectOptions {
  /**
   * Folder that paths and names are relative to, and from which the project is looked for. Default: the
   * current folder of the process.
   */
  readonly cwd?: string;
  /**
   * Variables in which API keys, secrets, HANDBILL_LEDGER and what git and ssh need are looked for; nothing else of the
   * environment is. Default: those of the process.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Wall clock, in ms since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /**
   * Path of the ledger, relative to the root of the project, or the address of a shared one. Default: HANDBILL_LEDGER in `env`, else the
   * ledger of the project.
   */
  readonly ledger?: string;
}

/** Whether something may be done: yes, or a function that is asked with what is about to be done. */
export type Confirm<Question> = boolean | ((question: Question) => boolean | Promise<boolean>);

/** `ProjectOptions` with every default filled in. */
export interface ResolvedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly ledger?: string;
}

/** Fills in the defaults: the only place where the library reads from the process. */
export function resolveOptions({ cwd, env = process.env, now = Date.now, ledger }: ProjectOptions): ResolvedOptions {
  const path = ledger ?? env['HANDBILL_LEDGER'];
  const named = path === undefined || path === '' ? {} : { ledger: path };
  return { cwd: cwd ?? process.cwd(), env, now, ...named };
}

/** Options with the defaults of `ProjectOptions` filled in, and without what is undefined. */
export function withDefaults<T extends ProjectOptions>(options: T): T & ResolvedOptions {
  return { ...(present(options) as T), ...resolveOptions(options) };
}

/** An object without what is undefined. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves out what is undefined: programs in JavaScript, and in less strict TypeScript, write it for "not given". */
export function present<T extends object>(options: T): Present<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>;
}

/** A function that is asked, and says no where nothing was given. */
export function asker<Question>(confirm: Confirm<Question> | undefined): (question: Question) => Promise<boolean> {
  return async (question) => (typeof confirm === 'function' ? await confirm(question) : confirm === true);
}

/** Least and greatest value of a number, and whether it is whole. */
type Bounds = readonly [least: number, most: number, kind?: 'whole'];

/**
 * Checks numbers as the command line does; a value that is no number would else show as a run that never ends.
 *
 * @throws HandbillError exit 2 (`usage`) with everything that is out of bounds
 */
export function checkNumbers<T extends object>(options: T, bounds: { readonly [K in keyof T]?: Bounds }): void {
  const wrong: Diagnostic[] = [];
  for (const [name, [least, most, kind]] of Object.entries(bounds) as [string, Bounds][]) {
    const value: unknown = options[name as keyof T];
    if (value === undefined) continue;
    const isRight = typeof value === 'number' && value >= least && value <= most;
    if (isRight && (kind === undefined || Number.isInteger(value))) continue;
    const wanted = `${kind === 'whole' ? 'a whole number' : 'a number'} from ${least} to ${most}`;
    wrong.push(problem('usage', `The option "${name}" is ${String(value)}, not ${wanted}.`));
  }
  if (wrong.length > 0) throw refuse(...wrong);
}

/**
 * Checks what is to be allowed, and which recipients a start sends to again.
 *
 * @param takes - the codes that this operation can meet
 * @throws HandbillError exit 2 (`usage`) saying why a code cannot be allowed
 */
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
