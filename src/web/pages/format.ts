import { parseAccept } from 'hono/utils/accept';
import { createFormats as formatsIn } from '../../report/locale.ts';
import { type Html, html } from '../../util/escape.ts';
import { createDayOf, DAY_MS } from '../../util/time.ts';

export type Formats = ReturnType<typeof createFormats>;

/** Numbers and times as the reader's locale writes them; the words of pages are English. */
function createFormats(locale: string, timeZone: string) {
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone });
  // The name of a month is in another language than the page.
  const language = !/^en\b/.test(locale) && html` lang="${locale}"`;
  const days = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone });
  const own = formatsIn(locale, timeZone);
  const dayOf = createDayOf(timeZone);
  const shown = (
    value: number | string | null,
    write: (ms: number) => readonly [text: string, hasMonth: boolean],
  ): Html => {
    const ms = typeof value === 'string' ? Date.parse(value) : value;
    if (ms === null || Number.isNaN(ms) || Math.abs(ms) > 8.64e15) return html`<span class="soft">-</span>`;
    const iso = new Date(ms).toISOString();
    const [text, hasMonth] = write(ms);
    return html`<time datetime="${iso}" title="${own.instant(iso)}"${hasMonth && language}>${text}</time>`;
  };
  return {
    ...own,
    /** An instant, in ms since 1970 or ISO 8601; a dash for null, and for an impossible time. */
    time: (value: number | string | null) => shown(value, (ms) => [times.format(ms), true]),
    /** The same as people say it at `nowMs`: `13:22` of today, `yesterday 13:22`, `Mon 23 Nov, 09:00`; else as `time`. */
    when: (value: number | string | null, nowMs: number) =>
      shown(value, (ms) => {
        const ahead = Math.round((dayOf(ms) - dayOf(nowMs)) / DAY_MS);
        const near = NEAR.get(ahead);
        if (near !== undefined) return [`${near}${own.clock(ms)}`, false];
        return [ahead > 0 && ahead < FAR_DAYS ? `${days.format(ms)}, ${own.clock(ms)}` : times.format(ms), true];
      }),
  };
}

const NEAR: ReadonlyMap<number, string> = new Map([
  [-1, 'yesterday '],
  [0, ''],
  [1, 'tomorrow '],
]);
/** Further ahead, a day needs its year. */
const FAR_DAYS = 180;

const DEFAULT_LOCALE = 'en-GB';
/** Most languages read from a header; browsers name a handful. */
const MOST_TAGS = 10;

/** The locale of dates and numbers: the reader's first one that this machine knows. */
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
    // The tag is malformed.
    return undefined;
  }
}

/**
 * Caches the formats of each locale.
 * @param own - the locale of the project; null: that of the reader
 */
export function formatsByLocale(timeZone: string, own: string | null): (acceptLanguage: string | undefined) => Formats {
  const known = new Map<string, Formats>();
  return (acceptLanguage) => {
    const locale = own ?? localeOf(acceptLanguage);
    const formats = known.get(locale) ?? createFormats(locale, timeZone);
    if (known.size < MOST_LOCALES) known.set(locale, formats);
    return formats;
  };
}

const MOST_LOCALES = 100;
