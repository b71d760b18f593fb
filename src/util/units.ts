/**
 * Quantities as people write them. Every function takes the text and returns the number in the unit of its name, or
 * null when the text is not such a quantity; nothing is guessed and nothing is rounded up.
 */

/** `30s`, `5m`, `24h`, `7d` or an ISO 8601 duration of weeks, days, hours, minutes, seconds (`PT30S`, `P1DT12H`), in ms. */
export function durationMs(text: string): number | null {
  const short = SHORT_DURATION.exec(text);
  if (short !== null) return whole(Number(short[1]) * (UNIT_MS[short[2] ?? ''] ?? Number.NaN));
  const iso = ISO_DURATION.exec(text);
  if (iso === null) return null;
  // Months and years are left out: how long they last depends on when they begin.
  const [, weeks, days, hours, minutes, seconds] = iso;
  const parts = [weeks, days, hours, minutes, seconds];
  if (parts.every((part) => part === undefined) || text.endsWith('T')) return null;
  const [w = 0, d = 0, h = 0, m = 0, s = 0] = parts.map((part) => Number(part ?? 0));
  return whole(Math.round((((w * 7 + d) * 24 + h) * 60 + m) * 60_000 + s * 1000));
}

/** `50/s`, `600/min`, `1000/h`, in requests per second; above zero. */
export function ratePerSecond(text: string): number | null {
  const match = RATE.exec(text);
  if (match === null) return null;
  const rate = Number(match[1]) / (UNIT_SECONDS[match[2] ?? ''] ?? Number.NaN);
  return rate > 0 ? rate : null;
}

/** `5%`, `0.5%`, as a share between 0 and 1. */
export function share(text: string): number | null {
  const match = PERCENTAGE.exec(text);
  if (match === null) return null;
  const value = Number(match[1]) / 100;
  return value <= 1 ? value : null;
}

/** The least whole number that is at least a share of a whole: 7 % of 100 is 7, although 0.07 * 100 is a little more. */
export function wholePart(share: number, whole: number): number {
  return Math.ceil(Number((share * whole).toPrecision(12)));
}

/** The greatest whole number that is at most a share of a whole: 29 % of 100 is 29, although 0.29 * 100 is a little less. */
export function partAtMost(share: number, whole: number): number {
  return Math.floor(Number((share * whole).toPrecision(12)));
}

/**
 * An instant: ISO 8601 date and time with `Z` or an offset, 0 to 9 fraction digits, in ms since 1970 (rounded down to a
 * millisecond). The date must exist: 30 February, hour 24 and second 60 are refused.
 */
export function instantMs(text: string): number | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((d) => Number(d ?? 0));
  const ms = Math.floor(Number(`0.${match[7] ?? 0}`) * 1000);
  const local = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  const date = new Date(local);
  // Date.UTC carries over (31 April is 1 May), and reads years below 100 as 19xx: both come out different.
  const exact =
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  if (!exact) return null;
  const offset = offsetMs(match[8] ?? 'Z');
  return offset === null ? null : local - offset;
}

function offsetMs(text: string): number | null {
  if (text === 'Z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4, 6));
  // ISO 8601 has no upper limit, but real offsets are between -12:00 and +14:00.
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) return null;
  return (hours * 60 + minutes) * 60_000 * (text.startsWith('-') ? -1 : 1);
}

function whole(ms: number): number | null {
  return Number.isSafeInteger(ms) ? ms : null;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };
const SHORT_DURATION = /^([0-9]{1,9})([smhd])$/;
const ISO_DURATION =
  /^P(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)S)?)?$/;
const RATE = /^([0-9]{1,9}(?:\.[0-9]{1,6})?)\/(s|min|h)$/;
const PERCENTAGE = /^([0-9]{1,3}(?:\.[0-9]{1,6})?)%$/;
const INSTANT =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;
