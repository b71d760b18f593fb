import { createRequire } from 'node:module';
import type { Budget } from '../model.ts';
import { onDemand } from '../util/on-demand.ts';

/** Loading takes some 40 ms, and few campaigns have a budget or a cap of the calendar. */
const library = onDemand(
  () => createRequire(import.meta.url)('temporal-polyfill') as typeof import('temporal-polyfill'),
);

/** The day, week or month of a moment, by the calendar of a time zone; weeks begin on Monday. */
export function periodAt(per: Budget['per'], ms: number, timeZone: string) {
  const { Temporal } = library();
  const day = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = per === 'day' ? day : per === 'week' ? day.subtract({ days: day.dayOfWeek - 1 }) : day.with({ day: 1 });
  const next = first.add({ [`${per}s`]: 1 });
  // A week belongs to the year of its Thursday, as ISO 8601 counts.
  const week = `${first.yearOfWeek}-W${String(first.weekOfYear).padStart(2, '0')}`;
  return {
    /** `2026-11`, `2026-W48`, `2026-11-25`. */
    name: per === 'week' ? week : per === 'month' ? first.toPlainYearMonth().toString() : first.toString(),
    // Midnight, or the moment at which the clocks jump over it.
    beginsMs: first.toZonedDateTime(timeZone).epochMilliseconds,
    /** The first day of the next one: `2026-12-01`. */
    next: next.toString(),
    endsMs: next.toZonedDateTime(timeZone).epochMilliseconds,
  };
}
