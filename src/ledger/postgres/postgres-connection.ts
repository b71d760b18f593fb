import { createHash } from 'node:crypto';
import { problem } from '../../errors.ts';
import {
  type Connection,
  type ConnectionPurge,
  holder,
  lazily,
  type ManyRows,
  type Param,
  type Query,
  type SharedTurns,
  type Statement,
} from '../connection.ts';
import { LASTING, LedgerError, type LedgerErrorKind } from '../ledger-error.ts';
import { ownChannel } from '../lists.ts';
import type { RunLock } from '../lock.ts';
import type { LoadRow, RunIdentity, RunRecord, WorkerStore } from '../records.ts';
import type { Asked, Bridge, Found, Given, Refusal } from './bridge.ts';
import { copyShared } from './copy.ts';
import { workerStore } from './workers.ts';

/**
 * Longer than other processes can block a commit (the database reports it after 30 s). Then the connection is closed.
 */
const COMMIT_MS = 35_000;

/** For anything else: a list is counted or amended, or its tables are written anew. */
const LONG_MS = 15 * 60_000;

/** Less than the 2 s after which a start has to report that another process holds the run (failures.md, H2). */
const LOCK_WAIT = '600ms';

/**
 * One connection to a ledger in PostgreSQL. If the result of a transaction is unknown (no answer, a lost connection),
 * nothing more is written through it, as after an I/O error of SQLite (failures.md, H1, J6).
 */
