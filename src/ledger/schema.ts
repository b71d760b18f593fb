/** One step of the schema. */
interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
  /** What `schemaHash` gives afterwards: a ledger with anything else in it is not used. */
  readonly schemaSha256: string;
}

/**
 * Version 5: delivery reports and replies.
 *
 * Events are a set: the digest of an event is unique, so a repeated one is not stored again. Events do not refer to
 * rows, because a row has no index by id: a reader of rows looks up their ids here. The indexes hold the state too: a
 * report about a million rows needs nothing else, and takes half the time. Only rows in doubt, or to be sent again, are
 * found from an event (`recipients_unsettled`, which holds few rows and costs a send 0.2 us). A report that a channel
 * cannot reach the recipient lets an accepted row fall back, and `delivery` keeps the result of a message when a purge
 * deletes its events.
 *
 * `text_hash` is kept only for messages in doubt: a report that quotes the text can resolve one without an id.
 */
const WHAT_CAME_BACK: Migration = {
  version: 5,
  schemaSha256: '43455c0a98ff4eec7617abae3aaebd3db317eab592d2f0d02f91cd16ece208fe',
  statements: [
    'ALTER TABLE recipients ADD COLUMN delivery TEXT',
    'ALTER TABLE recipients ADD COLUMN text_hash TEXT',
    `CREATE INDEX recipients_unsettled ON recipients (list, leg, row)
  WHERE state = 'in-doubt' OR resolved_by = 'resend'`,
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
  source TEXT NOT NULL
) STRICT`,
    'CREATE UNIQUE INDEX delivery_reports_digest ON delivery_reports (digest)',
    'CREATE INDEX delivery_reports_reference ON delivery_reports (reference, state) WHERE reference IS NOT NULL',
    `CREATE INDEX delivery_reports_message ON delivery_reports (message_id, state, reference)
  WHERE message_id IS NOT NULL`,
    `CREATE INDEX delivery_reports_unreached ON delivery_reports (message_id, reference)
  WHERE state = 'undeliverable' OR cause = 'unsupported-channel'`,
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
  leg INTEGER,
  row INTEGER,
  reviewed_as TEXT,
  reviewed_by TEXT,
  reviewed_at INTEGER
) STRICT`,
    'CREATE UNIQUE INDEX replies_digest ON replies (digest)',
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
    'DROP TRIGGER recipients_move',
    `CREATE TRIGGER recipients_move AFTER UPDATE OF state, reason ON recipients
WHEN NOT CASE OLD.state
    WHEN 'pending' THEN (NEW.state = 'claimed' AND NEW.resolved_by IS NULL AND (NEW.leg = 0
        OR EXISTS (SELECT 1 FROM recipients AS former WHERE former.list = NEW.list AND former.leg = NEW.leg - 1
        AND former.row = NEW.row AND former.key = NEW.key AND former.state = 'rejected' AND former.reason = 'fell-back')))
      OR NEW.state = 'pending'
      OR NEW.state = 'skipped' OR NEW.state = 'deferred' OR NEW.state = 'failed'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend'
        AND (NEW.resolved_by IS 'late-result' OR NEW.resolved_by IS 'report'))
    WHEN 'claimed' THEN NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back')
      OR NEW.state = 'in-doubt' OR NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'failed' THEN NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'deferred' THEN NEW.state = 'deferred' OR NEW.state = 'pending' OR NEW.state = 'skipped'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend'
        AND (NEW.resolved_by IS 'late-result' OR NEW.resolved_by IS 'report'))
    WHEN 'rejected' THEN (NEW.state = 'rejected' AND (NEW.reason IS 'fell-back') = (OLD.reason IS 'fell-back'))
      OR (NEW.state = 'pending' AND NEW.resolved_by IS 'retry-rejected' AND OLD.reason IS NOT 'fell-back')
    WHEN 'in-doubt' THEN NEW.state = 'in-doubt' OR (NEW.resolved_by IS NOT NULL
      AND (NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back') OR NEW.state = 'pending')
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts))
    ELSE NEW.state = OLD.state
  END
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = NEW.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not move between these states')
    WHERE NEW.state <> 'rejected' OR NOT (OLD.state = 'claimed'
      OR (OLD.state = 'accepted' AND NEW.reason IS 'fell-back' AND NEW.resolved_by IS 'report'));
  INSERT INTO recipients (list, leg, row, line, key, state)
    VALUES (NEW.list, NEW.leg + 1, NEW.row, NEW.line, NEW.key, 'pending');
END`,
    'PRAGMA user_version = 5',
  ],
};

