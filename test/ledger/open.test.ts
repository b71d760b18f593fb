import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, test } from 'vitest';
import { isAtLeast, openExistingLedger, openLedger } from '../../src/ledger/open.ts';
import { keepReserve, RESERVE_BYTES, reserveOf } from '../../src/ledger/place.ts';
import { networkFileSystem } from '../../src/ledger/private-files.ts';
import { APPLICATION_ID, hasSchema, makeSchema, VERSION } from '../../src/ledger/schema.ts';
import { markerOf } from '../../src/util/ledger-address.ts';
import { child, firstLine, givenRun, open, scratchPath, thrown, whole } from './scratch.ts';
import { HELLO, NOON, rows } from './values.ts';

/** A closed ledger with one run that was started, and everything beside it. */
function givenLedger(): string {
  const path = scratchPath();
  const ledger = open(path);
  givenRun(ledger, rows(3));
  ledger.close();
  return path;
}

function tryToWrite(path: string, options = {}): Record<string, unknown> {
  return thrown(() => openLedger(path, { mode: 'write', nowMs: NOON, ...options }));
}

function tryToRead(path: string): Record<string, unknown> {
  return thrown(() => openExistingLedger(path, { nowMs: NOON }));
}

describe('private', () => {
  it.each(['000', '022', '077'])('folders 0700, files 0600 under umask %s', async (umask) => {
    const { text } = await whole(child('open-and-print.ts', [scratchPath(), umask]));
    const modes = JSON.parse(text) as Record<string, string>;
    const names = Object.keys(modes);
    for (const name of ['ledger.db', 'ledger.db-wal', 'ledger.db-shm', '.ledger.db.marker', 'ledger.db.reserve']) {
      expect(names).toContain(name);
    }
    expect(names.filter((name) => /^locks\/[0-9a-f]{32}\.db$/.test(name))).toHaveLength(1);
    for (const [name, mode] of Object.entries(modes)) {
      expect([name, mode]).toEqual([name, name === '.' || name === 'locks' ? '700' : '600']);
    }
  });

  it('takes reading from others: a restored copy of mode 0644, a folder of mode 0755', () => {
    const path = givenLedger();
    chmodSync(path, 0o644);
    chmodSync(dirname(path), 0o755);
    open(path);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(`${path}-wal`).mode & 0o777).toBe(0o600);
    expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it('does not close a folder that is not its own', () => {
    const path = join(dirname(dirname(givenLedger())), 'elsewhere', 'ledger.db');
    mkdirSync(dirname(path), { mode: 0o755 });
    open(path);
    expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o755);
  });

  const setups: [string, (path: string) => void][] = [
    [
      'a link',
      (path) => {
        renameSync(path, `${path}.real`);
        symlinkSync(`${path}.real`, path);
      },
    ],
    ['a dangling link', (path) => rmSync(path) === undefined && symlinkSync('/nowhere/at/all', path)],
    ['a log that is a link', (path) => symlinkSync('/etc/hostname', `${path}-wal`)],
    ['writable by the group', (path) => chmodSync(path, 0o620)],
    ['writable by the world', (path) => chmodSync(path, 0o602)],
    ['a folder writable by the world', (path) => chmodSync(dirname(path), 0o777)],
    ['a folder writable by the group', (path) => chmodSync(dirname(path), 0o770)],
  ];
  it.each(setups)('refuses %s', (_, damage) => {
    const path = givenLedger();
    damage(path);
    expect(tryToWrite(path)).toMatchObject({ code: 'ledger-permissions', exit: 7 });
    expect(tryToRead(path)).toMatchObject({ code: 'ledger-permissions', exit: 7 });
  });

  it.skipIf(process.getuid?.() !== 0)('refuses a file or folder of another user', () => {
    const path = givenLedger();
    chownSync(path, 12_345, 12_345);
    expect(tryToWrite(path)).toMatchObject({ code: 'ledger-permissions', exit: 7 });
    chownSync(path, 0, 0);
    chownSync(dirname(path), 12_345, 12_345);
    expect(tryToRead(path)).toMatchObject({ code: 'ledger-permissions', exit: 7 });
  });

  it('refuses what is not a file', () => {
    const path = givenLedger();
    rmSync(path);
    mkdirSync(path);
    expect(tryToWrite(path)).toMatchObject({ code: 'ledger-unusable', exit: 7 });
    rmSync(path, { recursive: true });
    execFileSync('mkfifo', [path]);
    expect(tryToWrite(path)).toMatchObject({ code: 'ledger-unusable', exit: 7 });
  });
});

