import type { Schedule } from '../model.ts';

/** `weekdays 09:00`, `Mon and Thu 09:00`, `every 15 minutes`. An expression that has no short words is unchanged. */
export function scheduleWords({ cron, at }: Pick<Schedule, 'cron'> & { readonly at: string | null }): string {
  if (at !== null || cron === null) return at ?? '';
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.trim().split(/\s+/);
  const every = /^\*\/(\d+) \* \* \* \*$/.exec(cron.trim())?.[1];
  if (every !== undefined && 60 % Number(every) === 0) return `every ${every} minutes`;
  const days = month === '*' ? daysWords(day, weekday) : null;
  if (days === null || !/^\d{1,2}$/.test(minute)) return cron;
  if (hour === '*') return `${days} at ${two(minute)} past each hour`;
  if (!/^\d{1,2}(?:,\d{1,2})*$/.test(hour)) return cron;
  return `${days} ${listed(hour.split(',').map((one) => `${two(one)}:${two(minute)}`))}`;
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
  return names.includes(undefined) ? null : listed(names.map(String));
}

const NAMES = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function two(figure: string): string {
  return figure.padStart(2, '0');
}
