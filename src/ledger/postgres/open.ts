import process from 'node:process';
import { problem, refuse } from '../../errors.ts';
import { ALLOWABLE } from '../../model.ts';
import { shownLedger } from '../../util/ledger-address.ts';
import type { Connection, Param, Value } from '../connection.ts';
import type { Ledger, LedgerOptions, PlaceFacts } from '../ledger.ts';
import { checkClock, LedgerError, otherSchema, unusable } from '../ledger-error.ts';
import { ledgerMissing } from '../place.ts';
import { VERSION } from '../schema.ts';
import { BUSY_TIMEOUT_MS } from '../sqlite-connection.ts';
import { ledgerOver } from '../stores.ts';
import { type Bridge, openBridge } from './bridge.ts';
import { PostgresConnection } from './postgres-connection.ts';
import { schema as ours } from './schema.ts';
import { checkServerAddress } from './server.ts';

/** Longest time to reach a server and get its first answers. */
const CONNECT_MS = 15_000;

/** SQLSTATE of a wrong user, password or database: waiting does not help. */
const REFUSED = /^(?:28|3D|42)/;

/** Lock for making the schema: the number is "hbll". */
const MAKERS = 0x68626c6c;

/** @returns the first row of the answer */
function ask(
  { bridge, path }: Pick<Asker, 'bridge' | 'path'>,
  text: string,
  values: readonly Param[] = [],
): readonly Value[] | undefined {
  const said = bridge.ask({ text, values }, CONNECT_MS);
  if (said !== null && !('error' in said)) return said.rows[0];
  const why = said === null ? `no answer within ${CONNECT_MS / 1000} s` : said.error.message;
  const hint = 'Look at the address, at its user and password (PGPASSWORD, ~/.pgpass), and whether the server is up.';
  const message = `The shared ledger cannot be opened: ${why}.`;
  const kind = said !== null && 'error' in said && REFUSED.test(said.error.code ?? '') ? 'other' : 'io';
  throw new LedgerError(kind, problem('ledger-unusable', message, { at: { file: path }, hint }));
}

/**
 * Opens a shared ledger for writing, and makes its schema if there is none.
 * @throws HandbillError with exit status 7: `ledger-unusable`; with exit status 2: `clock`, `tls-verification-off`, `invalid-value`
 */
export function openShared(
  address: string,
  { nowMs, busyTimeoutMs = BUSY_TIMEOUT_MS, allow = [], mustExist = false, witness }: Omit<LedgerOptions, 'mode'>,
): Ledger {
  return opened(address, busyTimeoutMs, (asker) => {
    checkDurable(asker);
    if (!asker.server.exists && mustExist && !allow.includes('ledger-missing')) throw ledgerMissing(asker.path);
    if (!asker.server.exists) make(asker, nowMs);
    const { newestMs, timeline } = held(asker);
    if (timeline !== asker.server.timeline)
      changeTimeline(asker, timeline, allow.includes('ledger-taken-over'), witness);
    checkClock({ path: asker.path, newestMs }, nowMs);
    return ledgerOver(connectionOf(asker));
  });
}

/** Opens a shared ledger for reading, or null if there is none. It changes nothing. */
export function openExistingShared<T>(
  address: string,
  { busyTimeoutMs = BUSY_TIMEOUT_MS }: Pick<LedgerOptions, 'busyTimeoutMs'>,
  over: (connection: Connection) => T,
): T | null {
  return opened(address, busyTimeoutMs, (asker) => {
    if (!asker.server.exists) {
      asker.bridge.close();
      return null;
    }
    held(asker);
    ask(asker, 'SET default_transaction_read_only = on');
    return over(connectionOf(asker));
  });
}

/** For `doctor`, about an existing shared ledger. */
export function examineShared(address: string): PlaceFacts {
  return opened(address, BUSY_TIMEOUT_MS, (asker) => {
    checkDurable(asker);
    const { newestMs } = held(asker);
    const [bytes, serverMs] = ask(asker, SIZE) ?? [];
    asker.bridge.close();
    const facts = { newestMs, isReadable: false };
    return { ...facts, bytes: Number(bytes), serverMs: Number(serverMs) };
  });
}

const SIZE = `SELECT sum(pg_total_relation_size(pg_class.oid)), floor(extract(epoch FROM clock_timestamp()) * 1000)
  FROM pg_class WHERE relnamespace = 'handbill'::regnamespace AND relkind = 'r'`;

interface Asker {
  readonly bridge: Bridge;
  readonly path: string;
  readonly server: Server;
  readonly busyTimeoutMs: number;
}

function connectionOf({ bridge, path, server, busyTimeoutMs }: Asker): PostgresConnection {
  return new PostgresConnection(bridge, path, server.timeline, busyTimeoutMs);
}

interface Server {
  readonly exists: boolean;
  /** The server's timeline: a replica that takes over begins another one. Null on a replica. */
  readonly timeline: number | null;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
}

