import { type OutExpression, textLiteral } from '../ast.ts';
import { isEmpty } from '../empty.ts';
import { quoted, RenderError } from '../render-error.ts';
import { checkFormat, DATE_PARTS, DATE_PRESETS, formatKey, partsKey, partsOptions } from './date-format.ts';
import { type DateFormat, patternFormat } from './date-pattern.ts';
import { createCache, localeName, localeOr } from './locale.ts';
import { readDate } from './read-date.ts';
import { type CheckedCall, literal, named, type Signature, text } from './signature.ts';

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
    if (positional.length > 1) return 'A format and parts such as weekday= cannot stand together.';
    return Object.keys(partsOptionsOf(names)).length === 0 ? 'Name a part of the date, such as day="numeric".' : null;
  },
  arrange: ({ positional: [value, format], named: names, label }, settings) => [
    value ?? textLiteral(''),
    textLiteral(hasParts(names) ? partsKey(partsOf(names)) : formatKey(textOf(format) ?? 'medium')),
    names.get('tz') ?? textLiteral(settings.timeZone),
    names.get('locale') ?? textLiteral(settings.locale),
    textLiteral(label),
  ],
};

function hasParts(names: CheckedCall['named']): boolean {
  return [...names.keys()].some((name) => Object.hasOwn(DATE_PARTS, name));
}

function partsOf(names: CheckedCall['named']): ReadonlyMap<string, string> {
  const found = [...names].filter(([name]) => Object.hasOwn(DATE_PARTS, name));
  return new Map(found.map(([name, value]) => [name, textOf(value) ?? '']));
}

/** What is shown: `hourCycle` alone shows nothing. */
function partsOptionsOf(names: CheckedCall['named']): Intl.DateTimeFormatOptions {
  const { hourCycle: _, ...shown } = Object.fromEntries(partsOf(names)) as Intl.DateTimeFormatOptions;
  return shown;
}

function textOf(expression: OutExpression | undefined): string | null {
  return expression?.type === 'StringLiteral' ? expression.value : null;
}

function checkTimeZone(value: string): string | null {
  return isTimeZone(value) ? null : `${quoted(value)} is not a time zone such as "Europe/London".`;
}

function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return value !== '';
  } catch {
    return false;
  }
}

/**
 * The helper itself: value, format key, time zone, locale, columns. An empty value gives an empty text; one that cannot
 * be read throws `RenderError`.
 */
export function createDate(
  finish: (formatted: string) => string,
): (value: string, format: string, zone: string, locale: string, label: string) => string {
  const formats = createCache((key) => {
    const [format = '', zone = '', locale = '', kind = ''] = key.split('\0');
    return makeFormat(format, zone, locale, kind === 'instant');
  });
  return (value, format, zone, locale, label) => {
    if (isEmpty(value)) return '';
    const read = readDate(value);
    if (read === null) throw unreadable(value, label);
    // A date without a zone is shown as it stands: on a clock in UTC, where it was read.
    const own = read.kind === 'instant' ? zone : 'UTC';
    const found = formats(`${format}\0${own}\0${locale}\0${read.kind === 'instant' ? 'instant' : ''}`);
    if (found.needsTime && read.kind === 'date') throw noTime(value, label);
    return finish(found.format(read.epochMs));
  };
}

function unreadable(value: string, label: string): RenderError {
  return new RenderError(
    `${quoted(value)}${label} cannot be read as a date: write 2026-01-02, 2026-01-02 09:30, an ISO instant or Unix seconds.`,
  );
}

function noTime(value: string, label: string): RenderError {
  return new RenderError(`${quoted(value)}${label} has no time of day, and the template shows one.`);
}

function makeFormat(key: string, zone: string, locale: string, isInstant: boolean): DateFormat {
  const timeZone = zone.trim();
  if (!isTimeZone(timeZone)) throw new RenderError(`${quoted(zone)} is not a time zone such as "Europe/London".`);
  const language = localeOr(locale);
  const colon = key.indexOf(':');
  const format = key.slice(colon + 1);
  if (key === 'preset:iso') return patternFormat('yyyy-MM-dd', 'en-GB', timeZone);
  if (key.startsWith('pattern:')) return patternFormat(format, language, timeZone);
  const options = key.startsWith('preset:') ? (DATE_PRESETS[format] ?? {}) : partsOptions(format);
  return intlFormat(options, language, timeZone, isInstant);
}

function intlFormat(
  { timeZoneName, ...options }: Intl.DateTimeFormatOptions,
  locale: string,
  timeZone: string,
  isInstant: boolean,
): DateFormat {
  // The zone's name is left out where the value has none: UTC is only how it is kept from shifting.
  const zoneName = isInstant && timeZoneName !== undefined ? { timeZoneName } : {};
  const formatter = new Intl.DateTimeFormat(locale, { ...options, ...zoneName, timeZone });
  const needsTime = ['hour', 'minute', 'second', 'timeStyle'].some((name) => Object.hasOwn(options, name));
  return { needsTime, format: (epochMs) => formatter.format(epochMs) };
}
