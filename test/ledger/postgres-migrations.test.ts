import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openExistingLedger, openLedger, openToWriteLater } from '../../src/ledger/open.ts';
import { openBridge } from '../../src/ledger/postgres/bridge.ts';
import { type Migration, migrate, VERSION } from '../../src/ledger/postgres/migrations.ts';
import { ask, freshDatabase } from '../helpers/postgres.ts';
import { fates, thrown } from './scratch.ts';
import { claimOf, HELLO, NOON, resultOf } from './values.ts';

/*
 * Shared ledgers of older versions, as those versions made them (test/fixtures/ledger/postgres).
 */

const VERSIONS = [1, 2, 3, 5, 6];

/** A ledger of this version with a run of three: one accepted, one claimed, one pending. */
async function olderLedger(version: number): Promise<string> {
  const address = await freshDatabase();
  const made = new URL(`../fixtures/ledger/postgres/version-${version}.sql`, import.meta.url);
  await ask(address, readFileSync(made, 'utf8'));
  const [timeline] = await ask(
    address,
    "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint",
  );
  await ask(
    address,
    `INSERT INTO handbill.ledger (only_row, version, created_at, newest_at, timeline) VALUES (1, $1, $2, $2, $3)`,
    [version, NOON, Object.values(timeline ?? {})[0]],
  );
  await ask(
    address,
    `INSERT INTO handbill.runs (list, environment, campaign, occurrence, channel, state, inputs, identity_hash, rows,
      starts, created_at, started_at) VALUES (1, $1, $2, $3, 'sms', 'running', '[]', 'identity', 3, 1, $4, $4)`,
    [HELLO.environment, HELLO.campaign, HELLO.occurrence, NOON],
  );
  for (const [row, state, attempts] of [
    [0, 'accepted', 1],
    [1, 'claimed', 0],
    [2, 'pending', 0],
  ] as const) {
    const { key } = claimOf(row);
    await ask(
      address,
      `INSERT INTO handbill.recipients (list, leg, row, line, key, address, state, attempts, claimed_at)
        VALUES (1, 0, $1, $2, $3, $3, $4, $5, $6)`,
      [row, row + 2, key, state, attempts, NOON],
    );
  }
  return address;
}

function openAt(address: string): Ledger {
  const ledger = openLedger(address, { mode: 'write', nowMs: NOON });
  onTestFinished(() => ledger.close());
  return ledger;
}

/** Everything that makes the schema what it is. */
async function catalogue(address: string): Promise<readonly unknown[]> {
  return await ask(
    address,
    `SELECT 'column' AS kind, c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod)
        || a.attnotnull::text || coalesce(pg_get_expr(d.adbin, d.adrelid), '') || c.relpersistence::text AS what
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
      WHERE c.relnamespace = 'handbill'::regnamespace AND c.relkind IN ('r', 'v')
    UNION ALL SELECT 'index', relname, pg_get_indexdef(oid) FROM pg_class
      WHERE relnamespace = 'handbill'::regnamespace AND relkind = 'i'
    UNION ALL SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'handbill'::regnamespace
    UNION ALL SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc
      WHERE pronamespace = 'handbill'::regnamespace
    UNION ALL SELECT 'trigger', t.tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t
      JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'handbill'::regnamespace AND NOT t.tgisinternal
    ORDER BY 1, 2, 3`,
  );
}

