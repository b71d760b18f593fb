import { isBlank, trimBlanks } from '../../util/cell.ts';
import { dateHint, isKnownToIntl, type Moment, readMoment } from '../../util/time.ts';
import { type OutExpression, textLiteral } from '../ast.ts';
import { columnHint, quoted, RenderError } from '../values.ts';
import TABLE from './date-formats.json' with { type: 'json' };
import {
  type CheckedCall,
  createCache,
  literal,
  localeName,
  localeOr,
  named,
  type Signature,
  text,
} from './signature.ts';

/**
 * Also `20260102`, `2026-01-02 09:30` (`T`, seconds and fractions too), with `Z` or an offset, Unix seconds (9 or 10 digits)
 * and milliseconds (13). Null for all other text: `02/01/2026` is one day in London and another in New York.
 */
export function readDate(value: string): Moment | null {
  const trimmed = trimBlanks(value);
  if (/^\d{9,10}$/.test(trimmed)) return { kind: 'instant', ms: Number(trimmed) * 1000 };
  if (/^\d{13}$/.test(trimmed)) return { kind: 'instant', ms: Number(trimmed) };
  return readMoment(trimmed.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3'));
}

interface DateFormat {
  /** A value without a time of day cannot have this format. */
  readonly needsTime: boolean;
  readonly format: (epochMs: number) => string;
}

type Options = Intl.DateTimeFormatOptions;

interface Token {
  readonly part: Intl.DateTimeFormatPartTypes;
  /** Minutes get their zero only beside an hour, seconds only beside minutes; AM or PM only beside a 12-hour hour. */
  readonly options: Options;
  readonly digits?: 1 | 2;
}

/** Pattern letters. Capital `Y`, `D` and small `ddd` of other tools mean what their users expect: year, day, weekday. */
const TOKENS = TABLE.tokens as Readonly<Record<string, Token>>;

const PIECES = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+/g;

type Piece = { readonly literal: string } | Token;

function readPattern(pattern: string): readonly Piece[] | string {
  if (pattern.trim() === '') return 'The format is empty.';
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: whole, 1: inQuotes, 2: letter, index } of pattern.matchAll(PIECES)) {
    if (index !== end) break;
    end += whole.length;
    const token = letter !== undefined && Object.hasOwn(TOKENS, whole) ? TOKENS[whole] : undefined;
    if (token !== undefined) pieces.push(token);
    else if (letter !== undefined) return `${quoted(whole)} is no part of a date in the format ${quoted(pattern)}.`;
    else pieces.push({ literal: inQuotes === undefined ? whole : inQuotes.replaceAll("''", "'") || "'" });
  }
  return end === pattern.length ? pieces : `A quote in the format ${quoted(pattern)} is never closed.`;
}

/** Throws `RenderError` for an invalid pattern, which the check has refused. */
function patternFormat(pattern: string, locale: string, timeZone: string): DateFormat {
  const pieces = readPattern(pattern);
  if (typeof pieces === 'string') throw new RenderError(pieces);
  const groups = groupTokens(pieces);
  const formatters = groups.map((options) => new Intl.DateTimeFormat(locale, { ...options, timeZone }));
  const placed = pieces.map((piece) =>
    'literal' in piece
      ? piece
      : {
          ...piece,
          group: groups.findIndex((options) =>
            Object.entries(piece.options).every(([name, value]) => options[name as keyof Options] === value),
          ),
        },
  );
  const needsTime = pieces.some((piece) => 'part' in piece && TIME_PARTS.has(piece.part));
  const format = (epochMs: number): string => {
    const parts = formatters.map((formatter) => formatter.formatToParts(epochMs));
    let text = '';
    for (const piece of placed) {
      if ('literal' in piece) text += piece.literal;
      else {
        const value = parts[piece.group]?.find((p) => p.type === piece.part)?.value ?? '';
        // As long as the pattern says: en-GB writes `09` where one digit is asked for, others `5` for two.
        if (piece.digits === 2) text += value.padStart(2, '0');
        else text += piece.digits === 1 ? value.replace(/^0(?=\d)/, '') : value;
      }
    }
    return text;
  };
  return { needsTime, format };
}

const TIME_PARTS: ReadonlySet<string> = new Set(['hour', 'minute', 'second', 'dayPeriod']);

/** Few requests to Intl (2 us each); only in company do words take their right form (`январь`, but `2 января`). */
function groupTokens(pieces: readonly Piece[]): readonly Options[] {
  const groups: Options[] = [];
  for (const piece of pieces) {
    if ('literal' in piece) continue;
    const index = groups.findIndex((options) =>
      Object.entries(piece.options).every(
        ([name, value]) => !Object.hasOwn(options, name) || options[name as keyof Options] === value,
      ),
    );
    if (index < 0) groups.push({ ...piece.options });
    else groups[index] = { ...groups[index], ...piece.options };
  }
  return groups;
}

/**
 * A preset, a pattern (`d MMM yyyy`) or parts. Between check and rendering the format is one string, as `preset:long`,
 * `pattern:d MMM` or `parts:weekday=short,day=numeric`: part of the compiled template and key of a formatter.
 */
const DATE_PRESETS = TABLE.presets as Readonly<Record<string, Options>>;
const DATE_PARTS: Readonly<Record<string, readonly string[]>> = TABLE.parts;

