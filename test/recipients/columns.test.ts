import { describe, expect, it } from 'vitest';
import { resolveColumns } from '../../src/recipients/columns.ts';

const spec = { file: 'people.csv', kind: 'msisdn', to: 'msisdn', key: [], timeZone: null, columns: {} } as const;

describe('columns', () => {
  it('finds the address', () => {
    expect(resolveColumns(spec, ['name', 'msisdn'])).toEqual({ to: 1, key: [], timeZone: null });
  });

  it('finds the key', () => {
    expect(resolveColumns({ ...spec, to: 'mobile', key: ['id'] }, ['id', 'mobile'])).toEqual({
      to: 1,
      key: [0],
      timeZone: null,
    });
  });

  it('finds the time zone, and misses it', () => {
    const zoned = { ...spec, timeZone: 'zone' };
    expect(resolveColumns(zoned, ['msisdn', 'zone'])).toEqual({ to: 0, key: [], timeZone: 1 });
    expect(resolveColumns(zoned, ['msisdn', 'zones'])).toMatchObject([
      { code: 'unknown-column', message: 'The list has no column "zone" (`recipients.timeZone`).' },
    ]);
  });

  it('takes a decomposed name for the composed one', () => {
    expect(resolveColumns({ ...spec, to: 'numéro' }, ['num\u00e9ro'])).toEqual({ to: 0, key: [], timeZone: null });
    expect(resolveColumns({ ...spec, to: 'nume\u0301ro' }, ['num\u00e9ro'])).toEqual({
      to: 0,
      key: [],
      timeZone: null,
    });
  });

  it('suggests, and lists what there is', () => {
    expect(resolveColumns({ ...spec, to: 'mobil', key: ['ident'] }, ['ID', 'mobile'], 3)).toEqual([
      {
        code: 'unknown-column',
        severity: 'error',
        message: 'The list has no column "mobil" (`recipients.to`).',
        at: { file: 'people.csv', line: 3 },
        hint: 'Did you mean "mobile"? Its columns: ID, mobile.',
      },
      {
        code: 'unknown-column',
        severity: 'error',
        message: 'The list has no column "ident" (`recipients.key`).',
        at: { file: 'people.csv', line: 3 },
        hint: 'Its columns: ID, mobile.',
      },
    ]);
  });

  it('says which setting names the column with the numbers', () => {
    const found = resolveColumns(spec, ['phone', 'name']);
    expect(found).toMatchObject([{ hint: expect.stringContaining('Set `recipients.to`') }]);
  });

  it('speaks of addresses as what they are', () => {
    const email = { ...spec, kind: 'email', to: 'email' } as const;
    const contact = { ...spec, kind: 'contact', to: 'customer' } as const;
    expect(resolveColumns(email, ['e-mail'])).toMatchObject([
      {
        hint: 'Did you mean "e-mail"? Set `recipients.to` to the column with the email addresses. Its columns: e-mail.',
      },
    ]);
    expect(resolveColumns(contact, ['id'])).toMatchObject([
      { message: 'The list has no column "customer" (`recipients.contact`).' },
    ]);
  });

  it('looks for the columns that have types', () => {
    expect(
      resolveColumns({ ...spec, columns: { age: 'number', jonied: 'date' } }, ['msisdn', 'age', 'joined']),
    ).toMatchObject([
      {
        code: 'unknown-column',
        message: 'The list has no column "jonied" (`recipients.columns`).',
        hint: 'Did you mean "joined"? Its columns: msisdn, age, joined.',
      },
    ]);
  });

  it('cuts long lists of columns', () => {
    const names = Array.from({ length: 30 }, (_, i) => `c${i}`);
    expect(resolveColumns(spec, names)).toMatchObject([{ hint: expect.stringContaining('c19 and 10 more.') }]);
  });
});
