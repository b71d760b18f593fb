import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { holdsPassword, readLedgerName, shownLedger } from '../../src/util/ledger-address.ts';

const SECRET = 'S3kret';

describe('the name of a ledger', () => {
  test.each([
    ...'.handbill/ledger.db ledger.db ./state.db ../shared/ledger.db /var/lib/handbill/ledger.db'.split(' '),
    ...'/srv/me@work/ledger.db ./a:b.db ./~/ledger.db state/~/ledger.db ~ledger.db'.split(' '),
    'Kunden (2026)/große Liste, neu.db',
    'C:\\state\\ledger.db',
    'C:/state/ledger.db',
    'postgres/ledger.db',
  ])('is a file: %s', (name) => {
    expect(readLedgerName(name)).toEqual({ kind: 'file', path: name });
    expect(readLedgerName(` ${name}\n`)).toEqual({ kind: 'file', path: name });
  });

  test.each([
    'postgres://host/db',
    'postgresql://me@host:5432/db?sslmode=require',
    `POSTGRES://me:${SECRET}@host/db`,
    `postgres://me:${SECRET}%40x@host/db`,
    `postgres://me:${SECRET}@x@host/db`,
    `postgres:///db?host=/var/run/postgresql&password=${SECRET}`,
  ])('is the address of a shared one: %s', (address) => {
    expect(readLedgerName(address)).toEqual({ kind: 'shared', address });
    for (const around of [' ', '\t', '\r\n', '\u00a0', '\ufeff', '\u200b', '\u2003']) {
      expect(readLedgerName(`${around}${address}${around}`)).toEqual({ kind: 'shared', address });
    }
  });

  test.each([
    '',
    ' \n',
    '~',
    '~/ledger.db',
    '~ada/ledger.db',
    '~\\ledger.db',
    ':memory:',
    'file:ledger.db',
    'file:///srv/ledger.db',
    'sqlite::memory:',
    'sqlite:ledger.db',
    `postgres:/me:${SECRET}@host/db`,
    `postgres:me:${SECRET}@host/db`,
    `postgres//me:${SECRET}@host/db`,
    `postgres ://me:${SECRET}@host/db`,
    `postgres:\\\\me:${SECRET}@host\\db`,
    `postgres\u200b://me:${SECRET}@host/db`,
    `postgres\uff1a//me:${SECRET}@host/db`,
    `postgress://me:${SECRET}@host/db`,
    `postgre://me:${SECRET}@host/db`,
    `pg://me:${SECRET}@host/db`,
    `mysql://me:${SECRET}@host/db`,
    `jdbc:postgresql://host/db?password=${SECRET}`,
    `"postgres://me:${SECRET}@host/db"`,
    `'postgres://me:${SECRET}@host/db'`,
    `\u201cpostgres://me:${SECRET}@host/db\u201d`,
    `HANDBILL_LEDGER=postgres://me:${SECRET}@host/db`,
    `me:${SECRET}@host/db`,
    `${SECRET}@host/db`,
    `//me:${SECRET}@host/db`,
    `//host/db?password=${SECRET}`,
    `\\\\host\\${SECRET}`,
    'postgres//host/db',
    '10.0.0.1:5432/db',
    'db.example.com:5432/db',
    `host=db user=me password=${SECRET} dbname=x`,
    `postgres%3A%2F%2Fme%3A${SECRET}%40host%2Fdb`,
    `./postgres://me:${SECRET}@host/db`,
    `/postgres://me:${SECRET}@host/db`,
    // A / ? or # in a password ends the host there.
    `postgres://me:12/${SECRET}@host/db`,
    `postgres://me:12?${SECRET}@host/db`,
    `postgres://me:12#${SECRET}@host/db`,
    `postgres://me:${SECRET}/x@host/db`,
    `postgres://me:${SECRET}@host:port/db`,
    `postgres://me:${SECRET} x@host/db`,
  ])('is refused, and not repeated: %s', (name) => {
    const read = readLedgerName(name);
    expect(read.kind).toBe('refused');
    expect(JSON.stringify(read)).not.toContain(SECRET);
  });

  it('is never a file where a character of an address is missing, or one too many', () => {
    const address = `postgres://me:${SECRET}@db.example.com:5432/handbill`;
    const edit = fc.record({ at: fc.nat(12), cut: fc.nat(2), put: fc.string({ maxLength: 2 }) });
    fc.assert(
      fc.property(edit, ({ at, cut, put }) => {
        // A path that begins so is one by its own word.
        fc.pre(!/^(?:\.{0,2}[/\\]|[a-z]:[/\\])/i.test(put));
        const read = readLedgerName(address.slice(0, at) + put + address.slice(at + cut));
        expect(read.kind).not.toBe('file');
      }),
    );
  });
});

describe('what is shown of an address', () => {
  test.each([
    ['postgres://me@host/db', 'postgres://host/db'],
    [`postgres://me:${SECRET}@host:5433/db`, 'postgres://host:5433/db'],
    [`postgres://host/db?password=${SECRET}`, 'postgres://host/db'],
    [`postgres://host/db?pass%77ord=${SECRET}`, 'postgres://host/db'],
    [`postgres://host/db?PASSWORD=${SECRET}&sslmode=require`, 'postgres://host/db?sslmode=require'],
    [`postgres://host/db?sslpassword=${SECRET}&host=/var/run/pg`, 'postgres://host/db?host=/var/run/pg'],
    [`postgres://host/db?host=x:${SECRET}@y`, 'postgres://host/db'],
    ['.handbill/ledger.db', '.handbill/ledger.db'],
  ])('of %s', (address, shown) => {
    expect(shownLedger(address)).toBe(shown);
  });

  it('never holds the password, wherever in the address it is', () => {
    const piece = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    const encoded = (text: string): fc.Arbitrary<string> =>
      fc
        .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
        .map((bits) =>
          [...text].map((c, i) => (bits[i] ? `%${c.charCodeAt(0).toString(16).padStart(2, '0')}` : c)).join(''),
        );
    const key = fc.constantFrom('password', 'sslpassword', 'PassWord', 'pwd', 'options', 'passfile').chain(encoded);
    const address = fc.oneof(
      fc.tuple(piece, piece).map(([user, host]) => `postgres://${user}:${SECRET}@${host}/db`),
      fc.tuple(piece, key).map(([host, name]) => `postgresql://${host}/db?sslmode=require&${name}=${SECRET}`),
      fc.tuple(piece, key).map(([host, name]) => `postgres://${host}/db?${name}=x&${name}=${SECRET}`),
    );
    fc.assert(
      fc.property(address, (written) => {
        expect(shownLedger(written)).not.toContain(SECRET);
      }),
    );
  });

  test.each([
    ['postgres://me@host/db', false],
    ['postgres://me@host/db?sslmode=require', false],
    [`postgres://me:${SECRET}@host/db`, true],
    [`postgres://me@host/db?pass%77ord=${SECRET}`, true],
  ])('whether %s holds a password', (address, holds) => {
    expect(holdsPassword(address)).toBe(holds);
  });
});
