import { readFileSync } from 'node:fs';
import { type CsvError, parse } from 'csv-parse/sync';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { bareNumber } from './message.ts';
import {
  endingOf,
  isReserved,
  SCENARIOS,
  type Scenario,
  type ScriptedNumbers,
  scenarioByDigits,
  scenarioFor,
} from './scenarios.ts';

/**
 * What recipients hold in their hands. The API's document: RCS is supported on Android 5.0 or later and iOS 18.2 or
 * later. What else a device takes is unstated; here a phone takes SMS and calls, a landline only calls, and a
 * smartphone takes the messaging app where it is installed.
 */
export interface Device {
  readonly system: 'android' | 'ios' | 'feature-phone' | 'landline';
  /** Such as [18, 2]; empty where the system has none. */
  readonly version: readonly number[];
  readonly messagingApp: boolean;
  /** How people call it: `Android 4.4`. */
  readonly label: string;
}

const RCS_SINCE = { android: [5, 0], ios: [18, 2] } as const;
const SYSTEM_NAMES = { android: 'Android', ios: 'iOS' } as const;
const SMARTPHONE = /^(android|ios) (\d{1,4}(?:\.\d{1,4}){0,3})( without (?:the )?messaging app)?$/;

/** Reads `android 4.4`, `ios 18.2`, `android 15 without messaging app`, `feature phone` or `landline`; else null. */
export function parseDevice(text: string): Device | null {
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ');
  if (words === 'feature phone') {
    return { system: 'feature-phone', version: [], messagingApp: false, label: 'feature phone' };
  }
  if (words === 'landline') return { system: 'landline', version: [], messagingApp: false, label: 'landline' };
  const [, system, version, without] = SMARTPHONE.exec(words) ?? [];
  if ((system !== 'android' && system !== 'ios') || version === undefined) return null;
  const label = `${SYSTEM_NAMES[system]} ${version}${without === undefined ? '' : ' without the messaging app'}`;
  return { system, version: version.split('.').map(Number), messagingApp: without === undefined, label };
}

/** The names of a channel on the wire, in every dialect; other names are channels that every device takes. */
const CHANNEL_NAMES: ReadonlyMap<string, Takes> = new Map([
  ['sms', 'sms'],
  ['rcs', 'rcs'],
  ['messagingapp', 'messaging-app'],
  ['whatsapp', 'messaging-app'],
  ['voice', 'voice'],
]);

type Takes = 'sms' | 'rcs' | 'messaging-app' | 'voice';

/** Whether a device takes a channel, by the channel's name on the wire. */
export function takes(device: Device, channel: string): boolean {
  switch (CHANNEL_NAMES.get(channel.toLowerCase().replace(/[^a-z]/g, ''))) {
    case 'sms':
      return device.system !== 'landline';
    case 'rcs':
      return takesRcs(device);
    case 'messaging-app':
      return device.messagingApp;
    default:
      return true;
  }
}

function takesRcs({ system, version }: Device): boolean {
  return (system === 'android' || system === 'ios') && isAtLeast(version, RCS_SINCE[system]);
}

/** Compares as versions do, number by number: 18.10 is later than 18.2, and 5 is 5.0. */
function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
  for (const [i, wanted] of least.entries()) {
    const has = version[i] ?? 0;
    if (has !== wanted) return has > wanted;
  }
  return true;
}

/** The devices of the reserved numbers, by their last three digits; no script uses these digits. */
export const DEVICES: ReadonlyMap<string, Device> = new Map(
  [
    ['710', 'ios 18.10'],
    ['726', 'ios 26.0'],
    ['776', 'ios 17.6'],
    ['781', 'ios 18.1'],
    ['782', 'ios 18.2'],
    ['800', 'feature phone'],
    ['801', 'landline'],
    ['802', 'android 15 without messaging app'],
    ['803', 'ios 18.2 without messaging app'],
    ['815', 'android 15'],
    ['844', 'android 4.4'],
    ['850', 'android 5.0'],
  ].flatMap(([digits = '', text = '']) => {
    const device = parseDevice(text);
    return device === null ? [] : [[digits, device] as const];
  }),
);

const SHOWN = ['SMS', 'RCS', 'MessagingApp', 'Voice'] as const;

/** The channels that a device takes, in words. */
export function channelsOf(device: Device): string {
  return SHOWN.filter((channel) => takes(device, channel)).join(', ');
}

/** The domains that RFC 2606 reserves for examples, so their addresses belong to no person. */
const TAGGED_EMAIL = /\+(\d{3})@(?:(example\.(?:com|net|org))|[^@]*)$/;
const TAGGED_CONTACT = /^(sandbox)?[^+]*\+(\d{3})$/;

