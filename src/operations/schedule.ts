import { type Upcoming, upcoming } from '../schedule/upcoming.ts';
import { readScheduled, type Unscheduled } from './schedule-campaigns.ts';

export interface ScheduleOptions {
  readonly cwd: string;
  readonly now: () => number;
  /** The instant from which on, ms since 1970; default: now. */
  readonly at?: number;
  /** How many occurrences of each campaign; 5. */
  readonly next?: number;
}

/** When one campaign goes out. */
export interface ScheduledTimes {
  readonly campaign: string;
  readonly file: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: 'catch-up' | 'skip';
  readonly next: readonly Upcoming[];
}

export interface ScheduleResult {
  readonly campaigns: readonly ScheduledTimes[];
  /** Those that speak of a schedule and cannot be read. */
  readonly refused: readonly Unscheduled[];
}

/**
 * When campaigns go out by themselves.
 *
 * @param paths - campaign files, folders or names; every `campaigns/**\/campaign.yaml` below `cwd` when empty
 * @throws HandbillError exit 2 where a path means nothing
 */
export async function schedule(paths: readonly string[], options: ScheduleOptions): Promise<ScheduleResult> {
  const fromMs = options.at ?? options.now();
  const { campaigns, refused } = await readScheduled(paths, { cwd: options.cwd, now: fromMs });
  const times = campaigns.map(({ campaign, schedule: { cron, timeZone, missed }, clock }) => {
    const { notAfterMs } = campaign.send;
    const next = upcoming(clock, timeZone, { fromMs, count: options.next ?? 5, notAfterMs });
    return { campaign: campaign.name, file: campaign.file, cron, timeZone, missed, next };
  });
  return { campaigns: times, refused };
}