describe.each(VERSIONS)('a shared ledger of version %d', (version) => {
  it('is brought up to date by who writes, and the run goes on', async () => {
    const address = await olderLedger(version);
    const ledger = openAt(address);
    expect(await ask(address, 'SELECT version FROM handbill.ledger')).toEqual([{ version: String(VERSION) }]);
    const found = ledger.findRun(HELLO);
    if (found === null) throw new Error('the run is gone');
    const { run, recovered } = ledger.start(found, NOON);
    expect(recovered).toBe(1);
    expect(ledger.commit(run, [], [claimOf(2)], NOON)).toEqual(['claimed']);
    ledger.commit(run, [resultOf(2)], [], NOON);
    expect(fates(ledger, run)).toEqual(['accepted', 'in-doubt(crash)', 'accepted']);
    expect(ledger.workers?.workers()).toEqual([]);
  });

  it('has the tables, rules and functions of a new one then', async () => {
    const [older, newer] = [await olderLedger(version), await freshDatabase()];
    openAt(older);
    openAt(newer);
    expect(await catalogue(older)).toEqual(await catalogue(newer));
  });

  it('is brought up to date by who looks at it before writing', async () => {
    const address = await olderLedger(version);
    const ledger = openToWriteLater(address, { nowMs: NOON });
    expect(ledger?.findRun(HELLO)).toMatchObject(HELLO);
    ledger?.close();
    expect(await ask(address, 'SELECT version FROM handbill.ledger')).toEqual([{ version: String(VERSION) }]);
  });

  it('is left as it is by who reads, who is told what to do', async () => {
    const address = await olderLedger(version);
    const refused = thrown(() => openExistingLedger(address, { nowMs: NOON }));
    expect(refused).toMatchObject({
      code: 'ledger-unusable',
      exit: 7,
      message: expect.stringContaining('older handbill'),
    });
    expect(await ask(address, 'SELECT version FROM handbill.ledger')).toEqual([{ version: String(version) }]);
  });
});

const NEXT: Migration = {
  version: VERSION + 1,
  statements: ['ALTER TABLE handbill.runs ADD COLUMN note TEXT', "UPDATE handbill.runs SET note = 'moved'"],
};

function bring(address: string, migrations: readonly Migration[]): void {
  const bridge = openBridge(address);
  try {
    migrate({ bridge, path: address }, migrations);
  } finally {
    bridge.close();
  }
}

describe('a migration', () => {
  it('is all of it or nothing', async () => {
    const address = await olderLedger(1);
    openAt(address).close();
    const before = await catalogue(address);
    const broken = { ...NEXT, statements: [...NEXT.statements, 'ALTER TABLE handbill.nothing ADD COLUMN a TEXT'] };
    expect(thrown(() => bring(address, [broken]))).toMatchObject({ code: 'ledger-unusable', exit: 7 });
    expect(await catalogue(address)).toEqual(before);
    bring(address, [NEXT]);
    expect(await ask(address, 'SELECT version, note FROM handbill.ledger, handbill.runs')).toEqual([
      { version: String(VERSION + 1), note: 'moved' },
    ]);
    // Once.
    bring(address, [NEXT]);
  });

  it('waits until no process sends with the statements of the older version', async () => {
    const address = await olderLedger(1);
    const ledger = openAt(address);
    const lock = ledger.lock(HELLO);
    expect(thrown(() => bring(address, [NEXT]))).toMatchObject({
      code: 'ledger-unusable',
      message: expect.stringContaining('An older handbill is sending'),
    });
    lock?.release();
    bring(address, [NEXT]);
  });

  it('of two that begin at once is done by one', async () => {
    const address = await olderLedger(1);
    const first = openBridge(address);
    onTestFinished(() => first.close());
    // One is in the middle of it, as the other begins.
    first.ask({ text: "BEGIN; SELECT pg_advisory_xact_lock(x'68626c6c'::int)", values: [] }, 10_000);
    first.ask({ text: 'UPDATE handbill.ledger SET version = 2', values: [] }, 10_000);
    const second = openBridge(address);
    onTestFinished(() => second.close());
    first.send({ text: 'SELECT pg_sleep(1); COMMIT', values: [] });
    const steps = [{ version: 2, statements: ['CREATE TABLE handbill.twice ()'] }];
    migrate({ bridge: second, path: address }, steps);
    expect(await ask(address, "SELECT to_regclass('handbill.twice') AS found")).toEqual([{ found: null }]);
  });
});
