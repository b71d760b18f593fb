import { Temporal } from 'temporal-polyfill';
import type { WindowRule } from '../../src/model.ts';

const MINUTE = 60_000;

/**
 * Which minutes of a time are inside a rule, found the slow way: every minute is asked what a clock in the zone shows.
 * A window is open from the first minute that shows its beginning (later by as much as is missing, where the clocks
 * jump over it) to the first minute that shows its end or anything after it.
 */
export function openMinutes(rule: WindowRule, zone: string, fromMs: number, minutes: number): boolean[] {
  const before = 3 * 1440;
  const shown = Array.from({ length: before + minutes + 1 }, (_, i) => shownAt(fromMs + (i - before) * MINUTE, zone));
  const open = shown.map(() => false);
  const firstDay = Math.floor((shown[0] ?? 0) / 1440);
  const lastDay = Math.floor((shown.at(-1) ?? 0) / 1440);
  for (let day = firstDay; day <= lastDay; day++) {
    const date = Temporal.PlainDate.from('1970-01-01').add({ days: day });
    if (rule.holidays.includes(date.toString())) continue;
    for (const { fromMinute, toMinute, days } of rule.hours) {
      if (!days.includes(date.dayOfWeek)) continue;
      const opens = day * 1440 + fromMinute;
      const closes = day * 1440 + toMinute + (toMinute > fromMinute ? 0 : 1440);
      const first = shown.findIndex((minute) => minute >= opens);
      if (first <= 0) continue;
      const missing = shown[first] === opens ? 0 : opens - (shown[first - 1] ?? 0) - 1;
      const last = shown.findIndex((minute) => minute >= closes);
      for (let i = first + missing; i < (last === -1 ? shown.length : last); i++) open[i] = true;
    }
  }
  return open.slice(before);
}

/** Minutes since 1970 on the wall clock of a zone. Clocks change at whole quarters of an hour. */
function shownAt(ms: number, zone: string): number {
  const quarter = Math.floor(ms / (15 * MINUTE));
  const id = `${zone} ${quarter}`;
  const known = OFFSETS.get(id) ?? offsetAt(quarter * 15 * MINUTE, zone);
  OFFSETS.set(id, known);
  return Math.floor((ms + known) / MINUTE);
}

const OFFSETS = new Map<string, number>();

function offsetAt(ms: number, zone: string): number {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
}
