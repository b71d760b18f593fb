const FIRST_MS = 500;
const MOST_MS = 60_000;

/**
 * How long to wait before another attempt, in ms: full jitter, `random(0, min(60 s, 0.5 s * 2^n))` (failures.md, rule 11).
 * Full jitter spreads attempts that were refused together over the whole interval.
 *
 * @param retry which retry it is: 0 for the first
 * @param random a number from 0 to 1, as Math.random gives it
 */
export function backoffMs(retry: number, random: () => number): number {
  return random() * Math.min(MOST_MS, FIRST_MS * 2 ** retry);
}

/** A `Retry-After` above this is a mistake of the API: the usual backoff is used instead. */
const UNBELIEVABLE_MS = 366 * 86_400_000;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * How long a `Retry-After` asks to wait, in ms from now, or null when it says nothing usable: absent, negative, in the
 * past, more than a year, or neither seconds nor an HTTP date (RFC 9110, 5.6.7 and 10.2.3). A long wait is passed on as it
 * is; that more than 15 minutes halt the run is decided where the answer is.
 *
 * @param nowMs wall clock in ms, for dates
 */
export function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  const ms = SECONDS.test(text) ? Number(text) * 1_000 : httpDate(text, nowMs) - nowMs;
  // NaN, from an invalid date, fails both comparisons.
  return ms >= 0 && ms <= UNBELIEVABLE_MS ? ms : null;
}

/** Epoch ms of one of the three forms of an HTTP date, else NaN. Not Date.parse: that takes `1` for the year 2001. */
function httpDate(text: string, nowMs: number): number {
  const fixed = IMF_FIXDATE.exec(text) ?? RFC_850.exec(text);
  if (fixed !== null) return utc(fixed[3], fixed[2], fixed[1], fixed[4], nowMs);
  const asctime = ASCTIME.exec(text);
  return asctime === null ? Number.NaN : utc(asctime[4], asctime[1], asctime[2], asctime[3], nowMs);
}

function utc(year = '', month = '', day = '', time = '', nowMs: number): number {
  const [hour, minute, second] = time.split(':').map(Number);
  const at = MONTHS.indexOf(month.toLowerCase());
  if (at === -1) return Number.NaN;
  return Date.UTC(fullYear(Number(year), year.length, nowMs), at, Number(day), hour, minute, second);
}

/** Two digits are the century in which they lie at most 50 years ahead, as the RFC asks. */
function fullYear(year: number, digits: number, nowMs: number): number {
  if (digits !== 2) return year;
  const now = new Date(nowMs).getUTCFullYear();
  const full = now - (now % 100) + year;
  return full > now + 50 ? full - 100 : full;
}

const SECONDS = /^[0-9]{1,12}$/;
const IMF_FIXDATE = /^[a-z]{3}, ([0-9]{2}) ([a-z]{3}) ([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2}) GMT$/i;
const RFC_850 = /^[a-z]{6,9}, ([0-9]{2})-([a-z]{3})-([0-9]{2}) ([0-9]{2}:[0-9]{2}:[0-9]{2}) GMT$/i;
const ASCTIME = /^[a-z]{3} ([a-z]{3}) ([0-9 ][0-9]) ([0-9]{2}:[0-9]{2}:[0-9]{2}) ([0-9]{4})$/i;
