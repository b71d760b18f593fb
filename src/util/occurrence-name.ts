/* Two spellings of one instant must give one name: otherwise all recipients get their message twice. */

import { DAY_MS, dateMs, isoSeconds, MONTHS } from './time.ts';

type OccurrenceReading = { readonly occurrence: string } | { readonly message: string; readonly hint: string };

export interface OccurrenceRules {
  /** IANA zone of the schedule, or of the campaign. A time without a zone is read only where this is UTC. */
  readonly timeZone: string;
  /** With a schedule, occurrences are instants: then a date, a month or a number is not a valid name. */
  readonly scheduled: boolean;
}

/** The name of the occurrence of a scheduled instant, which is a whole second: `2026-11-21T09:00:00Z`. */
export function occurrenceAt(ms: number): string {
  return isoSeconds(ms);
}

/** The name marks a run as a test; users cannot choose it. `part`: `-variant-a`, `-fallback-sms`, or empty. */
export function testOccurrence(ms: number, part: string): string {
  return `test-${new Date(ms).toISOString()}${part}`;
}

/** Whether a run of this occurrence went to testers instead of the list. */
export function isTest(occurrence: string): boolean {
  return TEST.test(occurrence);
}

const TEST = /^test-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?:-(?:variant|fallback)-.+)?$/;

/**
 * - An instant is named in UTC, to the second: `2026-11-24T10:00:00Z`. Read are ISO 8601, RFC 3339, RFC 9557, RFC 7231,
 *   RFC 5322, what `date` prints, and Unix time.
 * - Without a schedule a calendar date is a name, written `2026-11-24`.
 * - Any other text is a name as it is, unless it looks like a date, a time or a long number, which may be an instant.
 */
export function readOccurrence(text: string, rules: OccurrenceRules): OccurrenceReading {
  const shown = JSON.stringify(text.slice(0, 40));
  if (!/^[^\s\p{C}]([^\p{C}]{0,98}[^\s\p{C}])?$/u.test(text)) {
    const hint = 'Name it in 1 to 100 characters on one line, such as 2026-11-21 or spring-2.';
    return { message: `${shown} cannot be the name of an occurrence.`, hint };
  }
  if (isTest(text)) {
    return {
      message: `${shown} is the name of a test.`,
      hint: 'Another test is sent with `send CAMPAIGN --test-to ADDRESS`.',
    };
  }
  const plain = plainForm(text);
  const instant = readInstant(plain, rules.timeZone);
  if (typeof instant === 'bigint') return { occurrence: nameOf(instant) };
  if (instant === 'no-zone') {
    const message = `${shown} has no time zone, so it could mean two instants: in UTC, or in ${rules.timeZone}.`;
    return { message, hint: `Add Z for UTC, or an offset such as +01:00: ${EXAMPLE}.` };
  }
  const day = readDay(plain);
  if (day !== null && !rules.scheduled) return { occurrence: day };
  const kind = kindOf(plain, day !== null);
  if (kind === 'name' || (kind === 'partial' && !rules.scheduled)) return { occurrence: text };
  return unread(shown, kind, rules.scheduled);
}

/** The occurrence itself where no used name has its meaning. */
export function spellingIn(used: readonly string[], occurrence: string, rules: OccurrenceRules): string {
  if (used.includes(occurrence)) return occurrence;
  return used.find((name) => canonicalName(name, rules) === occurrence) ?? occurrence;
}

/** A used name that differs from this one only in case or in the width of characters; null: none. */
export function lookalikeIn(used: readonly string[], occurrence: string): string | null {
  if (used.includes(occurrence)) return null;
  const folded = fold(occurrence);
  return used.find((name) => fold(name) === folded) ?? null;
}

/** The name that today's rules give to one of an earlier version; unchanged where they cannot read it. */
export function canonicalName(name: string, rules: OccurrenceRules = { timeZone: 'UTC', scheduled: false }): string {
  const read = readOccurrence(name, rules);
  return 'occurrence' in read ? read.occurrence : name;
}

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

function unread(shown: string, kind: TextKind, scheduled: boolean): OccurrenceReading {
  if (kind === 'number') {
    return {
      message: `${shown} looks like a number, and is not a time that can be read.`,
      hint: `For an instant write ${EXAMPLE}; for a name add a word, such as batch-${shown.replace(/[^0-9]/g, '').slice(0, 4)}.`,
    };
  }
  return scheduled
    ? {
        message: `${shown} looks like a date or a number. The occurrences of a campaign with a schedule are instants.`,
        hint: `Write the instant as handbill due shows it: ${EXAMPLE}. For a name add a word, such as trial-2.`,
      }
    : {
        message: `${shown} looks like a date or a time, and cannot be read as one.`,
        hint: `Write an instant as ${EXAMPLE} and a date as 2026-11-24. For a name add a word, such as trial-2.`,
      };
}

