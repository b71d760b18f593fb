import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, test } from 'vitest';
import type { SharedTurns } from '../../src/ledger/connection.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openExistingLedger, openLedger, openToRead } from '../../src/ledger/open.ts';
import { openBridge } from '../../src/ledger/postgres/bridge.ts';
import { PostgresConnection } from '../../src/ledger/postgres/postgres-connection.ts';
import { ask, freshDatabase, postgres } from '../helpers/postgres.ts';
import { removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { child, fates, firstLine, givenRun, thrown, whole } from './scratch.ts';
import { claimOf, HELLO, loadRow, NOON, resultOf, rows } from './values.ts';

/*
 * What only a shared ledger has: its server. Everything else is asked of both (on-postgres.ts).
 */

function openAt(address: string, options: Partial<Parameters<typeof openLedger>[1]> = {}): Ledger {
  const ledger = openLedger(address, { mode: 'write', nowMs: NOON, ...options });
  onTestFinished(() => ledger.close());
  return ledger;
}

function settingOf(address: string, setting: string): Promise<unknown> {
  return ask(address, `ALTER DATABASE "${new URL(address).pathname.slice(1)}" SET ${setting}`);
}

test.each([
  ['synchronous_commit', 'synchronous_commit = off'],
  ['default_transaction_read_only', 'default_transaction_read_only = on'],
])('a server is refused that is set to %s, for what it confirms may be lost', async (_, setting) => {
  const address = await freshDatabase();
  await settingOf(address, setting);
  const refusal = thrown(() => openAt(address));
  expect(refusal).toMatchObject({ code: 'ledger-unusable', exit: 7 });
});

test('the server compiles no plan: each would take longer than the commit', async () => {
  const address = await freshDatabase();
  openAt(address);
  const connection = openToRead(address, { nowMs: NOON }, (one) => one);
  if (connection === null) throw new Error('no ledger');
  onTestFinished(() => connection.close());
  expect(connection.query("SELECT current_setting('jit')").get()).toEqual(['off']);
});

test('a server without fsync is refused (J6)', async () => {
  const folder = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'handbill-unsafe-'));
  const server = await startPostgres(folder, { fsync: 'off', full_page_writes: 'off' });
  try {
    expect(thrown(() => openAt(server.address))).toMatchObject({
      code: 'ledger-unusable',
      exit: 7,
      message: expect.stringContaining('fsync=off, full_page_writes=off'),
    });
  } finally {
    await removePostgres(server, folder);
  }
});

test('where another server has taken over nothing is written until a person says so (J6)', async () => {
  const address = await freshDatabase();
  openAt(address).close();
  // As if the ledger had been written before a replica was promoted.
  await ask(address, 'UPDATE handbill.ledger SET timeline = timeline - 1');
  expect(thrown(() => openAt(address))).toMatchObject({
    code: 'ledger-taken-over',
    exit: 7,
    message: expect.stringContaining('Another server has taken over'),
  });
  // To look is no risk.
  expect(openExistingLedger(address, { nowMs: NOON })?.runs()).toEqual([]);
  openAt(address, { allow: ['ledger-taken-over'] }).close();
  openAt(address).close();
});

test('what was undone does not hide what others write: a reader sees another version', async () => {
  const address = await freshDatabase();
  const ledger = openAt(address);
  const run = givenRun(ledger, rows(1));
  const bridge = openBridge(address);
  onTestFinished(() => bridge.close());
  bridge.ask({ text: 'SET search_path = handbill', values: [] }, 10_000);
  const connection = new PostgresConnection(bridge, 'here', 1, 1000);
  const before = connection.version();
  const failing = () =>
    connection.write(NOON, 1, () => {
      connection.many.commit(run, [], [], { all: [], hashKey: null }, NOON, null);
      throw new Error('no');
    });
  expect(failing).toThrow('no');
  expect(connection.version()).toBe(before);
  connection.write(NOON, 1, () => undefined);
  expect(connection.version()).toBe(before);
  ledger.commit(run, [], [claimOf(0)], NOON);
  expect(connection.version()).not.toBe(before);
});

