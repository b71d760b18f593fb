/**
 * Loaded before the command line (`--import`): lets the k-th call to SQLite fail as SQLite itself would, and writes down
 * in order what was called and when a request left. The process starts itself again in place once; it opens no ledger
 * before that, so that the count begins where it should.
 *
 * HANDBILL_TEST_SQLITE is JSON: `{ "log": file, "at"?: number, "fault"?: name, "only"?: text, "waitMs"?: number }`. With
 * `only`, the first statement with that text from there on fails. With `waitMs`, that is how long SQLite waits for other
 * writers from the first transaction on.
 */
import diagnostics from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { FAULTS, type FaultName, OF_WRITES_ALONE, WRITES } from '../sqlite-faults.ts';

interface Order {
  readonly log: string;
  readonly at?: number;
  readonly fault?: FaultName;
  readonly only?: string;
  readonly waitMs?: number;
}

const order = JSON.parse(process.env['HANDBILL_TEST_SQLITE'] ?? '{}') as Order;
const handles = new WeakMap<object, { readonly number: number; readonly file: string }>();
const owners = new WeakMap<StatementSync, { readonly db: DatabaseSync; readonly sql: string }>();
let opened = 0;
let calls = 0;
let hasFailed = false;

function note(line: Record<string, unknown>): void {
  appendFileSync(order.log, `${JSON.stringify(line)}\n`);
}

function handleOf(db: DatabaseSync): { readonly number: number; readonly file: string } {
  const known = handles.get(db);
  if (known !== undefined) return known;
  opened += 1;
  const handle = { number: opened, file: basename(db.location() ?? '') };
  handles.set(db, handle);
  return handle;
}

/**
 * The call that is to fail. When commits come together is not the same in two starts, so that another statement may be
 * at its place: what only a write can meet, the next write meets.
 */
function isFailing(sql: string): boolean {
  const { at, fault, only = '' } = order;
  if (hasFailed || at === undefined || fault === undefined || calls < at || !sql.includes(only)) return false;
  hasFailed = WRITES.test(sql) || !OF_WRITES_ALONE.includes(fault);
  return hasFailed;
}

/** Counts one call; throws if it is the one that is to fail. A database in memory has no disk that could fail. */
function before(db: DatabaseSync, how: string, sql: string, values: readonly unknown[] = []): void {
  if (handleOf(db).file === '') return;
  calls += 1;
  const fails = isFailing(sql);
  const { number, file } = handleOf(db);
  note({
    call: calls,
    handle: number,
    file,
    how,
    sql,
    ...(fails ? { fails } : {}),
    ...(values.length > 0
      ? { values: values.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value)) }
      : {}),
  });
  if (!fails || order.fault === undefined) return;
  const { errcode, errstr } = FAULTS[order.fault];
  throw Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr });
}

const { exec, prepare, close } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  if (order.waitMs !== undefined && sql === 'BEGIN IMMEDIATE') exec.call(this, `PRAGMA busy_timeout = ${order.waitMs}`);
  before(this, 'exec', sql);
  exec.call(this, sql);
  if (sql === 'COMMIT') {
    const synchronous = prepare.call(this, 'PRAGMA synchronous').get()?.['synchronous'];
    note({ committed: handleOf(this).number, file: handleOf(this).file, synchronous });
  }
};
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest);
  owners.set(statement, { db: this, sql });
  return statement;
};
DatabaseSync.prototype.close = function () {
  note({ closed: handleOf(this).number, file: handleOf(this).file });
  close.call(this);
};

for (const how of ['run', 'get', 'all', 'iterate'] as const) {
  const real = StatementSync.prototype[how] as (...values: readonly unknown[]) => never;
  Object.assign(StatementSync.prototype, {
    [how](this: StatementSync, ...values: readonly unknown[]): unknown {
      const owner = owners.get(this);
      if (owner !== undefined) before(owner.db, how, owner.sql, how === 'run' ? values : []);
      return real.apply(this, [...values]);
    },
  });
}

diagnostics.subscribe('undici:client:sendHeaders', (message) => {
  const { body } = (message as { readonly request: { readonly body?: unknown } }).request;
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : '';
  note({ post: /"msisdn":"([^"]+)"/.exec(text)?.[1] ?? text });
});
