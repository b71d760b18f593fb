import { readFileSync } from 'node:fs';
import { type CsvError, parse } from 'csv-parse/sync';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { bareNumber } from './addresses.ts';
import { type Device, parseDevice } from './devices.ts';

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
