import type { Schedule } from '../model.ts';
import { createOffset, DAY_MS } from '../util/time.ts';
import { listWithAnd } from '../util/words.ts';

type Written = Pick<Schedule, 'cron'> & { readonly at: string | Pick<NonNullable<Schedule['at']>, 'written'> | null };

/** `weekdays 09:00 (Europe/London), next tomorrow 09:00`. */
export function nextWords(
  schedule: Written & Pick<Schedule, 'timeZone'>,
  next: string | number | null,
  nowMs: number,
): string {
  const { timeZone } = schedule;
  const ms = typeof next === 'string' ? Date.parse(next) : next;
  return `${scheduleWords(schedule)} (${timeZone})${ms === null ? '' : `, next ${soonText(ms, nowMs, timeZone)}`}`;
}

/** An instant, to the minute, on a clock of the zone: `09:00` of this day, `tomorrow 09:00`, `2026-11-30 09:00`. */
export function soonText(ms: number, nowMs: number, timeZone: string): string {
  const offset = createOffset(timeZone);
  const [day, clock] = new Date(ms + offset(ms)).toISOString().slice(0, '2026-11-30T09:00'.length).split('T');
  const ahead = (Date.parse(String(day)) - Math.floor((nowMs + offset(nowMs)) / DAY_MS) * DAY_MS) / DAY_MS;
  return ahead === 0 ? String(clock) : `${ahead === 1 ? 'tomorrow' : day} ${clock}`;
}

/** `weekdays 09:00`, `Mon and Thu 09:00`, `every 15 minutes`. An expression that has no short words is unchanged. */
export function scheduleWords({ cron, at }: Written): string {
  if (at !== null || cron === null) return typeof at === 'string' ? at : (at?.written ?? '');
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.trim().split(/\s+/);
  const every = /^\*\/(\d+) \* \* \* \*$/.exec(cron.trim())?.[1];
  if (every !== undefined && 60 % Number(every) === 0) return `every ${every} minutes`;
  const days = month === '*' ? daysWords(day, weekday) : null;
  if (days === null || !/^\d{1,2}$/.test(minute)) return cron;
  if (hour === '*') return `${days} at ${two(minute)} past each hour`;
  if (!/^\d{1,2}(?:,\d{1,2})*$/.test(hour)) return cron;
  return `${days} ${listWithAnd(hour.split(',').map((one) => `${two(one)}:${two(minute)}`))}`;
}

function daysWords(day: string, weekday: string): string | null {
  if (weekday === '*') {
    if (day === '*') return 'every day';
    return /^\d{1,2}$/.test(day) ? `day ${day} of each month` : null;
  }
  if (day !== '*') return null;
  if (/^(?:1-5|mon-fri)$/i.test(weekday)) return 'weekdays';
  const names = weekday.split(',').map((one) => {
    const place = NAMES.findIndex((name) => name.toLowerCase() === one.toLowerCase());
    return NAMES[place === -1 && /^[0-7]$/.test(one) ? Number(one) % 7 : place];
  });
  return names.includes(undefined) ? null : listWithAnd(names.map(String));
}

const NAMES = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function two(figure: string): string {
  return figure.padStart(2, '0');
}
