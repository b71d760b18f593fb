import { nearest } from './suggest.ts';
import { isTimeZone } from './time.ts';

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
    const other = PLACES[MIDDLE - hours];
    const also = other === undefined ? '' : ` If you mean ${offsetText(-hours)}: ${other}.`;
    return { problem, hint: `Name a place, such as ${PLACES[MIDDLE + hours] ?? 'Europe/London'}.${also}` };
  }
  const offset = /^(?:utc|gmt)? ?([+-]\d{1,2})(?::?(\d\d))?$/i.exec(name);
  if (offset !== null) {
    const place = PLACES[MIDDLE + Number(offset[1])] ?? 'Europe/London';
    return { problem: 'is an offset, which knows no summer time', hint: `Name a place, such as ${place}.` };
  }
  const meant = ABBREVIATIONS.get(name.toUpperCase());
  if (meant !== undefined) {
    const problem = ['EST', 'HST', 'MST'].includes(name.toUpperCase())
      ? 'is a fixed offset, which knows no summer time'
      : 'is not an IANA time zone';
    return { problem, hint: `Write ${meant}.` };
  }
  const near = zoneOfCity(name.slice(name.lastIndexOf('/') + 1).replaceAll(' ', '_'));
  const hint = near === null ? 'Write a name such as Europe/London.' : `Did you mean "${near}"?`;
  return { problem: 'is not an IANA time zone', hint };
}

/** By the last part of the name: another place in the right part of the world is not meant. */
function zoneOfCity(city: string): string | null {
  const zones = new Map(
    Intl.supportedValuesOf('timeZone').map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]),
  );
  return zones.get(city) ?? zones.get(nearest(city, zones.keys()) ?? '') ?? null;
}

function offsetText(hours: number): string {
  return `UTC${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`;
}

/** A place for each whole offset in winter, from UTC-11 to UTC+14. */
const PLACES: readonly string[] = (
  'Pacific/Pago_Pago Pacific/Honolulu America/Anchorage America/Los_Angeles America/Denver America/Chicago ' +
  'America/New_York America/Halifax America/Sao_Paulo America/Noronha Atlantic/Azores Europe/London Europe/Paris ' +
  'Europe/Athens Europe/Moscow Asia/Dubai Asia/Karachi Asia/Dhaka Asia/Bangkok Asia/Shanghai Asia/Tokyo ' +
  'Australia/Sydney Pacific/Noumea Pacific/Auckland Pacific/Tongatapu Pacific/Kiritimati'
).split(' ');

/** UTC among the places. */
const MIDDLE = 11;

/** Abbreviations with the zones that they may mean. IANA has EST, HST and MST, as offsets. */
const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(
  [
    ['EST', 'America/New_York (or America/Panama, which has no summer time)'],
    ['EDT ET', 'America/New_York'],
    ['CST', 'America/Chicago (or Asia/Shanghai)'],
    ['CDT CT', 'America/Chicago'],
    ['MST', 'America/Denver (or America/Phoenix, which has no summer time)'],
    ['MDT MT', 'America/Denver'],
    ['PST PDT PT', 'America/Los_Angeles'],
    ['AKST AKDT', 'America/Anchorage'],
    ['HST HDT', 'Pacific/Honolulu'],
    ['AST ADT', 'America/Halifax (or America/Puerto_Rico, which has no summer time)'],
    ['NST NDT', 'America/St_Johns'],
    ['BRT', 'America/Sao_Paulo'],
    ['ART', 'America/Argentina/Buenos_Aires'],
    ['BST', 'Europe/London'],
    ['WEST', 'Europe/Lisbon'],
    ['CEST', 'Europe/Paris'],
    ['EEST', 'Europe/Athens'],
    ['MSK', 'Europe/Moscow'],
    ['IST', 'Asia/Kolkata, Europe/Dublin or Asia/Jerusalem: the name has three meanings'],
    ['EAT', 'Africa/Nairobi'],
    ['SAST CAT', 'Africa/Johannesburg'],
    ['WAT', 'Africa/Lagos'],
    ['GST', 'Asia/Dubai'],
    ['PKT', 'Asia/Karachi'],
    ['HKT', 'Asia/Hong_Kong'],
    ['SGT', 'Asia/Singapore'],
    ['JST', 'Asia/Tokyo'],
    ['KST', 'Asia/Seoul'],
    ['AWST', 'Australia/Perth'],
    ['ACST ACDT', 'Australia/Adelaide (or Australia/Darwin, which has no summer time)'],
    ['AEST AEDT', 'Australia/Sydney (or Australia/Brisbane, which has no summer time)'],
    ['NZST NZDT', 'Pacific/Auckland'],
  ].flatMap(([names = '', zone = '']) => names.split(' ').map((name) => [name, zone] as const)),
);
