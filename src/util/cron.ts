import { Cron } from 'croner';
import { createOffset } from './time.ts';

/** All instants are whole minutes, in ms since 1970. */
export interface CronClock {
  /** Null: there is none any more. */
  next(afterMs: number): number | null;
  /** At or before an instant; null: there was none. */
  latest(atMs: number): number | null;
}

type CronReading = { readonly clock: CronClock } | { readonly message: string; readonly hint: string };

/**
 * Reads 5 fields (minute, hour, day of month, month, day of week; also `L`, `W`, `#`, names, `@daily` and its like). Where
 * both days are restricted, either of them fires, as in every cron.
 *
 * DST: what names hours fires once for each local time. A repeated 01:30 does not count, and a single time in the gap moves
 * to the first minute after it (a time of a step, such as `*` `/30`, does not fire). Hour `*` fires in every hour that passes.
 */
export function readCron(expression: string, timeZone: string): CronReading {
  // A command reads the schedule of a campaign several times, and many campaigns have the same one.
  const name = `${timeZone} ${expression}`;
  const reading = READ.get(name) ?? readAnew(expression, timeZone);
  READ.set(name, reading);
  return reading;
}

const READ = new Map<string, CronReading>();

function readAnew(expression: string, timeZone: string): CronReading {
  const fields = expression.trim().split(/\s+/);
  const shape = shapeProblem(expression, fields);
  if (shape !== null) return shape;
  let cron: Cron;
  try {
    cron = new Cron(expression, { timezone: timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
  } catch (error) {
    const said =
      error instanceof Error ? error.message.replace(/^CronPattern: (?:Syntax error, )?/, '') : String(error);
    return { message: `"${expression}" is not a cron expression: ${said}`, hint: EXAMPLE };
  }
  if (cron.nextRun(new Date(ANY_MS)) === null) {
    const message = `"${expression}" never fires: there is no such date.`;
    return { message, hint: 'For the last day of each month, write L: 0 9 L * *' };
  }
  const everyHour = /[*?]/.test(fields[1] ?? '') || fields[0] === '@hourly';
  const isRepeat = everyHour ? () => false : repeatIn(timeZone);
  return { clock: clockOf(cron, isRepeat) };
}

function clockOf(cron: Cron, isRepeat: (ms: number) => boolean): CronClock {
  const findNext = (afterMs: number): number | null => {
    for (let at: number | null = afterMs; ; ) {
      at = cron.nextRun(new Date(at))?.getTime() ?? null;
      if (at === null || !isRepeat(at)) return at;
    }
  };
  const findLatest = (atMs: number): number | null => {
    // A time in the very second of the reference counts only when the reference is later within it.
    for (let at = atMs + 1; ; ) {
      const found = cron.previousRuns(1, new Date(at))[0]?.getTime();
      if (found === undefined) return null;
      if (!isRepeat(found)) return found;
      at = found;
    }
  };
  // No instant is between the two. Campaigns with one schedule ask about nearly the same moment, one after the other.
  let gap: { fromMs: number; readonly toMs: number; latestMs?: number | null } = { fromMs: 0, toMs: 0 };
  const isInGap = (ms: number): boolean => ms >= gap.fromMs && ms < gap.toMs;
  return {
    next(afterMs) {
      if (isInGap(afterMs)) return gap.toMs;
      const next = findNext(afterMs);
      gap = { fromMs: afterMs, toMs: next ?? afterMs };
      return next;
    },
    latest(atMs) {
      if (!isInGap(atMs)) return findLatest(atMs);
      gap.latestMs ??= findLatest(atMs);
      gap.fromMs = gap.latestMs ?? gap.fromMs;
      return gap.latestMs;
    },
  };
}

function shapeProblem(expression: string, fields: readonly string[]): { message: string; hint: string } | null {
  if (/^@/.test(expression.trim())) {
    if (NICKNAMES.test(expression.trim())) return null;
    return { message: `"${expression}" is not a time that repeats.`, hint: `Write one of ${NAMED}, or 5 fields.` };
  }
  if (fields.length === 6) {
    const hint = `Leave out the seconds: ${fields.slice(1).join(' ')}`;
    return { message: `"${expression}" has 6 fields: seconds are finer than a schedule can be.`, hint };
  }
  if (fields.length === 5) return null;
  const count = expression.trim() === '' ? 0 : fields.length;
  return { message: `"${expression}" has ${count} of the 5 fields of a cron expression.`, hint: EXAMPLE };
}

/** Whether an instant is the second of two with the same local time. Takes 25 us; loading Temporal takes 27 ms. */
function repeatIn(timeZone: string): (ms: number) => boolean {
  const offsetMs = createOffset(timeZone);
  return (ms) => {
    const before = offsetMs(ms - LONGEST_OVERLAP_MS);
    const overlap = before - offsetMs(ms);
    return overlap > 0 && offsetMs(ms - overlap) === before;
  };
}

/** Clocks have gone back by 20 minutes to 3 hours; nearly everywhere it is one hour. */
const LONGEST_OVERLAP_MS = 3 * 3_600_000;
/** Any instant will do: years are not part of an expression. */
const ANY_MS = Date.UTC(2024, 0, 1);
const NICKNAMES = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;
const NAMED = '@hourly, @daily, @weekly, @monthly, @yearly';
const EXAMPLE = 'For example, at 09:00 from Monday to Friday: 0 9 * * 1-5';