/**
 * Of version 6: events belong to an environment, because ids of the API are unique within one account at best. The same
 * event may come in for two. What a report must agree with is in the indexes, so that few rows are looked up.
 *
 * Older events belong to the environment of all messages of the ledger (not counting the sandbox, if there are others).
 * With several environments it is unknown. Reports that name our reference need none, because the reference contains
 * it.
 */
export const EVENTS_OF_ENVIRONMENTS: readonly string[] = [
  "ALTER TABLE delivery_reports ADD COLUMN environment TEXT NOT NULL DEFAULT ''",
  "ALTER TABLE replies ADD COLUMN environment TEXT NOT NULL DEFAULT ''",
  `UPDATE delivery_reports SET environment = (SELECT CASE WHEN count(DISTINCT environment) = 1 THEN max(environment) ELSE '' END
    FROM runs AS sent WHERE started_at IS NOT NULL AND (environment <> 'sandbox'
      OR NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.started_at IS NOT NULL AND other.environment <> 'sandbox'))) WHERE reference IS NULL`,
  `UPDATE replies SET environment = coalesce((SELECT environment FROM runs WHERE runs.number = replies.run),
    (SELECT CASE WHEN count(DISTINCT environment) = 1 THEN max(environment) ELSE '' END
    FROM runs AS sent WHERE started_at IS NOT NULL AND (environment <> 'sandbox'
      OR NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.started_at IS NOT NULL AND other.environment <> 'sandbox'))))`,
  'DROP INDEX delivery_reports_digest',
  'CREATE UNIQUE INDEX delivery_reports_digest ON delivery_reports (digest, environment)',
  'DROP INDEX replies_digest',
  'CREATE UNIQUE INDEX replies_digest ON replies (digest, environment)',
  'DROP INDEX delivery_reports_reference',
  `CREATE INDEX delivery_reports_reference
  ON delivery_reports (reference, state, environment, address, happened_at, received_at) WHERE reference IS NOT NULL`,
  'DROP INDEX delivery_reports_message',
  `CREATE INDEX delivery_reports_message
  ON delivery_reports (message_id, state, environment, reference, address, happened_at, received_at)
  WHERE message_id IS NOT NULL`,
];

/**
 * Of version 6: a recipient whose address was corrected in the list after the message had gone out.
 *
 * - `list_address` is the address in the list now, if it differs from the one that the message went to (`--amend`
 *   writes it). The partial index holds only these rows, and a send does not touch it.
 * - `resend` counts the messages that went to earlier addresses of the same recipient; null: none. Their outcomes are
 *   in `resolutions`, as `resend-changed`. The trigger lets an accepted row go back to `pending` only with such an
 *   entry about that message, and only to an address that the recipient was not sent to before. The claim checks that
 *   again.
 */