test.each([
  ['a newer version', 'UPDATE handbill.ledger SET version = 99', /Another version .* version 99; .* version 1\)/],
  ['tables of another build', "UPDATE handbill.ledger SET schema_hash = 'x'", /not those of this handbill/],
  // As development builds made it.
  ['no hash of its schema', 'ALTER TABLE handbill.ledger DROP COLUMN schema_hash', /not those of this handbill/],
  ['no version', 'ALTER TABLE handbill.ledger DROP COLUMN version', /Another version of handbill/],
])('a ledger with %s is refused, and left as it is', async (_, statement, message) => {
  const address = await freshDatabase();
  openAt(address).close();
  await ask(address, statement);
  const dump = () => ask(address, 'SELECT to_jsonb(ledger) FROM handbill.ledger');
  const before = await dump();
  for (const open of [() => openAt(address), () => openExistingLedger(address, { nowMs: NOON })]) {
    expect(thrown(open)).toMatchObject({
      code: 'ledger-unusable',
      exit: 7,
      message: expect.stringMatching(message),
    });
  }
  expect(await dump()).toEqual(before);
});

test('a clock that was set back is refused (I1)', async () => {
  const address = await freshDatabase();
  const ledger = openAt(address);
  ledger.suppress('+447700900001', { reason: null, untilMs: null, source: 'test', nowMs: NOON });
  ledger.close();
  expect(thrown(() => openAt(address, { nowMs: NOON - 10 * 60_000 }))).toMatchObject({ code: 'clock', exit: 2 });
  openAt(address, { nowMs: NOON - 60_000 });
});

test('to read makes nothing', async () => {
  const address = await freshDatabase();
  expect(openExistingLedger(address, { nowMs: NOON })).toBeNull();
  expect(await ask(address, "SELECT 1 FROM pg_namespace WHERE nspname = 'handbill'")).toEqual([]);
});

test('a reader cannot write', async () => {
  const address = await freshDatabase();
  openAt(address);
  const reader = openExistingLedger(address, { nowMs: NOON });
  const facts = { reason: null, untilMs: null, source: 'test', nowMs: NOON };
  expect(thrown(() => reader?.suppress('+447700900001', facts))).toMatchObject({ exit: 7, kind: 'readonly' });
  reader?.close();
});

test('several processes at the same moment make one ledger', async () => {
  const address = await freshDatabase();
  const openers = [1, 2, 3].map(() => child('open-at-once.ts', [address]));
  await Promise.all(openers.map(firstLine));
  const ends = openers.map(whole);
  for (const opener of openers) opener.stdin?.write('go\n');
  for (const { status } of await Promise.all(ends)) expect(status).toBe(0);
  expect(await ask(address, 'SELECT count(*)::int AS n FROM handbill.ledger')).toEqual([{ n: 1 }]);
});

it.each([
  ['no such host', (url: URL) => (url.hostname = 'nowhere.invalid')],
  ['no server listens', (url: URL) => (url.port = '1')],
  ['another password', (url: URL) => (url.password = 'SEKRET-wrong')],
  ['no such database', (url: URL) => (url.pathname = '/none')],
])('%s: it says so, without the password', async (_, change) => {
  const url = new URL(await postgres());
  change(url);
  const refusal = thrown(() => openAt(url.href));
  expect(refusal).toMatchObject({ code: 'ledger-unusable', exit: 7 });
  expect(JSON.stringify(refusal)).not.toContain('SEKRET');
  expect(JSON.stringify(refusal)).not.toContain(new URL(await postgres()).password);
});