export class PostgresConnection implements Connection {
  readonly path: string;
  readonly history: number | null;
  readonly purge: ConnectionPurge;
  readonly many: ManyRows;
  readonly hold = holder(
    () => this.exec('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    () => {
      if (!this.#closed && this.#failure === null) this.exec('COMMIT');
    },
  );
  readonly #bridge: Bridge;
  readonly #busyTimeoutMs: number;
  readonly #names = new Map<string, string>();
  #failure: LedgerError | null = null;
  /** Transactions of this connection, with the current one. */
  #written = 0;
  #writing = false;
  #closed = false;
  readonly #locks = new Set<string>();

  /**
   * @param history - the timeline of the server; null on a replica
   * @param busyTimeoutMs - longest wait for other processes
   */
  constructor(bridge: Bridge, path: string, history: number | null, busyTimeoutMs: number) {
    this.#busyTimeoutMs = busyTimeoutMs;
    this.path = path;
    this.history = history;
    this.#bridge = bridge;
    this.many = manyRows(
      (text, values) => {
        const found = this.#ask(text, values, COMMIT_MS);
        this.#written += 1;
        return found;
      },
      (text, rows) => this.#copy(text, rows),
    );
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

  readonly query = lazily((sql): Query => {
    const text = toPostgres(sql);
    return {
      get: (...params) => this.#ask(text, params).rows[0],
      all: (...params) => this.#ask(text, params).rows,
    };
  });

  readonly statement = lazily((sql): Statement => {
    const text = toPostgres(sql);
    return (...params) => this.#ask(text, params).changes;
  });

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
      // Rows written inside it count, too.
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

  // As SQLite's `data_version`: writes of this connection do not count.
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
    // The database would grant it to one connection repeatedly.
    if (this.#locks.has(which)) return null;
    if (!this.#tryLock(high, low) && !this.#waitForLock(high, low)) return null;
    this.#locks.add(which);
    const lock = {
      release: () => {
        // The lock is gone with the connection.
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

  copyTo(path: string): void {
    copyShared(this, path);
  }

  #tryLock(high: number, low: number): boolean {
    return this.query('SELECT pg_try_advisory_lock(?::int, ?::int)').get(high, low)?.[0] === 1;
  }

  /**
   * The server takes a moment to notice that a process was killed. A process that is stopping releases its lock last.
   */
  #waitForLock(high: number, low: number): boolean {
    const wait = this.query(`SELECT set_config('lock_timeout', ?, false)`);
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

  /** Writes the tables anew; false if another process uses one of them for too long. */
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

/** A purge takes data out of these tables: copies of it stay in their pages. */
const VACUUM =
  'VACUUM (FULL) recipients, resolutions, suppressions, suppressed_hashes, delivery_reports, replies, unread_events';

/** Each writer updates this row first and holds it until its commit, so later writers see what it wrote. */
const BEGIN = 'BEGIN; UPDATE ledger SET changes = changes + 1 RETURNING newest_at';

/** PostgreSQL stores every character but NUL: a visible sign replaces it. */
function storable(value: Given): Given {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\u2400') : value;
  return Array.isArray(value) ? value.map((one: Param) => storable(one) as Param) : value;
}

/** Two halves of the number that identifies the lock of a run. */
function lockOf({ environment, campaign, occurrence }: RunIdentity): readonly [number, number] {
  const hash = createHash('sha256')
    .update(JSON.stringify([environment, campaign, occurrence]))
    .digest();
  return [hash.readInt32BE(0), hash.readInt32BE(4)];
}

/**
 * The hot path: one round trip for a group commit, an array for each column. Checks as in the stores (commits.ts).
 * @param copy - without waiting
 */
function manyRows(
  commit: (text: string, values: readonly Given[]) => Found,
  copy: (text: string, rows: string) => void,
): ManyRows {
  return {
    load: (list, rows, run) => copy(COPY, rows.map((row) => copied(list, row, run)).join('')),
    commit({ number, list, postedFrom }, results, claims, forms, now, held) {
      const found = orStrange(() =>
        commit(COMMIT, [
          number,
          list,
          now,
          arrayOf(results, ({ row }) => row),
          arrayOf(results, ({ state }) => state),
          arrayOf(results, ({ reason }) => reason),
          arrayOf(results, ({ attempts }) => attempts),
          arrayOf(results, ({ httpStatus }) => httpStatus),
          arrayOf(results, ({ messageId }) => messageId),
          arrayOf(results, ({ error }) => error),
          arrayOf(results, ({ from }) => from),
          arrayOf(claims, ({ row }) => row),
          arrayOf(claims, ({ key }) => key),
          arrayOf(claims, ({ to }) => to),
          arrayOf(claims, ({ attempts }) => attempts ?? null),
          arrayOf(forms.all, ({ row }) => row),
          arrayOf(forms.all, ({ form }) => form),
          arrayOf(forms.all, ({ hash }) => hash),
          forms.hashKey,
          held?.worker ?? null,
          arrayOf(held?.shards ?? [], (shard) => shard),
          postedFrom,
        ]),
      );
      if (found === null) return null;
      const [recorded, claimed] = found.rows[0] ?? [];
      return { recorded: rowsOf(recorded), claimed: rowsOf(claimed) };
    },
  };
}

/** A column in the text form of an array: copying arrays of values to the thread took 20 us a message in a profile. */
function arrayOf<T>(all: readonly T[], read: (one: T) => string | number | null): string {
  let text = '';
  for (const one of all) {
    const value = read(one);
    if (text !== '') text += ',';
    if (value === null) text += 'NULL';
    else text += typeof value === 'number' ? value : quoted(value);
  }
  return `{${text}}`;
}

/** Only these two are special inside quotes: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function quoted(value: string): string {
  return `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}

function rowsOf(found: unknown): ReadonlySet<number> | null {
  return found === null ? null : new Set(Array.isArray(found) ? found.map(Number) : []);
}

/** Null where a row is not the recipient to be claimed: everything was undone. */
function orStrange(ask: () => Found): Found | null {
  try {
    return ask();
  } catch (error) {
    const cause = error instanceof LedgerError ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
    if (cause?.code === STRANGE) return null;
    throw error;
  }
}

/** As in the schema. */
const STRANGE = 'HB001';

const COMMIT = `SELECT recorded, claimed FROM commit_rows($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
  $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`;

const COPY = `COPY recipients (list, row, line, key, address, state, reason, parts, encoding, cost_micros, variant, channel)
  FROM STDIN`;

function copied(list: number, row: LoadRow, run: Pick<RunRecord, 'channel'>): string {
  const { line, key, to, state, reason, parts, encoding, costMicros, variant } = row;
  const own = ownChannel(row.channel ?? null, run);
  const fields = [line, key, to, state, reason, parts, encoding, costMicros, variant, own].map(field);
  return `${list}\t${row.row}\t${fields.join('\t')}\n`;
}

/** The form that COPY reads: https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS */
function field(value: string | number | null): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return String(value);
  return SPECIAL.test(value) ? value.replace(SPECIAL_ALL, (sign) => ESCAPED[sign] ?? sign) : value;
}

const SPECIAL = /[\\\t\n\r\0]/;
const SPECIAL_ALL = /[\\\t\n\r\0]/g;
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\u2400',
};

/** As for the rate limiter of one process (send/throttle.ts). */
const CATCH_UP_MS = 20;

/** When the next tokens of this name are valid, in ms from now, and for how long none is given out. */
const TAKE_TURNS =
  toPostgres(`INSERT INTO turns AS t (name, next_at) VALUES (?1, now_ms() + ?2::bigint * ?3::double precision)
  ON CONFLICT (name) DO UPDATE
  SET next_at = greatest(t.next_at, now_ms() - ?4::double precision, t.held_until) + ?2::bigint * ?3::double precision
  RETURNING next_at - ?2::bigint * ?3::double precision - now_ms(), held_until - now_ms()`);

const HOLD_TURNS =
  toPostgres(`INSERT INTO turns AS t (name, next_at, held_until) VALUES (?1, 0, now_ms() + ?2::double precision)
  ON CONFLICT (name) DO UPDATE SET held_until = greatest(t.held_until, now_ms() + ?2::double precision) RETURNING 1`);

/** Translates the stores' SQL: parameters by number, no planner hints, and temporary tables in their own schema. */
function toPostgres(sql: string): string {
  let next = 0;
  return (
    sql
      .replaceAll(/ INDEXED BY \w+/g, '')
      // With a condition it is a normal join; SQLite reads the keyword as the order of its loops.
      .replaceAll(/CROSS JOIN (\S+ AS \w+)(\s+ON)/g, 'JOIN $1$2')
      .replaceAll(/\bmain\./g, '')
      .replaceAll(/\btemp\./g, 'pg_temp.')
      .replaceAll(/\bWITHOUT ROWID\b/g, '')
      .replaceAll(/\bINTEGER\b/g, 'BIGINT')
      // PostgreSQL has to know the type of a parameter that is only tested for NULL.
      .replaceAll(/\?(\d+) IS NULL/g, 'CAST(?$1 AS TEXT) IS NULL')
      .replaceAll(/'[^']*'|\?(\d*)/g, (found, number?: string) => {
        if (found.startsWith("'")) return found;
        return `$${number === undefined || number === '' ? ++next : number}`;
      })
  );
}

const HINTS: Readonly<Record<LedgerErrorKind, string | null>> = {
  busy: 'Another process has been writing for long. Run the command again: it continues where it stopped.',
  full: 'Make room on the disk of the server, then run the command again: it continues where it stopped.',
  io: 'Look whether the server can be reached, then run the command again: it continues where it stopped.',
  readonly: 'Name the server that takes writes, and a user who may write.',
  corrupt: 'The server says that its data are damaged. Restore a backup, and compare who was sent to since.',
  displaced: null,
  other: null,
};

/** `other`: a bug of ours, or a rule of the tables. */
function kindOf(code: string): LedgerErrorKind {
  if (code === '55P03' || code === '57014' || code === '40P01') return 'busy';
  if (code === '53100') return 'full';
  if (code === '25006') return 'readonly';
  if (code.startsWith('XX')) return 'corrupt';
  // An error of the connection, not the database: ECONNRESET, ETIMEDOUT ...
  if (/^(?:08|57P|58|53)/.test(code) || !/^[0-9A-Z]{5}$/.test(code)) return 'io';
  return 'other';
}
