import type { WindowHours, WindowRule } from '../model.ts';
import { isList } from '../util/json.ts';
import { dayMs } from '../util/time.ts';
import { checkCountry, checked, type Finding, type Report } from './check-values.ts';
import type { HoursFile, ProjectFile, WindowFile } from './written.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const WEEKDAYS: readonly number[] = [1, 2, 3, 4, 5];
const EVERY_DAY: readonly number[] = [...WEEKDAYS, 6, 7];

export function readCountryWindows(
  written: ProjectFile['windows'],
  report: Report,
): Readonly<Record<string, WindowRule>> {
  const rules: Record<string, WindowRule> = Object.create(null);
  for (const [country, one] of Object.entries(written ?? {})) {
    const pointer = `/windows/${country}`;
    if (country !== 'other') checked(country, pointer, checkCountry, report);
    const list = isList(one) ? one : [one];
    const at = (i: number): string => (isList(one) ? `${pointer}/${i}` : pointer);
    // The schema has reported missing values and wrong types.
    const hours = list.flatMap((file, i) => {
      const isWhole = file.from !== undefined && file.to !== undefined;
      return (isWhole ? checked(file, `${at(i)}/to`, hoursOf, report) : null) ?? [];
    });
    rules[country] = { hours, holidays: list.flatMap((file, i) => holidaysOf(file, at(i), report)) };
  }
  return rules;
}

export function hoursOf({ from, to, days }: HoursFile): Finding<WindowHours> {
  const fromMinute = minuteOf(from);
  const toMinute = minuteOf(to);
  if (fromMinute === toMinute) {
    const message = `A window from ${from} to ${to} never opens, or never closes.`;
    return { code: 'invalid-value', message, hint: 'For whole days: from: "00:00", to: "24:00".' };
  }
  const named = days === 'weekdays' ? WEEKDAYS : days?.map((day) => DAYS.indexOf(day) + 1).toSorted((a, b) => a - b);
  // 00:00 is the end of the day on which it opens.
  return { value: { fromMinute, toMinute: toMinute === 0 ? DAY_MINUTES : toMinute, days: named ?? EVERY_DAY } };
}

const DAY_MINUTES = 1440;

function minuteOf(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number);
  return hour * 60 + minute;
}

/** Days that do not exist would never be holidays. */
export function holidaysOf(
  { holidays = [] }: Pick<WindowFile, 'holidays'>,
  pointer: string,
  report: Report,
): readonly string[] {
  for (const [i, day] of holidays.entries()) {
    if (dayMs(day) !== null) continue;
    const message = `"${day}" is not a day that exists.`;
    report(`${pointer}/holidays/${i}`, 'invalid-value', message, 'For example: 2026-12-25');
  }
  return holidays;
}