const EXAMPLE = '2026-11-24T10:00:00Z';

/** Full-width digits, dashes of word processors and spaces that do not break, as a keyboard writes them. */
function plainForm(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
}

// ------------------------------------------------------------------------------------------------------- instants

const SECOND = 1_000_000_000n;
const UNIT_NS = { hour: 3600n * SECOND, minute: 60n * SECOND, second: SECOND } as const;

/** Nanoseconds since 1970, so that nothing is rounded; `no-zone`: a date and a time that need one. */
type Instant = bigint | 'no-zone' | null;

function readInstant(plain: string, timeZone: string): Instant {
  return readUnix(plain) ?? readIso(plain, timeZone) ?? readWords(plain, timeZone);
}

function nameOf(ns: bigint): string {
  const name = occurrenceAt(Number(ns / 1_000_000n));
  const fraction = String(ns % SECOND)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return fraction === '' ? name : `${name.slice(0, -1)}.${fraction}Z`;
}

/** Unix time: the number of digits tells seconds from milliseconds, microseconds and nanoseconds. */
function readUnix(plain: string): bigint | null {
  const match = UNIX.exec(plain);
  if (match === null) return null;
  const [, whole = '', fraction = ''] = match;
  const unit = UNIX_UNITS[whole.length];
  if (unit === undefined || (fraction !== '' && whole.length !== 10)) return null;
  // 2026112410 is a date and an hour as well as a second of the year 2034.
  if (whole.length === 10 && !plain.startsWith('@') && DATE_AND_HOUR.test(whole)) return null;
  const ns = BigInt(whole) * unit + fractionOf(fraction, SECOND);
  return ns < UNIX_END ? ns : null;
}

const UNIX = /^@?([1-9][0-9]+)(?:[.,]([0-9]{1,9}))?$/;
const UNIX_UNITS: Readonly<Record<number, bigint>> = { 10: SECOND, 13: 1_000_000n, 16: 1000n, 19: 1n };
const UNIX_END = BigInt(Date.UTC(2100, 0)) * 1_000_000n;
const DATE_AND_HOUR = /^(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[01][0-9]|2[0-4])$/;

function readIso(plain: string, timeZone: string): Instant {
  const match = ISO.exec(plain) ?? COMPACT.exec(plain);
  if (match === null) return null;
  const [, date = '', time = '', fraction = '', zone = '', named = ''] = match;
  const day = dayNumber(date);
  const inDay = timeOfDay(time.replaceAll(':', ''), fraction);
  if (day === null || inDay === null) return null;
  return atZone(day * 24n * UNIT_NS.hour + inDay, zone === '' ? named.slice(1, -1) : zone, timeZone);
}

const DATE_FORMS = '[+]?(?:00)?[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4}-?[0-9]{3}|[0-9]{4}-?[Ww][0-9]{2}-?[1-7]';
const ZONE_FORMS = '[Zz]|[Uu][Tt][Cc]?|[Gg][Mm][Tt]|(?:[Uu][Tt][Cc]|[Gg][Mm][Tt])?[+-][0-9]{2}(?::?[0-9]{2}){0,2}';
const ISO = new RegExp(
  `^(${DATE_FORMS})(?:[Tt_]| [Tt]?)((?:[0-9]{2})(?::?[0-9]{2}){0,2})(?:[.,]([0-9]{1,18}))? ?(${ZONE_FORMS})?((?:\\[[^\\]]*\\])*)$`,
);
/** 20261124100000Z: the date and the time run together. */
const COMPACT = new RegExp(`^([0-9]{8})((?:[0-9]{2}){2,3})(?:[.,]([0-9]{1,18}))? ?(${ZONE_FORMS})?()$`);

