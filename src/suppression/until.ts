import { onDemand } from '../util/on-demand.ts';
import { createInstantOf, DAY_MS, dayMs, instantMs } from '../util/time.ts';

/** When an entry ends, in ms since 1970: an instant, or the end of a day. Null where the text is neither. */
export type UntilReader = (text: string) => number | null;

/** A day counts to its end in that zone, an existing IANA name: to suppress for too long does less harm. */
export function createUntilReader(timeZone: string): UntilReader {
  const instantOf = onDemand(() => createInstantOf(timeZone));
  // Lists have few days and many rows.
  const known = new Map<string, number>();
  return (text) => {
    const day = dayMs(text);
    if (day === null) return instantMs(text);
    const end = known.get(text) ?? instantOf()(day + DAY_MS);
    if (known.size < MOST_DAYS) known.set(text, end);
    return end;
  };
}

const MOST_DAYS = 10_000;
