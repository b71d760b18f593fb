import { problem } from '../../errors.ts';
import type { Param, Value } from '../connection.ts';
import { LedgerError, unusable } from '../ledger-error.ts';
import { EVENTS_OF_ENVIRONMENTS } from '../schema.ts';
import type { Bridge } from './bridge.ts';
import {
  ATTEMPTS,
  BUDGETS,
  COMMIT_ROWS,
  CORRECTED,
  PAUSES,
  RECIPIENTS_IDENTITY,
  RESOLUTIONS_FIXED,
  SCHEDULES,
  SHARED_RUNS,
  TOPICS,
} from './schema.ts';

/** Longest that a server may take to be reached, and to answer the first questions. */
const CONNECT_MS = 15_000;

/** A server that is asked whether its ledger can be used. */
export interface AskedServer {
  readonly bridge: Bridge;
  /** The address as people may see it. */
  readonly path: string;
}

/** SQLSTATE of a user, a password or a database that is not right: it will not be in a moment either. */
const REFUSED = /^(?:28|3D|42)/;

/** @returns the first row of the answer */
export function ask(
  { bridge, path }: AskedServer,
  text: string,
  values: readonly Param[] = [],
  waitMs = CONNECT_MS,
): readonly Value[] | undefined {
  const said = bridge.ask({ text, values }, waitMs);
  if (said !== null && !('error' in said)) return said.rows[0];
  const why = said === null ? `no answer within ${waitMs / 1000} s` : said.error.message;
  const hint = 'Look at the address, at its user and password (PGPASSWORD, ~/.pgpass), and whether the server is up.';
  const message = `The shared ledger cannot be opened: ${why}.`;
  const kind = said !== null && 'error' in said && REFUSED.test(said.error.code ?? '') ? 'other' : 'io';
  throw new LedgerError(kind, problem('ledger-unusable', message, { at: { file: path }, hint }));
}

export interface Migration {
  /** That the ledger has afterwards. */
  readonly version: number;
  /** They are part of the shared schema: statements that other processes run at this moment must go on working. */
  readonly statements: readonly string[];
}

/** What made a ledger of an older handbill what `SCHEMA` makes; never changed once it is published. */
export const MIGRATIONS: readonly Migration[] = [
  // Runs that several workers share: who claims in which shard.
  { version: 2, statements: [...SHARED_RUNS, 'DROP FUNCTION handbill.commit_rows', COMMIT_ROWS] },
  // First sighting of a campaign's schedule; addresses corrected after the message had gone out; the environment of
  // delivery reports and replies.
  { version: 3, statements: [SCHEDULES, ...CORRECTED, ...EVENTS_OF_ENVIRONMENTS] },
  // Pauses, which every claim asks about; the commits and the topic of a run.
  {
    version: 4,
    statements: [
      PAUSES,
      'DROP FUNCTION handbill.commit_rows',
      COMMIT_ROWS,
      'ALTER TABLE handbill.runs ADD COLUMN git TEXT',
      'ALTER TABLE handbill.runs ADD COLUMN topic TEXT',
    ],
  },
  // The topics of suppressions, which a claim asks for.
  { version: 5, statements: [...TOPICS, 'DROP FUNCTION handbill.commit_rows', COMMIT_ROWS] },
  // Budgets; a person may be erased from finished runs; the former names of a run's campaign.
  {
    version: 6,
    statements: [BUDGETS, RECIPIENTS_IDENTITY, RESOLUTIONS_FIXED, 'ALTER TABLE handbill.runs ADD COLUMN formerly TEXT'],
  },
  // The attempts that were not accepted.
  { version: 7, statements: [...ATTEMPTS, 'DROP VIEW handbill.sqlite_schema'] },
];

/** Of the newest schema; older ones are brought up to date, newer ones refused. */
export const VERSION = 7;

/** Longest that a step may take: large tables may be written anew. */
const MIGRATE_MS = 15 * 60_000;

/** Who makes the schema: the number is "hbll". */
export const MAKERS = 0x68626c6c;

/**
 * Brings an older schema up to date in one transaction; of several processes, one does it. Refused while a process
 * sends, because it uses the statements of the older schema.
 *
 * @throws HandbillError with exit status 7: `ledger-unusable`
 */
export function migrate(asker: AskedServer, migrations: readonly Migration[]): void {
  const isOlder = (version: Value | undefined) => migrations.filter((one) => one.version > Number(version));
  if (isOlder(ask(asker, VERSION_OF)?.[0]).length === 0) return;
  ask(asker, 'BEGIN');
  try {
    ask(asker, 'SELECT pg_advisory_xact_lock($1)', [MAKERS]);
    const missing = isOlder(ask(asker, VERSION_UNDER_LOCK)?.[0]);
    if (missing.length > 0 && ask(asker, IS_IN_USE)?.[0] === 1) throw inUse(asker.path);
    for (const { version, statements } of missing) {
      for (const statement of statements) ask(asker, statement, [], MIGRATE_MS);
      ask(asker, 'UPDATE handbill.ledger SET version = $1', [version]);
    }
    ask(asker, 'COMMIT');
  } catch (error) {
    asker.bridge.ask({ text: 'ROLLBACK', values: [] }, CONNECT_MS);
    throw error;
  }
}

const VERSION_OF = 'SELECT version FROM handbill.ledger';
const VERSION_UNDER_LOCK = 'SELECT version FROM handbill.ledger FOR UPDATE';

/** Whether a process holds a run (postgres-connection.ts). */
const IS_IN_USE = `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
  AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

function inUse(path: string): Error {
  const message = 'An older handbill is sending, and this one has to change the tables of the ledger.';
  return unusable('ledger-unusable', path, message, 'Wait until it has ended, then run the command again.');
}
