/**
 * Writes a group commit in one round trip and one transaction: outcomes, then claims, each as a compare-and-set. Arrays
 * hold a column each; `form_rows`, `forms` and `hashes` are the spellings under which a claim may be suppressed. A
 * worker in a shared run claims only in shards that it holds at this moment (`worker_shards`). Nothing is claimed while a
 * person has paused the environment or the campaign (failures.md, A6).
 */
export const COMMIT_ROWS = `CREATE FUNCTION handbill.commit_rows(run_number bigint, list_number bigint, now_ms bigint,
    rows bigint[], states text[], reasons text[], counts bigint[], statuses bigint[], ids text[], errors text[], froms text[],
    claim_rows bigint[], claim_keys text[], claim_addresses text[], claim_counts bigint[],
    form_rows bigint[], forms text[], hashes text[], hash_key text, worker_id text, worker_shards bigint[],
    OUT recorded bigint[], OUT claimed bigint[]) LANGUAGE plpgsql AS $$
DECLARE at bigint; kept bigint[]; sending record;
BEGIN
  recorded := '{}';
  claimed := '{}';
  UPDATE handbill.ledger SET changes = changes + 1, newest_at = greatest(newest_at, now_ms) RETURNING newest_at INTO at;
  SELECT runs.list, runs.state, runs.environment, runs.campaign, coalesce(runs.topic, '') AS topic INTO sending
    FROM handbill.runs WHERE number = run_number;
  IF sending.list IS DISTINCT FROM list_number OR (cardinality(claim_rows) > 0 AND (sending.state <> 'running'
      OR EXISTS (SELECT 1 FROM handbill.pauses AS p WHERE p.resumed_at IS NULL AND p.environment = sending.environment
        AND (p.campaign IS NULL OR p.campaign = sending.campaign))
      OR EXISTS (SELECT 1 FROM (SELECT key_id FROM handbill.suppressed_hashes LIMIT 1) AS one
        WHERE one.key_id IS DISTINCT FROM hash_key)
      OR EXISTS (SELECT 1 FROM unnest(worker_shards) AS given (number) LEFT JOIN handbill.shards AS s
        ON s.list = list_number AND s.number = given.number WHERE s.worker IS DISTINCT FROM worker_id))) THEN
    RETURN;
  END IF;
  -- Each row is found by the primary key (OFFSET keeps it so), whatever is known of the table, which may be nothing yet.
  WITH done AS (
    UPDATE handbill.recipients AS r SET state = found.state, reason = found.reason, attempts = found.attempts,
      http_status = found.http_status, message_id = found.message_id, error = found.error, updated_at = at
    FROM (SELECT given.*, here.place FROM unnest(rows, states, reasons, counts, statuses, ids, errors, froms)
        AS given (row, state, reason, attempts, http_status, message_id, error, former),
      LATERAL (SELECT ctid AS place FROM handbill.recipients AS h
        WHERE h.list = list_number AND h.leg = 0 AND h.row = given.row AND h.state = given.former
          AND h.attempts < given.attempts OFFSET 0) AS here) AS found
    WHERE r.ctid = found.place RETURNING r.row
  ) SELECT coalesce(array_agg(row), '{}') INTO recorded FROM done;
  -- All of them, as nearly always: nothing is to be read from the answer.
  IF cardinality(recorded) = cardinality(rows) THEN recorded := NULL; END IF;
  IF cardinality(claim_rows) = 0 THEN RETURN; END IF;
  SELECT coalesce(array_agg(given.row), '{}') INTO kept FROM unnest(form_rows, forms, hashes) AS given (row, form, hash)
    WHERE EXISTS (SELECT 1 FROM handbill.suppressions AS s
      WHERE s.address = given.form AND (s.until_at IS NULL OR s.until_at > at)
        AND s.topic IN ('', '?', sending.topic) AND (sending.topic <> 'essential' OR s.source <> 'reply'))
    OR EXISTS (SELECT 1 FROM handbill.suppressed_hashes AS s
      WHERE s.hash = given.hash AND (s.until_at IS NULL OR s.until_at > at)
        AND s.topic IN ('', '?', sending.topic) AND (sending.topic <> 'essential' OR s.source <> 'reply'));
  WITH done AS (
    UPDATE handbill.recipients AS r SET state = 'claimed', claimed_at = at, resolved_by = NULL
    FROM (SELECT here.place FROM unnest(claim_rows, claim_keys, claim_addresses, claim_counts)
        AS given (row, key, address, attempts),
      LATERAL (SELECT ctid AS place FROM handbill.recipients AS h
        WHERE h.list = list_number AND h.leg = 0 AND h.row = given.row AND h.state = 'pending' AND h.key = given.key
          AND h.address = given.address AND h.attempts = coalesce(given.attempts, h.attempts) OFFSET 0) AS here
      WHERE given.row <> ALL (kept)) AS found
    WHERE r.ctid = found.place RETURNING r.row
  ) SELECT coalesce(array_agg(row), '{}') INTO claimed FROM done;
  IF cardinality(claimed) < cardinality(claim_rows) AND EXISTS (
    SELECT 1 FROM unnest(claim_rows, claim_keys, claim_addresses) AS given (row, key, address)
    LEFT JOIN LATERAL (SELECT h.key, h.address, h.attempts FROM handbill.recipients AS h
      WHERE h.list = list_number AND h.leg = 0 AND h.row = given.row OFFSET 0) AS here ON true
    WHERE here.key IS DISTINCT FROM given.key OR (here.address <> given.address AND here.attempts = 0)
  ) THEN
    RAISE EXCEPTION 'a row is not the recipient that was to be claimed' USING ERRCODE = 'HB001';
  END IF;
  IF cardinality(claimed) = cardinality(claim_rows) THEN claimed := NULL; END IF;
END $$`;

