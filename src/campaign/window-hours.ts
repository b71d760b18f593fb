import type { WindowHours, WindowRule } from '../model.ts';
import { isList } from '../util/json.ts';
import { dayMs } from '../util/time.ts';
import { checkCountry, type Finding } from './check-values.ts';
import type { HoursFile, ProjectFile, WindowFile } from './written.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const WEEKDAYS: readonly number[] = [1, 2, 3, 4, 5];
const EVERY_DAY: readonly number[] = [...WEEKDAYS, 6, 7];

type Fault = Extract<Finding<never>, { code: unknown }>;

export function readCountryWindows(
  written: ProjectFile['windows'],
  report: (pointer: string, fault: Fault) => void,
): Readonly<Record<string, WindowRule>> {
  const rules: Record<string, WindowRule> = Object.create(null);
  for (const [country, one] of Object.entries(written ?? {})) {
    const pointer = `/windows/${country}`;
    const known = country === 'other' ? { value: country } : checkCountry(country);
    if ('code' in known) report(pointer, known);
    const list = isList(one) ? one : [one];
    const at = (i: number): string => (isList(one) ? `${pointer}/${i}` : pointer);
    const hours: WindowHours[] = [];
    for (const [i, file] of list.entries()) {
      // The schema has reported missing values and wrong types.
      if (file.from === undefined || file.to === undefined) continue;
      const found = hoursOf(file);
      if ('value' in found) hours.push(found.value);
      else report(`${at(i)}/to`, found);
    }
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
  // 00:00 is the end of the day on which it opens.
  return { value: { fromMinute, toMinute: toMinute === 0 ? DAY_MINUTES : toMinute, days: daysOf(days) } };
}

const DAY_MINUTES = 1440;

function daysOf(written: HoursFile['days']): readonly number[] {
  if (written === undefined) return EVERY_DAY;
  return written === 'weekdays' ? WEEKDAYS : written.map((day) => DAYS.indexOf(day) + 1).toSorted((a, b) => a - b);
}

function minuteOf(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number);
  return hour * 60 + minute;
}

/** Days that do not exist would never be holidays. */
export function holidaysOf(
  { holidays = [] }: Pick<WindowFile, 'holidays'>,
  pointer: string,
  report: (pointer: string, fault: Fault) => void,
): readonly string[] {
  for (const [i, day] of holidays.entries()) {
    if (dayMs(day) !== null) continue;
    const message = `"${day}" is not a day that exists.`;
    report(`${pointer}/holidays/${i}`, { code: 'invalid-value', message, hint: 'For example: 2026-12-25' });
  }
  return holidays;
}
