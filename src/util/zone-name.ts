import { nearest } from './suggest.ts';
import { createOffset, isTimeZone } from './time.ts';
import abbreviations from './zone-abbreviations.json' with { type: 'json' };
import PLACES from './zone-places.json' with { type: 'json' };

export interface ZoneFault {
  /** Follows on the name in quotes. */
  readonly problem: string;
  readonly hint: string;
}

/** Null: it is one. Offsets are none: they do not change their clocks in summer. */
export function zoneFault(name: string): ZoneFault | null {
  if (isTimeZone(name)) return null;
  const posix = /^etc\/gmt([+-](?:\d|1[0-4]))$/i.exec(name);
  if (posix !== null) {
    const hours = -Number(posix[1]);
    const problem = `is the fixed offset ${offsetText(hours)}: the sign in these names is reversed, and clocks never change`;
    const other = placeAt(-hours * 60);
    const also = other === undefined ? '' : ` If you mean ${offsetText(-hours)}: ${other}.`;
    return { problem, hint: `Name a place, such as ${placeAt(hours * 60) ?? 'Europe/London'}.${also}` };
  }
  const offset = /^(?:utc|gmt)? ?([+-]\d{1,2})(?::?(\d\d))?$/i.exec(name);
  if (offset !== null) {
    const sign = offset[1]?.startsWith('-') === true ? -1 : 1;
    const place = placeAt(Number(offset[1]) * 60 + sign * Number(offset[2] ?? 0)) ?? 'Europe/London';
    return { problem: 'is an offset, which knows no summer time', hint: `Name a place, such as ${place}.` };
  }
  const region = REGION.exec(name)?.[1]?.toUpperCase();
  const meant = ABBREVIATIONS.get(region ?? name.toUpperCase());
  if (meant !== undefined) {
    const problem = ['EST', 'HST', 'MST'].includes(name.toUpperCase())
      ? 'is a fixed offset, which knows no summer time'
      : 'is not an IANA time zone';
    return { problem, hint: `Write ${meant}.` };
  }
  // By the last part of the name: another place in the right part of the world is not meant.
  const city = name.slice(name.lastIndexOf('/') + 1).replaceAll(' ', '_');
  const all = Intl.supportedValuesOf('timeZone').map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone] as const);
  const zones = new Map(all);
  const near = zones.get(city) ?? zones.get(nearest(city, zones.keys()) ?? '');
  const hint = near === undefined ? 'Write a name such as Europe/London.' : `Did you mean "${near}"?`;
  return { problem: 'is not an IANA time zone', hint };
}

function offsetText(hours: number): string {
  return `UTC${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`;
}

/** A zone this many minutes east of UTC in winter: one of the well-known places, else any. */
function placeAt(minutes: number): string | undefined {
  const halves = [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)];
  return [...PLACES, ...Intl.supportedValuesOf('timeZone')].find(
    (zone) => Math.min(...halves.map(createOffset(zone))) === minutes * 60_000,
  );
}

/** `Eastern Standard Time`, `(GMT-05:00) Eastern Time (US & Canada)`, `Eastern`. */
const REGION =
  /^(?:\([^)]*\) ?)?((?:Eastern|Central|Mountain|Pacific|Alaskan?|Hawaiian|Atlantic|India|Tokyo|China|W\. Europe|Romance|Singapore))(?: (?:Standard |Daylight )?Time.*)?$/i;

/** Abbreviations with the zones that they may mean. IANA has EST, HST and MST, as offsets. */
const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries(abbreviations).flatMap(([names, zone]) => names.split('|').map((name) => [name, zone] as const)),
);
