import { quoted, RenderError } from '../render-error.ts';

/** A way to write dates, ready to use. */
export interface DateFormat {
  /** It shows a time of day, which a value without one does not have. */
  readonly needsTime: boolean;
  readonly format: (epochMs: number) => string;
}

type Options = Intl.DateTimeFormatOptions;

interface Token {
  /** The part of a date that it shows. */
  readonly part: Intl.DateTimeFormatPartTypes;
  /**
   * What is asked of Intl. Minutes get their zero only beside an hour, seconds only beside minutes, and the half of the
   * day stands only beside an hour of the 12-hour clock.
   */
  readonly options: Options;
  readonly digits?: 1 | 2;
}

const MINUTE: Options = { hour: '2-digit', hourCycle: 'h23', minute: '2-digit' };

/** Pattern letters. Capital `Y`, `D` and small `ddd` of other tools mean what their users expect: year, day, weekday. */
const TOKENS: Readonly<Record<string, Token>> = {
  yyyy: { part: 'year', options: { year: 'numeric' } },
  yy: { part: 'year', options: { year: '2-digit' }, digits: 2 },
  MMMM: { part: 'month', options: { month: 'long' } },
  MMM: { part: 'month', options: { month: 'short' } },
  MM: { part: 'month', options: { month: '2-digit' }, digits: 2 },
  M: { part: 'month', options: { month: 'numeric' }, digits: 1 },
  dd: { part: 'day', options: { day: '2-digit' }, digits: 2 },
  d: { part: 'day', options: { day: 'numeric' }, digits: 1 },
  EEEE: { part: 'weekday', options: { weekday: 'long' } },
  EEE: { part: 'weekday', options: { weekday: 'short' } },
  HH: { part: 'hour', options: { hour: '2-digit', hourCycle: 'h23' }, digits: 2 },
  H: { part: 'hour', options: { hour: 'numeric', hourCycle: 'h23' }, digits: 1 },
  hh: { part: 'hour', options: { hour: '2-digit', hourCycle: 'h12' }, digits: 2 },
  h: { part: 'hour', options: { hour: 'numeric', hourCycle: 'h12' }, digits: 1 },
  mm: { part: 'minute', options: MINUTE, digits: 2 },
  ss: { part: 'second', options: { ...MINUTE, second: '2-digit' }, digits: 2 },
  a: { part: 'dayPeriod', options: { hour: 'numeric', hourCycle: 'h12' } },
};

const SYNONYMS: Readonly<Record<string, string>> = {
  YYYY: 'yyyy',
  YY: 'yy',
  DD: 'dd',
  D: 'd',
  dddd: 'EEEE',
  ddd: 'EEE',
  A: 'a',
};

const PIECES = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+/g;

type Piece = { readonly literal: string } | Token;

/** A pattern's pieces, or what is wrong with it in one sentence. */
export function readPattern(pattern: string): readonly Piece[] | string {
  if (pattern.trim() === '') return 'The format is empty.';
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: whole, 1: inQuotes, 2: letter, index } of pattern.matchAll(PIECES)) {
    if (index !== end) break;
    end += whole.length;
    const token = letter === undefined ? undefined : tokenOf(whole);
    if (token !== undefined) pieces.push(token);
    else if (letter !== undefined) return `${quoted(whole)} is no part of a date in the format ${quoted(pattern)}.`;
    else pieces.push({ literal: inQuotes === undefined ? whole : inQuotes.replaceAll("''", "'") || "'" });
  }
  return end === pattern.length ? pieces : `A quote in the format ${quoted(pattern)} is never closed.`;
}

function tokenOf(letters: string): Token | undefined {
  const name = Object.hasOwn(SYNONYMS, letters) ? (SYNONYMS[letters] ?? letters) : letters;
  return Object.hasOwn(TOKENS, name) ? TOKENS[name] : undefined;
}

/** A date written after a pattern. Throws `RenderError` for a pattern that is none, which the check has refused. */
export function patternFormat(pattern: string, locale: string, timeZone: string): DateFormat {
  const pieces = readPattern(pattern);
  if (typeof pieces === 'string') throw new RenderError(pieces);
  const groups = groupTokens(pieces);
  const formatters = groups.map((options) => new Intl.DateTimeFormat(locale, { ...options, timeZone }));
  const placed = pieces.map((piece) =>
    'literal' in piece ? piece : { ...piece, group: groups.findIndex((options) => includes(options, piece.options)) },
  );
  const needsTime = pieces.some((piece) => 'part' in piece && TIME_PARTS.has(piece.part));
  const format = (epochMs: number): string => {
    const parts = formatters.map((formatter) => formatter.formatToParts(epochMs));
    let text = '';
    for (const piece of placed) {
      if ('literal' in piece) text += piece.literal;
      else text += shaped(parts[piece.group]?.find((p) => p.type === piece.part)?.value ?? '', piece.digits);
    }
    return text;
  };
  return { needsTime, format };
}

const TIME_PARTS: ReadonlySet<string> = new Set(['hour', 'minute', 'second', 'dayPeriod']);

/**
 * As few requests to Intl as possible, one for most patterns: it is faster (one takes 2 us), and only in company do
 * words take their right form (`январь`, but `2 января`). A part that is wanted in two forms needs two requests.
 */
function groupTokens(pieces: readonly Piece[]): readonly Options[] {
  const groups: Options[] = [];
  for (const piece of pieces) {
    if ('literal' in piece) continue;
    const index = groups.findIndex((options) => agrees(options, piece.options));
    if (index < 0) groups.push({ ...piece.options });
    else groups[index] = { ...groups[index], ...piece.options };
  }
  return groups;
}

function agrees(a: Options, b: Options): boolean {
  return Object.entries(b).every(([name, value]) => !Object.hasOwn(a, name) || a[name as keyof Options] === value);
}

function includes(a: Options, b: Options): boolean {
  return Object.entries(b).every(([name, value]) => a[name as keyof Options] === value);
}

/** Numbers as long as the pattern says: en-GB writes `09` where one digit is asked for, others `5` for two. */
function shaped(value: string, digits: 1 | 2 | undefined): string {
  if (digits === 2) return value.padStart(2, '0');
  return digits === 1 ? value.replace(/^0(?=\d)/, '') : value;
}
