import { compared, yamlName } from './cell.ts';
import FIELDS from './date-letters.json' with { type: 'json' };
import { escapePattern } from './escape.ts';

/* Milliseconds are since 1970. Days in the zone of a campaign are in plan/calendar.ts. */

export const DAY_MS = 86_400_000;

// ---------------------------------------------------------------------------------------------------------- reading

/** The midnight in UTC with which a calendar date begins; null where there is no such date, such as 30 February. */
export function dateMs(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // setUTCFullYear, because Date.UTC reads the years 0 to 99 as 1900 to 1999. Both carry over: 31 April is 1 May.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : null;
}

/** As `dateMs`, for `2026-11-21`; null for any other text, and before the year 100. */
export function dayMs(text: string): number | null {
  return DAY.test(text) ? dateMs(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))) : null;
}

/** ISO 8601 with `Z` or an offset, 0 to 9 fraction digits, rounded down. Refuses 30 February, hour 24 and second 60. */
export function instantMs(text: string): number | null {
  const read = INSTANT.test(text) ? readMoment(text) : null;
  return read?.kind === 'instant' ? read.ms : null;
}

export interface Moment {
  /** `date`: without a time of day; `local`: without a zone. */
  readonly kind: 'date' | 'local' | 'instant';
  /** For `date` and `local` of the same reading on a clock in UTC. */
  readonly ms: number;
}

/** Null for text that is ambiguous: `02/01/2026` is one day in London and another in New York. */
export function readMoment(text: string): Moment | null {
  const match = MOMENT.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute = '0', second = '0', fraction = '', zone] = match;
  const ms = dateMs(Number(year), Number(month), Number(day));
  if (ms === null) return null;
  if (hour === undefined) return { kind: 'date', ms };
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const part = Math.floor(Number(`0.${fraction}0`) * 1000);
  const local = ms + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + part;
  if (zone === undefined) return { kind: 'local', ms: local };
  const offset = offsetMs(zone);
  return offset === null ? null : { kind: 'instant', ms: local - offset };
}

function offsetMs(zone: string): number | null {
  if (/^[a-z]/i.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  // ISO 8601 has no upper limit, but real offsets are between -12:00 and +14:00.
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) return null;
  return (hours * 60 + minutes) * 60_000 * (zone.startsWith('-') ? -1 : 1);
}

/** In s, ms, us or ns, by its size: seconds of today have 10 digits, and no unit reaches the next before 5138. */
export function unixMs(value: number): number | null {
  if (!(value > 0)) return null;
  if (value < 1e11) return Math.floor(value * 1000);
  if (value < 1e14) return Math.floor(value);
  if (value < 1e17) return Math.floor(value / 1e3);
  return value < 1e20 ? Math.floor(value / 1e6) : null;
}

/** In one of three forms (RFC 9110, 5.6.7), or null. */
export function httpDateMs(text: string): number | null {
  if (!HTTP_DATES.some((form) => form.test(text))) return null;
  const ms = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : ms;
}

const MONTH_NAMES = 'january february march april may june july august september october november december'.split(' ');