/**
 * The three digits by which an address chooses its script, or null. Numbers choose by their last digits, email
 * addresses and contacts by a tag: `zoe+404@example.com`, `sandbox-1+404`. Others only if `whose` is `all`.
 */
export function scriptedDigits(address: string, isContact: boolean, whose: ScriptedNumbers): string | null {
  if (whose === 'none') return null;
  if (isContact) return byTag(TAGGED_CONTACT.exec(address), 2, 1, whose);
  if (address.includes('@')) return byTag(TAGGED_EMAIL.exec(address), 1, 2, whose);
  return endingOf(address, whose);
}

function byTag(found: RegExpExecArray | null, digits: number, free: number, whose: ScriptedNumbers): string | null {
  if (found === null || (whose === 'reserved' && found[free] === undefined)) return null;
  return found[digits] ?? null;
}

/** The scenario that an address plays, or null (scenarios.ts). */
export function scriptOf(address: string, isContact: boolean, whose: ScriptedNumbers): Scenario | null {
  if (!isContact && !address.includes('@')) return scenarioFor(address, whose);
  const digits = scriptedDigits(address, isContact, whose);
  return digits === null ? null : scenarioByDigits(digits);
}

const MEANINGFUL: ReadonlySet<string> = new Set([...DEVICES.keys(), ...SCENARIOS.map(({ digits }) => digits)]);

/** Whether the last three digits of a number are those of a script or a device: most are not, which is quickly seen. */
export function hasMeaning(msisdn: string): boolean {
  return MEANINGFUL.has(msisdn.slice(-3));
}

/** The device behind a number by its last three digits, or null: then it takes every channel. */
export function deviceByDigits(msisdn: string, whose: ScriptedNumbers): Device | null {
  if (whose === 'none') return null;
  const device = DEVICES.get(msisdn.slice(-3));
  if (device === undefined) return null;
  return whose === 'all' || isReserved(msisdn) ? device : null;
}

/** Devices by number, without `+`. */
export type Devices = ReadonlyMap<string, Device>;

const NUMBER = /^(?:\+|00)?[1-9]\d{4,14}$/;
const COLUMNS = ['msisdn', 'device'];
const HINT = 'Write android or ios with a version, perhaps "without messaging app"; feature phone; or landline.';

interface Row {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/**
 * Reads a CSV file with the columns `msisdn` and `device`.
 *
 * @throws HandbillError (exit 2) with everything that is wrong, each with its line
 */
export function readDevices(path: string): Devices {
  const [header, ...rows] = rowsOf(path);
  const [number, device] = COLUMNS.map((name) => header?.record.indexOf(name) ?? -1);
  if (number === undefined || device === undefined || number < 0 || device < 0) {
    throw refuse(problem('unknown-column', 'The first line must name the columns msisdn and device.', at(path, 1)));
  }
  const devices = new Map<string, Device>();
  const faults = rows.flatMap((row) => addTo(devices, path, row, number, device));
  if (faults.length > 0) throw refuse(...faults);
  return devices;
}

function addTo(devices: Map<string, Device>, path: string, row: Row, number: number, device: number): Diagnostic[] {
  const { record, info } = row;
  const msisdn = (record[number] ?? '').replace(/[\s()-]/g, '');
  const place = at(path, info.lines);
  if (!NUMBER.test(msisdn)) {
    return [problem('invalid-address', `${JSON.stringify(record[number] ?? '')} is no international number.`, place)];
  }
  const found = parseDevice(record[device] ?? '');
  if (found === null) {
    const message = `${JSON.stringify(record[device] ?? '')} is no device.`;
    return [problem('invalid-value', message, { ...place, hint: HINT })];
  }
  const bare = bareNumber(msisdn);
  if (devices.has(bare)) return [problem('duplicate-address', 'This number has a device already.', place)];
  devices.set(bare, found);
  return [];
}

function rowsOf(path: string): Row[] {
  try {
    const text = readFileSync(path);
    const options = { bom: true, info: true, trim: true, skip_empty_lines: true, relax_column_count: true } as const;
    return parse(text, options) as unknown as Row[];
  } catch (error) {
    throw refuse(isCsvError(error) ? syntaxProblem(path, error) : unreadable(path, error));
  }
}

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_');
}

function syntaxProblem(path: string, error: CsvError): Diagnostic {
  const { lines } = error as { readonly lines?: unknown };
  return problem('csv-syntax', `The list of devices is not CSV: ${error.message}.`, {
    at: typeof lines === 'number' ? { file: path, line: lines } : { file: path },
  });
}

function unreadable(path: string, error: unknown): Diagnostic {
  const message = error instanceof Error ? error.message : String(error);
  return problem('file-unreadable', `The list of devices cannot be read: ${message}.`, { at: { file: path } });
}

function at(file: string, line: number): Pick<Diagnostic, 'at'> {
  return { at: { file, line } };
}
