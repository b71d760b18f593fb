/** A cell read as a point in time. */
export interface ReadDate {
  /** `instant` is shown in a time zone; the others are shown as they stand and never shift. */
  readonly kind: 'date' | 'local' | 'instant';
  /** Milliseconds since 1970 in UTC; for `date` and `local` those of the same reading on a clock in UTC. */
  readonly epochMs: number;
}

/**
 * Reads `2026-01-02`, `20260102`, `2026-01-02 09:30` (a `T` will do; seconds and fractions too), the same with `Z` or
 * an offset, Unix seconds (9 or 10 digits) and Unix milliseconds (13 digits). Null for all else: `02/01/2026` is one
 * day in London and another in New York, and 30 February is none.
 */
export function readDate(value: string): ReadDate | null {
  const trimmed = value.trim();
  if (/^\d{9,10}$/.test(trimmed)) return { kind: 'instant', epochMs: Number(trimmed) * 1000 };
  if (/^\d{13}$/.test(trimmed)) return { kind: 'instant', epochMs: Number(trimmed) };
  const basic = /^(\d{4})(\d\d)(\d\d)$/.exec(trimmed);
  const match = basic ?? EXTENDED.exec(trimmed);
  if (match === null) return null;
  const [, year = '', month = '', day = '', hour, minute = '0', second = '0', fraction = '', zone] = match;
  const epochMs = epochOf(Number(year), Number(month), Number(day));
  if (epochMs === null) return null;
  if (hour === undefined) return { kind: 'date', epochMs };
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const ms = Math.trunc(Number(`0.${fraction}0`) * 1000);
  const local = epochMs + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + ms;
  if (zone === undefined) return { kind: 'local', epochMs: local };
  const offset = offsetMinutes(zone);
  return offset === null ? null : { kind: 'instant', epochMs: local - offset * 60_000 };
}

const EXTENDED =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([Zz]|[+-]\d\d(?::?\d\d)?))?)?$/;

function epochOf(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // setUTCFullYear, because Date.UTC reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() : null;
}

function offsetMinutes(zone: string): number | null {
  if (/^z$/i.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
