import { DAY_MS, dayMs, instantMs } from '../util/time.ts';

/** When an entry ends, in ms since 1970: an instant, or the end of a day. Null where the text is neither. */
export type UntilReader = (text: string) => number | null;

/** A day counts to its end in that zone, an existing IANA name: to suppress for too long does less harm. */
export async function createUntilReader(timeZone: string): Promise<UntilReader> {
  const endOf = timeZone === 'UTC' ? null : await endIn(timeZone);
  // Lists have few days and many rows.
  const known = new Map<string, number>();
  return (text) => {
    const day = dayMs(text);
    if (day === null) return instantMs(text);
    if (endOf === null) return day + DAY_MS;
    const end = known.get(text) ?? endOf(text);
    if (known.size < MOST_DAYS) known.set(text, end);
    return end;
  };
}

async function endIn(timeZone: string): Promise<(day: string) => number> {
  const { Temporal } = await import('temporal-polyfill');
  return (day) => Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
}

const MOST_DAYS = 10_000;
