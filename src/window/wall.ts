import { Temporal } from 'temporal-polyfill';

/*
 * Wall time and instants. A day can lack an hour, have one twice, or be missing altogether; what a window means then is
 * decided here and nowhere else.
 */

const DAY_MINUTES = 1440;

/** The calendar day in a zone at an instant. */
export function dayOf(ms: number, zone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate();
}

/** When a window begins that opens at this wall time: a time that is missing moves forward, of two it is the first. */
export function beginOf(day: Temporal.PlainDate, minute: number, zone: string): number {
  return wall(day, minute).toZonedDateTime(zone).epochMilliseconds;
}

/**
 * When a window ends that closes at this wall time: the first of two, and where it is missing the moment at which the
 * clocks jump over it. From there on no clock shows a time before it.
 */
export function endOf(day: Temporal.PlainDate, minute: number, zone: string): number {
  const written = wall(day, minute);
  const zoned = written.toZonedDateTime(zone, { disambiguation: 'earlier' });
  if (zoned.toPlainDateTime().equals(written)) return zoned.epochMilliseconds;
  return (zoned.getTimeZoneTransition('next') ?? zoned).epochMilliseconds;
}

function wall(day: Temporal.PlainDate, minute: number): Temporal.PlainDateTime {
  const on = minute < DAY_MINUTES ? day : day.add({ days: 1 });
  const inDay = minute % DAY_MINUTES;
  return on.toPlainDateTime({ hour: Math.floor(inDay / 60), minute: inDay % 60 });
}

/** `2026-11-23 09:00`, as a clock in the zone shows it. */
export function wallText(ms: number, zone: string): string {
  const shown = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();
  return shown.toString({ smallestUnit: 'minute' }).replace('T', ' ');
}
