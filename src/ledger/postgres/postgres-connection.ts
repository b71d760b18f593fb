import { createHash } from 'node:crypto';
import { problem } from '../../errors.ts';
import type { Connection, ConnectionPurge, ManyRows, Param, Query, Statement } from '../connection.ts';
import { LedgerError } from '../ledger-error.ts';
import type { RunLock } from '../lock.ts';
import type { RunIdentity, RunRecord } from '../records.ts';
import type { SharedTurns } from '../shared-turns.ts';
import type { WorkerStore } from '../worker-store.ts';
import type { Asked, Bridge, Found, Given, Refusal } from './bridge.ts';
import { toPostgres } from './dialect.ts';
import { HINTS, kindOf, LASTING } from './error-kinds.ts';
import { manyRows } from './many.ts';
import { CATCH_UP_MS, HOLD_TURNS, TAKE_TURNS } from './turns.ts';
import { workerStore } from './workers.ts';

/**
 * Longest that a commit waits: longer than others may keep it waiting (30 s, after which the database says so). Then the
 * way to the database is cut.
 */
const COMMIT_MS = 35_000;

/** Longest that anything else may take: a list is counted, amended, or its tables written anew. */
const LONG_MS = 15 * 60_000;

/** Less than the 2 s after which a start has to say that another one holds the run (H2). */
const LOCK_WAIT = '600ms';

export interface ConnectionFacts {
  /** The address as people may see it. */
  readonly path: string;
  /** The timeline of the server; null on a replica. */
  readonly history: number | null;
  readonly bridge: Bridge;
  /** Longest that others may keep it waiting. */
  readonly busyTimeoutMs: number;
}

/**
 * One connection to a ledger in PostgreSQL. After anything that leaves open what became of a transaction - no answer, a
 * connection that is gone - nothing more is written through it, as after an I/O error of SQLite (H1, J6).
 */
export class PostgresConnection implements Connection {
  readonly path: string;
  readonly history: number | null;
  readonly purge: ConnectionPurge;
  readonly many: ManyRows;
  readonly #bridge: Bridge;
  readonly #busyTimeoutMs: number;
  readonly #names = new Map<string, string>();
  #failure: LedgerError | null = null;
  /** Transactions of this connection, the one that is under way among them. */
  #written = 0;
  #writing = false;
  #closed = false;
  readonly #locks = new Set<string>();

