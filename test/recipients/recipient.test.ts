import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import type { ListSpec, Row } from '../../src/model.ts';
import { addressMessage, createAddressReader } from '../../src/recipients/address.ts';
import { createRecipientReader, isInvalidRow } from '../../src/recipients/recipient.ts';
import { readAll, specOf, useLists } from './lists.ts';

const lists = useLists();

function rowOf(...values: string[]): Row {
  return { row: 4, line: 9, values, fault: null };
}

const COLUMNS = ['id', 'msisdn', 'name'];

function readOne(settings: Partial<ListSpec>, ...values: string[]) {
  return createRecipientReader(specOf('/unused', settings), COLUMNS)(rowOf(...values));
}

describe('a key of several columns', () => {
  const spec = { key: ['id', 'name'] };

  it('is their cells, joined so that other cells never make the same key', () => {
    expect(readOne(spec, ' C-1 ', '+447400123456', 'a')).toMatchObject({ key: 'C-1|a' });
    const cell = fc.string({ unit: fc.constantFrom('a', '|', '\\\\', 'e\u0301', ' x '), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(cell, cell, cell, cell, (a, b, c, d) => {
        const [one, other] = [readOne(spec, a, '+447400123456', b), readOne(spec, c, '+447400123456', d)];
        const same = (x: string, y: string): boolean => x.trim().normalize('NFC') === y.trim().normalize('NFC');
        expect('key' in one && 'key' in other && one.key === other.key).toBe(same(a, c) && same(b, d));
      }),
    );
  });

  it('is missing where one of them is empty', () => {
    const found = readOne(spec, 'C-1', '+447400123456', ' ');
    expect(found).toMatchObject({ reason: 'bad-row', problem: { code: 'empty-key' } });
    expect('problem' in found && found.problem.message).toContain('"name"');
  });
});

describe('recipients', () => {
  it('are known by their number', () => {
    expect(readOne({ defaultCountry: 'GB' }, '7', '07400 123456', 'Zoë')).toEqual({
      row: 4,
      line: 9,
      key: '+447400123456',
      to: '+447400123456',
      kind: 'msisdn',
      country: 'GB',
      assigned: true,
      values: ['7', '07400 123456', 'Zoë'],
    });
  });

  it('are known by the key column if there is one, trimmed and composed', () => {
    expect(readOne({ key: ['id'] }, ' Zoe\u0308 ', '+447400123456', '')).toMatchObject({
      key: 'Zoë',
      to: '+447400123456',
    });
  });

  it('say whether the number is assigned', () => {
    expect(readOne({}, '', '+447700900123', '')).toMatchObject({ assigned: false });
  });
});

describe('recipients by email', () => {
  const email = { kind: 'email', to: 'msisdn', defaultCountry: 'GB' } as const;

  it('are known by their address', () => {
    expect(readOne(email, '7', ' Jane@EXAMPLE.com', '')).toEqual({
      row: 4,
      line: 9,
      key: 'jane@example.com',
      to: 'Jane@example.com',
      kind: 'email',
      country: null,
      assigned: true,
      values: ['7', ' Jane@EXAMPLE.com', ''],
    });
  });

  it('say what is wrong with it, masked', () => {
    expect(readOne(email, '7', 'jane.@example.com', '')).toMatchObject({
      reason: 'invalid-address',
      problem: {
        code: 'invalid-address',
        message: 'The address "j•••@example.com" (column "msisdn") has a dot too many before the "@".',
      },
    });
  });

  it('need a key where one is named', () => {
    expect(readOne({ ...email, key: ['id'] }, '', 'jane@example.com', '')).toMatchObject({
      problem: { hint: 'Fill it in, or leave `recipients.key` out: then the address identifies the recipient.' },
    });
  });
});

describe('recipients by contact id', () => {
  const contact = { kind: 'contact', to: 'id' } as const;

  it('are known by it, trimmed and composed', () => {
    expect(readOne(contact, ' zoe\u0308-7 ', '', '')).toMatchObject({
      key: 'zoë-7',
      to: 'zoë-7',
      kind: 'contact',
      country: null,
      assigned: true,
    });
  });

  test.each([
    ['an empty one', ' ', 'The contact id (column "id") is empty.'],
    ['a line end', 'a1\nb2', 'The contact id "a1\nb2" (column "id") holds a line end or another control character.'],
    [
      'what a spreadsheet makes of a long number',
      '1.23457E+11',
      'The contact id "1.•••••E+11" (column "id") is in scientific notation: a spreadsheet turned it into a number.',
    ],
    [
      'more than 200 characters',
      'x'.repeat(201),
      `The contact id "${'x'.repeat(40)}…" (column "id") has 201 characters, and 200 are the most.`,
    ],
  ])('%s is refused', (_, cell, message) => {
    expect(readOne(contact, cell, '', '')).toMatchObject({ reason: 'invalid-address', problem: { message } });
  });

  test.each(['7', '4e10', 'x'.repeat(200), '5f2b8c1e-0d1f-4c62-9b0e-5a3c2f1d7e88', 'Zoë & Söhne'])(
    '%s is one',
    (cell) => {
      expect(readOne(contact, cell, '', '')).toMatchObject({ to: cell });
    },
  );
});

describe('columns with a type', () => {
  const typed = { columns: { age: 'number', joined: 'date', name: 'string' } } as const;
  const read = createRecipientReader(specOf('/unused', typed), ['msisdn', 'age', 'joined', 'name']);
  const one = (age: string, joined: string) => read(rowOf('+447400123456', age, joined, 'Zoë'));

  test.each([
    ['18', '2026-11-21'],
    ['', ''],
    [' -1.5 ', ' 2026-11-21T09:00:00+01:00 '],
    ['007', '2026-11-21 09:00Z'],
  ])('hold "%s" and "%s"', (age, joined) => {
    expect(isInvalidRow(one(age, joined))).toBe(false);
  });

  test.each([
    ['18 years', '', 'The column "age" holds "18 years", not a number.', 'Numbers are written'],
    ['1,234.5', '', 'The column "age" holds "1,234.5", not a number.', 'no thousands separators'],
    ['12345678901234567', '', 'The column "age" holds "12•••••••••••4567", not a number.', 'Is it an id?'],
    ['', '21.11.2026', 'The column "joined" holds "21.11.2026", not a date.', 'Dates are written 2026-11-21'],
    ['', '21.11.2026', 'The column "joined" holds "21.11.2026", not a date.', 'format: dd.MM.yyyy'],
    ['', '2026-02-30', 'The column "joined" holds "2026-02-30", not a date.', 'must exist'],
    ['#REF!', '', 'The column "age" holds "#REF!", an error value of a spreadsheet.', 'Numbers are written'],
    ['1.234,50', '', 'The column "age" holds "1.234,50", not a number.', 'decimal: ","'],
    ['x', 'y', 'The column "age" holds "x", not a number; "joined" holds "y", not a date.', 'Numbers'],
  ])('do not hold "%s" and "%s"', (age, joined, message, hint) => {
    expect(one(age, joined)).toMatchObject({
      reason: 'bad-row',
      key: null,
      problem: {
        code: 'column-type',
        message,
        hint: expect.stringContaining(hint),
        at: { file: 'people.csv', line: 9 },
      },
    });
  });

  it('are reported together with all other errors of the row', () => {
    const spec = specOf('/unused', { ...typed, key: ['id'], timeZone: 'zone' });
    const all = createRecipientReader(spec, ['id', 'msisdn', 'age', 'joined', 'name', 'zone']);
    const found = all(rowOf(' ', '+44', 'x', '21.11.2026', 'Zoë', 'Europe/Bath'));
    if (!isInvalidRow(found)) throw new Error('the row is read');
    expect(found).toMatchObject({ reason: 'invalid-address', problem: { code: 'invalid-address', at: { line: 9 } } });
    const parts = [
      '(column "msisdn")',
      'The column "id", which identifies the recipient (`recipients.key`), is empty.',
      'The column "age" holds "x", not a number; "joined" holds "21.11.2026", not a date.',
      'The column "zone" holds',
    ];
    for (const part of parts) expect(found.problem.message).toContain(part);
    for (const part of ['Fill it in', 'Numbers are written', 'Dates are written', 'Europe/London'])
      expect(found.problem.hint).toContain(part);
  });

  it('must be in the list', () => {
    expect(() => createRecipientReader(specOf('/unused', typed), COLUMNS)).toThrow('no column "age"');
  });
});

describe('the address for a fallback', () => {
  it('is read by its kind', () => {
    expect(createAddressReader('msisdn', 'GB')('07400 123456')).toEqual({
      to: '+447400123456',
      country: 'GB',
      assigned: true,
    });
    expect(createAddressReader('email', null)('a@X.com')).toEqual({ to: 'a@x.com', country: null, assigned: true });
    expect(createAddressReader('contact', null)(' 7 ')).toEqual({ to: '7', country: null, assigned: true });
  });

  it('is spoken of by its kind', () => {
    const read = createAddressReader('email', null);
    const found = read('07400123456');
    expect('problem' in found && addressMessage('email', 'mail', '07400123456', found)).toBe(
      'The address "07•••••3456" (column "mail") is not an email address: it looks like a phone number.',
    );
  });
});

describe('invalid rows', () => {
  const cases: readonly [
    label: string,
    settings: Partial<ListSpec>,
    values: string[],
    code: string,
    reason: string,
    message: string,
  ][] = [
    [
      'a number that is none',
      {},
      ['1', 'hello', ''],
      'invalid-address',
      'invalid-address',
      'The number "hello" (column "msisdn") is not a phone number.',
    ],
    [
      'an empty cell',
      {},
      ['1', ' ', ''],
      'invalid-address',
      'invalid-address',
      'The number (column "msisdn") is empty.',
    ],
    [
      'a number is masked',
      {},
      ['1', '+999123456789', ''],
      'invalid-address',
      'invalid-address',
      'The number "+99••••••6789" (column "msisdn") does not begin with a country code that is in use.',
    ],
    [
      'an email address is masked',
      {},
      ['1', 'jane.doe@example.com', ''],
      'invalid-address',
      'invalid-address',
      'The number "j•••@example.com" (column "msisdn") is not a phone number.',
    ],
    [
      'a long value is cut',
      {},
      ['1', 'x'.repeat(50), ''],
      'invalid-address',
      'invalid-address',
      `The number "${'x'.repeat(40)}…" (column "msisdn") is not a phone number.`,
    ],
    [
      'an empty key',
      { key: ['id'] },
      [' \u00a0', '+447400123456', ''],
      'empty-key',
      'bad-row',
      'The column "id", which identifies the recipient (`recipients.key`), is empty.',
    ],
  ];

  test.each(cases)('%s', (_, settings, values, code, reason, message) => {
    const found = readOne(settings, ...values);
    expect(isInvalidRow(found)).toBe(true);
    expect(found).toMatchObject({ row: 4, line: 9, key: null, to: null, reason });
    expect(found).toMatchObject({ problem: { code, severity: 'error', message, at: { file: 'people.csv', line: 9 } } });
  });

  it('a ragged row', () => {
    const read = createRecipientReader(specOf('/unused'), COLUMNS);
    expect(read({ row: 0, line: 2, values: null, fault: 'has 4 fields, the header has 3' })).toMatchObject({
      reason: 'bad-row',
      problem: { code: 'csv-ragged-row', message: 'The row has 4 fields, the header has 3.', at: { line: 2 } },
    });
  });

  it('a missing column refuses everything', () => {
    expect(() => createRecipientReader(specOf('/unused', { to: 'phone' }), COLUMNS)).toThrow(HandbillError);
  });
});

describe('from the file', () => {
  it('every row becomes a recipient or says why not, in order', async () => {
    const spec = await lists.write(
      'id;msisdn\r\n1;07400 123456\r\n2;"4.47701E+11"\r\n3\r\n\r\n;+447400123457\r\n5;\'+447400123458\r\n',
      { key: ['id'], defaultCountry: 'GB' },
    );
    const { columns, rows } = await readAll(spec);
    const read = createRecipientReader(spec, columns);
    const found = rows
      .map(read)
      .map((r) => (isInvalidRow(r) ? `${r.line} ${r.problem.code}` : `${r.line} ${r.key} ${r.to}`));
    expect(found).toEqual([
      '2 1 +447400123456',
      '3 invalid-address',
      '4 csv-ragged-row',
      '6 empty-key',
      '7 5 +447400123458',
    ]);
  });
});
