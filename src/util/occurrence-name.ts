/* Two spellings of one instant must give one name: otherwise all recipients get their message twice. */

import { dayMs, iso, isoSeconds, readMoment } from './time.ts';

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
 * - An instant is read as RFC 3339 and its close relatives (`readMoment`), and named in UTC: `2026-11-24T10:00:00Z`.
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
  const moment = readMoment(plain);
  if (moment?.kind === 'local' && !UTC.test(rules.timeZone)) {
    const message = `${shown} has no time zone, so it could mean two instants: in UTC, or in ${rules.timeZone}.`;
    return { message, hint: `Add Z for UTC, or an offset such as +01:00: ${EXAMPLE}.` };
  }
  if (moment !== null && moment.kind !== 'date' && moment.ms >= 0 && moment.ms < END_MS) {
    return { occurrence: moment.ms % 1000 === 0 ? occurrenceAt(moment.ms) : iso(moment.ms) };
  }
  const day = readDay(plain);
  if (day !== null && !rules.scheduled) return { occurrence: day };
  const kind = kindOf(plain, day !== null);
  if (kind === 'name' || (kind === 'partial' && !rules.scheduled)) return { occurrence: text };
  return unread(shown, kind, rules.scheduled);
}

/** A used name that differs from this one only in case or in the width of characters; null: none. */
export function lookalikeIn(used: readonly string[], occurrence: string): string | null {
  if (used.includes(occurrence)) return null;
  const folded = fold(occurrence);
  return used.find((name) => fold(name) === folded) ?? null;
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
const UTC = /^(?:UTC|GMT|Etc\/UTC|Etc\/GMT)$/i;
const END_MS = Date.UTC(9999, 11, 31);

/** Full-width digits, dashes of word processors and spaces that do not break, as a keyboard writes them. */
function plainForm(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
}

// ------------------------------------------------------------------------------------------------ dates and lookalikes

const MONTH_NAMES =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const WEEKDAY_NAMES =
  'sun(?:day)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?';
const MONTH_WORD = new RegExp(`^(?:${MONTH_NAMES})\\.?$`, 'i');

function readDay(plain: string): string | null {
  const match = /^([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})$/.exec(plain);
  if (match === null) return null;
  const [, year = '', , month = '', day = ''] = match;
  const written = `${year}-${month}-${day}`;
  return dayMs(written) === null ? null : written;
}

/** Only `timed` and `number` may name an instant; `partial` is a month, week, year, short number or calendar date. */
type TextKind = 'name' | 'partial' | 'timed' | 'number';

function kindOf(plain: string, isDay: boolean): TextKind {
  if (DATE_THEN_TIME.test(plain)) return 'timed';
  // Digits of other scripts are numbers that are not read.
  if (/[^\p{ASCII}]/u.test(plain.replace(/\P{Nd}/gu, ''))) return /\p{L}/u.test(plain) ? 'name' : 'number';
  if (!/[0-9]/.test(plain) || /[^\p{ASCII}]/u.test(plain)) return 'name';
  // JavaScript writes the name of the zone in brackets.
  const words = plain.replace(/\([^()]*\)/g, '').match(/[a-z]+/gi) ?? [];
  if (!words.every((word) => DATE_WORD.test(word))) return 'name';
  if (isDay) return 'partial';
  if (/[0-9]\s*:\s*[0-9]/.test(plain) || SPLIT_DATE.test(plain) || WRONG_DAY.test(plain)) return 'timed';
  const groups = plain.match(/[0-9]+/g) ?? [];
  if (words.some((word) => MONTH_WORD.test(word)) && groups.length > 1) return 'timed';
  const isLong = groups.some((group) => group.length > 8) || THOUSANDS.test(plain);
  return isLong || /^[+-]?[0-9.,]+e[+-]?[0-9]+$/i.test(plain) ? 'number' : 'partial';
}

const DATE_FORMS = '[+]?(?:00)?[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4}-?[0-9]{3}|[0-9]{4}-?[Ww][0-9]{2}-?[1-7]';
const DATE_THEN_TIME = new RegExp(`^[^\\p{L}\\p{N}]*(?:${DATE_FORMS})(?:[T_]|[ ]+T?|-(?=[0-9]{4}|[0-9]+:))[0-9]`, 'iu');
/** 24.11.2026, 11/24/2026, 2026-11-3: the order of day and month is ambiguous. */
const SPLIT_DATE =
  /^(?:[0-9]{4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,2}|[0-9]{1,2}[-/. ][0-9]{1,2}[-/. ](?:[0-9]{4}|[0-9]{2}))\.?$/;
const THOUSANDS = /^[+-]?[0-9]{1,3}(?:[,.' ][0-9]{3}){2,}$/;
const WRONG_DAY = /^(?:19|20)[0-9]{6}$/;
const DATE_WORD = new RegExp(`^(?:${MONTH_NAMES}|${WEEKDAY_NAMES}|[tzwh]|utc?|gmt|[ap]m|e|st|nd|rd|th)$`, 'i');
