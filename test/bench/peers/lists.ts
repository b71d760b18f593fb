import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchRow, rowOf, textOf, writeCampaign } from '../project.ts';
import type { Expected } from './tally.ts';

/** A campaign of handbill, whose list every program sends. */
export interface List {
  /** Name of the campaign and of its folder. */
  readonly name: string;
  readonly csv: string;
  readonly rows: readonly BenchRow[];
  readonly expected: readonly Expected[];
}

/** So many people, each once, and every number as E.164: what there is to be fast with. */
export async function writePlainList(folder: string, count: number): Promise<List> {
  const name = await writeCampaign(folder, count);
  const rows = Array.from({ length: count }, (_, n) => rowOf(n));
  return listOf(
    folder,
    name,
    rows.map((row) => ({ row, to: row.msisdn })),
  );
}

/** A row of a list as people keep them, and the number that it means. */
export interface KeptRow {
  readonly row: BenchRow;
  readonly to: string | null;
}

/** How often a number is written in which way, `7400100000` being its digits within the country. */
const SPELLINGS: readonly {
  readonly rows: number;
  readonly write: (digits: string) => string;
  readonly lost?: true;
}[] = [
  { rows: 40, write: (digits) => `+44${digits}` },
  { rows: 15, write: (digits) => `0${digits.slice(0, 4)} ${digits.slice(4)}` },
  { rows: 10, write: (digits) => `0044 ${digits.slice(0, 4)} ${digits.slice(4)}` },
  { rows: 5, write: (digits) => `+44 (0)${digits.slice(0, 4)} ${digits.slice(4)}` },
  { rows: 5, write: (digits) => `+44-${digits.slice(0, 4)}-${digits.slice(4)}` },
  // A spreadsheet takes the plus for a sign.
  { rows: 5, write: (digits) => `44${digits}` },
  // And shortens what is too wide for its column: the last digits are gone.
  { rows: 5, write: (digits) => `${(Number(`44${digits}`) / 1e11).toFixed(2)}E+11`, lost: true },
  // A data frame with an empty cell has floating-point numbers in the whole column.
  { rows: 3, write: (digits) => `44${digits}.0`, lost: true },
  { rows: 2, write: (digits) => `+44${digits.slice(0, 6)}`, lost: true },
];
const TWICE_AS_IT_IS = 5;
const TWICE_OTHERWISE = 5;
const NAMES = ['Ann', 'O\'Brien, "Bob"', 'Zoë', 'Łukasz', '', '😀'];

/** A hundred rows as people keep them: numbers in the spellings that lists have, and ten people twice. */
export function keptRows(): readonly KeptRow[] {
  const rows: KeptRow[] = [];
  for (const { rows: count, write, lost } of SPELLINGS) {
    for (let left = count; left > 0; left -= 1) {
      const digits = String(7_400_100_000 + rows.length);
      rows.push(keptRow(rows.length, write(digits), lost ? null : `+44${digits}`));
    }
  }
  rows.push(...rows.slice(0, TWICE_AS_IT_IS));
  for (const { to } of rows.slice(TWICE_AS_IT_IS, TWICE_AS_IT_IS + TWICE_OTHERWISE)) {
    rows.push(keptRow(rows.length, (to ?? '').replace('+44', '0'), to));
  }
  return rows;
}

function keptRow(n: number, msisdn: string, to: string | null): KeptRow {
  return { row: { ...rowOf(n), msisdn, name: NAMES[n % NAMES.length] ?? '' }, to };
}

/** Writes the rows of `keptRows` beside a campaign that exists already and whose template it takes. */
export async function writeKeptList(folder: string, { name: other }: List): Promise<List> {
  const name = 'as-kept';
  const own = join(folder, name);
  await mkdir(own);
  await copyFile(join(folder, other, 'text.hbs'), join(own, 'text.hbs'));
  await writeFile(join(own, 'campaign.yaml'), CAMPAIGN);
  const rows = keptRows();
  const lines = rows.map(({ row }) => [row.msisdn, row.name, row.order, row.branch].map(cell).join(','));
  await writeFile(join(own, 'people.csv'), `msisdn,name,order,branch\n${lines.join('\n')}\n`);
  return listOf(folder, name, rows);
}

const CAMPAIGN = `name: as-kept
channel: sms
from: Riverside
template: text.hbs
recipients: { csv: people.csv, defaultCountry: GB, onInvalid: skip }
send: { concurrency: 64 }
`;

function cell(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function listOf(folder: string, name: string, rows: readonly KeptRow[]): List {
  return {
    name,
    csv: join(folder, name, 'people.csv'),
    rows: rows.map(({ row }) => row),
    expected: rows.map(({ row, to }) => ({ order: row.order, to, text: textOf(row) })),
  };
}
