import type { DatabaseSync } from 'node:sqlite';
import { AS_BEFORE, isOneOf, MOVES, WAITS_AGAIN } from './moves.ts';

/** "hbll" marks a SQLite file as a ledger of handbill. */
export const APPLICATION_ID = 0x68626c6c;

/** Version of the schema below. A ledger with another version or another schema is refused, and stays as it is. */
export const VERSION = 1;

/**
 * The tables of both databases, as SQLite reads them; postgres/schema.ts translates the types. STRICT, so that SQLite
 * refuses a value of another type, as PostgreSQL does. Chains of `=`, because SQLite builds a temporary table for each
 * evaluation of an `IN` with more than two values.
 */
export const TABLES: readonly string[] = [
  // Lists have numbers, because a changed list replaces that of a run. `campaign` is the id of the campaign.
  // `inputs` and `versions` are JSON: the hashes of the files now, and all that messages were made from (versions.ts);
  // `version` is the number of the one in use. A run that is not `counted` does not count for the frequency caps of others.
  // `posted_from` is the stand-in that made the last start. `counts` is JSON (counts.ts): null unless they are known.
  `CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  list INTEGER NOT NULL UNIQUE,
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  occurrence TEXT NOT NULL,
  channel TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('loading', 'running', 'finished', 'partial', 'halted', 'interrupted')),
  halt TEXT,
  inputs TEXT NOT NULL,
  identity_hash TEXT NOT NULL,
  rows INTEGER NOT NULL DEFAULT 0,
  starts INTEGER NOT NULL DEFAULT 0,
  figures TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  last_start_at INTEGER,
  finished_at INTEGER,
  winner TEXT,
  counted INTEGER NOT NULL DEFAULT 1,
  purged_at INTEGER,
  closed_at INTEGER,
  version INTEGER NOT NULL DEFAULT 1,
  versions TEXT NOT NULL DEFAULT '[]',
  topic TEXT,
  posted_from TEXT,
  counts TEXT
) STRICT`,
  `CREATE UNIQUE INDEX runs_identity ON runs (environment, campaign, occurrence) WHERE state <> 'loading'`,
  // By which name and from which file each campaign was last sent. The highest number is that of the last start.
  `CREATE TABLE campaigns (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  file TEXT NOT NULL,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID`,
  `CREATE TABLE holders (
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  occurrence TEXT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  since_at INTEGER NOT NULL,
  PRIMARY KEY (environment, campaign, occurrence)
) STRICT, WITHOUT ROWID`,
  // Clustered on (list, step, row), so that a run reads and writes adjacent rows. There is no unique index on `key`: for
  // ten million keys it did not finish. Duplicates are found while the list is read.
  // `list_address` is the address in the list now, if it differs from the one that the message went to. `resend` counts
  // the messages that went to earlier addresses of the same recipient; null: none. `text_hash` is kept for messages in
  // doubt: a report that quotes the text can resolve one without an id. `delivery` keeps the result of a message when a
  // purge deletes its events. `posted_from` is the stand-in that claimed it last: ids of the API
  // are those of its account. `version` is that of the run at the last claim.
  // `by_report`: a delivery report let the row fall back, so the API had accepted its message.
  `CREATE TABLE recipients (
  list INTEGER NOT NULL REFERENCES runs (list),
  step INTEGER NOT NULL DEFAULT 0,
  row INTEGER NOT NULL,
  line INTEGER NOT NULL,
  key TEXT,
  address TEXT,
  state TEXT NOT NULL CHECK (state = 'pending' OR state = 'claimed' OR state = 'accepted' OR state = 'rejected'
    OR state = 'failed' OR state = 'in-doubt' OR state = 'skipped' OR state = 'deferred'),
  reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  http_status INTEGER,
  message_id TEXT,
  error TEXT,
  parts INTEGER,
  encoding TEXT,
  cost_micros INTEGER,
  variant TEXT,
  claimed_at INTEGER,
  updated_at INTEGER,
  resolved_by TEXT,
  channel TEXT,
  delivery TEXT,
  text_hash TEXT,
  list_address TEXT,
  resend INTEGER,
  posted_from TEXT,
  version INTEGER,
  by_report INTEGER GENERATED ALWAYS AS
    (CASE WHEN state = 'rejected' AND reason = 'fell-back' AND resolved_by = 'report' THEN 1 ELSE 0 END) VIRTUAL,
  PRIMARY KEY (list, step, row)
) STRICT, WITHOUT ROWID`,
  // Few rows are in these two, and a send touches neither (0.2 us a message).
  `CREATE INDEX recipients_unsettled ON recipients (list, step, row)
  WHERE state = 'in-doubt' OR resolved_by = 'resend'`,
  'CREATE INDEX recipients_changed ON recipients (list, step, row) WHERE list_address IS NOT NULL',
  // For all topics (''), for one, or for all until it is known which message a STOP answered ('?', see replies.ts).
  `CREATE TABLE suppressions (
  address TEXT NOT NULL,
  topic TEXT NOT NULL DEFAULT '',
  reason TEXT,
  until_at INTEGER,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (address, topic)
) STRICT, WITHOUT ROWID`,
  // Keyed hashes of addresses, with the id of the key.
  `CREATE TABLE suppressed_hashes (
  hash TEXT NOT NULL,
  topic TEXT NOT NULL DEFAULT '',
  key_id TEXT NOT NULL,
  reason TEXT,
  until_at INTEGER,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (hash, topic)
) STRICT, WITHOUT ROWID`,
  // The history of doubts. It stays when a row is resolved, sent again and in doubt once more: the number of attempts
  // says which doubt an entry is about. It refers to the run and the key, because a changed list changes lists and rows.
  // `version` is that of a message that is sent once more.
  `CREATE TABLE resolutions (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  step INTEGER NOT NULL,
  key TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  line INTEGER NOT NULL,
  address TEXT,
  reason TEXT,
  http_status INTEGER,
  error TEXT,
  doubt_at INTEGER,
  verdict TEXT NOT NULL CHECK (verdict = 'accepted' OR verdict = 'rejected' OR verdict = 'resend'),
  message_id TEXT,
  resolved_by TEXT NOT NULL,
  who TEXT,
  note TEXT,
  resolved_at INTEGER NOT NULL,
  channel TEXT,
  posted_from TEXT,
  version INTEGER
) STRICT`,
  'CREATE INDEX resolutions_doubt ON resolutions (run, key, step, attempts)',
  // The attempts that were not accepted; those of one start that reached no connection are one. A recipient has one row,
  // in which the next attempt takes the place of the one before.
  `CREATE TABLE attempts (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  step INTEGER NOT NULL,
  key TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  http_status INTEGER,
  error TEXT,
  claimed_at INTEGER,
  ended_at INTEGER
) STRICT`,
  'CREATE INDEX attempts_recipient ON attempts (run, key, step, attempt)',
  // Events are a set: the digest of an event is unique in an environment, because ids of the API are unique within one
  // account at best. Events do not refer to rows, because a row has no index by id: a reader of rows looks up their ids
  // here. The indexes hold the state and what a report must agree with: a report about a million rows needs nothing else.
  // `dismissed_at`: when a person said that the address is in use.
  `CREATE TABLE delivery_reports (
  number INTEGER PRIMARY KEY,
  digest BLOB NOT NULL,
  reference TEXT,
  message_id TEXT,
  address TEXT,
  channel TEXT,
  state TEXT NOT NULL,
  word TEXT,
  cause TEXT,
  error TEXT,
  text_hash TEXT,
  happened_at INTEGER,
  received_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  environment TEXT NOT NULL,
  dismissed_at INTEGER
) STRICT`,
  'CREATE UNIQUE INDEX delivery_reports_digest ON delivery_reports (digest, environment)',
  `CREATE INDEX delivery_reports_reference
  ON delivery_reports (reference, state, environment, address, happened_at, received_at) WHERE reference IS NOT NULL`,
  `CREATE INDEX delivery_reports_message
  ON delivery_reports (message_id, state, environment, reference, address, happened_at, received_at)
  WHERE message_id IS NOT NULL`,
  // A report that a channel cannot reach the recipient lets an accepted row fall back.
  `CREATE INDEX delivery_reports_unreached ON delivery_reports (message_id, reference)
  WHERE state = 'undeliverable' OR cause = 'unsupported-channel'`,
  // By the address, how often it failed for good, and when something last arrived there (unreachable.ts).
  `CREATE INDEX delivery_reports_gone ON delivery_reports (address) WHERE cause = 'gone'`,
  `CREATE INDEX delivery_reports_arrived ON delivery_reports (address) WHERE state = 'delivered' OR state = 'read'`,
  `CREATE INDEX delivery_reports_text ON delivery_reports (address, text_hash) WHERE text_hash IS NOT NULL`,
  `CREATE TABLE replies (
  number INTEGER PRIMARY KEY,
  digest BLOB NOT NULL,
  reply_id TEXT,
  reference TEXT,
  message_id TEXT,
  sender TEXT NOT NULL,
  recipient TEXT,
  channel TEXT,
  text TEXT NOT NULL,
  meaning TEXT NOT NULL,
  happened_at INTEGER,
  received_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  run INTEGER REFERENCES runs (number),
  step INTEGER,
  row INTEGER,
  reviewed_as TEXT,
  reviewed_by TEXT,
  reviewed_at INTEGER,
  environment TEXT NOT NULL
) STRICT`,
  'CREATE UNIQUE INDEX replies_digest ON replies (digest, environment)',
  'CREATE INDEX replies_sender ON replies (sender)',
  'CREATE INDEX replies_run ON replies (run, row)',
  `CREATE TABLE unread_events (
  number INTEGER PRIMARY KEY,
  digest BLOB NOT NULL,
  body TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  source TEXT NOT NULL
) STRICT`,
  'CREATE UNIQUE INDEX unread_events_digest ON unread_events (digest)',
  // When the API was last asked for all reports and replies, with success.
  `CREATE TABLE fetches (
  environment TEXT NOT NULL PRIMARY KEY,
  fetched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID`,
  // When the schedule of a campaign was first seen, so that a new one is not sent for instants before it.
  `CREATE TABLE schedules (
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  schedule TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (environment, campaign)
) STRICT, WITHOUT ROWID`,
  // Pauses of an environment, or of one campaign in it. The claim asks in its transaction for one that is not resumed.
  `CREATE TABLE pauses (
  number INTEGER PRIMARY KEY,
  environment TEXT NOT NULL,
  campaign TEXT,
  reason TEXT NOT NULL,
  who TEXT NOT NULL,
  paused_at INTEGER NOT NULL,
  resumed_by TEXT,
  resumed_at INTEGER
) STRICT`,
  // The money that all runs of an environment have spent in a period, such as 2026-11, in millionths.
  `CREATE TABLE budgets (
  environment TEXT NOT NULL,
  period TEXT NOT NULL,
  currency TEXT NOT NULL,
  spent_micros INTEGER NOT NULL,
  PRIMARY KEY (environment, period, currency)
) STRICT, WITHOUT ROWID`,
];