const CORRECTED_ADDRESSES: readonly string[] = [
  'ALTER TABLE recipients ADD COLUMN list_address TEXT',
  'ALTER TABLE recipients ADD COLUMN resend INTEGER',
  'CREATE INDEX recipients_changed ON recipients (list, leg, row) WHERE list_address IS NOT NULL',
  'DROP TRIGGER recipients_move',
  `CREATE TRIGGER recipients_move AFTER UPDATE OF state, reason ON recipients
WHEN NOT CASE OLD.state
    WHEN 'pending' THEN (NEW.state = 'claimed' AND NEW.resolved_by IS NULL AND (NEW.leg = 0
        OR EXISTS (SELECT 1 FROM recipients AS former WHERE former.list = NEW.list AND former.leg = NEW.leg - 1
        AND former.row = NEW.row AND former.key = NEW.key AND former.state = 'rejected' AND former.reason = 'fell-back'))
        AND (NEW.resend IS NULL OR NOT EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.resolved_by = 'resend-changed'
        AND resolutions.address = NEW.address)))
      OR NEW.state = 'pending'
      OR NEW.state = 'skipped' OR NEW.state = 'deferred' OR NEW.state = 'failed'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend'
        AND (NEW.resolved_by IS 'late-result' OR NEW.resolved_by IS 'report'))
    WHEN 'claimed' THEN NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back')
      OR NEW.state = 'in-doubt' OR NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'failed' THEN NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'deferred' THEN NEW.state = 'deferred' OR NEW.state = 'pending' OR NEW.state = 'skipped'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend'
        AND (NEW.resolved_by IS 'late-result' OR NEW.resolved_by IS 'report'))
    WHEN 'rejected' THEN (NEW.state = 'rejected' AND (NEW.reason IS 'fell-back') = (OLD.reason IS 'fell-back'))
      OR (NEW.state = 'pending' AND NEW.resolved_by IS 'retry-rejected' AND OLD.reason IS NOT 'fell-back')
    WHEN 'in-doubt' THEN NEW.state = 'in-doubt' OR (NEW.resolved_by IS NOT NULL
      AND (NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back') OR NEW.state = 'pending')
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts))
    WHEN 'accepted' THEN NEW.state = 'accepted' OR (NEW.state = 'pending' AND NEW.resolved_by IS 'resend-changed'
      AND NEW.address IS NOT NULL AND NEW.address IS NOT OLD.address AND NEW.resend IS coalesce(OLD.resend, 0) + 1
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts AND resolutions.resolved_by = 'resend-changed'
        AND resolutions.address IS OLD.address)
      AND NOT EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.address = NEW.address))
    ELSE NEW.state = OLD.state
  END
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = NEW.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not move between these states')
    WHERE NEW.state <> 'rejected' OR NOT (OLD.state = 'claimed'
      OR (OLD.state = 'accepted' AND NEW.reason IS 'fell-back' AND NEW.resolved_by IS 'report'));
  INSERT INTO recipients (list, leg, row, line, key, state)
    VALUES (NEW.list, NEW.leg + 1, NEW.row, NEW.line, NEW.key, 'pending');
END`,
];

/** Of version 6: when the schedule of a campaign was first seen. Another schedule of the same campaign takes its place. */
const SCHEDULES = `CREATE TABLE schedules (
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  schedule TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (environment, campaign)
) STRICT, WITHOUT ROWID`;

/**
 * Of version 7: who paused an environment, or one campaign in it, why, and when it was resumed. The claim asks in its
 * transaction for one that is not resumed.
 */
const PAUSES = `CREATE TABLE pauses (
  number INTEGER PRIMARY KEY,
  environment TEXT NOT NULL,
  campaign TEXT,
  reason TEXT NOT NULL,
  who TEXT NOT NULL,
  paused_at INTEGER NOT NULL,
  resumed_by TEXT,
  resumed_at INTEGER
) STRICT`;

/**
 * Of version 8: an entry of the suppression list is for all topics (''), for one, or for all until it is known which
 * message a STOP answered ('?', see replies.ts). The primary key changes, so the tables are made anew.
 */
const TOPICS: readonly string[] = [
  'ALTER TABLE suppressions RENAME TO former_suppressions',
  `CREATE TABLE suppressions (
  address TEXT NOT NULL,
  topic TEXT NOT NULL DEFAULT '',
  reason TEXT,
  until_at INTEGER,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (address, topic)
) STRICT, WITHOUT ROWID`,
  `INSERT INTO suppressions (address, reason, until_at, source, created_at)
  SELECT address, reason, until_at, source, created_at FROM former_suppressions`,
  'DROP TABLE former_suppressions',
  'ALTER TABLE suppressed_hashes RENAME TO former_hashes',
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
  `INSERT INTO suppressed_hashes (hash, key_id, reason, until_at, source, created_at)
  SELECT hash, key_id, reason, until_at, source, created_at FROM former_hashes`,
  'DROP TABLE former_hashes',
];