/** Tables of runs that several workers share (workers.ts). */
export const SHARED_RUNS: readonly string[] = [
  // Ranges of rows of a shared run. Each belongs to one worker at a time, and only that worker claims in it.
  `CREATE TABLE handbill.shards (
  list BIGINT NOT NULL,
  number BIGINT NOT NULL,
  first_row BIGINT NOT NULL,
  last_row BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'taken', 'done')),
  worker TEXT COLLATE "C",
  offered_at DOUBLE PRECISION NOT NULL,
  facts TEXT NOT NULL,
  PRIMARY KEY (list, number),
  CHECK ((state = 'taken') = (worker IS NOT NULL))
)`,
  // The active workers and what each has done in a run since its start. A worker that is silent for its lease is dead.
  `CREATE UNLOGGED TABLE handbill.workers (
  id TEXT COLLATE "C" PRIMARY KEY,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  lease_ms BIGINT NOT NULL,
  joined_at DOUBLE PRECISION NOT NULL,
  heard_at DOUBLE PRECISION NOT NULL,
  list BIGINT
)`,
  `CREATE UNLOGGED TABLE handbill.shares (
  list BIGINT NOT NULL,
  worker TEXT COLLATE "C" NOT NULL,
  posted BIGINT NOT NULL DEFAULT 0,
  retried BIGINT NOT NULL DEFAULT 0,
  accepted BIGINT NOT NULL DEFAULT 0,
  rejected BIGINT NOT NULL DEFAULT 0,
  failed BIGINT NOT NULL DEFAULT 0,
  in_doubt BIGINT NOT NULL DEFAULT 0,
  skipped BIGINT NOT NULL DEFAULT 0,
  deferred BIGINT NOT NULL DEFAULT 0,
  first_legs BIGINT NOT NULL DEFAULT 0,
  fell_back BIGINT NOT NULL DEFAULT 0,
  opens_at BIGINT,
  latency TEXT,
  PRIMARY KEY (list, worker)
)`,
];

