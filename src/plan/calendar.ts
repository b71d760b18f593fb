import { Temporal } from 'temporal-polyfill';
import { readCountryWindows } from '../campaign/window-hours.ts';
import type { SendWindow, WindowHours, WindowRule } from '../model.ts';
import { firstAt } from '../util/wall-time.ts';
import WINDOWS from './country-windows.json' with { type: 'json' };

/* A day can lack an hour, have one twice, or be missing: only this file decides what a window means then. */

const DAY_MINUTES = 1440;

export function dayOf(ms: number, zone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate();
}

/** When a window begins that opens at this wall time: a time that is missing moves forward, of two it is the first. */
export function momentOf(day: Temporal.PlainDate, minute: number, zone: string): number {
  return wall(day, minute).toZonedDateTime(zone).epochMilliseconds;
}

function wall(day: Temporal.PlainDate, minute: number): Temporal.PlainDateTime {
  const on = minute < DAY_MINUTES ? day : day.add({ days: 1 });
  const inDay = minute % DAY_MINUTES;
  return on.toPlainDateTime({ hour: Math.floor(inDay / 60), minute: inDay % 60 });
}

/** `2026-11-23 09:00`, as a clock in the zone shows it. */
export function wallText(ms: number, zone: string): string {
  const shown = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();
  return shown.toString({ smallestUnit: 'minute' }).replace('T', ' ');
}

interface Opening {
  readonly open: boolean;
  /** Ms since 1970; infinite where it stays so for more than a year. */
  readonly changesAtMs: number;
}

export interface Calendar {
  at(ms: number): Opening;
}

/** A window on one day of the week opens well before, whatever the holidays. */
const HORIZON_MS = 400 * 86_400_000;

type Span = { readonly fromMs: number; readonly toMs: number };

/** Works out each day when it is first asked for, in some 50 us. */
export function createCalendar(rule: WindowRule, zone: string): Calendar {
  const holidays = new Set(rule.holidays);
  const isAlwaysOpen =
    holidays.size === 0 &&
    rule.hours.some(({ fromMinute, toMinute, days }) => fromMinute === 0 && toMinute === 1440 && days.length === 7);
  // Ascending, none touching the next; the last one may still grow.
  let spans: Span[] = [];
  let firstMs = Number.POSITIVE_INFINITY;
  let day: ReturnType<typeof dayOf> | null = null;

  /** Hours that began yesterday may go on; where the clocks were put forward, those of the day before too. */
  const begin = (ms: number): number => {
    spans = [];
    firstMs = ms;
    return extend(dayOf(ms, zone).subtract({ days: 2 }));
  };
  const extend = (today: ReturnType<typeof dayOf>): number => {
    for (const span of spansOf(rule.hours, holidays, today, zone)) spans = insert(spans, span);
    day = today.add({ days: 1 });
    return momentOf(day, 0, zone);
  };
  let knownMs = Number.NEGATIVE_INFINITY;
  return {
    at(ms) {
      if (isAlwaysOpen) return { open: true, changesAtMs: Number.POSITIVE_INFINITY };
      // The clock may have been set back.
      if (day === null || ms < firstMs || ms > knownMs + HORIZON_MS) knownMs = begin(ms);
      for (;;) {
        const next = spans.find(({ toMs }) => toMs > ms);
        if (next !== undefined && next.fromMs > ms && next.fromMs < knownMs) {
          return { open: false, changesAtMs: next.fromMs };
        }
        if (next !== undefined && next.fromMs <= ms && next.toMs < knownMs) {
          return { open: true, changesAtMs: next.toMs };
        }
        if (knownMs > ms + HORIZON_MS) {
          return { open: next !== undefined && next.fromMs <= ms, changesAtMs: Number.POSITIVE_INFINITY };
        }
        knownMs = extend(day ?? dayOf(ms, zone));
      }
    },
  };
}

