import { Temporal } from 'temporal-polyfill';
import { readMoment } from './time.ts';

/*
 * Times of day as a clock on the wall shows them. In a separate file, because loading Temporal takes 27 ms.
 */

/**
 * When a clock in the zone shows this time: of two, the first; where the clocks jump over it, the moment at which they
 * do.
 */
export function firstAt(wall: Temporal.PlainDateTime, timeZone: string): number {
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.epochMilliseconds;
  return (zoned.getTimeZoneTransition('next') ?? zoned).epochMilliseconds;
}

/** The time that a clock in the zone shows at an instant, as the milliseconds since 1970 at which a clock in UTC shows the same. */
export function wallMs(ms: number, timeZone: string): number {
  return ms + Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e6;
}

/** The other way round, as `firstAt`. */
export function instantOfWall(ms: number, timeZone: string): number {
  const wall = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('UTC').toPlainDateTime();
  return firstAt(wall, timeZone);
}

/**
 * The instant of a date and a time: as it is written with `Z` or an offset, else on a clock in the zone, to the second.
 * Null for any other text.
 */
export function instantIn(text: string, timeZone: string): number | null {
  const moment = readMoment(text);
  if (moment === null || moment.kind === 'date' || moment.ms % 1000 !== 0) return null;
  if (moment.kind === 'instant') return moment.ms;
  return instantOfWall(moment.ms, timeZone);
}
