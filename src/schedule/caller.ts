import { problem, refuse } from '../errors.ts';
import type { CronClock } from '../util/cron.ts';

/** What something outside of handbill has to know in order to call `handbill due` rightly. */
export interface Caller {
  /** Node and the script, by their absolute paths: what calls has no PATH worth the name. */
  readonly program: readonly string[];
  /** `due` and its arguments. */
  readonly args: readonly string[];
  /** Absolute path of the project's root, where it is called. */
  readonly root: string;
  readonly environment: string;
  readonly everyMinutes: EveryMinutes;
  /** The longest that one request may take: so long it takes to stop in good order. */
  readonly timeoutMs: number;
  /** Variables that hold secrets, by name. */
  readonly secrets: readonly string[];
  /** A file of lines `NAME=value`, absolute; null: none was named. */
  readonly envFile: string | null;
}

/** A file that was made, and where it belongs. */
export interface CallerFile {
  readonly name: string;
  readonly text: string;
}

export type EveryMinutes = 1 | 5;

/** Every campaign repeats its minutes within a day or so; what lies further apart has the same ones. */
const LOOKED_AT = 150;

/**
 * How often `due` has to be called so that every instant is met within its minute: every 5 minutes where all of them
 * lie on such, else every minute.
 */
export function everyMinutes(clocks: readonly CronClock[], fromMs: number): EveryMinutes {
  const isCoarse = clocks.every((clock) => {
    let at = clock.next(fromMs);
    for (let i = 0; i < LOOKED_AT && at !== null; i += 1) {
      if (at % FIVE_MINUTES_MS !== 0) return false;
      at = clock.next(at);
    }
    return true;
  });
  return isCoarse ? 5 : 1;
}

const FIVE_MINUTES_MS = 5 * 60_000;

/** Seconds that a stop in good order takes: the request in flight, and the ledger. */
export function stopSeconds(timeoutMs: number): number {
  return Math.ceil(timeoutMs / 1000) + 10;
}

/**
 * A path becomes part of a line that something else reads. What no quoting can carry there is refused.
 *
 * @throws HandbillError exit 2
 */
export function refuseUnquotable(words: readonly string[], what: string, pattern: RegExp): void {
  const found = words.find((word) => pattern.test(word));
  if (found === undefined) return;
  const hint = 'Give the file or folder another name.';
  throw refuse(problem('usage', `${what} cannot hold the path ${JSON.stringify(found)}.`, { hint }));
}

/** Line breaks and what terminals obey; no format here takes them, and no user means them. */
export const CONTROL = /\p{Cc}/u;

/** `production`: in names of units and jobs, which take little more than letters. */
export function jobName(environment: string): string {
  return `handbill-due-${environment}`;
}