/** From an older ledger: an entry of the suppression list is for all topics, or for one; see src/ledger/schema.ts. */
export const TOPICS: readonly string[] = [
  `ALTER TABLE handbill.suppressions ADD COLUMN topic TEXT COLLATE "C" NOT NULL DEFAULT ''`,
  'ALTER TABLE handbill.suppressions DROP CONSTRAINT suppressions_pkey',
  'ALTER TABLE handbill.suppressions ADD PRIMARY KEY (address, topic)',
  `ALTER TABLE handbill.suppressed_hashes ADD COLUMN topic TEXT COLLATE "C" NOT NULL DEFAULT ''`,
  'ALTER TABLE handbill.suppressed_hashes DROP CONSTRAINT suppressed_hashes_pkey',
  'ALTER TABLE handbill.suppressed_hashes ADD PRIMARY KEY (hash, topic)',
];

/** What all runs of an environment have spent in a period, such as 2026-11, in millionths. */
export const BUDGETS = `CREATE TABLE handbill.budgets (
  environment TEXT NOT NULL,
  period TEXT NOT NULL,
  currency TEXT NOT NULL,
  spent_micros BIGINT NOT NULL,
  PRIMARY KEY (environment, period, currency)
)`;

/** A recipient loses its key only in a run that was purged, or is finished. */
export const RECIPIENTS_IDENTITY = `CREATE OR REPLACE FUNCTION handbill.recipients_identity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM handbill.runs WHERE runs.list = OLD.list AND (runs.state = 'loading'
    OR ((runs.purged_at IS NOT NULL OR runs.state = 'finished')
      AND NEW.list = OLD.list AND NEW.leg = OLD.leg AND NEW.row = OLD.row AND NEW.key IS NULL)))
  THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'a recipient may not become another one';
END $$`;

/** What resolved a doubt loses its key only in such a run. */
export const RESOLUTIONS_FIXED = `CREATE OR REPLACE FUNCTION handbill.resolutions_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM handbill.runs WHERE runs.number = OLD.run AND (runs.purged_at IS NOT NULL OR runs.state = 'finished')
    AND NEW.run = OLD.run AND NEW.key = '' AND NEW.verdict = OLD.verdict) THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'what resolved a doubt may not be changed';
END $$`;

/** Who paused an environment, or one campaign in it; see src/ledger/schema.ts. */
export const PAUSES = `CREATE TABLE handbill.pauses (
  number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  environment TEXT NOT NULL,
  campaign TEXT,
  reason TEXT NOT NULL,
  who TEXT NOT NULL,
  paused_at BIGINT NOT NULL,
  resumed_by TEXT,
  resumed_at BIGINT
)`;

/** The attempts that were not accepted; see src/ledger/schema.ts. */
export const ATTEMPTS: readonly string[] = [
  `CREATE TABLE handbill.attempts (
  number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  run BIGINT NOT NULL REFERENCES handbill.runs (number),
  leg BIGINT NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  http_status BIGINT,
  error TEXT,
  claimed_at BIGINT,
  ended_at BIGINT
)`,
  'CREATE INDEX attempts_recipient ON handbill.attempts (run, key, leg, attempt)',
  `CREATE FUNCTION handbill.recipients_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO handbill.attempts (run, leg, key, attempt, state, reason, http_status, error, claimed_at, ended_at)
    SELECT number, NEW.leg, NEW.key, NEW.attempts, NEW.state, NEW.reason, NEW.http_status, NEW.error,
      CASE OLD.state WHEN 'claimed' THEN NEW.claimed_at END, NEW.updated_at FROM handbill.runs WHERE list = NEW.list AND state <> 'loading';
  RETURN NULL;
END $$`,
  `CREATE TRIGGER recipients_attempt AFTER UPDATE OF state ON handbill.recipients
  FOR EACH ROW WHEN (NEW.state <> 'accepted' AND NEW.attempts > OLD.attempts AND OLD.state IN ('claimed', 'pending'))
  EXECUTE FUNCTION handbill.recipients_attempt()`,
];

