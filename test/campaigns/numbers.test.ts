import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { describe, expect, it, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { CHANNELS } from '../../src/content/channels.ts';
import type { Json, JsonObject } from '../../src/model.ts';
import { deviceOf } from '../../src/sandbox/devices.ts';
import { endingOf } from '../../src/sandbox/endings.ts';

const CAMPAIGNS = new URL('../../campaigns/', import.meta.url);

/** What regulators keep free for documentation and drama. */
const RESERVED = [
  /^\+447700900\d{3}$/,
  /^\+1[2-9]\d\d55501\d\d$/,
  /^\+6149157015[6-9]$/,
  /^\+33639980\d{3}$/,
  /^\+4917139200\d\d$/,
  /^\+467017406(?:0[5-9]|[1-9]\d)$/,
];

/** Domains that cannot be registered (RFC 2606). */
const RESERVED_DOMAIN = /@(?:[a-z\d-]+\.)*(?:example\.(?:com|net|org)|[^@.]+\.example)$/i;

interface Example {
  readonly folder: string;
  readonly file: Readonly<Record<string, Json>>;
  /** Every cell of its list, wherever that is. */
  readonly cells: readonly string[];
}

const examples: readonly Example[] = readdirSync(CAMPAIGNS)
  .filter((folder) => existsSync(new URL(`${folder}/campaign.yaml`, CAMPAIGNS)))
  .map((folder) => {
    const file = parseYaml(readFileSync(new URL(`${folder}/campaign.yaml`, CAMPAIGNS), 'utf8')) as JsonObject;
    const { recipients } = file;
    const csv = typeof recipients === 'string' ? recipients : (recipients as JsonObject)['csv'];
    const cells = typeof csv === 'string' ? cellsOf(`${folder}/${csv}`) : valuesOf(recipients ?? null);
    return { folder, file, cells };
  });

function cellsOf(path: string): string[] {
  const text = readFileSync(new URL(path, CAMPAIGNS), 'utf8');
  const delimiter = /^[^\n]*;/.test(text) ? ';' : ',';
  return (parse(text, { bom: true, delimiter }) as string[][]).flat();
}

function valuesOf(value: Json): string[] {
  if (value === null || typeof value !== 'object') return [String(value)];
  return Object.values(value).flatMap(valuesOf);
}

/** The cells that look like phone numbers, in E.164. */
function numbersOf({ cells }: Example): string[] {
  const long = cells.filter((cell) => /^[+(\d][\d ()-]{8,}$/.test(cell) && !/^\d{4}-\d\d-\d\d/.test(cell));
  return long.map((cell) => parsePhoneNumberFromString(cell.replace(/^00/, '+'), 'GB')?.number ?? cell);
}

it('every channel has an example', () => {
  const channels = examples.map(({ file }) => String(file['channel']));
  expect([...new Set(channels)].toSorted()).toEqual([...CHANNELS].toSorted());
  expect(examples.length).toBeGreaterThanOrEqual(8);
});

it('an example is named as its folder, and says at its top what it shows', () => {
  for (const { folder, file } of examples) {
    expect(file['name']).toBe(folder);
    const text = readFileSync(new URL(`${folder}/campaign.yaml`, CAMPAIGNS), 'utf8');
    expect(text, folder).toMatch(/^# yaml-language-server: .*\n(?:# .*\n)+/);
    expect(text.slice(0, text.indexOf('\nname:')), folder).toContain('Shows:');
  }
});

it('no example expires', () => {
  for (const { folder, file } of examples) expect(String(file['validity'] ?? ''), folder).not.toMatch(/^\d{4}-/);
});

it('the overview has a row for each, with its channel', () => {
  const overview = readFileSync(new URL('README.md', CAMPAIGNS), 'utf8');
  const words: Readonly<Record<string, string>> = { sms: 'SMS', rcs: 'RCS', 'messaging-app': 'messaging app' };
  const rows = [...overview.matchAll(/^\| \[`([a-z0-9-]+)`\]\(\1\/campaign\.yaml\) \| ([^|]+?) \|/gm)];
  const shown = rows.map(([, folder = '', channel = '']) => `${folder}: ${channel}`);
  const wanted = examples.map(({ folder, file }) => {
    const channel = String(file['channel']);
    const fallback = (file['fallback'] as JsonObject | undefined)?.['channel'];
    const name = (one: string): string => words[one] ?? one;
    return `${folder}: ${name(channel)}${fallback === undefined ? '' : `, else ${name(String(fallback))}`}`;
  });
  expect(shown.toSorted()).toEqual(wanted.toSorted());
});

describe('the addresses of the examples belong to no person', () => {
  test.each(examples)('$folder', (example) => {
    const numbers = numbersOf(example);
    const emails = example.cells.filter((cell) => cell.includes('@'));
    const contacts = example.cells.filter((cell) => /^c0a8-\d{4}$/.test(cell));
    expect(numbers.length + emails.length + contacts.length).toBeGreaterThanOrEqual(5);
    expect(numbers.filter((number) => !RESERVED.some((range) => range.test(number)))).toEqual([]);
    expect(emails.filter((email) => !RESERVED_DOMAIN.test(email))).toEqual([]);
  });
});

it('only the numbers that are meant to play a script or to be a device do', () => {
  const played = examples.flatMap((example) =>
    [...new Set(numbersOf(example))].flatMap((number) => {
      const means = endingOf(number, 'reserved')?.digits ?? deviceOf(number, new Map(), 'reserved')?.label;
      return means === undefined ? [] : [`${example.folder} ${means}`];
    }),
  );
  expect(played.toSorted()).toEqual([
    'delivery Android 15 without the messaging app',
    'delivery feature phone',
    'delivery landline',
    'invitation Android 15',
    'invitation Android 4.4',
    'invitation Android 5.0',
    'invitation feature phone',
    'invitation iOS 17.6',
    'invitation iOS 18.1',
    'invitation iOS 18.2',
    'invitation landline',
    'notification 429',
    'reminder landline',
    'support 422',
    'support 429',
  ]);
});