function opened<T>(address: string, busyTimeoutMs: number, use: (asker: Asker) => T): T {
  const path = shownLedger(address);
  const fault = checkServerAddress(address, process.env);
  if (fault !== null) throw refuse(fault);
  const bridge = openBridge(address);
  try {
    const [exists, timeline, fsync, fullPageWrites, synchronousCommit] =
      ask({ bridge, path }, LOOK, [String(busyTimeoutMs)]) ?? [];
    const server: Server = {
      exists: exists === 1,
      timeline: timeline === null ? null : Number(timeline),
      fsync: String(fsync),
      fullPageWrites: String(fullPageWrites),
      synchronousCommit: String(synchronousCommit),
    };
    return use({ bridge, path, server, busyTimeoutMs });
  } catch (error) {
    bridge.close();
    throw error;
  }
}

/**
 * Checks the server and sets up the session. The server ends the session of a process that stops in a transaction, or
 * is cut off, and with it the transaction and the locks, so that it does not block others (failures.md, J5).
 * Unacknowledged data keep TCP keepalive from working, so they have a time limit too. Without it, a host that fails in
 * the middle of an answer would hold its run for a quarter of an hour.
 *
 * The stores look up rows by index, one by one, as SQLite does. Other plans are off: a plan that suits small tables
 * would be kept when they have grown. A table that is read as a whole nevertheless counts as expensive then, and where
 * the server can compile plans, it would compile each of them: 0.3 s a commit.
 */
const LOOK = `SELECT to_regclass('handbill.ledger') IS NOT NULL,
  CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END,
  current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
  set_config('lock_timeout', $1, false), set_config('search_path', 'handbill, pg_temp', false),
  set_config('idle_in_transaction_session_timeout', '10s', false), set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '2', false),
  set_config('tcp_user_timeout', '9s', false),
  set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
  set_config('enable_seqscan', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('jit', 'off', false)`;

/** With any other value, a confirmed claim may be lost after a failure of the server (failures.md, J6). */
function checkDurable({ path, server }: Asker): void {
  if (server.timeline === null) {
    // The replica may be about to take over, so a caller that waits for its ledger goes on waiting.
    const message = 'This PostgreSQL is a replica, which only can be read.';
    const hint = 'Name the server that takes writes.';
    throw new LedgerError('readonly', problem('ledger-unusable', message, { at: { file: path }, hint }));
  }
  const wrong = [
    server.fsync === 'on' ? null : `fsync=${server.fsync}`,
    server.fullPageWrites === 'on' ? null : `full_page_writes=${server.fullPageWrites}`,
    server.synchronousCommit === 'off' ? 'synchronous_commit=off' : null,
  ].filter((setting) => setting !== null);
  if (wrong.length === 0) return;
  const message = `PostgreSQL may lose what it confirms (${wrong.join(', ')}): a recipient could be sent to twice.`;
  throw unusable('ledger-unusable', path, message, 'Let the server sync what it confirms.');
}

/** @throws HandbillError with exit status 7 if the ledger is of another handbill */
function held(asker: Asker) {
  const [version, schema, newestMs, timeline] = ask(asker, HELD) ?? [];
  if (Number(version) !== VERSION || schema !== ours().hash) throw otherSchema(asker.path, Number(version));
  return { newestMs: Number(newestMs), timeline: Number(timeline) };
}

/** As JSON: the table of another version may lack a column. */
const HELD = `SELECT held ->> 'version', held ->> 'schema_hash', held ->> 'newest_at', held ->> 'timeline'
  FROM (SELECT to_jsonb(ledger) AS held FROM handbill.ledger) AS one`;

/** A replica took over and may lack confirmed claims, which would be sent again: the user decides (failures.md, J6). */
function changeTimeline(
  asker: Asker,
  former: number,
  isAccepted: boolean,
  witness: ((ledger: Ledger) => void) | undefined,
): void {
  const now = String(asker.server.timeline);
  witness?.(ledgerOver(connectionOf(asker)));
  if (isAccepted) {
    ask(asker, 'UPDATE handbill.ledger SET timeline = $1', [asker.server.timeline]);
    return;
  }
  const message = `Another server has taken over (timeline ${former}, now ${now}). It may lack the last that was sent.`;
  const hint = `Compare with the reports of the API who was sent to. Only if nothing is missing: ${ALLOWABLE['ledger-taken-over']}`;
  throw unusable('ledger-taken-over', asker.path, message, hint);
}

function make(asker: Asker, nowMs: number): void {
  ask(asker, 'BEGIN');
  ask(asker, 'SELECT pg_advisory_xact_lock($1)', [MAKERS]);
  // Another process began at the same time, and was first.
  if (ask(asker, IS_MISSING)?.[0] === 1) {
    ask(asker, ours().sql);
    ask(asker, FIRST, [VERSION, ours().hash, nowMs, asker.server.timeline]);
  }
  ask(asker, 'COMMIT');
}

// Read from the table: what `to_regclass` knows may be older than the lock.
const IS_MISSING = `SELECT NOT EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE relname = 'ledger' AND nspname = 'handbill')`;

const FIRST = `INSERT INTO handbill.ledger (only_row, version, schema_hash, created_at, newest_at, timeline)
  VALUES (1, $1, $2, $3, 0, $4)`;