/** Days since 1970 of a calendar date, a day of a year or of a week; null if the day does not exist. */
function dayNumber(date: string): bigint | null {
  const digits = date.replace(/^\+?(?:00(?=[0-9]{4}-[0-9]{2}-))?/, '').replaceAll('-', '');
  const year = Number(digits.slice(0, 4));
  if (year < 1970) return null;
  const rest = digits.slice(4);
  let ms: number | null;
  if (/^w/i.test(rest)) {
    // Week 1 holds 4 January.
    const fourth = new Date(Date.UTC(year, 0, 4));
    const monday = fourth.getTime() - ((fourth.getUTCDay() + 6) % 7) * DAY_MS;
    const week = Number(rest.slice(1, 3));
    ms = monday + ((week - 1) * 7 + Number(rest.slice(3)) - 1) * DAY_MS;
    // The last week of a year holds its 28 December.
    if (week < 1 || monday + (week - 1) * 7 * DAY_MS > Date.UTC(year, 11, 28)) return null;
  } else if (rest.length === 3) {
    ms = Date.UTC(year, 0, Number(rest));
    if (Number(rest) < 1 || new Date(ms).getUTCFullYear() !== year) return null;
  } else {
    const [month, day] = [Number(rest.slice(0, 2)), Number(rest.slice(2))];
    ms = dateMs(year, month, day);
  }
  return ms === null ? null : BigInt(ms / DAY_MS);
}

/** `10`, `1030` or `103059`, with a fraction of the last of them; 24:00 is the end of the day. */
function timeOfDay(digits: string, fraction: string): bigint | null {
  const [hour, minute, second] = [digits.slice(0, 2), digits.slice(2, 4) || '0', digits.slice(4) || '0'].map(BigInt);
  if (hour === undefined || minute === undefined || second === undefined) return null;
  const unit = digits.length === 2 ? UNIT_NS.hour : digits.length === 4 ? UNIT_NS.minute : UNIT_NS.second;
  const ns = hour * UNIT_NS.hour + minute * UNIT_NS.minute + second * UNIT_NS.second + fractionOf(fraction, unit);
  return minute > 59n || second > 59n || ns > 24n * UNIT_NS.hour ? null : ns;
}

