import { describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import type { ListSpec, Row } from '../../src/model.ts';
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
    expect(readOne({ key: 'id' }, ' Zoe\u0308 ', '+447400123456', '')).toMatchObject({
      key: 'Zoë',
      to: '+447400123456',
    });
  });

  it('say whether the number is assigned', () => {
    expect(readOne({}, '', '+447700900123', '')).toMatchObject({ assigned: false });
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
      { key: 'id' },
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
      { key: 'id', defaultCountry: 'GB' },
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
