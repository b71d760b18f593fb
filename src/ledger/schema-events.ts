import type { Migration } from './migration.ts';

/**
 * Version 5: what came back.
 *
 * Events are a set: the digest of an event is unique, so that one that is sent again is the same
 * one. Events say nothing of rows, because a row has no index by id: whoever asks about a row looks up its ids here.
 * Their indexes hold the state too: a report about a million rows asks for nothing else, in half the time.
 * Only rows in doubt, or to be sent to again, are found from an event (`recipients_unsettled`, which holds hardly
 * any row, and costs a send 0.2 us). A report that a channel cannot reach somebody lets an accepted row
 * fall back, and `delivery` keeps what is known of a message when a purge takes its events away.
 *
 * `text_hash` is kept of messages in doubt alone: a report that quotes the text can resolve one that names no id.
 */
export const WHAT_CAME_BACK: Migration = {
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
 * event may come in for two. What a report must agree with is in the indexes, so that hardly any row is looked up.
 *
 * Events from before came in for the environment of all messages of the ledger, the sandbox aside where there are others;
 * where there are several, nobody knows. Reports that name our reference need none: it is made of the environment.
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
