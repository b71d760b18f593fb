import { safeLine } from '../util/escape.ts';
import { onDemand } from '../util/on-demand.ts';
import { createOffset, utcText } from '../util/time.ts';
import { countOf, number, withCommas } from '../util/words.ts';

/** Writes figures and times for people, never for programs. Words stay English. */
export interface Formats {
  /** BCP 47, one that `Intl` knows. */
  readonly locale: string;
  readonly timeZone: string;
  number(value: number): string;
  /** With the noun in English: `1 recipient`, `2 recipients`. */
  count(count: number, noun: string, several?: string): string;
  /** With one decimal. Only nothing is 0%, and only everything is 100%. */
  percent(part: number, whole: number): string;
  /** In the decimals of the currency; a smaller amount is `under` the smallest. */
  money(units: number, currency: string | null | undefined): string;
  /** From the lowest amount to the highest; one amount where both are written the same. */
  moneyRange(low: number, high: number, currency: string | null | undefined): string;
  /** With one decimal, without a unit of time. */
  rate(perSecond: number): string;
  milliseconds(ms: number): string;
  duration(ms: number): string;
  /** How much longer something takes, and until when: `about 36 min, until 13:22`. */
  left(ms: number, nowMs: number): string;
  /** `13:22` */
  clock(ms: number): string;
  /** An ISO 8601 instant; other text is unchanged. */
  instant(iso: string): string;
}

/**
 * @param locale - BCP 47, one that `Intl` knows; null: as `PLAIN`, in the time zone
 * @param timeZone - IANA name
 */
export function createFormats(locale: string | null, timeZone: string): Formats {
  if (locale === null) return timeZone === 'UTC' ? PLAIN : { ...PLAIN, timeZone, ...plainTimes(timeZone) };
  const figures = onDemand(() => new Intl.NumberFormat(locale));
  const shares = onDemand(() => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }));
  const times = onDemand(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long', timeZone }));
  const clocks = onDemand(() => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone }));
  const clock = (ms: number): string => clocks().format(ms);
  const amounts = (currency: string | null | undefined) => {
    const decimals = decimalsOf(currency);
    const style = currency ? ({ style: 'currency', currency } as const) : {};
    return new Intl.NumberFormat(locale, {
      ...style,
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
  };
  // A short duration has one decimal, a very short one two: `0.42 ms`, `1.2 s`.
  const inLocale = (text: string): string =>
    text.replace(/^\d+\.\d+/, (written) =>
      new Intl.NumberFormat(locale, { minimumFractionDigits: written.split('.')[1]?.length ?? 0 }).format(
        Number(written),
      ),
    );
  const money: Formats['money'] = (units, currency) =>
    shownAmount(units, currency, (amount) => amounts(currency).format(amount));
  const figure = (value: number): string => figures().format(value);
  return {
    locale,
    timeZone,
    number: figure,
    count: (count, noun, several = `${noun}s`) => `${figure(count)} ${count === 1 ? noun : several}`,
    percent(part, whole) {
      if (whole === 0 || part === 0) return shares().format(0);
      if (part === whole) return shares().format(1);
      return shares().format(Math.min(Math.max(Math.round((part / whole) * 1000), 1), 999) / 1000);
    },
    money,
    moneyRange(low, high, currency) {
      const all = amounts(currency);
      return all.format(low) === all.format(high) ? money(high, currency) : all.formatRange(low, high);
    },
    rate: (perSecond) => figure(tenths(perSecond)),
    milliseconds: (ms) => inLocale(milliseconds(ms)),
    duration: (ms) => inLocale(duration(ms)),
    left: leftBy(clock),
    clock,
    instant(iso) {
      const ms = Date.parse(iso);
      return Number.isNaN(ms) ? iso : times().format(ms);
    },
  };
}

export function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0%';
  if (part === whole) return '100%';
  const thousandths = Math.round((part / whole) * 1000);
  return thousandths === 0 ? '< 0.1%' : `${(Math.min(thousandths, 999) / 10).toFixed(1)}%`;
}

/** `1.20`, or `1,201.20 EUR` where the currency is known; `under 0.01 EUR`. */
export function money(units: number, currency: string | null | undefined): string {
  const decimals = decimalsOf(currency);
  return shownAmount(units, currency, (amount) => withCode(amount.toFixed(decimals), currency));
}

