import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createRecipientReader } from '../../src/recipients/recipient.ts';
import { compileSegment } from '../../src/recipients/segment.ts';
import { type CellFormat, dateHint, readDateFormat } from '../../src/util/time.ts';
import { golden } from '../helpers/golden.ts';
import { specOf } from './lists.ts';

function formatOf(pattern: string): CellFormat {
  const format = readDateFormat(pattern);
  if ('problem' in format) throw new Error(`${pattern} ${format.problem}`);
  return format;
}

golden('a format reads the cells that are written so, or is refused', 'recipients/date-formats', (input) => {
  const [pattern = '', cell] = input.split(' | ');
  if (cell !== undefined) return formatOf(pattern).plain(cell) ?? 'not read';
  const format = readDateFormat(pattern);
  return 'problem' in format ? format.problem : 'is taken';
});

golden('a cell that is not ISO 8601 has a hint with a format that reads it', 'recipients/date-hints', (cell) => {
  const hint = dateHint('due', cell);
  // The last sentence names a format for other cells.
  for (const [, pattern = ''] of hint?.replace(/^English names.*/s, '').matchAll(/format: ([^`}]+?)(?: \}|`)/g) ?? [])
    expect(formatOf(pattern).plain(cell)).not.toBeNull();
  return hint ?? 'none';
});

describe('formats', () => {
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