/** Of version 9: what all runs of an environment have spent in a period, such as 2026-11, in millionths. */
const BUDGETS = `CREATE TABLE budgets (
  environment TEXT NOT NULL,
  period TEXT NOT NULL,
  currency TEXT NOT NULL,
  spent_micros INTEGER NOT NULL,
  PRIMARY KEY (environment, period, currency)
) STRICT, WITHOUT ROWID`;

/**
 * Of version 9: a person who asks to be forgotten leaves runs that are finished too, not only runs that were purged. A
 * finished run claims nothing more, so it does not need the key.
 */
const ERASURE: readonly string[] = [
  'DROP TRIGGER recipients_identity',
  `CREATE TRIGGER recipients_identity AFTER UPDATE OF list, leg, row, key ON recipients
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = OLD.list AND (runs.state = 'loading'
  OR ((runs.purged_at IS NOT NULL OR runs.state = 'finished')
    AND NEW.list = OLD.list AND NEW.leg = OLD.leg AND NEW.row = OLD.row AND NEW.key IS NULL)))
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not become another one');
END`,
  'DROP TRIGGER resolutions_fixed',
  `CREATE TRIGGER resolutions_fixed AFTER UPDATE ON resolutions
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE runs.number = OLD.run AND (runs.purged_at IS NOT NULL OR runs.state = 'finished')
  AND NEW.run = OLD.run AND NEW.key = '' AND NEW.verdict = OLD.verdict)
BEGIN
  SELECT RAISE(ABORT, 'what resolved a doubt may not be changed');
END`,
];

/**
 * Of version 10: the attempts that were not accepted; those of one start that reached no connection are one. A recipient
 * has one row, in which the next attempt takes the place of the one before. A trigger, so that none is forgotten,
 * whichever statement records it. It refers to the run and the key, as `resolutions`, because `--amend` changes lists and
 * rows; an erasure and a purge delete it.
 */
const ATTEMPTS: readonly string[] = [
  `CREATE TABLE attempts (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  leg INTEGER NOT NULL,
  key TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  http_status INTEGER,
  error TEXT,
  claimed_at INTEGER,
  ended_at INTEGER
) STRICT`,
  'CREATE INDEX attempts_recipient ON attempts (run, key, leg, attempt)',
  `CREATE TRIGGER recipients_attempt AFTER UPDATE OF state ON recipients
WHEN NEW.state <> 'accepted' AND NEW.attempts > OLD.attempts AND (OLD.state = 'claimed' OR OLD.state = 'pending')
BEGIN
  INSERT INTO attempts (run, leg, key, attempt, state, reason, http_status, error, claimed_at, ended_at)
    SELECT number, NEW.leg, NEW.key, NEW.attempts, NEW.state, NEW.reason, NEW.http_status, NEW.error,
      CASE OLD.state WHEN 'claimed' THEN NEW.claimed_at END, NEW.updated_at FROM runs WHERE list = NEW.list AND state <> 'loading';
END`,
];

