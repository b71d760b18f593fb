import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { cellOf, excelCell } from '../../src/util/csv.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { examples } from '../helpers/quick.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

describe('a cell for Excel', () => {
  test.each([
    ['+447400123401', '="+447400123401"'],
    ['07400 123401', '="07400 123401"'],
    ['0042', '="0042"'],
    ['42', '="42"'],
    ['-5', '="-5"'],
    ['1.234,50', '="1.234,50"'],
    ['12345678901234567890', '="12345678901234567890"'],
    ['1E5', '="1E5"'],
    ['1e+5', '="1e+5"'],
    ['1/2', '="1/2"'],
    ['12-05-2026', '="12-05-2026"'],
    ['10:30', '="10:30"'],
    ['SEPT2', '="SEPT2"'],
    ['2. März', '="2. März"'],
    ['5%', '="5%"'],
    ['+1+2', "'+1+2"],
    ['=1+2', "'=1+2"],
    ['@SUM(1)', "'@SUM(1)"],
    ['-cmd|x', "'-cmd|x"],
    ['="0740"', `'="0740"`],
    ['Ann', 'Ann'],
    ['', ''],
    ['10 Downing Street', '10 Downing Street'],
    ['2026-11-21T09:00:00.500Z', '2026-11-21T09:00:00.500Z'],
    ['0'.repeat(256), '0'.repeat(256)],
  ])('%s is %s', (value, cell) => {
    expect(parse(excelCell(value))).toEqual([[cell]]);
  });

  it('is a number where handbill counts, and empty for null', () => {
    expect([excelCell(3), excelCell(null)]).toEqual(['"3"', '""']);
  });

  it('is read back as the value, and never runs', () => {
    const piece = fc.constantFrom(...'=+-@\t\r\n"\'0123456789 .,:/()%eEäZ＝＋'.split(''));
    const values = fc.oneof(
      fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(values, (value) => {
        const [[written = ''] = []]: string[][] = parse(`${excelCell(value)}\n`, { relax_column_count: true });
        expect(cellOf(written, true)).toBe(value);
        expect(/^[=+\-@\t\r\n＝＋－＠]/.test(written)).toBe(written.startsWith('="'));
        // A formula is one text, and nothing else.
        if (written.startsWith('=')) expect(written).toMatch(/^="[^"]*"$/);
      }),
      { numRuns: examples(3000) },
    );
  });
});

const LIST = [
  ['mobile', '2024', 'name', 'plan'],
  ['07400 123401', '007', 'Ann', '=HYPERLINK("http://x","y")'],
  ['+447400123402', '1E5', 'Zoë; "Z", the\nsecond', '1/2'],
  ['0044 7400 123403', '-3,5', "'tis", '+1+2'],
];
const campaign = (locale: string, extra = '') => `name: hello
channel: sms
from: Riverside
locale: ${locale}
template: { text: "Hello {{name}}, plan {{plan}}." }
recipients: { csv: people.csv, to: mobile, defaultCountry: GB${extra} }
`;

describe('report --format csv --for excel', () => {
  let root = '';
  let remove = async (): Promise<void> => undefined;
  beforeAll(async () => {
    ({ root, remove } = await projectWith({
      'handbill.yaml': '{}\n',
      'hello/campaign.yaml': campaign('en-GB'),
      'hello/people.csv': LIST.map((row) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`).join(
        '',
      ),
    }));
    const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 3, accepted: 3 });
  });
  afterAll(() => remove());

  const report = async (...args: readonly string[]) => {
    const { status, out, err } = await handbillHere(root, [
      'report',
      'hello',
      '--format',
      'csv',
      '--for',
      'excel',
      ...args,
    ]);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    return out;
  };

  test.each([
    ['{}\n', 'en-GB', ','],
    ['{}\n', 'de-DE', ';'],
    ['{}\n', 'de-CH', ','],
    ['{}\n', 'pt-BR', ';'],
    ['locale: en-IE\n', 'fr', ','],
    ['locale: tr\n', 'en-GB', ';'],
  ])('handbill.yaml with %j and a campaign in %s: between cells is %s', async (project, locale, delimiter) => {
    await writeFile(join(root, 'handbill.yaml'), project);
    await writeFile(join(root, 'hello/campaign.yaml'), campaign(locale));
    const out = await report();
    expect(out.startsWith(`\ufeff"line"${delimiter}"key"${delimiter}"to"`)).toBe(true);
    expect(out).toContain(`\n"2"${delimiter}"=""+447400123401"""${delimiter}"=""+447400123401"""${delimiter}"sms"`);
  });

  // The delimiter that a campaign declares is that of its own list.
  test.each([
    ['en-GB', ''],
    ['de-DE', ''],
    ['de-DE', ', delimiter: ","'],
    ['fr', ', encoding: windows-1252'],
  ])('with the columns of the list it is a list again (%s%s)', async (locale, extra) => {
    await writeFile(join(root, 'handbill.yaml'), '{}\n');
    await writeFile(join(root, 'hello/campaign.yaml'), campaign(locale, extra));
    await writeFile(join(root, 'again.csv'), await report('--with-columns'));
    const previewed = await handbillHere(root, [
      'preview',
      'hello',
      '--recipients',
      'again.csv',
      '--occurrence',
      'again',
      '--format',
      'jsonl',
    ]);
    expect(previewed.err.match(/^\w+\[.*/gm)).toEqual([expect.stringMatching(/damaged-value.*=HYPERLINK/)]);
    const rows = jsonLines(previewed.out);
    expect(rows.map(({ to, request }) => [to, request.body.body.text])).toEqual([
      ['+447400123401', 'Hello Ann, plan =HYPERLINK("http://x","y").'],
      ['+447400123402', 'Hello Zoë; "Z", the\nsecond, plan 1/2.'],
      ['+447400123403', "Hello 'tis, plan +1+2."],
    ]);
    const cells: string[][] = parse(await readFile(join(root, 'again.csv')), {
      bom: true,
      delimiter: locale === 'en-GB' ? ',' : ';',
    });
    expect(cells.map((row) => row.slice(0, 4).map((cell) => cellOf(cell, true)))).toEqual(LIST);
  });

  it('has no place in another format', async () => {
    const { status, err } = await handbillHere(root, ['report', 'hello', '--format', 'jsonl', '--for', 'excel']);
    expect(status).toBe(2);
    expect(err).toContain('--for is not for --format jsonl.');
  });
});
