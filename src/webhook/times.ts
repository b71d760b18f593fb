import { instantMs } from '../util/units.ts';

/**
 * When something happened, as providers write it, in ms since 1970: ISO 8601 with `Z`, `+00:00`, `+0000` or `+00` and 0
 * to 9 digits of a fraction, Unix time in seconds, milliseconds or finer as a number or a string, RFC 2822. A time
 * without a zone is UTC. Null for all other text, and for impossible times: before 2000, and more than a day ahead of
 * `nowMs`, which allows for wrong clocks and missing zones.
 */
export function readTime(value: unknown, nowMs: number): number | null {
  const ms = typeof value === 'number' ? unixMs(value) : typeof value === 'string' ? textMs(value) : null;
  return ms !== null && ms >= EARLIEST_MS && ms <= nowMs + AHEAD_MS ? ms : null;
}

const EARLIEST_MS = Date.UTC(2000, 0);
const AHEAD_MS = 86_400_000;
/** Longest text that is looked at: the longest form has 38 characters. */
const MAX_CHARACTERS = 64;

function textMs(text: string): number | null {
  if (text.length > MAX_CHARACTERS) return null;
  const trimmed = text.trim();
  if (UNIX.test(trimmed)) return unixMs(Number(trimmed));
  const iso = ISO.exec(trimmed);
  if (iso !== null) return isoMs(iso);
  if (!RFC_2822.test(trimmed)) return null;
  const ms = Date.parse(trimmed);
  return Number.isNaN(ms) ? null : ms;
}

/**
 * The unit follows from the size: seconds of today have 10 digits, and no unit reaches those of the next before 5138.
 */
function unixMs(value: number): number | null {
  if (!(value > 0)) return null;
  if (value < 1e11) return Math.floor(value * 1000);
  if (value < 1e14) return Math.floor(value);
  if (value < 1e17) return Math.floor(value / 1e3);
  return value < 1e20 ? Math.floor(value / 1e6) : null;
}

/** Spelt as `instantMs` wants it, which knows which dates there are. */
function isoMs(match: RegExpExecArray): number | null {
  const [, date = '', time = '', fraction, zone = 'Z', hours, minutes = '00'] = match;
  const offset = hours === undefined ? 'Z' : `${zone.charAt(0)}${hours}:${minutes}`;
  return instantMs(`${date}T${time}${fraction === undefined ? '' : `.${fraction}`}${offset}`);
}

const UNIX = /^[0-9]{1,20}(?:\.[0-9]{1,9})?$/;
const ISO =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,]([0-9]{1,9}))?(?: ?([Zz]|UTC|[+-]([0-9]{2}):?([0-9]{2})?))?$/;
const RFC_2822 =
  /^(?:[A-Z][a-z]{2}, ?)?[0-9]{1,2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}(?::[0-9]{2})? (?:[+-][0-9]{4}|GMT|UTC?|Z)$/;