/**
 * A rule that a database enforces against every bug in the code above it, in SQL that both databases read. `IS NOT
 * DISTINCT FROM` instead of `=` where a value can be null. All are AFTER triggers: a BEFORE trigger makes SQLite read
 * each row twice (1 us more for each recipient).
 */
export interface Trigger {
  readonly name: string;
  readonly table: string;
  /** Such as `UPDATE OF state`. */
  readonly on: string;
  /** A condition on the row alone, without subqueries. */
  readonly when?: string;
  /** On the row alone: an ordinary send does only this. PostgreSQL then skips its function, which takes 50 us. */
  readonly quick?: string;
  readonly unless?: string;
  /** Refuses the statement with these words, except if this is true. */
  readonly refuses?: string;
  readonly but?: string;
  readonly statement?: string;
}

const IS_LOADING = `EXISTS (SELECT 1 FROM runs WHERE runs.list = NEW.list AND runs.state = 'loading')`;
export const OPEN_STATES = ['pending', 'claimed', 'deferred'] as const;

const FOLLOWED_BY_NONE = MOVES.filter(({ begins }) => begins !== true);

export const TRIGGERS: readonly Trigger[] = [
  // The next channel step is begun by the database itself, in the move in which the step before falls back. So there is
  // never an extra step, and never a fallback without one.
  {
    name: 'recipients_move',
    table: 'recipients',
    on: 'UPDATE OF state, reason',
    quick: isOneOf(FOLLOWED_BY_NONE, true),
    unless: `${isOneOf(FOLLOWED_BY_NONE)}\n  OR ${IS_LOADING}`,
    refuses: 'a recipient may not move between these states',
    but: isOneOf(MOVES.filter(({ begins }) => begins)),
    // A fallback is that of the variant whose message went out, even if a winner was chosen since.
    statement: `INSERT INTO recipients (list, step, row, line, key, state, variant)
    VALUES (NEW.list, NEW.step + 1, NEW.row, NEW.line, NEW.key, 'pending', NEW.variant)`,
  },
  // A trigger, because many statements skip or reject recipients.
  {
    name: 'recipients_as_before',
    table: 'recipients',
    on: 'UPDATE OF state',
    when: `(NEW.state = 'skipped' OR (NEW.state = 'rejected' AND NEW.reason IS DISTINCT FROM 'fell-back'))
      AND NEW.attempts > 0 AND OLD.state <> NEW.state`,
    statement: `${AS_BEFORE}NEW.list AND recipients.step = NEW.step AND recipients.row = NEW.row`,
  },
  {
    name: 'recipients_waits_again',
    table: 'recipients',
    on: 'UPDATE OF state',
    when: `OLD.state = 'claimed' AND (NEW.state = 'pending' OR NEW.state = 'failed') AND OLD.attempts > 0`,
    statement: `${WAITS_AGAIN}NEW.list AND recipients.step = NEW.step AND recipients.row = NEW.row`,
  },
  // A trigger, so that no attempt is forgotten, whichever statement records it.
  {
    name: 'recipients_attempt',
    table: 'recipients',
    on: 'UPDATE OF state',
    when: `NEW.state <> 'accepted' AND NEW.attempts > OLD.attempts AND (OLD.state = 'claimed' OR OLD.state = 'pending')`,
    statement: `INSERT INTO attempts (run, step, key, attempt, state, reason, http_status, error, claimed_at, ended_at)
    SELECT number, NEW.step, NEW.key, NEW.attempts, NEW.state, NEW.reason, NEW.http_status, NEW.error,
      CASE OLD.state WHEN 'claimed' THEN NEW.claimed_at END, NEW.updated_at
      FROM runs WHERE list = NEW.list AND state <> 'loading'`,
  },
  // The counts of a run are kept only while none of its rows is open (counts.ts), so the first change is to a row in another
  // state. An ordinary send changes none of those.
  {
    name: 'recipients_counts',
    table: 'recipients',
    on: 'UPDATE OF state, reason, encoding, variant, channel, version, parts, cost_micros',
    when: OPEN_STATES.map((state) => `OLD.state <> '${state}'`).join(' AND '),
    statement: 'UPDATE runs SET counts = NULL WHERE list = NEW.list AND counts IS NOT NULL',
  },
  {
    name: 'runs_counts',
    table: 'runs',
    on: 'UPDATE OF list',
    statement: 'UPDATE runs SET counts = NULL WHERE number = NEW.number',
  },
  // Personal data leave only a run that was purged or is finished, which claims nothing more: its rows lose their key,
  // address, id and error permanently, and keep their outcome.
  {
    name: 'recipients_identity',
    table: 'recipients',
    on: 'UPDATE OF list, step, row, key',
    unless: `EXISTS (SELECT 1 FROM runs WHERE runs.list = OLD.list AND (runs.state = 'loading'
    OR ((runs.purged_at IS NOT NULL OR runs.state = 'finished')
      AND NEW.list = OLD.list AND NEW.step = OLD.step AND NEW.row = OLD.row AND NEW.key IS NULL)))`,
    refuses: 'a recipient may not become another one',
  },
  {
    name: 'recipients_kept',
    table: 'recipients',
    on: 'DELETE',
    unless: `EXISTS (SELECT 1 FROM runs WHERE runs.list = OLD.list AND runs.state = 'loading')`,
    refuses: 'a recipient may not be forgotten',
  },
  {
    name: 'resolutions_fixed',
    table: 'resolutions',
    on: 'UPDATE',
    unless: `EXISTS (SELECT 1 FROM runs WHERE runs.number = OLD.run AND (runs.purged_at IS NOT NULL OR runs.state = 'finished')
    AND NEW.run = OLD.run AND NEW.key = '' AND NEW.verdict = OLD.verdict)`,
    refuses: 'what resolved a doubt may not be changed',
  },
  {
    name: 'resolutions_kept',
    table: 'resolutions',
    on: 'DELETE',
    refuses: 'what resolved a doubt may not be forgotten',
  },
  {
    name: 'runs_over',
    table: 'runs',
    on: 'UPDATE OF state, purged_at, closed_at',
    when: `(OLD.purged_at IS NOT NULL AND (NEW.state = 'running' OR NEW.purged_at IS DISTINCT FROM OLD.purged_at))
    OR (OLD.closed_at IS NOT NULL AND (NEW.state = 'running' OR NEW.closed_at IS DISTINCT FROM OLD.closed_at))`,
    refuses: 'a run that was purged or closed may not be continued',
  },
];

