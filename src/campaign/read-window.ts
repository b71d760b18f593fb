import type { SendWindow, WindowHours } from '../model.ts';
import { checkTimeZone } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import type { Report } from './legs.ts';
import type { Merged } from './merge.ts';
import { holidaysOf, hoursOf } from './window-hours.ts';
import type { WindowFile } from './written.ts';

const EXAMPLE = 'For example: window: { from: "09:00", to: "20:00" }';

/** `send.window`; null where messages go at any hour. */
export function readWindow(merged: Merged, report: Report): SendWindow | null {
  const written = merged.file.send?.window;
  if (written === undefined || typeof written === 'string') return null;
  const { timeZone = DEFAULTS.windowTimeZone, unknown = HOLD, countries = DEFAULTS.windowCountries } = written;
  const zone = (key: string, name: string): string => {
    const finding = checkTimeZone(name);
    if ('value' in finding) return finding.value;
    report(`/send/window/${key}`, finding.code, finding.message, finding.hint);
    return name;
  };
  return {
    hours: ownHours(written, countries, merged, report),
    holidays: holidaysOf(written, '/send/window', (pointer, { code, message, hint }) =>
      report(pointer, code, message, hint),
    ),
    timeZone: timeZone === RECIPIENT ? RECIPIENT : zone('timeZone', timeZone),
    unknown: unknown === HOLD ? DEFAULTS.windowUnknown : zone('unknown', unknown),
    countries,
  };
}

const RECIPIENT = 'recipient';
const HOLD = 'hold';

/** The hours of the campaign; they may be left out where those of countries hold. */
function ownHours(written: WindowFile, countries: boolean, merged: Merged, report: Report): WindowHours | null {
  const { from, to } = written;
  if (from === undefined && to === undefined && countries) {
    if (written.days === undefined) return null;
    report('/send/window/days', 'missing-key', 'Days need hours: "send.window" has no "from" and "to".', EXAMPLE);
    return null;
  }
  for (const [key, value] of Object.entries({ from, to })) {
    if (value !== undefined || merged.isWritten(`/send/window/${key}`)) continue;
    report('/send/window', 'missing-key', `"send.window.${key}" is missing.`, EXAMPLE);
  }
  if (from === undefined || to === undefined) return null;
  const found = hoursOf({ ...written, from, to });
  if ('value' in found) return found.value;
  report('/send/window/to', found.code, found.message, found.hint);
  return null;
}
