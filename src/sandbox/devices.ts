import { readFileSync } from 'node:fs';
import { CsvError, parse } from 'csv-parse/sync';
import { type Code, type Diagnostic, problem, refuse, thrownText } from '../errors.ts';
import table from './endings.json' with { type: 'json' };
import { bareNumber, byEnding, type ScriptedNumbers } from './endings.ts';

const CHANNELS = ['SMS', 'RCS', 'MessagingApp', 'Voice'] as const;

export type Device = { readonly label: string; readonly takes: readonly (typeof CHANNELS)[number][] };

/** RCS is supported on Android 5.0 or later and iOS 18.2 or later: the API's document. The rest is the sandbox's. */
const RCS_SINCE = { Android: '5.0', iOS: '18.2' } as const;
const SMARTPHONE = /^(android|ios) (\d{1,4}(?:\.\d{1,4}){0,3})( without (?:the )?messaging app)?$/;
const VERSIONS = new Intl.Collator('en', { numeric: true });

/** Reads `android 4.4`, `ios 18.2`, `android 15 without messaging app`, `feature phone` or `landline`. */
export function parseDevice(text: string): Device | undefined {
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ');
  if (words === 'feature phone') return { label: words, takes: ['SMS', 'Voice'] };
  if (words === 'landline') return { label: words, takes: ['Voice'] };
  const [, system, version, without] = SMARTPHONE.exec(words) ?? [];
  if (system === undefined || version === undefined) return undefined;
  const name = system === 'ios' ? 'iOS' : 'Android';
  // 18.10 is later than 18.2, and 5 is 5.0.
  const hasRcs = VERSIONS.compare(`${version}.0`, RCS_SINCE[name]) >= 0;
  return {
    label: `${name} ${version}${without === undefined ? '' : ' without the messaging app'}`,
    takes: CHANNELS.filter((one) => (one === 'RCS' ? hasRcs : one !== 'MessagingApp' || without === undefined)),
  };
}

/** By its name on the wire. Every device takes a channel that is not of phones. */
export function takes(device: Device, channel: string): boolean {
  const letters = channel.toLowerCase().replace(/[^a-z]/g, '');
  const known = CHANNELS.find((one) => one.toLowerCase() === (letters === 'whatsapp' ? 'messagingapp' : letters));
  return known === undefined || device.takes.includes(known);
}

/** By their last three digits; no other ending uses these digits. */
export const DEVICES: ReadonlyMap<string, Device> = new Map(
  Object.entries(table.devices).flatMap(([digits, text]) => {
    const device = parseDevice(text);
    return device === undefined ? [] : [[digits, device] as const];
  }),
);

/** By number, without `+`. */
export type Devices = ReadonlyMap<string, Device>;

/** That of the file, else that of its ending; undefined: it takes every channel. */
export function deviceOf(address: string, devices: Devices, whose: ScriptedNumbers): Device | undefined {
  return devices.get(bareNumber(address)) ?? byEnding(DEVICES, address, whose);
}

const NUMBER = /^(?:\+|00)?[1-9]\d{4,14}$/;
const HINT = 'Write android or ios with a version, perhaps "without messaging app"; feature phone; or landline.';

/** @throws HandbillError (exit 2) with all faults in the columns `msisdn` and `device`, each with its line */
export function readDevices(path: string): Devices {
  const devices = new Map<string, Device>();
  const faults: Diagnostic[] = [];
  const fault = (line: number, code: Code, message: string, hint?: string): void => {
    faults.push(problem(code, message, { at: { file: path, line }, ...(hint !== undefined && { hint }) }));
  };
  const rows = rowsOf(path);
  const columns = new Set(rows.flatMap(({ record }) => Object.keys(record)));
  if (rows.length > 0 && !(columns.has('msisdn') && columns.has('device'))) {
    fault(1, 'unknown-column', 'The first line must name the columns msisdn and device.');
    throw refuse(...faults);
  }
  for (const { record, info } of rows) {
    const { msisdn = '', device = '' } = record;
    const bare = bareNumber(msisdn.replace(/[\s()-]/g, ''));
    const found = parseDevice(device);
    if (!NUMBER.test(bare)) {
      fault(info.lines, 'invalid-address', `${JSON.stringify(msisdn)} is not an international number.`);
    } else if (found === undefined) {
      fault(info.lines, 'invalid-value', `${JSON.stringify(device)} is not a known device.`, HINT);
    } else if (devices.has(bare)) fault(info.lines, 'duplicate-address', 'This number already has a device.');
    else devices.set(bare, found);
  }
  if (faults.length > 0) throw refuse(...faults);
  return devices;
}

type Row = { readonly record: Readonly<Partial<Record<string, string>>>; readonly info: { readonly lines: number } };

const CSV = {
  bom: true,
  info: true,
  columns: true,
  trim: true,
  skip_empty_lines: true,
  relax_column_count: true,
} as const;

function rowsOf(path: string): Row[] {
  try {
    return parse(readFileSync(path), CSV) as unknown as Row[];
  } catch (error) {
    const isCsv = error instanceof CsvError;
    const at = isCsv ? { file: path, line: Number(error['lines']) } : { file: path };
    const message = `The list of devices cannot be read: ${thrownText(error)}.`;
    throw refuse(problem(isCsv ? 'csv-syntax' : 'file-unreadable', message, { at }));
  }
}