/** When the schedule of a campaign was first seen. Another schedule of the same campaign takes its place. */
export const SCHEDULES = `CREATE TABLE handbill.schedules (
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  schedule TEXT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (environment, campaign)
)`;

/** Which move between states is legal: the same rules as the trigger in src/ledger/schema.ts. */
const MOVES = `CREATE FUNCTION handbill.recipients_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE legal boolean;
BEGIN
  legal := CASE OLD.state
    WHEN 'pending' THEN (NEW.state = 'claimed' AND NEW.resolved_by IS NULL AND (NEW.leg = 0
        OR EXISTS (SELECT 1 FROM handbill.recipients AS former WHERE former.list = NEW.list AND former.leg = NEW.leg - 1
        AND former.row = NEW.row AND former.key = NEW.key AND former.state = 'rejected' AND former.reason = 'fell-back'))
        AND (NEW.resend IS NULL OR NOT EXISTS (SELECT 1 FROM handbill.runs
          JOIN handbill.resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.resolved_by = 'resend-changed'
        AND resolutions.address = NEW.address)))
      OR NEW.state IN ('pending', 'skipped', 'deferred', 'failed')
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS NOT DISTINCT FROM 'resend'
        AND coalesce(NEW.resolved_by IN ('late-result', 'report'), false))
    WHEN 'claimed' THEN NEW.state = 'accepted' OR (NEW.state = 'rejected' AND NEW.reason IS DISTINCT FROM 'fell-back')
      OR NEW.state IN ('in-doubt', 'failed', 'pending')
    WHEN 'failed' THEN NEW.state IN ('failed', 'pending')
    WHEN 'deferred' THEN NEW.state IN ('deferred', 'pending', 'skipped')
      OR (NEW.state = 'accepted' AND OLD.resolved_by IS NOT DISTINCT FROM 'resend'
        AND coalesce(NEW.resolved_by IN ('late-result', 'report'), false))
    WHEN 'rejected' THEN (NEW.state = 'rejected'
        AND (NEW.reason IS NOT DISTINCT FROM 'fell-back') = (OLD.reason IS NOT DISTINCT FROM 'fell-back'))
      OR (NEW.state = 'pending' AND NEW.resolved_by IS NOT DISTINCT FROM 'retry-rejected'
        AND OLD.reason IS DISTINCT FROM 'fell-back')
    WHEN 'in-doubt' THEN NEW.state = 'in-doubt' OR (NEW.resolved_by IS NOT NULL
      AND (NEW.state IN ('accepted', 'pending') OR (NEW.state = 'rejected' AND NEW.reason IS DISTINCT FROM 'fell-back'))
      AND EXISTS (SELECT 1 FROM handbill.runs JOIN handbill.resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts))
    WHEN 'accepted' THEN NEW.state = 'accepted' OR (NEW.state = 'pending'
      AND NEW.resolved_by IS NOT DISTINCT FROM 'resend-changed'
      AND NEW.address IS NOT NULL AND NEW.address IS DISTINCT FROM OLD.address
      AND NEW.resend IS NOT DISTINCT FROM coalesce(OLD.resend, 0) + 1
      AND EXISTS (SELECT 1 FROM handbill.runs JOIN handbill.resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.leg = NEW.leg
        AND resolutions.attempts = OLD.attempts AND resolutions.resolved_by = 'resend-changed'
        AND resolutions.address IS NOT DISTINCT FROM OLD.address)
      AND NOT EXISTS (SELECT 1 FROM handbill.runs JOIN handbill.resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.address = NEW.address))
    ELSE NEW.state = OLD.state
  END;
  IF legal OR EXISTS (SELECT 1 FROM handbill.runs WHERE runs.list = NEW.list AND runs.state = 'loading') THEN
    RETURN NULL;
  END IF;
  IF (NEW.state = 'rejected' AND NEW.reason = 'fell-back' AND (OLD.state = 'claimed'
      OR (OLD.state = 'accepted' AND NEW.resolved_by = 'report'))) IS NOT TRUE THEN
    RAISE EXCEPTION 'a recipient may not move between these states';
  END IF;
  INSERT INTO handbill.recipients (list, leg, row, line, key, state)
    VALUES (NEW.list, NEW.leg + 1, NEW.row, NEW.line, NEW.key, 'pending');
  RETURN NULL;
END $$`;