/** `12.42 to 27.17 EUR`. */
function moneyRange(low: number, high: number, currency: string | null | undefined): string {
  const [least, most] = [low, high].map((amount) => withCode(amount.toFixed(decimalsOf(currency)), null));
  return least === most ? money(high, currency) : `${least} to ${withCode(most ?? '', currency)}`;
}

/** At least two decimals, as many as it has: for an amount that a limit is compared with. */
export function exactMoney(units: number, currency: string | null | undefined): string {
  return withCode(units.toFixed(6).replace(/0{1,4}$/, ''), currency);
}

function withCode(amount: string, currency: string | null | undefined): string {
  return `${withCommas(amount)}${currency ? ` ${safeLine(currency)}` : ''}`;
}

function shownAmount(units: number, currency: string | null | undefined, format: (units: number) => string): string {
  const least = 10 ** -decimalsOf(currency);
  return units > 0 && units < least ? `under ${format(least)}` : format(units);
}

/** The tables of Intl take 14 ms: those with two decimals that most projects have do without. */
const USUAL: ReadonlySet<string> = new Set(['EUR', 'GBP', 'USD', 'CHF']);

function decimalsOf(currency: string | null | undefined): number {
  // A plan file that was changed can hold any text.
  if (!currency || USUAL.has(currency) || !/^[A-Z]{3}$/.test(currency)) return 2;
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** `0.42 ms`, `12 ms`, `1.2 s`. */
export function milliseconds(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? Number(ms.toFixed(2)) : Math.round(ms)} ms`;
}

/** `0.8 s`, `42 s`, `3 min 5 s`, `2 h 0 min`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Writes times for a column whose title names the zone: `2026-11-21 10:00:00`. */
export function createWallTime(timeZone: string): (iso: string) => string {
  const { instant } = createFormats(null, timeZone);
  return (iso) => instant(iso).slice(0, '2026-11-21 10:00:00'.length);
}

/** An estimate is not precise to the second: `40 s`, `36 min`, `2 h 10 min`. */
export function roughly(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const step = ms < 5_000 ? 1_000 : 5_000;
  if (ms < 55_000) return `${Math.max(1, (Math.ceil(ms / step) * step) / 1000)} s`;
  if (minutes < 90) return `${Math.max(1, minutes)} min`;
  const tens = Math.round(minutes / 10);
  return `${Math.floor(tens / 6)} h${tens % 6 === 0 ? '' : ` ${(tens % 6) * 10} min`}`;
}

function leftBy(clockOf: Formats['clock']): Formats['left'] {
  return (ms, nowMs) => `about ${roughly(ms)}, until ${clockOf(nowMs + ms)}`;
}

/** `2026-11-21 10:00:00 CET`, where a clock in the zone shows that. */
function plainTimes(timeZone: string): Pick<Formats, 'clock' | 'instant' | 'left'> {
  const names = onDemand(() => new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' }));
  const aheadOf = onDemand(() => createOffset(timeZone));
  const wall = (ms: number) => ms + aheadOf()(ms);
  const clockOf = (ms: number) => clock(wall(ms)).replace(' UTC', '');
  return {
    clock: clockOf,
    left: leftBy(clockOf),
    instant(iso) {
      const ms = Date.parse(iso);
      if (Number.isNaN(ms)) return iso;
      const zone = names()
        .formatToParts(ms)
        .find(({ type }) => type === 'timeZoneName');
      return utcText(wall(ms)).replace('UTC', zone?.value ?? timeZone);
    },
  };
}

/** `2026-11-21 09:00:00 UTC`; text that is not ISO 8601 is unchanged. */
export function instant(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : utcText(ms);
}

function clock(ms: number): string {
  return utcText(ms, 'minute').slice('2026-11-21 '.length);
}

/** Commas between thousands, amounts with their code, times in UTC until `createFormats` names a zone. Messages and errors use it too. */
export const PLAIN: Formats = {
  locale: 'en-GB',
  timeZone: 'UTC',
  number,
  count: countOf,
  percent,
  money,
  moneyRange,
  rate: (perSecond) => number(tenths(perSecond)),
  milliseconds,
  duration,
  left: leftBy(clock),
  clock,
  instant,
};