test('while another process writes for long nothing is claimed, and it works again afterwards (A4)', async () => {
  const address = await freshDatabase();
  const ledger = openAt(address, { busyTimeoutMs: 50 });
  const run = givenRun(ledger, rows(2));
  const other = openBridge(address);
  for (const text of ['BEGIN', 'UPDATE handbill.ledger SET changes = changes']) other.ask({ text, values: [] }, 9000);
  const busy = { code: 'ledger-write', exit: 7, kind: 'busy', recorded: false };
  expect(thrown(() => ledger.commit(run, [], [claimOf(0)], NOON))).toMatchObject(busy);
  expect(thrown(() => ledger.skip(run, [{ row: 1, step: 0, reason: 'expired' }], NOON))).toMatchObject(busy);
  other.ask({ text: 'ROLLBACK', values: [] }, 9000);
  other.close();
  expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
});

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
  AND pid <> pg_backend_pid()`;

test('a connection that was lost is not written through any more; what it had claimed is in doubt', async () => {
  const address = await freshDatabase();
  const ledger = openAt(address);
  const lock = ledger.lock(HELLO);
  const run = givenRun(ledger, rows(3));
  expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
  await ask(address, CUT);
  for (let tries = 0; tries < 2; tries += 1) {
    expect(thrown(() => ledger.commit(run, [resultOf(0)], [claimOf(1)], NOON))).toMatchObject({ exit: 7, kind: 'io' });
  }
  lock?.release();
  const next = openAt(address);
  // With its connection the lock is gone.
  expect(next.lock(HELLO)).not.toBeNull();
  expect(next.start(run, NOON).recovered).toBe(1);
  expect(fates(next, run)).toEqual(['in-doubt(crash)', 'pending', 'pending']);
});

test('a list whose rows did not all arrive is not loaded', async () => {
  const address = await freshDatabase();
  const ledger = openAt(address);
  const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
  ledger.load(draft, rows(2));
  await ask(address, 'ALTER TABLE handbill.recipients ADD CONSTRAINT nobody CHECK (row < 3)');
  // It is not waited for here.
  ledger.load(draft, [loadRow(2), loadRow(3)]);
  const facts = { inputs: [], identityHash: '', nowMs: NOON };
  expect(thrown(() => ledger.finishLoad(draft, facts))).toMatchObject({ code: 'ledger-write', exit: 7 });
  expect(ledger.findRun(HELLO)).toBeNull();
  expect(await ask(address, 'SELECT count(*)::int AS n FROM handbill.recipients')).toEqual([{ n: 2 }]);
});

test('text comes back as it was loaded, whatever signs COPY reads into it', async () => {
  const ledger = openAt(await freshDatabase());
  const texts = ['\\N', '\\', 'a\tb', 'a\nb\r\nc', '\\t', '"', "'", '', '\u{1F600}', '\u2028', '\\.'];
  const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
  ledger.load(
    draft,
    texts.map((key, row) => loadRow(row, { key, reason: key, state: 'skipped' })),
  );
  const run = ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: NOON });
  const found = [...ledger.outcomes(run)].flat();
  expect(found.map(({ key }) => key)).toEqual(texts);
  expect(found.map(({ reason }) => reason)).toEqual(texts);
});

test('turns of an environment are taken by several from one row, none twice, and held back for all', async () => {
  const address = await freshDatabase();
  const [one, other] = [openAt(address), openAt(address)].map((ledger) => {
    const turns = ledger.turns('live', 10);
    if (turns === null) throw new Error('a shared ledger shares turns');
    return turns;
  }) as [SharedTurns, SharedTurns];
  const began = performance.now();
  const first = one.take(5).inMs;
  expect(first).toBeLessThan(25);
  // Behind the five of the other one, less what passed meanwhile.
  const [second, third] = [other.take(3).inMs, one.take(1).inMs];
  const passed = performance.now() - began;
  expect(second).toBeLessThanOrEqual(500);
  expect(second).toBeGreaterThan(475 - passed);
  expect(third).toBeLessThanOrEqual(800);
  expect(third).toBeGreaterThan(775 - passed);
  other.hold(60_000);
  const { inMs, heldMs } = one.take(1);
  expect(heldMs).toBeGreaterThan(50_000);
  expect(inMs).toBeGreaterThan(50_000);
  // Another environment has turns of its own.
  expect(openAt(address).turns('test', 10)?.take(1).inMs).toBeLessThan(25);
});

test('a process that is stopped in a transaction loses it, and the others go on (J5)', {
  timeout: 60_000,
}, async () => {
  const address = await freshDatabase();
  const ledger = openAt(address);
  const run = givenRun(ledger, rows(2));
  const stopped = child('write-and-stop.ts', [address]);
  expect(await firstLine(stopped)).toBe('writing');
  stopped.kill('SIGSTOP');
  const began = performance.now();
  expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
  expect(performance.now() - began).toBeLessThan(20_000);
});
