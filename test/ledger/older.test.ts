import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { MIGRATIONS, migrate, NEWEST_VERSION, readAsNewest, userVersion } from '../../src/ledger/migrations.ts';
import { openExistingLedger, openRows } from '../../src/ledger/open.ts';
import type { RunRecord } from '../../src/ledger/records.ts';
import { BY_MAIL, onStep, unsupported } from './fallbacks.ts';
import { fates, open, scratchPath, thrown } from './scratch.ts';
import { claimOf, HELLO, keyOf, NOON, resultOf } from './values.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/ledger/version-2/ledger.db');
const FATES = [
  'accepted',
  'rejected(status)',
  'rejected(resolved)',
  'in-doubt(timeout)',
  // Claimed when it was killed.
  'in-doubt(crash)',
  'pending',
];

function given(): string {
  const path = scratchPath();
  mkdirSync(dirname(path), { mode: 0o700 });
  copyFileSync(FIXTURE, path);
  chmodSync(path, 0o600);
  return path;
}

function reading(path: string): { ledger: Ledger; run: RunRecord } {
  const ledger = openExistingLedger(path, { nowMs: NOON });
  const run = ledger?.findRun(HELLO) ?? null;
  if (ledger === null || run === null) throw new Error('the fixture holds a run');
  return { ledger, run };
}

function versionOf(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const version = userVersion(db);
  db.close();
  return version;
}

describe('a ledger of version 2, from before there were steps', () => {
  it('is read as it is, to the last byte: everything went over the channel of the run', () => {
    const path = given();
    const before = readFileSync(path);
    const { ledger, run } = reading(path);
    expect(run).toMatchObject({ channel: 'rcs', winner: null });
    expect(ledger.runs()).toEqual([run]);
    expect(ledger.scheduleOf(HELLO)).toBeNull();
    expect(fates(ledger, run)).toEqual(FATES);
    const outcomes = [...ledger.outcomes(run)].flat();
    expect(outcomes.map(({ channel, steps }) => [channel, steps])).toEqual(FATES.map(() => ['rcs', undefined]));
    expect([...ledger.doubts(run)].flat()).toMatchObject([
      { row: 3, step: 0, channel: 'rcs' },
      { row: 4, step: 0, channel: 'rcs' },
    ]);
    expect([...ledger.resolutions(run)].flat()).toMatchObject([{ line: 4, step: 0, channel: 'rcs', who: 'alice@ops' }]);
    expect(ledger.steps(run).map(({ channel, step, fellBack }) => [channel, step, fellBack])).toEqual(
      ledger.counts(run).map(() => ['rcs', 0, false]),
    );
    expect(ledger.stateOf(run)(0, keyOf(0))).toMatchObject({ step: 0, outcome: 'accepted', reason: null });
    expect(ledger.pending(run, -1, 9)).toMatchObject([{ row: 5, step: 0, key: keyOf(5), attempts: 0 }]);
    expect(thrown(() => ledger.setWinner(run, 'a'))).toMatchObject({ exit: 7, code: 'ledger-write' });
    ledger.close();
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(versionOf(path)).toBe(2);
  });

  it('is asked by rules as if it were new: who was reached, and who is on the list', () => {
    const { ledger } = reading(given());
    const exclude = [{ campaign: HELLO.campaign, occurrence: null, unknown: null }];
    const reach = ledger.reach({ ...HELLO, campaign: 'other' }, { exclude, sinceMs: 1 });
    const reached = FATES.map((_, row) => reach.excludedBy(keyOf(row), keyOf(row)) !== null);
    expect(reached).toEqual([true, false, false, true, true, false]);
    expect(reach.cappedBy(keyOf(0), keyOf(0), [{ max: 1, sinceMs: 1 }])).not.toBeNull();
    expect(reach.cappedBy(keyOf(1), keyOf(1), [{ max: 1, sinceMs: 1 }])).toBeNull();
    expect([ledger.hashKeyId(), ledger.suppressionCounts().hashes, ledger.isHashSuppressed('00', NOON)]).toEqual([
      null,
      0,
      false,
    ]);
    expect(reach.purged).toEqual([]);
    ledger.close();
  });

  it('is brought up to date by the next command that writes, with all recipients in it', () => {
    const path = given();
    const ledger = open(path);
    expect(versionOf(path)).toBe(NEWEST_VERSION);
    const found = ledger.findRun(HELLO);
    if (found === null) throw new Error('the fixture holds a run');
    expect(fates(ledger, found)).toEqual(FATES);
    const { run } = ledger.start(found, NOON);
    expect(ledger.commit(run, [], [claimOf(5)], NOON)).toEqual(['claimed']);
    ledger.commit(run, [unsupported(5, { next: BY_MAIL })], [onStep(1, 5, BY_MAIL.to)], NOON);
    ledger.commit(run, [resultOf(5, { step: 1 })], [], NOON);
    expect(fates(ledger, run).at(-1)).toBe('accepted');
    ledger.close();
    expect(
      [...open(path).outcomes(run)]
        .flat()
        .at(-1)
        ?.steps?.map(({ channel }) => channel),
    ).toEqual(['rcs', 'email']);
  });

  it('one that was opened before goes on reading when it is brought up to date, and sees what is new', () => {
    const path = given();
    const { ledger: reader, run } = reading(path);
    expect(fates(reader, run)).toEqual(FATES);
    const writer = open(path);
    writer.start(run, NOON);
    writer.commit(run, [], [claimOf(5)], NOON);
    writer.commit(run, [unsupported(5, { next: BY_MAIL })], [], NOON);
    writer.setWinner(run, 'b');
    expect(reader.findRun(HELLO)?.winner).toBe('b');
    const last = [...reader.outcomes(run)].flat().at(-1);
    expect(last).toMatchObject({ outcome: 'pending', channel: 'email', to: BY_MAIL.to });
    expect(last?.steps).toHaveLength(2);
    reader.close();
  });

  it('is asked by the web UI for those in doubt, which have no index before its tables', () => {
    const path = given();
    const rows = openRows(path, 250);
    const sql = `SELECT row FROM recipients INDEXED BY recipients_unsettled
      WHERE (state = 'in-doubt' OR resolved_by = 'resend') AND state = 'in-doubt' ORDER BY row`;
    expect(rows.query(sql).all()).toEqual([[3]]);
    rows.close();
  });
});

describe.each(MIGRATIONS.slice(0, -1).map(({ version }) => version))('a ledger of version %i', (version) => {
  it('is read with every table and column of the newest one', () => {
    const older = new DatabaseSync(':memory:');
    for (const { statements } of MIGRATIONS.slice(0, version)) for (const one of statements) older.exec(one);
    readAsNewest(older);
    const newest = new DatabaseSync(':memory:');
    migrate(newest, NOON);
    const tables = newest.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    const columns = (db: DatabaseSync, table: unknown) =>
      db
        .prepare(`SELECT * FROM ${String(table)}`)
        .columns()
        .map(({ name }) => name);
    for (const { name } of tables) {
      expect({ [String(name)]: columns(older, name) }).toEqual({
        [String(name)]: expect.arrayContaining(columns(newest, name)),
      });
    }
  });
});
