import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createRecipientReader } from '../../src/recipients/recipient.ts';
import { compileSegment } from '../../src/recipients/segment.ts';
import { type CellFormat, dateHint, readDateFormat } from '../../src/util/time.ts';
import { specOf } from './lists.ts';

function formatOf(pattern: string): CellFormat {
  const format = readDateFormat(pattern);
  if ('problem' in format) throw new Error(`${pattern} ${format.problem}`);
  return format;
}

describe('formats', () => {
  test.each([
    ['dd/MM/yyyy', '21/11/2026', '2026-11-21'],
    ['dd/MM/yyyy', ' 01/02/2026 ', '2026-02-01'],
    ['d/M/yyyy', '1/2/2026', '2026-02-01'],
    ['d/M/yyyy', '01/12/2026', '2026-12-01'],
    ['ddMMyyyy', '21112026', '2026-11-21'],
    ['yyyy年M月d日', '2026年2月1日', '2026-02-01'],
    ["d 'de' M 'de' yyyy", '1 de 2 de 2026', '2026-02-01'],
    ["d ''M yyyy", "1 '2 2026", '2026-02-01'],
    ["'o''clock' HH:mm dd/MM/yyyy", "o'clock 09:30 21/11/2026", '2026-11-21T09:30'],
    ['dd/MM/yyyy HH:mm', '21/11/2026 23:59', '2026-11-21T23:59'],
  ])('%s reads %s', (pattern, cell, iso) => {
    expect(formatOf(pattern).plain(cell)).toBe(iso);
  });

  test.each([
    ['dd/MM/yyyy', '1/11/2026'],
    ['dd/MM/yyyy', '21/11/26'],
    ['dd/MM/yyyy', '21/11/2026 09:30'],
    ['dd/MM/yyyy', '２１/１１/２０２６'],
    ['dd.MM.yyyy', '21/11/2026'],
  ])('%s does not read %s', (pattern, cell) => {
    expect(formatOf(pattern).plain(cell)).toBeNull();
  });

  test.each([
    ['dd/MM/yy', 'leaves the century open'],
    ['dd MMMMM yyyy', '"MMMMM"'],
    ['dd/MM/yyyy h:mm', 'needs "a"'],
    ['dd/MM/yyyy H:mm a', 'needs "a"'],
    ['dd/MM/yyyy ss', 'seconds without an hour'],
    ['dd/mm/yyyy', 'does not say where the month is'],
    ['DD/MM/YYYY', '"DD"'],
    ['MM/yyyy', 'does not say where the day is'],
    ['dd/MM', 'does not say where the year is'],
    ['dd/dd/MM/yyyy', 'names the day twice'],
    ['dMyyyy', 'directly beside another part'],
    ['yyyyMd', 'directly beside another part'],
    ['dd/MM/yyyy HH', 'only one of hour (HH) and minute (mm)'],
    ["dd/MM/yyyy 'at", 'a quote that is not closed'],
    ['dd/MM/20yy', 'a digit'],
    ["dd/MM/yyyy '1'", 'a digit'],
    ['', 'does not say where the day is'],
  ])('%j is refused', (pattern, problem) => {
    expect(readDateFormat(pattern)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  it('give an example that they read themselves', () => {
    expect(formatOf('d.M.yyyy HH:mm')).toMatchObject({ example: '21.11.2026 09:30' });
  });
});

const two = (value: number): string => String(value).padStart(2, '0');
const year = fc.integer({ min: 1000, max: 9999 });
const SEPARATORS = ['/', '.', '-', ' ', ', ', ' (', "'von'", '+', '|', '年'] as const;

/** Three parts of a date in any order, with what is between them. */
const written = fc.record({
  order: fc.shuffledSubarray(['d', 'M', 'y'] as const, { minLength: 3 }),
  isShort: fc.boolean(),
  first: fc.constantFrom(...SEPARATORS),
  second: fc.constantFrom(...SEPARATORS),
});

const pad = (value: number, isShort: boolean): string => (isShort ? String(value) : two(value));

describe('any date in any format', () => {
  const columns = ['msisdn', 'due'];

  it('is read back as it was meant, or refused where the calendar does not have it', () => {
    const day = fc.integer({ min: 0, max: 40 });
    const month = fc.integer({ min: 0, max: 14 });
    fc.assert(
      fc.property(written, year, month, day, ({ order, isShort, first, second }, y, m, d) => {
        const letters = { d: isShort ? 'd' : 'dd', M: isShort ? 'M' : 'MM', y: 'yyyy' };
        const values = { d: pad(d, isShort), M: pad(m, isShort), y: String(y) };
        const join = (of: typeof letters, between: (text: string) => string): string =>
          `${of[order[0] ?? 'd']}${between(first)}${of[order[1] ?? 'd']}${between(second)}${of[order[2] ?? 'd']}`;
        const pattern = join(letters, (text) => text);
        const cell = join(values, (text) => text.replaceAll("'", ''));
        const iso = `${y}-${two(m)}-${two(d)}`;
        // JavaScript's calendar, asked without carrying over.
        const parsed = new Date(`${iso}T00:00:00Z`);
        const exists = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(iso);
        const spec = specOf('/unused', { columns: { due: { type: 'date', format: pattern } } });
        const found = createRecipientReader(
          spec,
          columns,
        )({
          row: 0,
          line: 2,
          values: ['+447400123456', cell],
          fault: null,
        });
        expect(found).toMatchObject(exists ? { values: ['+447400123456', iso] } : { problem: { code: 'column-type' } });
      }),
    );
  });

  it('is refused where anything of the cell differs from the format', () => {
    const format = formatOf('dd/MM/yyyy');
    fc.assert(
      fc.property(fc.string({ maxLength: 12, unit: fc.constantFrom(...'0129/-. T:') }), (cell) => {
        const match = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(cell.trim());
        expect(format.plain(cell)).toBe(match === null ? null : `${match[3]}-${match[2]}-${match[1]}`);
      }),
      { examples: [['21/01/2020'], [' 21/01/2020']] },
    );
  });

  it('is compared as the same date in ISO 8601 is', () => {
    const date = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    const where = (bound: string) => ({
      query: { due: { $lt: bound } },
      at: { file: 'campaign.yaml', line: 1 },
      timeZone: 'UTC',
    });
    fc.assert(
      fc.property(date, date, (one, bound) => {
        const [y, m, d] = one.toISOString().slice(0, 10).split('-');
        const segment = (types: Parameters<typeof compileSegment>[2]) => {
          const compiled = compileSegment(where(bound.toISOString().slice(0, 10)), columns, types, 0);
          if (!('segment' in compiled)) throw new Error('refused');
          return compiled.segment;
        };
        const people = segment({ due: { type: 'date', format: 'd.M.yyyy' } });
        expect(people.judge(['x', `${Number(d)}.${Number(m)}.${y}`])).toBe(
          segment({ due: 'date' }).judge(['x', `${y}-${m}-${d}`]),
        );
      }),
    );
  });
});

describe('the hint for dates that are not ISO 8601', () => {
  test.each([
    ['21/11/2026', 'dd/MM/yyyy'],
    ['11/21/2026', 'MM/dd/yyyy'],
    ['1/12/2026', 'd/M/yyyy', 'M/d/yyyy'],
    ['02.01.2026', 'dd.MM.yyyy', 'MM.dd.yyyy'],
    ['21-11-2026 09:30', 'dd-MM-yyyy HH:mm'],
    ['2026/11/21', 'yyyy/MM/dd'],
    ['2026-1-2', 'yyyy-M-d'],
    ['20261121', 'yyyyMMdd'],
    ['20261121093000', 'yyyyMMddHHmmss'],
    ['2026-11-21-09.30.00.000000', 'yyyy-MM-dd-HH.mm.ss.SSSSSS'],
    ['21/11/2026 09:30:00.000', 'dd/MM/yyyy HH:mm:ss.SSS'],
    ['21/11/2026 9:30:00 a. m.', 'dd/MM/yyyy h:mm:ss a'],
    ['21. 11. 2026', 'dd. MM. yyyy'],
    ['2026年11月21日', 'yyyy年M月d日'],
    ['Nov 21 2026  9:30AM', 'MMM d yyyy h:mma'],
  ])('names the formats that read %s', (cell, ...formats) => {
    const [first = '', second] = formats;
    const or = second === undefined ? '' : `, or \`format: ${second}\` if the month is first`;
    const hint = `If the column writes its dates so, say it: \`recipients.columns: { due: { type: date, format: ${first} } }\`${or}.`;
    expect(dateHint('due', cell)).toBe(hint);
    for (const pattern of formats) expect(formatOf(pattern).plain(cell)).not.toBeNull();
  });

  test.each([
    ['21/11/26', /four digits/],
    ['21-NOV-26 09.30.00 AM', /four digits/],
    ['2026-11-21 09:30:00 EST', /offset/],
    ['2026-11-21T09:30:00[Europe/London]', /offset/],
  ])('of "%s" says what is missing', (cell, words) => expect(dateHint('due', cell)).toMatch(words));

  test.each(['31/02/2026', '21/11-2026', 'soon', '', '0042', '13/13/2026'])('names none for "%s"', (cell) => {
    expect(dateHint('due', cell)).toBeNull();
  });

  test.each([
    ['21 Nov 2026', 'd MMM yyyy'],
    ['21-Nov-2026', 'd-MMM-yyyy'],
    ['21. November 2026', 'd. MMMM yyyy'],
    ['Nov 21, 2026', 'MMM d, yyyy'],
    ['Sept 1 2026', 'MMM d yyyy'],
    ['21/11/2026 9:30', 'dd/MM/yyyy H:mm'],
    ['21/11/2026 09:30:15', 'dd/MM/yyyy HH:mm:ss'],
    ['21/11/2026 9:30 PM', 'dd/MM/yyyy h:mm a'],
    ['21.11.2026, 09:30', 'dd.MM.yyyy, HH:mm'],
    ['21 Nov 2026 9:30 AM', 'd MMM yyyy h:mm a'],
  ])('reads %s once its column is said to be written so', (cell, format) => {
    expect(dateHint('due', cell)).toContain(`{ due: { type: date, format: ${format} } }`);
    expect(formatOf(format).plain(cell)).not.toBeNull();
  });

  test.each([
    ['dd/MM/yyyy H:mm:ss', '21/11/2026 9:05:07', '2026-11-21T09:05:07'],
    ['M/d/yyyy h:mm a', '11/21/2026 12:05 AM', '2026-11-21T00:05'],
    ['M/d/yyyy h:mm:ss a', '1/2/2026 12:05:00 pm', '2026-01-02T12:05:00'],
    ['M/d/yyyy, h:mm a', '1/2/2026, 9:05\u202fPM', '2026-01-02T21:05'],
    ['dd-MMM-yyyy hh:mma', '05-JUN-2026 01:30p.m.', '2026-06-05T13:30'],
    ['MMMM d, yyyy', 'may 5, 2026', '2026-05-05'],
    ['d MMM yyyy', '5 Sept 2026', '2026-09-05'],
  ])('%s reads %s', (pattern, cell, iso) => {
    expect(formatOf(pattern).plain(cell)).toBe(iso);
  });

  test.each([
    ['M/d/yyyy h:mm a', '11/21/2026 13:05 PM'],
    ['M/d/yyyy h:mm a', '11/21/2026 0:05 AM'],
    ['d MMM yyyy', '5 Okt 2026'],
    ['d MMM yyyy', '5 a 2026'],
  ])('%s does not read %s', (pattern, cell) => {
    expect(formatOf(pattern).plain(cell)).toBeNull();
  });

  test.each(['21 Okt 2026', 'Sat 21/11/2026'])('says of "%s" which names can be read', (cell) => {
    expect(dateHint('due', cell)).toBe(
      'English names of months can be read, and no names of days. Write 2026-11-21, or all dates of the column such as 21/11/2026 with `format: dd/MM/yyyy`.',
    );
  });

  test.each([
    ['46347', '2026-11-21'],
    ['46347.5', '2026-11-21'],
    ['36526', '2000-01-01'],
  ])('says which day %s may be to a spreadsheet', (cell, day) => {
    expect(dateHint('due', cell)).toBe(
      `${cell} may be ${day}, as the number of days that a spreadsheet counts. Format the column as a date (yyyy-mm-dd) there, and save the list again.`,
    );
  });

  it('quotes a name that YAML would read in another way', () => {
    expect(dateHint('due: day', '21/11/2026')).toContain('{ "due: day": {');
    expect(dateHint('Größe 2', '21/11/2026')).toContain('{ Größe 2: {');
  });
});

describe('a column with a format', () => {
  const spec = specOf('/unused', { columns: { due: { type: 'date', format: 'dd/MM/yyyy' } } });
  const read = createRecipientReader(spec, ['msisdn', 'due']);
  const one = (due: string) => read({ row: 0, line: 9, values: ['+447400123456', due], fault: null });

  test.each([
    ['soon', 'A cell may be empty.'],
    ['2026-11-21', 'A cell may be empty. For ISO dates write `date`, without a format.'],
  ])('does not hold %s', (due, end) => {
    const message = `The column "due" holds "${due}", not a date as dd/MM/yyyy.`;
    const hint = `Dates are written dd/MM/yyyy, such as 21/11/2026, and must exist. ${end}`;
    expect(one(due)).toMatchObject({ reason: 'bad-row', problem: { code: 'column-type', message, hint } });
  });

  it('says which format reads a cell that is written in another way', () => {
    const hint = expect.stringContaining('`recipients.columns: { due: { type: date, format: MM/dd/yyyy } }`');
    expect(one('11/21/2026')).toMatchObject({ problem: { hint } });
  });

  it('may be empty', () => {
    expect(one(' ')).toMatchObject({ values: ['+447400123456', ''] });
  });
});
