import type { CronClock } from '../util/cron.ts';
import { occurrenceAt } from './occurrence.ts';

/** An occurrence to come. */
export interface Upcoming {
  readonly occurrence: string;
  /** As the clock on the wall shows it in the zone of the schedule: `Mon 23 Nov 2026, 09:00 GMT`. */
  readonly local: string;
}

/** The next occurrences of a schedule after an instant; none after `notAfterMs`. */
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
