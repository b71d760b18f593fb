import { Temporal } from 'temporal-polyfill';
import { readMoment } from './time.ts';

/* A separate file, because loading Temporal takes 27 ms. */

/** The first of two moments; where the clocks jump over the time, the moment at which they do. */
export function firstAt(wall: Temporal.PlainDateTime, timeZone: string): number {
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.epochMilliseconds;
  return (zoned.getTimeZoneTransition('next') ?? zoned).epochMilliseconds;
}

/** As the milliseconds since 1970 at which a clock in UTC shows the same. */
export function wallMs(ms: number, timeZone: string): number {
  return ms + Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e6;
}

export function instantOfWall(ms: number, timeZone: string): number {
  const wall = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('UTC').toPlainDateTime();
  return firstAt(wall, timeZone);
}

/** With `Z` or an offset, else by a clock in the zone, to the second. Null for any other text. */
export function instantIn(text: string, timeZone: string): number | null {
  const moment = readMoment(text);
  if (moment === null || moment.kind === 'date' || moment.ms % 1000 !== 0) return null;
  if (moment.kind === 'instant') return moment.ms;
  return instantOfWall(moment.ms, timeZone);
}