function spansOf(
  hours: readonly WindowHours[],
  holidays: ReadonlySet<string>,
  day: ReturnType<typeof dayOf>,
  zone: string,
): readonly Span[] {
  if (holidays.has(day.toString())) return [];
  return hours.flatMap(({ fromMinute, toMinute, days }) => {
    if (!days.includes(day.dayOfWeek)) return [];
    const lastDay = toMinute > fromMinute ? day : day.add({ days: 1 });
    const fromMs = momentOf(day, fromMinute, zone);
    const toMs = firstAt(wall(lastDay, toMinute), zone);
    // Clocks can jump over the whole of it.
    return toMs > fromMs ? [{ fromMs, toMs }] : [];
  });
}

function insert(spans: readonly Span[], span: Span): Span[] {
  const before = spans.filter(({ toMs }) => toMs < span.fromMs);
  const after = spans.filter(({ fromMs }) => fromMs > span.toMs);
  const touching = spans.slice(before.length, spans.length - after.length);
  const fromMs = Math.min(span.fromMs, ...touching.map((one) => one.fromMs));
  const toMs = Math.max(span.toMs, ...touching.map((one) => one.toMs));
  return [...before, { fromMs, toMs }, ...after];
}

/** Whether all calendars are open at once. Closed with an infinite change: they do not meet before the horizon. */
export function openingOf(calendars: readonly Calendar[], nowMs: number, horizonMs = HORIZON_MS): Opening {
  for (let at = nowMs; at <= nowMs + horizonMs; ) {
    const states = calendars.map((calendar) => calendar.at(at));
    const opensAtMs = Math.max(at, ...states.map(({ open, changesAtMs }) => (open ? at : changesAtMs)));
    if (opensAtMs > at) {
      at = opensAtMs;
      continue;
    }
    if (at > nowMs) return { open: false, changesAtMs: at };
    return { open: true, changesAtMs: Math.min(...states.map(({ changesAtMs }) => changesAtMs)) };
  }
  return { open: false, changesAtMs: Number.POSITIVE_INFINITY };
}

/**
 * When marketing messages are sent by practice, by the country of the number (ISO 3166-1) in the recipient's own time.
 * Practice, not legal advice: sources disagree for nearly every country, laws change, and some hold only for calls. Used
 * where a campaign says `send.window.countries: true`; handbill.yaml says otherwise under `windows`.
 */
const COUNTRY_WINDOWS = readCountryWindows(WINDOWS as Parameters<typeof readCountryWindows>[0], (pointer) => {
  throw new Error(`country-windows.json is wrong at ${pointer}`);
});

interface ZonedRule {
  readonly rule: WindowRule;
  /** Null: the recipient's. */
  readonly zone: string | null;
}

export function rulesFor(
  window: SendWindow,
  overrides: Readonly<Record<string, WindowRule>>,
  country: string | null,
): readonly ZonedRule[] {
  const { hours, holidays, timeZone } = window;
  const own = hours === null ? null : { hours: [hours], holidays };
  const rules: ZonedRule[] = own === null ? [] : [{ rule: own, zone: timeZone === 'recipient' ? null : timeZone }];
  if (!window.countries) return rules;
  const known = { ...COUNTRY_WINDOWS, ...overrides };
  const found = (country === null ? null : known[country]) ?? (own === null ? known['other'] : null) ?? null;
  // Holidays of the campaign are closed everywhere, also where only the country has hours.
  if (found !== null) rules.push({ rule: { ...found, holidays: [...found.holidays, ...holidays] }, zone: null });
  return rules;
}

export function allRules(window: SendWindow, overrides: Readonly<Record<string, WindowRule>>): readonly ZonedRule[][] {
  const countries = window.countries ? Object.keys({ ...COUNTRY_WINDOWS, ...overrides }) : [];
  const named = countries.filter((country) => country !== 'other');
  return [null, ...named].map((country) => [...rulesFor(window, overrides, country)]);
}