describe('untouched when it is not ours, or damaged', () => {
  const damages: [string, (path: string) => void, RegExp][] = [
    ['text', (path) => writeFileSync(path, 'to,name\n+447700900123,Ada\n'.repeat(400)), /not a database/],
    ['one byte', (path) => writeFileSync(path, 'x'), /not a database/],
    ['a header with rubbish behind', (path) => rubbishFrom(path, 100), /malformed|damaged/],
    [
      'rubbish in the second half',
      (path) => rubbishFrom(path, lstatSync(path).size / 2),
      /malformed|damaged|unsupported/,
    ],
    ['a cut file', (path) => truncateSync(path, lstatSync(path).size / 2), /malformed|damaged|unsupported/],
    ['another program', (path) => foreign(path, 'PRAGMA application_id = 42'), /another program/],
    ['a database without an application id', (path) => foreign(path, ''), /another program/],
    [
      'a newer ledger',
      (path) => alter(path, 'PRAGMA user_version = 99'),
      /Another version of handbill .* version 99; .* version 1\)/,
    ],
    [
      'a ledger of a development build',
      (path) => alter(path, 'ALTER TABLE recipients RENAME COLUMN step TO part'),
      /not those of/,
    ],
    ['a view', (path) => alter(path, 'CREATE VIEW v AS SELECT * FROM runs'), /not those of this handbill/],
    [
      'an evil trigger',
      (path) => alter(path, 'CREATE TRIGGER t AFTER UPDATE ON recipients BEGIN DELETE FROM suppressions; END'),
      /not those of this handbill/,
    ],
    ['a trigger that is gone', (path) => alter(path, 'DROP TRIGGER recipients_move'), /not those of this handbill/],
    ['another table', (path) => alter(path, 'CREATE TABLE x (a)'), /not those of this handbill/],
    ['another column', (path) => alter(path, 'ALTER TABLE runs ADD COLUMN x TEXT'), /not those of this handbill/],
  ];
  it.each(damages)('%s', (_, damage, message) => {
    const path = givenLedger();
    damage(path);
    const before = readFileSync(path);
    const found = tryToWrite(path);
    expect(found).toMatchObject({ code: 'ledger-unusable', exit: 7 });
    expect(found['message']).toMatch(message);
    expect(tryToRead(path)).toMatchObject({ code: 'ledger-unusable', exit: 7 });
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

/** As a shell's wild card finds them: hidden files are not among them. */
function removeAll(path: string, prefix: string): void {
  const names = readdirSync(dirname(path)).filter((name) => !name.startsWith('.') && name.startsWith(prefix));
  for (const name of names) rmSync(join(dirname(path), name), { recursive: true });
}

describe('missing', () => {
  it('a new project has none: read gives null and makes nothing, write makes one', () => {
    const path = scratchPath();
    expect(openExistingLedger(path, { nowMs: NOON })).toBeNull();
    expect(thrown(() => openLedger(path, { mode: 'read', nowMs: NOON }))).toMatchObject({ code: 'ledger-missing' });
    expect(existsSync(dirname(path))).toBe(false);
    open(path);
    expect(openExistingLedger(path, { nowMs: NOON })?.runs()).toEqual([]);
  });

  it('the marker comes with the first start, not with the ledger or a list', () => {
    const path = scratchPath();
    const ledger = open(path);
    givenRun(ledger, rows(1), { start: false });
    expect(existsSync(markerOf(path))).toBe(false);
    const run = ledger.findRun(HELLO);
    if (run !== null) ledger.start(run, NOON);
    expect(existsSync(markerOf(path))).toBe(true);
  });

  const losses: [string, (path: string) => void][] = [
    ['gone', (path) => rmSync(path)],
    ['gone with all that a wild card takes along (rm ledger.db*)', (path) => removeAll(path, basename(path))],
    ['gone with all that is not hidden (rm *)', (path) => removeAll(path, '')],
    ['of 0 bytes', (path) => truncateSync(path, 0)],
    ['an empty database', (path) => foreign(path, '', [])],
  ];
  it.each(losses)('a ledger that is %s after a start is missed until --allow ledger-missing', (_, lose) => {
    const path = givenLedger();
    lose(path);
    const before = existsSync(path) ? readFileSync(path).length : -1;
    expect(tryToWrite(path)).toMatchObject({ code: 'ledger-missing', exit: 7 });
    expect(tryToRead(path)).toMatchObject({ code: 'ledger-missing', exit: 7 });
    expect(existsSync(path) ? readFileSync(path).length : -1).toBe(before);
    expect(openExistingLedger(path, { nowMs: NOON, allow: ['ledger-missing'] })).toBeNull();
    expect(open(path, { allow: ['ledger-missing'] }).runs()).toEqual([]);
  });

  it('0 bytes without a marker are a ledger that was never begun', () => {
    const path = scratchPath();
    mkdirSync(dirname(path), { mode: 0o700 });
    writeFileSync(path, '', { mode: 0o600 });
    expect(openExistingLedger(path, { nowMs: NOON })).toBeNull();
    expect(open(path).runs()).toEqual([]);
  });

  it('--allow ledger-missing never replaces a ledger that is there', () => {
    const path = givenLedger();
    expect(open(path, { allow: ['ledger-missing'] }).runs()).toHaveLength(1);
  });
});

describe('opening', () => {
  it('refuses a clock that is more than 5 minutes before the newest entry, and changes nothing', () => {
    const path = givenLedger();
    expect(tryToWrite(path, { nowMs: NOON - 6 * 60_000 })).toMatchObject({ code: 'clock', exit: 2 });
    expect(openExistingLedger(path, { nowMs: NOON - 6 * 60_000 })?.runs()).toHaveLength(1);
    open(path, { nowMs: NOON - 4 * 60_000 });
  });

  it('times never decrease, although the clock is set back while it is open', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    const restarted = ledger.start(run, NOON - 3_600_000).run;
    expect(restarted.lastStartAtMs).toBe(NOON);
    expect(ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs: 0 }).finishedAtMs).toBe(NOON);
  });

  it('reading changes no file and cannot write', () => {
    const path = givenLedger();
    const before = readFileSync(path);
    const ledger = openLedger(path, { mode: 'read', nowMs: NOON });
    expect(ledger.runs()).toHaveLength(1);
    const suppress = () =>
      ledger.suppress('+447700900001', { reason: null, untilMs: null, source: 'test', nowMs: NOON });
    expect(thrown(suppress)).toMatchObject({ exit: 7, kind: 'readonly' });
    ledger.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('reads what a killed writer left in its log', async () => {
    const path = scratchPath();
    const { text } = await whole(child('open-and-print.ts', [path]));
    expect(text).toContain('ledger.db-wal');
    const ledger = openExistingLedger(path, { nowMs: NOON });
    expect(ledger?.findRun(HELLO)?.rows).toBe(1);
    ledger?.close();
  });

  it('five processes at the same moment make one ledger', async () => {
    const path = scratchPath();
    const openers = Array.from({ length: 5 }, () => child('open-at-once.ts', [path]));
    await Promise.all(openers.map(firstLine));
    const ends = openers.map(whole);
    for (const opener of openers) opener.stdin?.write('go\n');
    for (const { status } of await Promise.all(ends)) expect(status).toBe(0);
    expect([...open(path).suppressions()]).toHaveLength(5);
  });

  it('two ledgers in one process do not drop each other’s locks', () => {
    const path = givenLedger();
    const one = open(path);
    open(path).close();
    expect(one.runs()).toHaveLength(1);
  });

  it('makes room beside the ledger again when the reserve was used', () => {
    const path = givenLedger();
    expect(lstatSync(reserveOf(path)).size).toBe(RESERVE_BYTES);
    rmSync(reserveOf(path));
    keepReserve(path);
    expect(lstatSync(reserveOf(path)).blocks * 512).toBeGreaterThanOrEqual(RESERVE_BYTES);
  });

  it('says what is wrong when the folder cannot be made', () => {
    const path = givenLedger();
    const inside = join(path, '.handbill', 'ledger.db');
    expect(tryToWrite(inside)).toMatchObject({ code: 'ledger-unusable', exit: 7 });
  });
});

test('a schema is known by its statements', () => {
  const db = new DatabaseSync(':memory:');
  makeSchema(db, NOON);
  expect(hasSchema(db)).toBe(true);
  expect(db.prepare('PRAGMA application_id').get()).toEqual({ application_id: APPLICATION_ID });
  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: VERSION });
  db.exec('ALTER TABLE runs RENAME COLUMN counted TO is_counted');
  expect(hasSchema(db)).toBe(false);
});

test.each([
  ['3.51.3', true],
  ['3.51.2', false],
  ['3.51.10', true],
  ['3.53', true],
  ['3.51', false],
  ['4.0.0', true],
  ['2.99.99', false],
  ['0', false],
])('SQLite %s is new enough: %s', (version, enough) => {
  expect(isAtLeast(version, [3, 51, 3])).toBe(enough);
});

test.each([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0xef53, null],
  [0x01021994, null],
  [0x65735546, null],
])('file system %i is %s', (magic, name) => {
  expect(networkFileSystem(magic)).toBe(name);
});

function rubbishFrom(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0xa5, Math.floor(offset));
  writeFileSync(path, bytes);
}

function foreign(path: string, pragma: string, statements = ['CREATE TABLE t (a)', 'INSERT INTO t VALUES (1)']): void {
  rmSync(path);
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL');
  for (const statement of [...statements, pragma]) db.exec(statement);
  db.close();
  chmodSync(path, 0o600);
}

function alter(path: string, statement: string): void {
  const db = new DatabaseSync(path);
  db.exec(statement);
  db.close();
  copyFileSync(path, `${path}.copy`);
}