/** `IS NOT TRUE`: where a null leaves the answer open, the statement is refused. */
const unlessTrue = (condition: string): string => ['(', condition, ') IS NOT TRUE'].join('');

function forSqlite({ name, table, on, when, unless, refuses, but, statement }: Trigger): string {
  const conditions = [...(when === undefined ? [] : [when]), ...(unless === undefined ? [] : [unlessTrue(unless)])];
  const abort = [
    "SELECT RAISE(ABORT, '",
    refuses,
    "')",
    ...(but === undefined ? [] : [' WHERE ', unlessTrue(but)]),
    ';',
  ];
  return [
    ['CREATE TRIGGER', name, 'AFTER', on, 'ON', table].join(' '),
    ...(conditions.length === 0 ? [] : [['WHEN', conditions.join(' AND ')].join(' ')]),
    'BEGIN',
    ...(refuses === undefined ? [] : [abort.join('')]),
    ...(statement === undefined ? [] : [[statement, ';'].join('')]),
    'END',
  ].join('\n');
}

export const SCHEMA: readonly string[] = [
  `CREATE TABLE ledger (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  created_at INTEGER NOT NULL,
  newest_at INTEGER NOT NULL
) STRICT`,
  ...TABLES,
  ...TRIGGERS.map(forSqlite),
];

export const MARKS = ['PRAGMA application_id = 1751280748', 'PRAGMA user_version = 1'];

/** Makes an empty database a ledger, all or nothing. Safe against a second process. */
export function makeSchema(db: DatabaseSync, nowMs: number): void {
  if (userVersion(db) === VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Read again: another process may have done it while this one waited.
    if (userVersion(db) !== VERSION) {
      for (const statement of [...SCHEMA, ...MARKS]) db.exec(statement);
      db.prepare('INSERT INTO ledger (only_row, created_at, newest_at) VALUES (1, ?, 0)').run(nowMs);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

export function userVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
}

/** Whether every table, index, trigger and view is of the schema: nothing can hide in a ledger from elsewhere. */
export function hasSchema(db: DatabaseSync): boolean {
  const found = db.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').all();
  return JSON.stringify(found.map(({ sql }) => String(sql)).toSorted()) === JSON.stringify(SCHEMA.toSorted());
}