function checkFormat(format: string): string | null {
  if (format === 'iso' || Object.hasOwn(DATE_PRESETS, format)) return null;
  const pieces = readPattern(format);
  if (typeof pieces !== 'string') return null;
  const presets = [...Object.keys(DATE_PRESETS), 'iso'].join(', ');
  return `${pieces} Use one of ${presets}, or a pattern such as "d MMM yyyy"; put words in 'quotes'.`;
}

const PARTS = Object.entries(DATE_PARTS).map(([name, values]) =>
  literal(name, (value) => (values.includes(value) ? null : `${name} is one of ${values.join(', ')}.`)),
);

export const DATE_SIGNATURE: Signature = {
  example: '{{date when "long"}}',
  gives: 'text',
  positional: [text('value'), literal('format', checkFormat)],
  atLeast: 1,
  named: named(text('tz', checkTimeZone), localeName(), ...PARTS),
  verify: ({ positional, named: names }) => {
    if (!hasParts(names)) return null;
    if (positional.length > 1) return 'A format and parts such as weekday= cannot be combined.';
    const isNamed = [...partsOf(names).keys()].some((name) => name !== 'hourCycle');
    return isNamed ? null : 'Name a part of the date, such as day="numeric".';
  },
  arrange: ({ positional: [value, written], named: names, label }, settings) => {
    const format = textOf(written) ?? 'medium';
    const isPreset = Object.hasOwn(DATE_PRESETS, format) || format === 'iso';
    const parts = [...partsOf(names)].map(([name, part]) => `${name}=${part}`).join(',');
    const key = hasParts(names) ? `parts:${parts}` : `${isPreset ? 'preset' : 'pattern'}:${format}`;
    return [
      value ?? textLiteral(''),
      textLiteral(key),
      names.get('tz') ?? textLiteral(settings.timeZone),
      names.get('locale') ?? textLiteral(settings.locale),
      textLiteral(label),
    ];
  },
};

function hasParts(names: CheckedCall['named']): boolean {
  return [...names.keys()].some((name) => Object.hasOwn(DATE_PARTS, name));
}

function partsOf(names: CheckedCall['named']): ReadonlyMap<string, string> {
  const found = [...names].filter(([name]) => Object.hasOwn(DATE_PARTS, name));
  return new Map(found.map(([name, value]) => [name, textOf(value) ?? '']));
}

function textOf(expression: OutExpression | undefined): string | null {
  return expression?.type === 'StringLiteral' ? expression.value : null;
}

function checkTimeZone(value: string): string | null {
  return isKnownToIntl(value) ? null : `${quoted(value)} is not a time zone such as "Europe/London".`;
}

/** An empty value gives an empty text; an unreadable one throws `RenderError`. */
export function createDate(
  finish: (formatted: string) => string,
): (value: string, format: string, zone: string, locale: string, label: string) => string {
  const formats = createCache((key) => {
    const [format = '', zone = '', locale = '', kind = ''] = key.split('\0');
    return makeFormat(format, zone, locale, kind === 'instant');
  });
  return (value, format, zone, locale, label) => {
    if (isBlank(value)) return '';
    const read = readDate(value);
    if (read === null)
      throw new RenderError(
        `${quoted(value)}${label} cannot be read as a date: write 2026-01-02, 2026-01-02 09:30, an ISO instant or Unix seconds.`,
        'render-error',
        columnHint(label, (column) => dateHint(column, value)),
      );
    // A date without a zone is shown as written: it was read as UTC.
    const own = read.kind === 'instant' ? zone : 'UTC';
    const found = formats(`${format}\0${own}\0${locale}\0${read.kind === 'instant' ? 'instant' : ''}`);
    if (found.needsTime && read.kind === 'date') {
      throw new RenderError(`${quoted(value)}${label} has no time of day, and the template shows one.`);
    }
    return finish(found.format(read.ms));
  };
}

function makeFormat(key: string, zone: string, locale: string, isInstant: boolean): DateFormat {
  const timeZone = zone.trim();
  if (!isKnownToIntl(timeZone)) throw new RenderError(`${quoted(zone)} is not a time zone such as "Europe/London".`);
  const language = localeOr(locale);
  const colon = key.indexOf(':');
  const format = key.slice(colon + 1);
  if (key === 'preset:iso') return patternFormat('yyyy-MM-dd', 'en-GB', timeZone);
  if (key.startsWith('pattern:')) return patternFormat(format, language, timeZone);
  const options = key.startsWith('preset:')
    ? (DATE_PRESETS[format] ?? {})
    : Object.fromEntries(format.split(',').map((part) => part.split('=')));
  return intlFormat(options, language, timeZone, isInstant);
}

function intlFormat(
  { timeZoneName, ...options }: Intl.DateTimeFormatOptions,
  locale: string,
  timeZone: string,
  isInstant: boolean,
): DateFormat {
  // No zone's name where the value has none: UTC only keeps it from shifting.
  const zoneName = isInstant && timeZoneName !== undefined ? { timeZoneName } : {};
  const formatter = new Intl.DateTimeFormat(locale, { ...options, ...zoneName, timeZone });
  const needsTime = ['hour', 'minute', 'second', 'timeStyle'].some((name) => Object.hasOwn(options, name));
  return { needsTime, format: (epochMs) => formatter.format(epochMs) };
}