const DAY = /^(?!00)[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const MOMENT =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:(?:[Tt](?=[0-9]{2})| )([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?: ?([Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?)?$/;
/** The one spelling in campaign files, flags and lists. */
const INSTANT = /^(?!00).{10}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;
const HTTP_DATES = [
  /^[a-z]{3}, [0-9]{2} [a-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/i,
  /^[a-z]{6,9}, [0-9]{2}-[a-z]{3}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/i,
  /^[a-z]{3} [a-z]{3} [0-9 ][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}$/i,
];

// ---------------------------------------------------------------------------------------------------------- writing

/** `2026-11-21T09:00:00.412Z` */
export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** `2026-11-21T09:00:00Z` */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** For people: `2026-11-21 09:00:00 UTC`; without the seconds where it is to the minute. */
export function utcText(ms: number, to: 'second' | 'minute' = 'second'): string {
  const text = new Date(ms).toISOString().slice(0, to === 'second' ? 19 : 16);
  return `${text.replace('T', ' ')} UTC`;
}

// ------------------------------------------------------------------------------------------------------------ zones

/** Refuses offsets, also with a name (EST, Etc/GMT+5): they have no summer time. */
export function isTimeZone(text: string): boolean {
  // The usual default: the first answer of Intl takes 5 ms.
  if (text === 'UTC') return true;
  return /^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(text) && !NO_PLACE.test(text) && isKnownToIntl(text);
}

/** Whether times can be shown in this zone: also in an offset, or an abbreviation that ICU knows. */
export function isKnownToIntl(timeZone: string): boolean {
  if (known.has(timeZone)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    known.add(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** Zones: there are some 600. */
const known = new Set<string>();

/** `GMT+01:00`; null where this runtime does not know the zone. */
export function offsetHere(timeZone: string, atMs: number): string | null {
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(atMs);
    return parts.find(({ type }) => type === 'timeZoneName')?.value ?? null;
  } catch {
    return null;
  }
}

/** Abbreviations that IANA does not have (IST has three meanings; Temporal throws), fixed offsets except UTC. */
const NO_PLACE =
  /^(?:(?:AC|AE|AG|AR|AS|BE|BS|CA|CN|CS|CT|EA|EC|ES|HS|IE|IS|JS|MI|MS|NE|NS|PL|PN|PR|PS|SS|VS)T|(?:Etc\/)?GMT[+-]0*[1-9]\d*|SystemV\/.*)$/i;

const WALL: Intl.DateTimeFormatOptions = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
};
/** By time zone: making one takes as long as a hundred uses of it, and 200 campaigns share a few zones. */
const WALLS = new Map<string, Intl.DateTimeFormat>();

/** How far the clock on the wall of a zone is ahead of UTC, in ms. */
export function createOffset(timeZone: string): (ms: number) => number {
  const wall = WALLS.get(timeZone) ?? new Intl.DateTimeFormat('en', { ...WALL, timeZone });
  WALLS.set(timeZone, wall);
  return (ms) => {
    const parts = Object.fromEntries(wall.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
  };
}

/**
 * When a clock in the zone shows this time, given as the milliseconds at which a clock in UTC shows it: of two moments
 * the first; of a time that the clocks jump over, as far behind the jump.
 */
export function createInstantOf(timeZone: string): (wallMs: number) => number {
  const offsetMs = createOffset(timeZone);
  return (wallMs) => {
    const [before, after] = [wallMs - offsetMs(wallMs - DAY_MS), wallMs - offsetMs(wallMs + DAY_MS)];
    const isRight = (ms: number): boolean => ms + offsetMs(ms) === wallMs;
    return [before, after].filter(isRight).sort((a, b) => a - b)[0] ?? before;
  };
}

// ------------------------------------------------------------------------------------------------------------- days

/** A day is the midnight in UTC with which its date begins. */
export function createDayOf(timeZone: string): (ms: number) => number {
  const offsetMs = createOffset(timeZone);
  return (ms) => Math.floor((ms + offsetMs(ms)) / DAY_MS) * DAY_MS;
}

/** `2026-11-21`, of a day as `createDayOf` gives it. */
export function dayText(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}

export type DayStep = { readonly months: number; readonly days: number };

/** An ISO 8601 duration of whole days: `P3D`, `-P2W`, `P1Y6M`. Null for any other text, and with hours. */
export function readDayStep(text: string): DayStep | null {
  const match = DAY_STEP.exec(text);
  if (match === null) return null;
  const [, minus, years = 0, months = 0, weeks = 0, days = 0] = match;
  const sign = minus === '-' ? -1 : 1;
  // Plus zero, because minus zero is another value to some comparisons.
  return {
    months: sign * (Number(years) * 12 + Number(months)) + 0,
    days: sign * (Number(weeks) * 7 + Number(days)) + 0,
  };
}

const DAY_STEP = /^(-?)P(?=[0-9])(?:([0-9]{1,3})Y)?(?:([0-9]{1,4})M)?(?:([0-9]{1,4})W)?(?:([0-9]{1,5})D)?$/;

/** The day after a step. Where the month has no such day it is the last one: 31 January and a month is 28 February. */
export function addDays(day: number, { months, days }: DayStep): number {
  const date = new Date(day);
  const wanted = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  date.setUTCDate(Math.min(wanted, daysIn(date.getUTCFullYear(), date.getUTCMonth())) + days);
  return date.getTime();
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

/** The same day of a later year. 29 February has its anniversary on 28 February in years without it. */
export function isAnniversary(day: number, of: number): boolean {
  const [now, then] = [new Date(day), new Date(of)];
  if (then.getUTCFullYear() >= now.getUTCFullYear() || then.getUTCMonth() !== now.getUTCMonth()) return false;
  const last = daysIn(now.getUTCFullYear(), now.getUTCMonth());
  return now.getUTCDate() === Math.min(then.getUTCDate(), last);
}

// ------------------------------------------------------------------------------------------------ formats of columns

/** How the dates or numbers of a column are written, such as `dd/MM/yyyy`. */
export interface CellFormat {
  readonly pattern: string;
  /** `2026-11-21`, `2026-11-21T09:30`, `1234.50`. Null: another format, or no date at all. */
  plain(cell: string): string | null;
  readonly example: string;
}

/** A run of one letter, text in single quotes, or any other character. */
const TOKEN = /([A-Za-z])\1*|'((?:[^']|'')*)'|./gsu;

export function readDateFormat(pattern: string): CellFormat | { readonly problem: string; readonly hint: string } {
  const parts: string[] = [];
  let source = '';
  let example = '';
  let isShortBefore = false;
  let isFieldBefore = false;
  for (const [token, letter, quoted] of pattern.trim().matchAll(TOKEN)) {
    if (letter === undefined) {
      // As in LDML, '' is an apostrophe, inside quotes and outside.
      const text = token === "''" ? "'" : (quoted?.replaceAll("''", "'") ?? token);
      if (/[0-9]/.test(text)) return { problem: 'has a digit, which could belong to the date', hint: LETTERS };
      if (token === "'") return { problem: 'has a quote that is not closed', hint: "An apostrophe is written ''." };
      // Programs write a narrow space before PM.
      source += escapePattern(text).replace(/\s/gu, '\\s');
      example += text;
      isShortBefore = isFieldBefore = false;
      continue;
    }
    if (token === 'yy') return { problem: 'has a year of two digits, which leaves the century open', hint: YEAR };
    // The letters of Unicode (LDML) that can be read in one way only; what is one or two digits wide is `short`.
    const field = Object.hasOwn(FIELDS, token) ? FIELDS[token as keyof typeof FIELDS] : null;
    if (field === null) return { problem: `has "${token}", which is not a part of a date here`, hint: LETTERS };
    if (parts.includes(field.part)) return { problem: `names the ${field.part} twice`, hint: LETTERS };
    if (isShortBefore || (field.short && isFieldBefore)) {
      const hint = 'Write two letters (dd, MM), or a character such as "/" between them.';
      return { problem: `has "${token}" directly beside another part, so that a date could be read in two ways`, hint };
    }
    parts.push(field.part);
    source += `(?<${field.part}>${field.digits})`;
    example += field.example;
    isShortBefore = field.short;
    isFieldBefore = true;
  }
  const missing = (['day', 'month', 'year'] as const).find((part) => !parts.includes(part));
  if (missing !== undefined) return { problem: `does not say where the ${missing} is`, hint: LETTERS };
  const hasHour = parts.includes('hour') || parts.includes('half');
  if (hasHour !== parts.includes('minute')) {
    return { problem: 'has only one of hour (HH) and minute (mm)', hint: LETTERS };
  }
  if (parts.includes('half') !== parts.includes('noon') || (parts.includes('hour') && parts.includes('half'))) {
    return { problem: 'needs "a" (am or pm) beside "h", and neither beside "H"', hint: LETTERS };
  }
  if (parts.includes('second') && !hasHour) return { problem: 'has seconds without an hour', hint: LETTERS };
  const expression = new RegExp(`^${source}$`, 'u');
  return { pattern, example, plain: (cell) => toIso(expression.exec(compared(cell))?.groups) };
}

/** For `21/11/2026`, the setting of the column in the campaign file. Null: it does not look like a date. */
export function dateHint(column: string, cell: string): string | null {
  const text = compared(cell);
  const [format, other] = formatsOf(text);
  if (format === undefined) {
    if (NAMED_ZONE.test(text)) return ZONE;
    if (SHORT_YEAR.test(text)) return YEAR;
    if (NAMED_MONTH.test(text)) return OTHER_NAMES;
    // Spreadsheets count days from 1899-12-30. Five digits reach from 1927 to 2173.
    if (!/^[1-9][0-9]{4}(?:[.,][0-9]+)?$/.test(text)) return null;
    const day = dayText((Number.parseInt(text, 10) - 25_569) * DAY_MS);
    return `${text} may be ${day}, as the number of days that a spreadsheet counts. Format the column as a date (yyyy-mm-dd) there, and save the list again.`;
  }
  const or = other === undefined ? '' : `, or \`format: ${other}\` if the month is first`;
  const declared = `\`recipients.columns: { ${yamlName(column)}: { type: date, format: ${format} } }\``;
  return `If the column writes its dates so, say it: ${declared}${or}.`;
}

const NAMED_MONTH = /^(?=.*\p{L}{3})(?=.*\b[0-9]{1,2}\b).*\b[0-9]{4}\b/u;
const NAMED_ZONE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+ ?(?!\[?[AaPp]\.?\s?[Mm]\b)\[?[A-Za-z]/u;
const ZONE = 'A zone is written as an offset: 2026-11-21T09:00:00+01:00 or 2026-11-21T08:00:00Z.';
const SHORT_YEAR = /^[0-9]{1,2}([/.-])(?:[0-9]{1,2}|\p{L}{3,4})\1[0-9]{2}(?![0-9])/u;
const OTHER_NAMES =
  'English names of months can be read, and no names of days. Write 2026-11-21, or all dates of the column such as 21/11/2026 with `format: dd/MM/yyyy`.';

/** Day first, where both orders are possible. */
function formatsOf(text: string): readonly string[] {
  const [, first = '', separator = '', second = '', last = '', time = ''] = SHEET_DATE.exec(text) ?? [];
  const [, nameFirst, name = ''] = NAMED_DATE.exec(text) ?? [];
  const isLong = [first, second, last].every((part) => part.length > 1);
  const [day, month] = isLong ? ['dd', 'MM'] : ['d', 'M'];
  const orders = [
    [day, month, 'yyyy'],
    [month, day, 'yyyy'],
    ['yyyy', month, day],
  ];
  const dates = orders.map((parts) => parts.join(separator));
  const named = name.length > 4 ? 'MMMM' : 'MMM';
  if (nameFirst === undefined)
    dates.push(`d. ${named} yyyy`, ...[' ', '-', '/'].map((between) => ['d', named, 'yyyy'].join(between)));
  else dates.push(`${named} d yyyy`, `${named} d, yyyy`);
  const patterns = [
    ...OTHER_FORMATS,
    ...dates.map((date) => date + timePattern(name === '' ? time : (NAMED_DATE.exec(text)?.[3] ?? ''))),
  ];
  return patterns.filter((pattern) => {
    const format = readDateFormat(pattern);
    const iso = 'problem' in format ? null : format.plain(text);
    return iso !== null && readMoment(iso) !== null;
  });
}

/** SAP, iCalendar, DB2 and East Asia write these. */
const OTHER_FORMATS = [
  ...['yyyyMMdd', 'yyyyMMddHHmmss', "yyyyMMdd'T'HHmmss", 'yyyy-MM-dd-HH.mm.ss', 'yyyy-MM-dd-HH.mm.ss.SSSSSS'],
  ...['yyyy-MM-dd HH.mm.ss', 'yyyy年M月d日', 'yyyy년 M월 d일', 'yyyy. M. d.'],
];

function timePattern(time: string): string {
  const [, between = '', hour = '', seconds, fraction = '', half] = TIME.exec(time) ?? [];
  if (hour === '') return '';
  const letter = half === undefined ? 'H' : 'h';
  const isTwo = hour.length > 1 && (half === undefined || hour.startsWith('0'));
  return `${between}${isTwo ? letter + letter : letter}:mm${seconds === undefined ? '' : ':ss'}${fraction.replaceAll(/[0-9]/g, 'S')}${half?.replace(/\S.*/u, 'a') ?? ''}`;
}

const SHEET_DATE = /^([0-9]{1,4})([/.-] ?)([0-9]{1,2})\2([0-9]{1,4})\.?((?:,? )[0-9].*)?$/u;
const NAMED_DATE = /^(?:[0-9]{1,2}(?:[ /-]|\. )|(?=(\p{L})))(\p{L}{3,9})[ /-][0-9 ,/-]{4,9}?((?:,? )[0-9]{1,2}:.*)?$/u;
const TIME = /^(,? )([0-9]{1,2}):[0-9]{2}(:[0-9]{2})?(\.[0-9]{3}(?:[0-9]{3})?)?(\s?[AaPp]\.?\s?[Mm]\.?)?$/u;

const LETTERS =
  "Letters: yyyy, MM, M or MMM (Nov), dd or d, and for a time of day HH or H, mm, ss and SSS, or h with a (PM). Put other letters in single quotes: d 'de' M.";
const YEAR = 'Write the years in the list with four digits, and yyyy in the format.';

function toIso(groups: Readonly<Record<string, string>> | undefined): string | null {
  if (groups === undefined) return null;
  const { year = '', month = '', day = '', half, noon = '', minute = '', second } = groups;
  // An English name or its beginning, as `Nov`, `Sept` and `November`.
  const isNumber = /^[0-9]/.test(month);
  const named = isNumber ? 0 : MONTH_NAMES.findIndex((one) => one.startsWith(month.toLowerCase()));
  if (named === -1) return null;
  const number = isNumber ? month : String(named + 1);
  const iso = `${year}-${number.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const hour = half === undefined ? groups['hour'] : String((Number(half) % 12) + (/^p/i.test(noon) ? 12 : 0));
  if (hour === undefined) return iso;
  return `${iso}T${hour.padStart(2, '0')}:${minute}${second === undefined ? '' : `:${second}`}`;
}
