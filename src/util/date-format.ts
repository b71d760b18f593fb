/** How the dates of a column are written, such as `dd/MM/yyyy`. */
export interface DateFormat {
  readonly pattern: string;
  /** The ISO 8601 form of a cell, such as `2026-11-21` or `2026-11-21T09:30`; null: another format, or no such date. */
  toIso(cell: string): string | null;
  /** A date in this format, for hints. */
  readonly example: string;
}

/** The pattern letters of Unicode (LDML) that can be read in one way only; what is one or two digits wide is `short`. */
const FIELDS = {
  yyyy: { part: 'year', digits: '[0-9]{4}', short: false, example: '2026' },
  MM: { part: 'month', digits: '[0-9]{2}', short: false, example: '11' },
  M: { part: 'month', digits: '[0-9]{1,2}', short: true, example: '11' },
  dd: { part: 'day', digits: '[0-9]{2}', short: false, example: '21' },
  d: { part: 'day', digits: '[0-9]{1,2}', short: true, example: '21' },
  HH: { part: 'hour', digits: '[0-9]{2}', short: false, example: '09' },
  mm: { part: 'minute', digits: '[0-9]{2}', short: false, example: '30' },
} as const;

type Letters = keyof typeof FIELDS;
type Part = (typeof FIELDS)[Letters]['part'];

/** A run of one letter, text in single quotes, or any other character. */
const TOKEN = /([A-Za-z])\1*|'((?:[^']|'')*)'|./gsu;

/**
 * Compiles the format of a column of dates.
 * @returns the format, or what is wrong with the pattern
 */
export function readDateFormat(pattern: string): DateFormat | { readonly problem: string; readonly hint: string } {
  const parts: Part[] = [];
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
      source += text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      example += text;
      isShortBefore = isFieldBefore = false;
      continue;
    }
    if (token === 'yy') return { problem: 'has a year of two digits, which leaves the century open', hint: YEAR };
    const field = isKnown(token) ? FIELDS[token] : null;
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
  if (parts.includes('hour') !== parts.includes('minute')) {
    return { problem: 'has only one of hour (HH) and minute (mm)', hint: LETTERS };
  }
  const expression = new RegExp(`^${source}$`, 'u');
  return { pattern, example, toIso: (cell) => toIso(expression.exec(cell.trim())?.groups) };
}

const LETTERS =
  "Letters: yyyy, MM or M, dd or d, and for a time of day HH and mm. Put other letters in single quotes: d 'de' M.";
const YEAR = 'Write yyyy, and the years in the list with four digits.';

function isKnown(token: string): token is Letters {
  return Object.hasOwn(FIELDS, token);
}

function toIso(groups: Readonly<Record<string, string>> | undefined): string | null {
  if (groups === undefined) return null;
  const { year = '', month = '', day = '', hour, minute = '' } = groups;
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return hour === undefined ? iso : `${iso}T${hour}:${minute}`;
}