  constructor({ path, history, bridge, busyTimeoutMs }: ConnectionFacts) {
    this.#busyTimeoutMs = busyTimeoutMs;
    this.path = path;
    this.history = history;
    this.#bridge = bridge;
    this.many = manyRows({
      commit: (text, values) => {
        const found = this.#ask(text, values, COMMIT_MS);
        this.#written += 1;
        return found;
      },
      copy: (text, rows) => this.#copy(text, rows),
    });
    this.purge = {
      isUnderWay: () => this.query('SELECT purge_begun FROM ledger').get()?.[0] === 1,
      begin: () => this.write(0, 1, () => this.statement('UPDATE ledger SET purge_begun = true')()),
      // PostgreSQL has no page of a ledger to itself that could be overwritten.
      overwrite: () => undefined,
      rewrite: () => {
        if (!this.#vacuum()) return 'in-use';
        this.write(0, 1, () => this.statement('UPDATE ledger SET purge_begun = false')());
        return 'done';
      },
    };
  }

  query(sql: string): Query {
    const text = toPostgres(sql);
    return {
      get: (...params) => this.#ask(text, params).rows[0],
      all: (...params) => this.#ask(text, params).rows,
    };
  }

  statement(sql: string): Statement {
    const text = toPostgres(sql);
    return (...params) => this.#ask(text, params).changes;
  }

  exec(sql: string): void {
    this.#run({ text: toPostgres(sql), values: [] });
  }

  write<T>(nowMs: number, _rows: number, work: (nowMs: number) => T): T {
    if (this.#writing) throw new Error('A transaction is under way.');
    this.#writing = true;
    const before = this.#written;
    try {
      this.#written += 1;
      const newestMs = Number(this.#run({ text: BEGIN, values: [] }, COMMIT_MS).rows[0]?.[0]);
      const now = Math.max(nowMs, newestMs);
      const result = work(now);
      if (now >= newestMs + 1000) this.#ask('UPDATE ledger SET newest_at = $1 WHERE newest_at < $1', [now]);
      this.#run({ text: 'COMMIT', values: [] }, COMMIT_MS);
      return result;
    } catch (error) {
      // Of what was written inside it, too.
      this.#written = before;
      if (this.#failure === null) this.#run({ text: 'ROLLBACK', values: [] });
      throw error;
    } finally {
      this.#writing = false;
    }
  }

  displacement(): null {
    return null;
  }

  close(): void {
    this.#closed = true;
    this.#bridge.close();
  }

  // As SQLite's `data_version`: what this connection wrote does not count.
  version(): number {
    return Number(this.query('SELECT changes FROM ledger').get()?.[0]) - this.#written;
  }

  expectMany(): void {}

  deferReferences(): void {
    this.exec('SET CONSTRAINTS ALL DEFERRED');
  }

  lock(run: RunIdentity, despiteWorkers = false): RunLock | null {
    const [high, low] = lockOf(run);
    const which = `${high} ${low}`;
    // The database would give it to one connection again and again.
    if (this.#locks.has(which)) return null;
    if (!this.#tryLock(high, low) && !this.#waitForLock(high, low)) return null;
    this.#locks.add(which);
    const lock = {
      release: () => {
        // With the connection the lock is gone.
        if (!this.#locks.delete(which) || this.#failure !== null || this.#closed) return;
        this.query('SELECT pg_advisory_unlock(?::int, ?::int)').get(high, low);
      },
    };
    if (despiteWorkers || !this.#isWorkedOn(run)) return lock;
    lock.release();
    return null;
  }

  /** Workers go on with a run whose coordinator has died. */
  #isWorkedOn({ environment, campaign, occurrence }: RunIdentity): boolean {
    const found = this.query(
      `SELECT 1 FROM runs JOIN workers ON workers.list = runs.list AND heard_at + lease_ms > now_ms()
        WHERE environment = ? AND campaign = ? AND occurrence = ? AND state <> 'loading' LIMIT 1`,
    );
    return found.get(environment, campaign, occurrence) !== undefined;
  }

  isHeld(run: RunIdentity): boolean {
    const [high, low] = lockOf(run);
    const found = this.query(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = ? AND objid::bigint = ? AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return found.get(high >>> 0, low >>> 0) !== undefined || this.#isWorkedOn(run);
  }

  workers(recordOf: (number: number) => RunRecord): WorkerStore {
    return workerStore(this, recordOf);
  }

  beginStart(): void {}

  turns(environment: string, ratePerSecond: number): SharedTurns {
    const intervalMs = 1000 / ratePerSecond;
    return {
      take: (count) => {
        const values = [environment, count, intervalMs, CATCH_UP_MS];
        const [inMs, heldMs] = this.#ask(TAKE_TURNS, values, COMMIT_MS).rows[0] ?? [];
        return { inMs: Number(inMs), heldMs: Number(heldMs) };
      },
      hold: (ms) => void this.#ask(HOLD_TURNS, [environment, ms], COMMIT_MS),
    };
  }

  makeRoom(): void {}

  copyTo(): void {
    const hint =
      'Leave --dry-run out: a file that is read twice has the effect of once. A backup first is made by pg_dump.';
    throw new LedgerError(
      'other',
      problem('ledger-unusable', 'A shared ledger is not copied, so that nothing can be tried on a copy of it.', {
        hint,
      }),
    );
  }

  #tryLock(high: number, low: number): boolean {
    return this.query('SELECT pg_try_advisory_lock(?::int, ?::int)').get(high, low)?.[0] === 1;
  }

  /** The server takes a moment to notice that a process was killed, and one that is stopping lets go last of all. */
  #waitForLock(high: number, low: number): boolean {
    const wait = this.query(SET_LOCK_TIMEOUT);
    try {
      wait.get(LOCK_WAIT);
      this.query('SELECT pg_advisory_lock(?::int, ?::int)').get(high, low);
      return true;
    } catch (error) {
      if (error instanceof LedgerError && error.kind === 'busy') return false;
      throw error;
    } finally {
      wait.get(String(this.#busyTimeoutMs));
    }
  }

  /** Writes the tables anew; false while somebody has been using one of them for a while. */
  #vacuum(): boolean {
    try {
      this.exec(VACUUM);
      return true;
    } catch (error) {
      if (error instanceof LedgerError && error.kind === 'busy') return false;
      throw error;
    }
  }

  #ask(text: string, values: readonly Given[], waitMs = LONG_MS): Found {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `h${this.#names.size}`;
      this.#names.set(text, name);
    }
    return this.#run({ text, values: values.map(storable), name }, waitMs);
  }

  #copy(text: string, rows: string): void {
    if (this.#failure !== null) throw this.#failure;
    this.#bridge.send({ text, values: [], copied: Buffer.from(rows) });
  }

  #run(asked: Asked, waitMs = LONG_MS): Found {
    if (this.#failure !== null) throw this.#failure;
    const said = this.#bridge.ask(asked, waitMs);
    if (said !== null && !('error' in said)) return said;
    const error = this.#errorOf(said?.error ?? { code: null, message: `no answer for ${waitMs / 1000} s` });
    if (LASTING.has(error.kind)) this.#failure = error;
    throw error;
  }

  #errorOf({ code, message }: Refusal): LedgerError {
    const kind = code === null ? 'io' : kindOf(code);
    const words = `The ledger cannot be used: ${message}${code === null ? '' : ` (PostgreSQL error ${code})`}.`;
    const hint = HINTS[kind];
    const more = { at: { file: this.path }, ...(hint === null ? {} : { hint }) };
    return new LedgerError(kind, problem('ledger-write', words, more), false, { code });
  }
}

const SET_LOCK_TIMEOUT = `SELECT set_config('lock_timeout', ?, false)`;

/** The tables that a purge takes something out of: copies of it stay in their pages. */
const VACUUM = 'VACUUM (FULL) recipients, resolutions, suppressions, delivery_reports, replies, unread_events';

/** Whoever writes has this row until he is done: those after him see what he wrote. */
const BEGIN = 'BEGIN; UPDATE ledger SET changes = changes + 1 RETURNING newest_at';

/** PostgreSQL keeps every character but one, which nobody writes; it stands for itself as a sign that can be seen. */
function storable(value: Given): Given {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\u2400') : value;
  return Array.isArray(value) ? value.map((one: Param) => storable(one) as Param) : value;
}

/** The two halves of the number that stands for the lock of a run. */
function lockOf({ environment, campaign, occurrence }: RunIdentity): readonly [number, number] {
  const hash = createHash('sha256')
    .update(JSON.stringify([environment, campaign, occurrence]))
    .digest();
  return [hash.readInt32BE(0), hash.readInt32BE(4)];
}