const GUARDED_MOVES = `CREATE TRIGGER recipients_move AFTER UPDATE OF state, reason ON handbill.recipients
  FOR EACH ROW WHEN (NOT (
    (OLD.state = 'pending' AND NEW.state = 'claimed' AND NEW.leg = 0 AND NEW.resolved_by IS NULL
      AND NEW.resend IS NULL)
    OR (OLD.state = 'claimed' AND NEW.state IN ('accepted', 'pending', 'failed', 'in-doubt'))
    OR (OLD.state = 'claimed' AND NEW.state = 'rejected' AND NEW.reason IS DISTINCT FROM 'fell-back')
  )) EXECUTE FUNCTION handbill.recipients_move()`;

const CHANGED =
  'CREATE INDEX recipients_changed ON handbill.recipients (list, leg, row) WHERE list_address IS NOT NULL';

/** What an older ledger lacks for recipients whose address was corrected after the message had gone out. */
export const CORRECTED: readonly string[] = [
  'ALTER TABLE handbill.recipients ADD COLUMN list_address TEXT COLLATE "C"',
  'ALTER TABLE handbill.recipients ADD COLUMN resend BIGINT',
  CHANGED,
  'DROP TRIGGER recipients_move ON handbill.recipients',
  'DROP FUNCTION handbill.recipients_move',
  MOVES,
  GUARDED_MOVES,
];

/**
 * The tables of a shared ledger, in a schema of their own. What SQLite's triggers say (schema.ts), these say too: the
 * database itself knows which moves are legal.
 */
