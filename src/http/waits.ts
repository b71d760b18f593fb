import { DAY_MS, httpDateMs } from '../util/time.ts';

const FIRST_MS = 500;
const MOST_MS = 60_000;

/**
 * The wait before another attempt, in ms: full jitter, `random(0, min(60 s, 0.5 s * 2^n))` (failures.md, rule 11).
 * Full jitter spreads attempts that were refused together over the whole interval.
 * @param retry 0 for the first
 * @param random a number from 0 to 1, as Math.random gives it
 */
export function backoffMs(retry: number, random: () => number): number {
  return random() * Math.min(MOST_MS, FIRST_MS * 2 ** retry);
}

/** A `Retry-After` above this is a mistake of the API: the usual backoff is used instead. */
const UNBELIEVABLE_MS = 366 * DAY_MS;

/**
 * The wait that a `Retry-After` asks for, in ms from now, or null when it is unusable: absent, negative, in the past,
 * more
 * than a year, or neither seconds nor an HTTP date (RFC 9110, 5.6.7 and 10.2.3). A long wait is returned unchanged; the
 * caller halts the run above 15 minutes.
 * @param nowMs wall clock in ms, for dates
 */
export function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  const at = httpDateMs(text);
  const ms = SECONDS.test(text) ? Number(text) * 1_000 : at === null ? -1 : at - nowMs;
  return ms >= 0 && ms <= UNBELIEVABLE_MS ? ms : null;
}

const SECONDS = /^[0-9]{1,12}$/;
