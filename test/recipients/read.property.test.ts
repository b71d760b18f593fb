import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListEncoding } from '../../src/model.ts';
import { garbledIn } from '../../src/recipients/decode.ts';
import { scanFields } from '../../src/recipients/refusals.ts';
import { readAll, useLists } from './lists.ts';

const lists = useLists();
const runs = process.env['HANDBILL_FULL'] === '1' ? 3000 : 80;

// Characters that mean something to CSV, to the encodings, or to a decoder that works in pieces.
const character = fc.constantFrom(
  ...['a', '"', ',', ';', '\t', '|', '\n', '\r', "'", ' ', '+', '7', 'ë', '€', 'Ž', '😀', '\ufeff'],
);
const narrow = fc.constantFrom(...['a', '"', ',', ';', '\t', '|', '\n', '\r', "'", ' ', '+', '7', 'ë', '€', 'Ž']);
const lineEnds = fc.constantFrom('\n', '\r\n', '\r');

interface Table {
  readonly values: readonly (readonly string[])[];
  readonly text: string;
  readonly lines: readonly number[];
  readonly delimiter: string;
}

/** A table as CSV: quoted where it must be and where chance has it, with line ends and empty lines as they come. */
function tables(of: fc.Arbitrary<string>): fc.Arbitrary<Table> {
  const cell = fc.tuple(fc.string({ unit: of, maxLength: 8 }), fc.boolean());
  return fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom(',', ';', '\t', '|'), fc.boolean())
    .chain(([width, delimiter, finalEnd]) =>
      fc
        .array(fc.tuple(fc.array(cell, { minLength: width, maxLength: width }), lineEnds, fc.nat(2)), { maxLength: 8 })
        .map((rows) => writeTable(width, delimiter, finalEnd, rows)),
    );
}

type Cell = readonly [string, boolean];

function writeTable(
  width: number,
  delimiter: string,
  finalEnd: boolean,
  rows: readonly (readonly [readonly Cell[], string, number])[],
): Table {
  let text = `${Array.from({ length: width }, (_, i) => `c${i}`).join(delimiter)}\n`;
  let line = 2;
  const lines: number[] = [];
  for (const [i, [cells, end, blanks]] of rows.entries()) {
    const record = cells.map(([value, quote]) => writeCell(value, quote || cells.length === 1, delimiter));
    const last = i === rows.length - 1 && !finalEnd;
    text += record.join(delimiter) + (last ? '' : end.repeat(1 + blanks));
    lines.push(line);
    line += 1 + blanks + cells.reduce((sum, [value]) => sum + value.split(/\r\n?|\n/).length - 1, 0);
  }
  return { values: rows.map(([cells]) => cells.map(([value]) => value)), text, lines, delimiter };
}

function writeCell(value: string, quote: boolean, delimiter: string): string {
  const needed = quote || /["\r\n]/.test(value) || value.includes(delimiter);
  return needed ? `"${value.replaceAll('"', '""')}"` : value;
}

function encode(text: string, encoding: ListEncoding, mark: boolean): Uint8Array {
  if (encoding === 'windows-1252') return Buffer.from([...text].map((c) => WINDOWS[c] ?? c.charCodeAt(0)));
  const marked = mark ? `\ufeff${text}` : text;
  if (encoding === 'utf-8') return Buffer.from(marked);
  const little = Buffer.from(marked, 'utf16le');
  return encoding === 'utf-16le' ? little : little.swap16();
}

const WINDOWS: Readonly<Record<string, number>> = { '€': 0x80, Ž: 0x8e };

const encodings = fc.constantFrom<ListEncoding>('utf-8', 'utf-16le', 'utf-16be');

test('any table comes back as it was, with its lines', async () => {
  const property = fc.asyncProperty(tables(character), encodings, fc.boolean(), fc.integer({ min: 1, max: 40 }), check);
  await fc.assert(property, { numRuns: runs });
});

test('any table in windows-1252 comes back as it was', async () => {
  const property = fc.asyncProperty(
    tables(narrow).filter(({ text }) => garbledIn(text) === null),
    fc.constant<ListEncoding>('windows-1252'),
    fc.constant(false),
    fc.nat(40),
    (table, encoding, mark, bytes) => check(table, encoding, mark, bytes + 1),
  );
  await fc.assert(property, { numRuns: runs / 4 });
});

async function check(table: Table, encoding: ListEncoding, mark: boolean, pieceBytes: number): Promise<void> {
  const content = encode(table.text, encoding, mark);
  const single = table.values[0]?.length === 1 || table.values.length === 0;
  const settings = { encoding: mark ? null : encoding, delimiter: single ? table.delimiter : null };
  const list = await readAll(await lists.write(content, settings), { pieceBytes });
  // A row without any value is no row.
  const isRow = (row: number): boolean => table.values[row]?.some((value) => value.trim() !== '') === true;
  expect(list.rows.map((row) => row.values)).toEqual(table.values.filter((_, row) => isRow(row)));
  expect(list.rows.map((row) => row.line)).toEqual(table.lines.filter((_, row) => isRow(row)));
}

// Where csv-parse finds no fault, the scan that says where faults are must find none, and the same fields.
test('records are scanned as csv-parse reads them', () => {
  const soup = fc.string({ unit: fc.constantFrom('a', '"', '"', ',', ';', ' '), minLength: 1, maxLength: 12 });
  const property = fc.property(soup, fc.constantFrom(',', ';'), lineEnds, (text, delimiter, end) => {
    const expected = oracle(text, delimiter);
    const scan = scanFields(text, delimiter);
    expect(scan.fault === null).toBe(expected !== null);
    if (expected === null) return;
    expect(scan.fields).toEqual(expected[0]);
    expect(scan.starts).toHaveLength(scan.fields.length);
    expect(scanFields(`${text}${end}"`, delimiter)).toEqual(scan);
  });
  fc.assert(property, { numRuns: runs * 10 });
});

function oracle(text: string, delimiter: string): string[][] | null {
  try {
    return parse(text, { delimiter, record_delimiter: '\n' });
  } catch {
    return null;
  }
}
