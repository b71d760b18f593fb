import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { InlineList, ListSpec, Row } from '../../src/model.ts';
import { hashList, openList } from '../../src/recipients/read.ts';
import { createRecipientReader, isInvalidRow } from '../../src/recipients/recipient.ts';
import { csvCell } from '../../src/util/csv.ts';
import { places, readAll, refusal, specOf, useLists } from './lists.ts';

const lists = useLists();

const PEOPLE: InlineList = {
  columns: ['msisdn', 'name'],
  rows: [
    { line: 8, values: ['+447400123456', 'Zoë'] },
    { line: 10, values: ["'+447400123457", "'=1"] },
    { line: 11, values: ['+447400123458'] },
  ],
};

function inlineSpec(inline: InlineList, settings: Partial<ListSpec> = {}): ListSpec {
  return specOf('/nowhere/campaign.yaml', { file: 'campaign.yaml', inline, ...settings });
}

describe('a list in the campaign file', () => {
  it('has rows with their lines there, exactly as written', async () => {
    expect(await readAll(inlineSpec(PEOPLE))).toEqual({
      columns: ['msisdn', 'name'],
      headerLine: 8,
      rows: [
        { row: 0, line: 8, values: ['+447400123456', 'Zoë'], fault: null },
        { row: 1, line: 10, values: ["'+447400123457", "'=1"], fault: null },
        { row: 2, line: 11, values: null, fault: 'has 1 field, the header has 2' },
      ],
    });
  });

  it('becomes recipients, and says where one cannot be', async () => {
    const spec = inlineSpec({ ...PEOPLE, rows: [...PEOPLE.rows, { line: 12, values: ['hello', ''] }] });
    const { columns, rows } = await readAll(spec);
    const found = rows.map(createRecipientReader(spec, columns));
    expect(found.map((r) => (isInvalidRow(r) ? `${r.problem.code} ${r.problem.at?.file}:${r.line}` : r.to))).toEqual([
      '+447400123456',
      '+447400123457',
      'csv-ragged-row campaign.yaml:11',
      'invalid-address campaign.yaml:12',
    ]);
  });

  it('can be read once', async () => {
    const list = await openList(inlineSpec(PEOPLE));
    for await (const batch of list.rows()) expect(batch).toHaveLength(3);
    expect(list.count()).toBe(3);
    await list.close();
    await expect(list.rows().next()).rejects.toThrow('once');
  });

  it('comes in batches', async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ line: i + 5, values: [String(i)] }));
    const list = await openList(inlineSpec({ columns: ['msisdn'], rows }));
    const sizes: number[] = [];
    const read: Row[] = [];
    for await (const batch of list.rows()) {
      sizes.push(batch.length);
      read.push(...batch);
    }
    expect(Math.max(...sizes)).toBeLessThan(500);
    expect(read.map((row) => row.row)).toEqual(rows.map((_, i) => i));
    expect(read.map((row) => row.values?.[0])).toEqual(rows.map((row) => row.values[0]));
  });

  it('may be empty', async () => {
    expect(await readAll(inlineSpec({ columns: ['msisdn'], rows: [] }))).toEqual({
      columns: ['msisdn'],
      headerLine: 1,
      rows: [],
    });
  });

  it('has columns that must have names, each its own', async () => {
    const columns = ['nume\u0301ro', 'num\u00e9ro ', '', '__proto__'];
    const inline = { columns, rows: [{ line: 8, values: ['', '', '', ''] }] };
    expect(places(await refusal(openList(inlineSpec(inline))))).toEqual([
      'csv-duplicate-header 8:-',
      'csv-blank-header 8:-',
      'csv-forbidden-header 8:-',
    ]);
  });
});

