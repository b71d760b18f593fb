import { DAY_MS, readMoment, unixMs } from '../util/time.ts';

/**
 * When something happened, as providers write it, in ms since 1970: ISO 8601 with `Z`, `+00:00`, `+0000` or `+00` and 0
 * to 9 digits of a fraction, Unix time in seconds, milliseconds or finer as a number or a string, RFC 2822. A time
 * without a zone is UTC. Null for all other text, and for impossible times: before 2000, and more than a day ahead of
 * `nowMs`, which allows for wrong clocks and missing zones.
 */
export function readTime(value: unknown, nowMs: number): number | null {
  const ms = typeof value === 'number' ? unixMs(value) : typeof value === 'string' ? textMs(value) : null;
  return ms !== null && ms >= EARLIEST_MS && ms <= nowMs + DAY_MS ? ms : null;
}

const EARLIEST_MS = Date.UTC(2000, 0);
/** The longest form has 38 characters. */
const MAX_CHARACTERS = 64;

function textMs(text: string): number | null {
  if (text.length > MAX_CHARACTERS) return null;
  const trimmed = text.trim();
  if (UNIX.test(trimmed)) return unixMs(Number(trimmed));
  const moment = readMoment(trimmed);
  if (moment !== null) return moment.kind === 'date' ? null : moment.ms;
  if (!RFC_2822.test(trimmed)) return null;
  const ms = Date.parse(trimmed);
  return Number.isNaN(ms) ? null : ms;
}

const UNIX = /^[0-9]{1,20}(?:\.[0-9]{1,9})?$/;
const RFC_2822 =
  /^(?:[A-Z][a-z]{2}, ?)?[0-9]{1,2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}(?::[0-9]{2})? (?:[+-][0-9]{4}|GMT|UTC?|Z)$/;
