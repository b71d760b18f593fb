import type { WindowHours, WindowRule } from '../model.ts';
import { beginOf, dayOf, endOf } from './wall.ts';

/** Whether something is open, and from when on that is otherwise. */
export interface Opening {
  readonly open: boolean;
  /** Ms since 1970; infinite where it stays so for more than a year. */
  readonly changesAtMs: number;
}

/** When a rule is open in one zone. */
export interface Calendar {
  at(ms: number): Opening;
}

/** How far ahead a calendar looks. A window that opens on one day of the week opens well before, whatever the holidays. */
export const HORIZON_MS = 400 * 86_400_000;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Makes the calendar of a rule in a zone. Days are worked out when they are first asked for: some 50 us each, for a
 * process that asks for a few.
 */
export function createCalendar(rule: WindowRule, zone: string): Calendar {
  const holidays = new Set(rule.holidays);
  const isAlwaysOpen = holidays.size === 0 && rule.hours.some(isWholeWeek);
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
  /** Works out one more day, and says from when on nothing is known. */
  const extend = (today: ReturnType<typeof dayOf>): number => {
    for (const span of spansOf(rule.hours, holidays, today, zone)) spans = insert(spans, span);
    day = today.add({ days: 1 });
    return beginOf(day, 0, zone);
  };
  let knownMs = Number.NEGATIVE_INFINITY;
  return {
    at(ms) {
      if (isAlwaysOpen) return { open: true, changesAtMs: Number.POSITIVE_INFINITY };
      // The clock may have been set back.
      if (day === null || ms < firstMs || ms > knownMs) knownMs = begin(ms);
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

function isWholeWeek({ fromMinute, toMinute, days }: WindowHours): boolean {
  return fromMinute === 0 && toMinute === 1440 && days.length === 7;
}

/** The spans that open on a day. */
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
    const fromMs = beginOf(day, fromMinute, zone);
    const toMs = endOf(lastDay, toMinute, zone);
    // Clocks can jump over the whole of it.
    return toMs > fromMs ? [{ fromMs, toMs }] : [];
  });
}

/** Spans that touch become one. */
function insert(spans: readonly Span[], span: Span): Span[] {
  const before = spans.filter(({ toMs }) => toMs < span.fromMs);
  const after = spans.filter(({ fromMs }) => fromMs > span.toMs);
  const touching = spans.slice(before.length, spans.length - after.length);
  const fromMs = Math.min(span.fromMs, ...touching.map((one) => one.fromMs));
  const toMs = Math.max(span.toMs, ...touching.map((one) => one.toMs));
  return [...before, { fromMs, toMs }, ...after];
}
