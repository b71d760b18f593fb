import { parseAccept } from 'hono/utils/accept';
import { createFormats, type Formats } from '../pages/serve-format.ts';

const DEFAULT_LOCALE = 'en-GB';

/** Languages in a header that are looked at; browsers name a handful. */
const MOST_TAGS = 10;

/** The locale of dates and numbers: the first that the reader asks for and this machine knows. */
export function localeOf(acceptLanguage: string | undefined): string {
  const asked = parseAccept((acceptLanguage ?? '').slice(0, 500)).slice(0, MOST_TAGS);
  for (const { type, q } of asked) {
    const known = q > 0 ? supported(type) : undefined;
    if (known !== undefined) return known;
  }
  return DEFAULT_LOCALE;
}

function supported(tag: string): string | undefined {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag)[0];
  } catch {
    // Not every tag that looks like one is one.
    return undefined;
  }
}

/** Makes the formats of each locale once; of the zone of this machine. */
export function formatsByLocale(timeZone: string): (acceptLanguage: string | undefined) => Formats {
  const known = new Map<string, Formats>();
  return (acceptLanguage) => {
    const locale = localeOf(acceptLanguage);
    const formats = known.get(locale) ?? createFormats(locale, timeZone);
    if (known.size < MOST_LOCALES) known.set(locale, formats);
    return formats;
  };
}

const MOST_LOCALES = 100;