/**
 * The schema, step by step. A published step never changes; a new version is a new step.
 *
 * - `recipients` is clustered on (list, step, row), so that a run reads and writes adjacent rows. There is no unique
 *   index on `key`: for ten million keys it did not finish. Duplicates are found while the list is read.
 * - A list has a number of its own, because `--amend` replaces the list of a run.
 * - Which state may follow which is enforced here, against every bug in the code above. An AFTER trigger, because a
 *   BEFORE trigger makes SQLite read each row twice (1 us more per recipient). Chains of `=`, because SQLite builds a
 *   temporary table for each evaluation of an `IN` with more than two values.
 * - `resolutions` (version 2) is the history of doubts. It stays when a row is resolved, sent again and in doubt once
 *   more: the number of attempts says which doubt an entry is about. It refers to the run and the key, because
 *   `--amend` changes lists and rows. The trigger lets no row out of doubt without an entry, except for a late
 *   acceptance of a recipient who waited to be sent to again.
 * - Personal data (version 4) leaves only a run that is `purged`: its rows lose their key, address, id and error
 *   permanently, and keep their outcome. `suppressed_hashes` hold keyed hashes of addresses, with the id of the key. A
 *   run that is not `counted` does not count for the frequency caps of others.
 * - Delivery reports and replies (version 5) belong to an environment (version 6). Addresses can be corrected (version
 *   6).
 * - When a schedule was first seen (version 6), so that a new one is not sent for instants before it.
 * - An entry of the suppression list has a topic (version 8).
 * - `runs.formerly` (version 9) is JSON: the former names of the campaign as of its newest start.
 * - Attempts that were not accepted (version 10).
 * - Pauses (version 7). `runs.git` is JSON: from which commits the starts of a run were made. `runs.topic` is what its
 *   messages are about, as the campaign said; null: nothing in particular.
 * - The next channel step (`step`, version 3) is begun by the database itself, in the move in which the step before
 *   falls back. So there is never an extra step, and never a fallback without one. Columns are only added, which
 *   touches none of the rows.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    schemaSha256: '29791a7024ad4115ddcacf89f152c8ccb2d24fac5d43d06ebcf6c865bb2e5efe',
    statements: [
      `CREATE TABLE ledger (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  created_at INTEGER NOT NULL,
  newest_at INTEGER NOT NULL
) STRICT`,
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
  finished_at INTEGER
) STRICT`,
      `CREATE UNIQUE INDEX runs_identity ON runs (environment, campaign, occurrence) WHERE state <> 'loading'`,
      `CREATE TABLE holders (
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  occurrence TEXT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  since_at INTEGER NOT NULL,
  PRIMARY KEY (environment, campaign, occurrence)
) STRICT, WITHOUT ROWID`,
      `CREATE TABLE recipients (
  list INTEGER NOT NULL REFERENCES runs (list),
  leg INTEGER NOT NULL DEFAULT 0,
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
  PRIMARY KEY (list, leg, row)
) STRICT, WITHOUT ROWID`,
      `CREATE TRIGGER recipients_move AFTER UPDATE OF state ON recipients
WHEN NOT CASE OLD.state
    WHEN 'pending' THEN (NEW.state = 'claimed' AND NEW.resolved_by IS NULL) OR NEW.state = 'pending'
      OR NEW.state = 'skipped' OR NEW.state = 'deferred' OR NEW.state = 'failed'
    WHEN 'claimed' THEN NEW.state = 'accepted' OR NEW.state = 'rejected' OR NEW.state = 'in-doubt'
      OR NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'failed' THEN NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'deferred' THEN NEW.state = 'deferred' OR NEW.state = 'pending' OR NEW.state = 'skipped'
    WHEN 'rejected' THEN NEW.state = 'rejected' OR (NEW.state = 'pending' AND NEW.resolved_by IS 'retry-rejected')
    WHEN 'in-doubt' THEN NEW.state = 'in-doubt' OR (NEW.resolved_by IS NOT NULL
      AND (NEW.state = 'accepted' OR NEW.state = 'rejected' OR NEW.state = 'pending'))
    ELSE NEW.state = OLD.state
  END
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = NEW.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not move between these states');
END`,
      `CREATE TRIGGER recipients_identity AFTER UPDATE OF list, leg, row, key ON recipients
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = OLD.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not become another one');
END`,
      `CREATE TRIGGER recipients_kept AFTER DELETE ON recipients
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = OLD.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not be forgotten');
END`,
      `CREATE TABLE suppressions (
  address TEXT PRIMARY KEY,
  reason TEXT,
  until_at INTEGER,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID`,
      'PRAGMA application_id = 1751280748',
      'PRAGMA user_version = 1',
    ],
  },
  {
    version: 2,
    schemaSha256: '966ca293c6ca00cb1b7e058f84f9ef37c8a264ea40ce535a72df2cb6131f4211',
    statements: [
      `CREATE TABLE resolutions (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  leg INTEGER NOT NULL,
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
  resolved_at INTEGER NOT NULL
) STRICT`,
      'CREATE INDEX resolutions_doubt ON resolutions (run, key, leg, attempts)',
      `CREATE TRIGGER resolutions_fixed AFTER UPDATE ON resolutions
BEGIN
  SELECT RAISE(ABORT, 'what resolved a doubt may not be changed');
END`,
      `CREATE TRIGGER resolutions_kept AFTER DELETE ON resolutions
BEGIN
  SELECT RAISE(ABORT, 'what resolved a doubt may not be forgotten');
END`,
      'DROP TRIGGER recipients_move',
      `CREATE TRIGGER recipients_move AFTER UPDATE OF state ON recipients
WHEN NOT CASE OLD.state
    WHEN 'pending' THEN (NEW.state = 'claimed' AND NEW.resolved_by IS NULL) OR NEW.state = 'pending'
      OR NEW.state = 'skipped' OR NEW.state = 'deferred' OR NEW.state = 'failed'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend' AND NEW.resolved_by IS 'late-result')
    WHEN 'claimed' THEN NEW.state = 'accepted' OR NEW.state = 'rejected' OR NEW.state = 'in-doubt'
      OR NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'failed' THEN NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'deferred' THEN NEW.state = 'deferred' OR NEW.state = 'pending' OR NEW.state = 'skipped'
    WHEN 'rejected' THEN NEW.state = 'rejected' OR (NEW.state = 'pending' AND NEW.resolved_by IS 'retry-rejected')
    WHEN 'in-doubt' THEN NEW.state = 'in-doubt' OR (NEW.resolved_by IS NOT NULL
      AND (NEW.state = 'accepted' OR NEW.state = 'rejected' OR NEW.state = 'pending')
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts))
    ELSE NEW.state = OLD.state
  END
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = NEW.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not move between these states');
END`,
      'PRAGMA user_version = 2',
    ],
  },
  {
    version: 3,
    schemaSha256: 'a6ba61ac0ed5aecd1dfc0249a2c5557bc970215d5d818c220425e025722ba4fa',
    statements: [
      'ALTER TABLE recipients ADD COLUMN channel TEXT',
      'ALTER TABLE resolutions ADD COLUMN channel TEXT',
      'ALTER TABLE runs ADD COLUMN winner TEXT',
      'DROP TRIGGER recipients_move',
      `CREATE TRIGGER recipients_move AFTER UPDATE OF state, reason ON recipients
WHEN NOT CASE OLD.state
    WHEN 'pending' THEN (NEW.state = 'claimed' AND NEW.resolved_by IS NULL AND (NEW.leg = 0
        OR EXISTS (SELECT 1 FROM recipients AS former WHERE former.list = NEW.list AND former.leg = NEW.leg - 1
        AND former.row = NEW.row AND former.key = NEW.key AND former.state = 'rejected' AND former.reason = 'fell-back')))
      OR NEW.state = 'pending'
      OR NEW.state = 'skipped' OR NEW.state = 'deferred' OR NEW.state = 'failed'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend' AND NEW.resolved_by IS 'late-result')
    WHEN 'claimed' THEN NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back')
      OR NEW.state = 'in-doubt' OR NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'failed' THEN NEW.state = 'failed' OR NEW.state = 'pending'
    WHEN 'deferred' THEN NEW.state = 'deferred' OR NEW.state = 'pending' OR NEW.state = 'skipped'
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS 'resend' AND NEW.resolved_by IS 'late-result')
    WHEN 'rejected' THEN (NEW.state = 'rejected' AND (NEW.reason IS 'fell-back') = (OLD.reason IS 'fell-back'))
      OR (NEW.state = 'pending' AND NEW.resolved_by IS 'retry-rejected' AND OLD.reason IS NOT 'fell-back')
    WHEN 'in-doubt' THEN NEW.state = 'in-doubt' OR (NEW.resolved_by IS NOT NULL
      AND (NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS NOT 'fell-back') OR NEW.state = 'pending')
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts))
    ELSE NEW.state = OLD.state
  END
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = NEW.list AND runs.state = 'loading')
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not move between these states')
    WHERE NOT (OLD.state = 'claimed' AND NEW.state = 'rejected');
  INSERT INTO recipients (list, leg, row, line, key, state)
    VALUES (NEW.list, NEW.leg + 1, NEW.row, NEW.line, NEW.key, 'pending');
END`,
      'PRAGMA user_version = 3',
    ],
  },
  {
    version: 4,
    schemaSha256: '3833d2668617254f5b115eecaa56f328e4b00fe0e1670bcadb9f4926dac26e78',
    statements: [
      'ALTER TABLE runs ADD COLUMN counted INTEGER NOT NULL DEFAULT 1',
      'ALTER TABLE runs ADD COLUMN purged_at INTEGER',
      `CREATE TABLE suppressed_hashes (
  hash TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  reason TEXT,
  until_at INTEGER,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID`,
      'DROP TRIGGER recipients_identity',
      `CREATE TRIGGER recipients_identity AFTER UPDATE OF list, leg, row, key ON recipients
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE runs.list = OLD.list AND (runs.state = 'loading'
  OR (runs.purged_at IS NOT NULL AND NEW.list = OLD.list AND NEW.leg = OLD.leg AND NEW.row = OLD.row AND NEW.key IS NULL)))
BEGIN
  SELECT RAISE(ABORT, 'a recipient may not become another one');
END`,
      'DROP TRIGGER resolutions_fixed',
      `CREATE TRIGGER resolutions_fixed AFTER UPDATE ON resolutions
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE runs.number = OLD.run AND runs.purged_at IS NOT NULL
  AND NEW.run = OLD.run AND NEW.key = '' AND NEW.verdict = OLD.verdict)
BEGIN
  SELECT RAISE(ABORT, 'what resolved a doubt may not be changed');
END`,
      `CREATE TRIGGER runs_purged AFTER UPDATE OF state, purged_at ON runs
WHEN OLD.purged_at IS NOT NULL AND (NEW.state = 'running' OR NEW.purged_at IS NOT OLD.purged_at)
BEGIN
  SELECT RAISE(ABORT, 'a run that was purged may not be continued');
END`,
      'PRAGMA user_version = 4',
    ],
  },
  WHAT_CAME_BACK,
  {
    version: 6,
    schemaSha256: '9e84b526bc7977a30253f72b11e1bdeb0a7b85db6ed4e9fb5fdf854b19bc8d3a',
    statements: [SCHEDULES, ...CORRECTED_ADDRESSES, ...EVENTS_OF_ENVIRONMENTS, 'PRAGMA user_version = 6'],
  },
  {
    version: 7,
    schemaSha256: '81481e34783229a69f71f95d5c697fc4941bdff95fc1f580a9b135701e2d24ee',
    statements: [
      PAUSES,
      'ALTER TABLE runs ADD COLUMN git TEXT',
      'ALTER TABLE runs ADD COLUMN topic TEXT',
      'PRAGMA user_version = 7',
    ],
  },
  {
    version: 8,
    schemaSha256: '1df861990bb482cf8779fe37a236d48488d2fcb5c553b078a9e84b1ce696f8e4',
    statements: [...TOPICS, 'PRAGMA user_version = 8'],
  },
  {
    version: 9,
    schemaSha256: 'ab27e17b5c9f8c2d9aa0d7505ee8c1798edc4ea54e2c5e42c2196d9923cef360',
    statements: [BUDGETS, ...ERASURE, 'ALTER TABLE runs ADD COLUMN formerly TEXT', 'PRAGMA user_version = 9'],
  },
  {
    version: 10,
    schemaSha256: 'd57cec442cd9a3a4669b04d506a6705bf6b533eb836dffaa2c385d95185815fa',
    statements: [...ATTEMPTS, 'PRAGMA user_version = 10'],
  },
];