function fractionOf(digits: string, unit: bigint): bigint {
  return digits === '' ? 0n : (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
}

/** @param zone - `Z`, `UTC`, `GMT+0100`, `+01:00`, the name in brackets of RFC 9557, or nothing */
function atZone(localNs: bigint, zone: string, timeZone: string): Instant {
  const offset = /^(?:UTC|GMT)?([+-])([0-9]{2}):?([0-9]{2})?:?([0-9]{2})?$/i.exec(zone);
  if (offset !== null) {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = offset;
    const ns = BigInt(hours) * UNIT_NS.hour + BigInt(minutes) * UNIT_NS.minute + BigInt(seconds) * UNIT_NS.second;
    // No place on Earth is further from UTC than 14 hours.
    if (BigInt(minutes) > 59n || BigInt(seconds) > 59n || ns > 14n * UNIT_NS.hour) return null;
    return inRange(localNs + (sign === '-' ? ns : -ns));
  }
  return UTC.test(zone === '' ? timeZone : zone) ? inRange(localNs) : 'no-zone';
}

function inRange(ns: bigint): bigint | null {
  return ns >= 0n && ns < BigInt(Date.UTC(9999, 11, 31)) * 1_000_000n ? ns : null;
}

const UTC = /^(?:Z|UTC?|GMT|Etc\/UTC|Etc\/GMT)$/i;

/** As HTTP, mail, `date` and JavaScript write it: `Tue, 24 Nov 2026 10:00:00 GMT`, in any order of its parts. */
function readWords(plain: string, timeZone: string): Instant {
  const words = plain
    .replace(/\([^()]*\)/g, ' ')
    .replace(/\b([0-9]{1,2})-([a-z]{3,9})-([0-9]{2}|[0-9]{4})\b/i, '$1 $2 $3')
    .split(/[ ,]+/)
    .filter((word) => word !== '');
  const parts: Partial<Record<Part, string>> = {};
  for (const word of words) {
    const part = partOf(word, parts);
    if (part === null || parts[part] !== undefined) return null;
    parts[part] = word;
  }
  const { month, day, year, time, half, zone = '', weekday } = parts;
  if (month === undefined || day === undefined || year === undefined || time === undefined) return null;
  const monthNumber = String(MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1).padStart(2, '0');
  const fullYear = year.length === 2 ? `20${year}` : year;
  const number = dayNumber(`${fullYear}${monthNumber}${day.padStart(2, '0')}`);
  const [clock = '', fraction = ''] = time.split(/[.,]/);
  const inDay = timeOfDay(twelveHours(clock, half), fraction);
  if (number === null || inDay === null) return null;
  // 1 January 1970 was a Thursday. If the weekday does not fit the date, one of the two is wrong.
  if (weekday !== undefined && WEEKDAYS[Number((number + 4n) % 7n)] !== weekday.slice(0, 3).toLowerCase()) return null;
  return atZone(number * 24n * UNIT_NS.hour + inDay, zone, timeZone);
}

type Part = 'weekday' | 'month' | 'day' | 'year' | 'time' | 'half' | 'zone';

function partOf(word: string, known: Partial<Record<Part, string>>): Part | null {
  if (WEEKDAY_WORD.test(word)) return 'weekday';
  if (MONTH_WORD.test(word)) return 'month';
  if (/^[0-9]{1,2}$/.test(word)) return known.day === undefined ? 'day' : 'year';
  if (/^[0-9]{4}$/.test(word)) return 'year';
  if (/^[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?$/.test(word)) return 'time';
  if (/^[ap]\.?m\.?$/i.test(word)) return 'half';
  return ZONE_WORD.test(word) ? 'zone' : null;
}

/** `10:00:00` as six digits of a 24-hour clock; an invalid 12-hour time becomes an invalid 24-hour time. */
function twelveHours(time: string, half: string | undefined): string {
  const [hour = '', ...rest] = time.split(':');
  if (half === undefined) return [hour.padStart(2, '0'), ...rest].join('');
  const twelve = Number(hour);
  if (twelve < 1 || twelve > 12) return '99';
  const of24 = (twelve % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0);
  return [String(of24).padStart(2, '0'), ...rest].join('');
}

const ZONE_WORD = new RegExp(`^(?:${ZONE_FORMS})$`);
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTH_NAMES =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const WEEKDAY_NAMES =
  'sun(?:day)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?';
const MONTH_WORD = new RegExp(`^(?:${MONTH_NAMES})\\.?$`, 'i');
const WEEKDAY_WORD = new RegExp(`^(?:${WEEKDAY_NAMES})\\.?$`, 'i');

// ------------------------------------------------------------------------------------------------ dates and lookalikes

function readDay(plain: string): string | null {
  const match = /^([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})$/.exec(plain);
  if (match === null) return null;
  const [, year = '', , month = '', day = ''] = match;
  return dayNumber(`${year}${month}${day}`) === null ? null : `${year}-${month}-${day}`;
}

/** Only `timed` and `number` may name an instant; `partial` is a month, week, year, short number or calendar date. */
type TextKind = 'name' | 'partial' | 'timed' | 'number';

function kindOf(plain: string, isDay: boolean): TextKind {
  if (DATE_THEN_TIME.test(plain)) return 'timed';
  // Digits of other scripts are numbers that are not read.
  if (/[^\p{ASCII}]/u.test(plain.replace(/\P{Nd}/gu, ''))) return /\p{L}/u.test(plain) ? 'name' : 'number';
  if (!/[0-9]/.test(plain) || /[^\p{ASCII}]/u.test(plain)) return 'name';
  const words = plain.match(/[a-z]+/gi) ?? [];
  if (!words.every((word) => DATE_WORD.test(word))) return 'name';
  if (isDay) return 'partial';
  if (/[0-9]\s*:\s*[0-9]/.test(plain) || SPLIT_DATE.test(plain) || WRONG_DAY.test(plain)) return 'timed';
  const groups = plain.match(/[0-9]+/g) ?? [];
  if (words.some((word) => MONTH_WORD.test(word)) && groups.length > 1) return 'timed';
  const isLong = groups.some((group) => group.length > 8) || THOUSANDS.test(plain);
  return isLong || /^[+-]?[0-9.,]+e[+-]?[0-9]+$/i.test(plain) ? 'number' : 'partial';
}

const DATE_THEN_TIME = new RegExp(`^[^\\p{L}\\p{N}]*(?:${DATE_FORMS})(?:[T_]|[ ]+T?|-(?=[0-9]{4}|[0-9]+:))[0-9]`, 'iu');
/** 24.11.2026, 11/24/2026, 2026-11-3: the order of day and month is ambiguous. */
const SPLIT_DATE =
  /^(?:[0-9]{4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,2}|[0-9]{1,2}[-/. ][0-9]{1,2}[-/. ](?:[0-9]{4}|[0-9]{2}))\.?$/;
const THOUSANDS = /^[+-]?[0-9]{1,3}(?:[,.' ][0-9]{3}){2,}$/;
const WRONG_DAY = /^(?:19|20)[0-9]{6}$/;
const DATE_WORD = new RegExp(`^(?:${MONTH_NAMES}|${WEEKDAY_NAMES}|[tzwh]|utc?|gmt|[ap]m|e|st|nd|rd|th)$`, 'i');