export const SCHEMA: readonly string[] = [
  'CREATE SCHEMA IF NOT EXISTS handbill',
  `CREATE TABLE handbill.ledger (
  only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  newest_at BIGINT NOT NULL,
  timeline BIGINT NOT NULL,
  changes BIGINT NOT NULL DEFAULT 0,
  purge_begun BOOLEAN NOT NULL DEFAULT false
)`,
  `CREATE TABLE handbill.runs (
  number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  list BIGINT NOT NULL UNIQUE,
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  occurrence TEXT NOT NULL,
  channel TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('loading', 'running', 'finished', 'partial', 'halted', 'interrupted')),
  halt TEXT,
  inputs TEXT NOT NULL,
  identity_hash TEXT NOT NULL,
  rows BIGINT NOT NULL DEFAULT 0,
  starts BIGINT NOT NULL DEFAULT 0,
  figures TEXT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  last_start_at BIGINT,
  finished_at BIGINT,
  winner TEXT,
  counted BIGINT NOT NULL DEFAULT 1,
  purged_at BIGINT,
  git TEXT,
  topic TEXT,
  formerly TEXT
)`,
  `CREATE UNIQUE INDEX runs_identity ON handbill.runs (environment, campaign, occurrence) WHERE state <> 'loading'`,
  `CREATE TABLE handbill.holders (
  environment TEXT NOT NULL,
  campaign TEXT NOT NULL,
  occurrence TEXT NOT NULL,
  pid BIGINT NOT NULL,
  host TEXT NOT NULL,
  since_at BIGINT NOT NULL,
  PRIMARY KEY (environment, campaign, occurrence)
)`,
  // No reference to the run: to look it up takes as long as the row itself, and lists are loaded only under a run.
  `CREATE TABLE handbill.recipients (
  list BIGINT NOT NULL,
  leg BIGINT NOT NULL DEFAULT 0,
  row BIGINT NOT NULL,
  line BIGINT NOT NULL,
  key TEXT COLLATE "C",
  address TEXT COLLATE "C",
  state TEXT NOT NULL CHECK (state IN ('pending', 'claimed', 'accepted', 'rejected', 'failed', 'in-doubt', 'skipped',
    'deferred')),
  reason TEXT,
  attempts BIGINT NOT NULL DEFAULT 0,
  http_status BIGINT,
  message_id TEXT,
  error TEXT,
  parts BIGINT,
  encoding TEXT,
  cost_micros BIGINT,
  variant TEXT,
  claimed_at BIGINT,
  updated_at BIGINT,
  resolved_by TEXT,
  channel TEXT,
  delivery TEXT,
  text_hash TEXT,
  list_address TEXT COLLATE "C",
  resend BIGINT,
  PRIMARY KEY (list, leg, row)
) WITH (fillfactor = 70)`,
  `CREATE INDEX recipients_unsettled ON handbill.recipients (list, leg, row)
  WHERE state = 'in-doubt' OR resolved_by = 'resend'`,
  CHANGED,
  MOVES,
  // Most moves are legal in any case and skip the function, which takes 50 us.
  GUARDED_MOVES,
  RECIPIENTS_IDENTITY,
  `CREATE TRIGGER recipients_identity AFTER UPDATE OF list, leg, row, key ON handbill.recipients
  FOR EACH ROW EXECUTE FUNCTION handbill.recipients_identity()`,
  `CREATE FUNCTION handbill.recipients_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM handbill.runs WHERE runs.list = OLD.list AND runs.state = 'loading') THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'a recipient may not be forgotten';
END $$`,
  `CREATE TRIGGER recipients_kept AFTER DELETE ON handbill.recipients
  FOR EACH ROW EXECUTE FUNCTION handbill.recipients_kept()`,
  `CREATE TABLE handbill.suppressions (
  address TEXT COLLATE "C" NOT NULL,
  topic TEXT COLLATE "C" NOT NULL DEFAULT '',
  reason TEXT,
  until_at BIGINT,
  source TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (address, topic)
)`,
  `CREATE TABLE handbill.suppressed_hashes (
  hash TEXT COLLATE "C" NOT NULL,
  topic TEXT COLLATE "C" NOT NULL DEFAULT '',
  key_id TEXT NOT NULL,
  reason TEXT,
  until_at BIGINT,
  source TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (hash, topic)
)`,
  `CREATE TABLE handbill.resolutions (
  number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  run BIGINT NOT NULL REFERENCES handbill.runs (number),
  leg BIGINT NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  attempts BIGINT NOT NULL,
  line BIGINT NOT NULL,
  address TEXT,
  reason TEXT,
  http_status BIGINT,
  error TEXT,
  doubt_at BIGINT,
  verdict TEXT NOT NULL CHECK (verdict IN ('accepted', 'rejected', 'resend')),
  message_id TEXT,
  resolved_by TEXT NOT NULL,
  who TEXT,
  note TEXT,
  resolved_at BIGINT NOT NULL,
  channel TEXT
)`,
  'CREATE INDEX resolutions_doubt ON handbill.resolutions (run, key, leg, attempts)',
  RESOLUTIONS_FIXED,
  `CREATE TRIGGER resolutions_fixed AFTER UPDATE ON handbill.resolutions
  FOR EACH ROW EXECUTE FUNCTION handbill.resolutions_fixed()`,
  `CREATE FUNCTION handbill.resolutions_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what resolved a doubt may not be forgotten';
END $$`,
  `CREATE TRIGGER resolutions_kept AFTER DELETE ON handbill.resolutions
  FOR EACH ROW EXECUTE FUNCTION handbill.resolutions_kept()`,
  `CREATE FUNCTION handbill.runs_purged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.purged_at IS NOT NULL AND (NEW.state = 'running' OR NEW.purged_at IS DISTINCT FROM OLD.purged_at) THEN
    RAISE EXCEPTION 'a run that was purged may not be continued';
  END IF;
  RETURN NULL;
END $$`,
  `CREATE TRIGGER runs_purged AFTER UPDATE OF state, purged_at ON handbill.runs
  FOR EACH ROW EXECUTE FUNCTION handbill.runs_purged()`,
  `CREATE TABLE handbill.delivery_reports (
  number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  digest BYTEA NOT NULL,
  reference TEXT,
  message_id TEXT,
  address TEXT,
  channel TEXT,
  state TEXT NOT NULL,
  word TEXT,
  cause TEXT,
  error TEXT,
  text_hash TEXT,
  happened_at BIGINT,
  received_at BIGINT NOT NULL,
  source TEXT NOT NULL,
  environment TEXT NOT NULL DEFAULT ''
)`,
  'CREATE UNIQUE INDEX delivery_reports_digest ON handbill.delivery_reports (digest, environment)',
  `CREATE INDEX delivery_reports_reference
  ON handbill.delivery_reports (reference, state, environment, address, happened_at, received_at)
  WHERE reference IS NOT NULL`,
  `CREATE INDEX delivery_reports_message
  ON handbill.delivery_reports (message_id, state, environment, reference, address, happened_at, received_at)
  WHERE message_id IS NOT NULL`,
  `CREATE INDEX delivery_reports_unreached ON handbill.delivery_reports (message_id, reference)
  WHERE state = 'undeliverable' OR cause = 'unsupported-channel'`,
  `CREATE INDEX delivery_reports_text ON handbill.delivery_reports (address, text_hash) WHERE text_hash IS NOT NULL`,
  `CREATE TABLE handbill.replies (
  number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  digest BYTEA NOT NULL,
  reply_id TEXT,
  reference TEXT,
  message_id TEXT,
  sender TEXT NOT NULL,
  recipient TEXT,
  channel TEXT,
  text TEXT NOT NULL,
  meaning TEXT NOT NULL,
  happened_at BIGINT,
  received_at BIGINT NOT NULL,
  source TEXT NOT NULL,
  run BIGINT REFERENCES handbill.runs (number),
  leg BIGINT,
  row BIGINT,
  reviewed_as TEXT,
  reviewed_by TEXT,
  reviewed_at BIGINT,
  environment TEXT NOT NULL DEFAULT ''
)`,
  'CREATE UNIQUE INDEX replies_digest ON handbill.replies (digest, environment)',
  'CREATE INDEX replies_sender ON handbill.replies (sender)',
  'CREATE INDEX replies_run ON handbill.replies (run, row)',
  `CREATE TABLE handbill.unread_events (
  number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  digest BYTEA NOT NULL,
  body TEXT NOT NULL,
  received_at BIGINT NOT NULL,
  source TEXT NOT NULL
)`,
  'CREATE UNIQUE INDEX unread_events_digest ON handbill.unread_events (digest)',
  // When the next request to an environment may go, for all who send to it. Nothing is lost with it when the server fails,
  // and not to log it lets a turn be taken without waiting for the disk.
  `CREATE UNLOGGED TABLE handbill.turns (
  name TEXT COLLATE "C" PRIMARY KEY,
  next_at DOUBLE PRECISION NOT NULL,
  held_until DOUBLE PRECISION NOT NULL DEFAULT 0
)`,
  ...SHARED_RUNS,
  SCHEDULES,
  PAUSES,
  BUDGETS,
  ...ATTEMPTS,
  `CREATE FUNCTION handbill.now_ms() RETURNS double precision LANGUAGE sql VOLATILE
  AS 'SELECT extract(epoch FROM clock_timestamp())::double precision * 1000'`,
  COMMIT_ROWS,
  // What the stores ask for by the names that SQLite gives it.
  `CREATE FUNCTION handbill.instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT strpos($1, $2)'`,
  `CREATE FUNCTION handbill.json_each(text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE
  AS 'SELECT ordinality - 1, value FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY'`,
  `CREATE FUNCTION handbill.randomblob(integer) RETURNS bytea LANGUAGE sql VOLATILE
  AS 'SELECT substring(uuid_send(gen_random_uuid()) FROM 1 FOR $1)'`,
];
