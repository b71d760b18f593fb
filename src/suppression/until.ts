import { instantMs } from '../util/units.ts';

/** When an entry ends, in ms since 1970: an instant, or the end of a day. Null where the text is neither. */
export type UntilReader = (text: string) => number | null;

/**
 * Makes the reader of `until`. A day counts to its end in that time zone, because to suppress for too long does less
 * harm than for too short.
 *
 * @param timeZone an IANA name that is known to exist
 */
export async function createUntilReader(timeZone: string): Promise<UntilReader> {
  const endOf = timeZone === 'UTC' ? endInUtc : await endIn(timeZone);
  // Lists have few days and many rows.
  const known = new Map<string, number | null>();
  return (text) => {
    if (!DAY.test(text)) return instantMs(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    const end = instantMs(`${text}T00:00:00Z`) === null ? null : endOf(text);
    if (known.size < MOST_DAYS) known.set(text, end);
    return end;
  };
}

function endInUtc(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + DAY_MS;
}

async function endIn(timeZone: string): Promise<(day: string) => number> {
  const { Temporal } = await import('temporal-polyfill');
  return (day) => Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
const MOST_DAYS = 10_000;
