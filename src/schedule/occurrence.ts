import { problem, refuse } from '../errors.ts';
import type { Campaign, Schedule } from '../model.ts';
import type { CronClock } from '../util/cron.ts';
import { instantMs } from '../util/units.ts';

/** H5, CONTRACT "Late": what was not begun by then is not begun by itself any more. */
export const LATE_MS = 24 * 3_600_000;

/** The occurrence of a campaign without a schedule. */
const ONCE = 'once';

/** The name of the occurrence of a scheduled instant, which is a whole second: `2026-11-21T09:00:00Z`. */
export function occurrenceAt(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The instant of an occurrence that is one, in ms since 1970; null for any other name. */
export function instantOf(occurrence: string): number | null {
  const ms = instantMs(occurrence);
  return ms !== null && occurrenceAt(ms) === occurrence ? ms : null;
}

/** The instants of a schedule. The reader of cron expressions is loaded only for those who have one. */
export async function clockOf(schedule: Schedule): Promise<CronClock> {
  const { readCron } = await import('../util/cron.ts');
  const reading = readCron(schedule.cron, schedule.timeZone);
  if ('message' in reading) throw new Error(reading.message);
  return reading.clock;
}

/**
 * The occurrence that is meant: as it was named; else, with a schedule, the latest instant that is due; else `once`.
 * An instant is one occurrence however it is spelt, so that `09:00+00:00` is not sent beside `09:00Z`.
 */
export async function occurrenceFor(
  { schedule }: Pick<Campaign, 'schedule'>,
  named: string | undefined,
  nowMs: number,
): Promise<string> {
  if (schedule === null) return named ?? ONCE;
  if (named !== undefined) {
    const ms = instantMs(named);
    return ms === null || ms % 1000 !== 0 ? named : occurrenceAt(ms);
  }
  const latest = (await clockOf(schedule)).latest(nowMs);
  return latest === null ? ONCE : occurrenceAt(latest);
}

/**
 * As `occurrenceFor`, for those who only look (`preview`, `plan`): where send would refuse the latest instant because it
 * is over, the next one is meant.
 */
export async function occurrenceToShow(
  campaign: Pick<Campaign, 'schedule'>,
  named: string | undefined,
  nowMs: number,
): Promise<string> {
  const due = await occurrenceFor(campaign, named, nowMs);
  if (named !== undefined || campaign.schedule === null || !isOver(due, nowMs)) return due;
  const next = (await clockOf(campaign.schedule)).next(nowMs);
  return next === null ? due : occurrenceAt(next);
}

/** A scheduled instant that lies so far back that it is not begun any more. */
export function isOver(occurrence: string, nowMs: number): boolean {
  const ms = instantOf(occurrence);
  return ms !== null && nowMs - ms > LATE_MS;
}

/**
 * H5: an instant of long ago is not begun without being told to. It may have been sent, by a ledger that is gone.
 *
 * @throws HandbillError exit 2
 */
export async function refuseOver(
  { file, schedule }: Pick<Campaign, 'file' | 'schedule'>,
  occurrence: string,
  nowMs: number,
): Promise<void> {
  if (schedule === null || !isOver(occurrence, nowMs)) return;
  const next = (await clockOf(schedule)).next(nowMs);
  const later = next === null ? '' : ` The next one is ${occurrenceAt(next)}.`;
  throw refuse(
    problem('too-late', `The scheduled instant ${occurrence} is more than 24 hours ago.${later}`, {
      at: { file },
      hint: 'Add --late to send it all the same, or name another occurrence, such as --occurrence trial.',
    }),
  );
}