describe('its digest', () => {
  it('is that of its columns and rows, wherever they are', async () => {
    const digest = await hashList(inlineSpec(PEOPLE));
    const list = await openList(inlineSpec(PEOPLE));
    expect(list.digest()).toEqual(digest);
    const moved = { ...PEOPLE, rows: PEOPLE.rows.map((row) => ({ ...row, line: row.line + 3 })) };
    expect(await hashList(inlineSpec(moved))).toEqual(digest);
    const bytes = '["msisdn","name"]\n["+447400123456","Zoë"]\n["\'+447400123457","\'=1"]\n["+447400123458"]\n';
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(digest).toEqual({ sha256, size: Buffer.byteLength(bytes), blocks: [sha256] });
  });

  it('has a block for each MiB', async () => {
    const rows = Array.from({ length: 3 }, (_, i) => ({ line: i, values: ['x'.repeat(1024 * 1024)] }));
    const { blocks, size } = await hashList(inlineSpec({ columns: ['msisdn'], rows }));
    expect(blocks).toHaveLength(Math.ceil(size / 1024 / 1024));
  });

  const changes: readonly [label: string, changed: InlineList][] = [
    ['a cell', { ...PEOPLE, rows: [{ line: 8, values: ['+447400123456', 'Zoe'] }, ...PEOPLE.rows.slice(1)] }],
    ['a row less', { ...PEOPLE, rows: PEOPLE.rows.slice(1) }],
    ['the order', { ...PEOPLE, rows: PEOPLE.rows.toReversed() }],
    ['a column', { ...PEOPLE, columns: ['msisdn', 'first'] }],
    ['the columns', { ...PEOPLE, columns: ['name', 'msisdn'] }],
  ];

  test.each(changes)('is another one when %s changed, and the list is refused', async (_, changed) => {
    const expected = await hashList(inlineSpec(PEOPLE));
    const found = await refusal(openList(inlineSpec(changed), { expected }));
    expect(found).toMatchObject([{ code: 'input-changed', at: { file: 'campaign.yaml' } }]);
  });

  it('is what it must be', async () => {
    const expected = await hashList(inlineSpec(PEOPLE));
    expect((await readAll(inlineSpec(PEOPLE), { expected })).rows).toHaveLength(3);
  });

  it('is never that of a file', async () => {
    const file = await lists.write('msisdn,name\n');
    const expected = await hashList(file);
    const inline = { columns: ['msisdn', 'name'], rows: [] };
    expect(places(await refusal(openList(inlineSpec(inline), { expected })))).toEqual(['input-changed -:-']);
  });
});

test('a list in the campaign file is the same list as in a CSV', async () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'é', ',', '"', '7', '_'), minLength: 1, maxLength: 5 });
  const cell = fc.string({
    unit: fc.constantFrom('a', '"', ',', "'", '=', '+', '\n', ' ', '7', 'é', '😀'),
    maxLength: 6,
  });
  const tables = fc.uniqueArray(name, { minLength: 1, maxLength: 4 }).chain((columns) =>
    fc.record({
      columns: fc.constant(columns),
      values: fc.array(fc.array(cell, { minLength: columns.length, maxLength: columns.length }), { maxLength: 6 }),
    }),
  );
  const property = fc.asyncProperty(tables, async ({ columns, values }) => {
    const text = [columns, ...values].map((record) => record.map(csvCell).join(',')).join('\n');
    const fromFile = await readAll(await lists.write(text, { delimiter: ',', escaped: true }));
    const inline = { columns, rows: values.map((row, i) => ({ line: i + 1, values: row })) };
    const fromMemory = await readAll(inlineSpec(inline));
    expect(fromMemory.columns).toEqual(fromFile.columns);
    // In a file, a row without any value is one that a spreadsheet left there.
    const written = fromMemory.rows.filter((row) => row.values?.some((value) => value.trim() !== ''));
    expect(written.map((row) => row.values)).toEqual(fromFile.rows.map((row) => row.values));
    expect(fromFile.rows.map((row) => row.row)).toEqual(written.map((_, i) => i));
  });
  await fc.assert(property, {
    numRuns: process.env['HANDBILL_FULL'] === '1' ? 1500 : 60,
    examples: [[{ columns: ['a'], values: [[' =""']] }]],
  });
});
