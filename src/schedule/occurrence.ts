import { type Diagnostic, problem, refuse, warning } from '../errors.ts';
import { ALLOWABLE, type Campaign, type Schedule } from '../model.ts';
import type { CronClock } from '../util/cron.ts';
import { isTest, lookalikeIn, occurrenceAt, readOccurrence } from '../util/occurrence-name.ts';
import { instantMs } from '../util/time.ts';

export { occurrenceAt };

/** A run that has not begun by then is not begun automatically (failures.md, H5). */
export const LATE_MS = 24 * 3_600_000;
/** The occurrence of a campaign without a schedule. */
export const ONCE = 'once';

/** In ms since 1970; null for any other name. */
export function instantOf(occurrence: string): number | null {
  const ms = instantMs(occurrence);
  return ms !== null && occurrenceAt(ms) === occurrence ? ms : null;
}

/** Loads the reader of cron expressions only for a schedule that has one. */
export async function clockOf({ cron, at, timeZone }: Pick<Schedule, 'cron' | 'at' | 'timeZone'>): Promise<CronClock> {
  if (at !== null) {
    return { next: (ms) => (at.ms > ms ? at.ms : null), latest: (ms) => (at.ms <= ms ? at.ms : null) };
  }
  const { readCron } = await import('../util/cron.ts');
  const reading = readCron(cron ?? '', timeZone);
  if ('message' in reading) throw new Error(reading.message);
  return reading.clock;
}

export function whenText({ cron, at }: Pick<Schedule, 'cron' | 'at'>): string {
  return at?.written ?? cron ?? '';
}

/** `3d after welcome`; null for other campaigns. */
export function followUpText(after: Campaign['after']): string | null {
  return after === null ? null : `${after.wait.written} after ${after.campaign}`;
}

interface OccurrenceAsked {
  /** As `--occurrence` says it. */
  readonly named: string | undefined;
  readonly nowMs: number;
  /** The occurrences of this campaign and environment that the ledger holds. */
  readonly used: readonly string[];
  /** For commands that send nothing: where `send` would refuse the latest instant because it is over, the next one. */
  readonly toShow?: boolean;
}

/**
 * As named; else, with a schedule, the latest instant that is due; else `once`. An instant is one occurrence in any spelling.
 *
 * @throws HandbillError (exit 2): the name looks like a date, a time or a number, and cannot be read
 */
export async function occurrenceFor(
  campaign: Pick<Campaign, 'schedule' | 'timeZone'>,
  { named, nowMs, used, toShow = false }: OccurrenceAsked,
): Promise<{ readonly occurrence: string; readonly warnings: readonly Diagnostic[] }> {
  if (named === undefined) {
    return { occurrence: await occurrenceNow(campaign, nowMs, toShow), warnings: [] };
  }
  const { schedule, timeZone } = campaign;
  const rules = { timeZone: schedule?.timeZone ?? timeZone, scheduled: schedule !== null };
  const read = readOccurrence(named, rules);
  if ('message' in read) {
    // A run from before the campaign had a schedule. With its list, a test would no longer be a test.
    if (used.includes(named) && !isTest(named)) return { occurrence: named, warnings: [] };
    throw refuse(problem('usage', read.message, { hint: read.hint }));
  }
  const { occurrence } = read;
  const similar = lookalikeIn(used, occurrence);
  if (similar === null) return { occurrence, warnings: [] };
  const message = `The occurrence "${occurrence}" is a new one: it differs from "${similar}" only in case or width.`;
  const hint = `If you mean the one that was sent before, write --occurrence ${JSON.stringify(similar)}.`;
  return { occurrence, warnings: [warning('occurrence-similar', message, { hint })] };
}

async function occurrenceNow({ schedule }: Pick<Campaign, 'schedule'>, nowMs: number, toShow: boolean) {
  if (schedule === null) return ONCE;
  const clock = await clockOf(schedule);
  // Before its only time a campaign means that one too: sent by hand, it does not go out again by itself.
  const latest = clock.latest(nowMs) ?? clock.next(nowMs);
  const due = latest === null ? ONCE : occurrenceAt(latest);
  if (!toShow || !isOver(due, nowMs)) return due;
  const next = clock.next(nowMs);
  return next === null ? due : occurrenceAt(next);
}

function isOver(occurrence: string, nowMs: number): boolean {
  const ms = instantOf(occurrence);
  return ms !== null && nowMs - ms > LATE_MS;
}

/** Its instant is long ago, and a lost ledger may have sent it (failures.md, H5). Null: it may begin. */
export async function overRefusal(
  { file, schedule }: Pick<Campaign, 'file' | 'schedule'>,
  occurrence: string,
  nowMs: number,
): Promise<Diagnostic | null> {
  if (schedule === null || !isOver(occurrence, nowMs)) return null;
  const next = (await clockOf(schedule)).next(nowMs);
  const later = next === null ? '' : ` The next one is ${occurrenceAt(next)}.`;
  return problem('too-late', `The scheduled instant ${occurrence} is more than 24 hours ago.${later}`, {
    at: { file },
    hint: `Name another occurrence, such as --occurrence trial. Or: ${ALLOWABLE['too-late']}`,
  });
}

interface Upcoming {
  readonly occurrence: string;
  /** In the zone of the schedule: `Mon 23 Nov 2026, 09:00 GMT`. */
  readonly local: string;
}

/** None after `notAfterMs`. */
export function upcoming(
  clock: CronClock,
  timeZone: string,
  {
    fromMs,
    count,
    notAfterMs,
  }: { readonly fromMs: number; readonly count: number; readonly notAfterMs: number | null },
): readonly Upcoming[] {
  const wall = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  const found: Upcoming[] = [];
  for (let at = clock.next(fromMs); at !== null && found.length < count; at = clock.next(at)) {
    if (notAfterMs !== null && at > notAfterMs) break;
    found.push({ occurrence: occurrenceAt(at), local: wall.format(at) });
  }
  return found;
}
