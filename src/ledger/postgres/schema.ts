import { hash } from 'node:crypto';
import { onDemand } from '../../util/on-demand.ts';
import { TABLES, TRIGGERS, type Trigger } from '../schema.ts';
import { counting } from '../suppressions.ts';

/**
 * Writes a group commit in one round trip and one transaction: outcomes, then claims, each as a compare-and-set. Arrays
 * hold a column each; `form_rows`, `forms` and `hashes` are the spellings under which a claim may be suppressed. A
 * worker in a shared run claims only in shards that it holds at this moment (`worker_shards`). While a person has
 * paused the environment or the campaign, nothing is claimed (failures.md, A6).
 */
const COMMIT_ROWS = counting(
  `CREATE FUNCTION handbill.commit_rows(run_number bigint, list_number bigint, now_ms bigint,
    rows bigint[], states text[], reasons text[], counts bigint[], statuses bigint[], ids text[], errors text[], froms text[],
    claim_rows bigint[], claim_keys text[], claim_addresses text[], claim_counts bigint[],
    form_rows bigint[], forms text[], hashes text[], hash_key text, worker_id text, worker_shards bigint[],
    poster text,
    OUT recorded bigint[], OUT claimed bigint[]) LANGUAGE plpgsql AS $$
DECLARE at bigint; kept bigint[]; sending record;
BEGIN
  recorded := '{}';
  claimed := '{}';
  UPDATE handbill.ledger SET changes = changes + 1, newest_at = greatest(newest_at, now_ms) RETURNING newest_at INTO at;
  SELECT runs.list, runs.state, runs.environment, runs.campaign, coalesce(runs.topic, '') AS topic, runs.version INTO sending
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
        WHERE h.list = list_number AND h.step = 0 AND h.row = given.row AND h.state = given.former
          AND h.attempts < given.attempts OFFSET 0) AS here) AS found
    WHERE r.ctid = found.place RETURNING r.row
  ) SELECT coalesce(array_agg(row), '{}') INTO recorded FROM done;
  -- All of them, as nearly always: nothing is to be read from the answer.
  IF cardinality(recorded) = cardinality(rows) THEN recorded := NULL; END IF;
  IF cardinality(claim_rows) = 0 THEN RETURN; END IF;
  SELECT coalesce(array_agg(given.row), '{}') INTO kept FROM unnest(form_rows, forms, hashes) AS given (row, form, hash)
    WHERE EXISTS (SELECT 1 FROM handbill.suppressions AS s
      WHERE s.address = given.form AND COUNTS)
    OR EXISTS (SELECT 1 FROM handbill.suppressed_hashes AS s
      WHERE s.hash = given.hash AND COUNTS);
  WITH done AS (
    UPDATE handbill.recipients AS r SET state = 'claimed', claimed_at = at, resolved_by = NULL, posted_from = poster,
      version = sending.version
    FROM (SELECT here.place FROM unnest(claim_rows, claim_keys, claim_addresses, claim_counts)
        AS given (row, key, address, attempts),
      LATERAL (SELECT ctid AS place FROM handbill.recipients AS h
        WHERE h.list = list_number AND h.step = 0 AND h.row = given.row AND h.state = 'pending' AND h.key = given.key
          AND h.address = given.address AND h.attempts = coalesce(given.attempts, h.attempts) OFFSET 0) AS here
      WHERE given.row <> ALL (kept)) AS found
    WHERE r.ctid = found.place RETURNING r.row
  ) SELECT coalesce(array_agg(row), '{}') INTO claimed FROM done;
  IF cardinality(claimed) < cardinality(claim_rows) AND EXISTS (
    SELECT 1 FROM unnest(claim_rows, claim_keys, claim_addresses) AS given (row, key, address)
    LEFT JOIN LATERAL (SELECT h.key, h.address, h.attempts FROM handbill.recipients AS h
      WHERE h.list = list_number AND h.step = 0 AND h.row = given.row OFFSET 0) AS here ON true
    WHERE here.key IS DISTINCT FROM given.key OR (here.address <> given.address AND here.attempts = 0)
  ) THEN
    RAISE EXCEPTION 'a row is not the recipient that was to be claimed' USING ERRCODE = 'HB001';
  END IF;
  IF cardinality(claimed) = cardinality(claim_rows) THEN claimed := NULL; END IF;
END $$`,
  'at',
  'sending.topic',
);

const SHARED_RUNS: readonly string[] = [
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
  first_steps BIGINT NOT NULL DEFAULT 0,
  fell_back BIGINT NOT NULL DEFAULT 0,
  opens_at BIGINT,
  limited_until BIGINT,
  latency TEXT,
  PRIMARY KEY (list, worker)
)`,
];

/** PostgreSQL's types for the tables of both databases. Texts compare by their bytes, as in SQLite. */
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/\) STRICT(?:, WITHOUT ROWID)?$/, ')'],
  [/\bINTEGER PRIMARY KEY\b/g, 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY'],
  [/ VIRTUAL\b/g, ' STORED'],
  [/\bINTEGER\b/g, 'BIGINT'],
  [/\bBLOB\b/g, 'BYTEA'],
  [/\bTEXT\b/g, 'TEXT COLLATE "C"'],
  // To look up the run takes as long as the row itself, and lists are loaded only under a run.
  [/ REFERENCES runs \(list\)/, ''],
  [/^(CREATE TABLE recipients \(.*)$/s, '$1 WITH (fillfactor = 70)'],
];

function table(statement: string): string {
  return TYPES.reduce((text, [from, to]) => text.replace(from, to), statement);
}

/** Functions name tables with their schema, so that they do not depend on the session's settings. */
function qualified(sql: string): string {
  return sql.replaceAll(/\b(FROM|JOIN|INTO|UPDATE) (runs|recipients|resolutions|attempts)\b/g, '$1 handbill.$2');
}

function trigger({ name, table, on, when, quick, unless, refuses, but, statement }: Trigger): readonly string[] {
  const raise = `RAISE EXCEPTION '${refuses}';`;
  const body = [
    ...(unless === undefined ? [] : [`IF (${qualified(unless)}) THEN RETURN NULL; END IF;`]),
    ...(refuses === undefined ? [] : [but === undefined ? raise : `IF (${but}) IS NOT TRUE THEN ${raise} END IF;`]),
    ...(statement === undefined ? [] : [`${qualified(statement)};`]),
    'RETURN NULL;',
  ];
  const conditions = [
    ...(when === undefined ? [] : [when]),
    ...(quick === undefined ? [] : [`(${quick}) IS NOT TRUE`]),
  ];
  const only = conditions.length === 0 ? '' : `WHEN (${conditions.join(' AND ')})`;
  const call = `handbill.${name}()`;
  return [
    ['CREATE FUNCTION', call, 'RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN', ...body, 'END $$'].join('\n'),
    ['CREATE TRIGGER', name, 'AFTER', on, 'ON', table, 'FOR EACH ROW', only, 'EXECUTE FUNCTION', call].join(' '),
  ];
}

/** The statements of a shared ledger, in one schema, in which the session makes tables and indexes. */
const statements = (): readonly string[] => [
  'CREATE SCHEMA IF NOT EXISTS handbill',
  // `schema_hash` is the hash of these statements.
  `CREATE TABLE ledger (
  only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
  version BIGINT NOT NULL,
  schema_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  newest_at BIGINT NOT NULL,
  timeline BIGINT NOT NULL,
  changes BIGINT NOT NULL DEFAULT 0,
  purge_begun BOOLEAN NOT NULL DEFAULT false
)`,
  ...TABLES.map(table),
  ...TRIGGERS.flatMap(trigger),
  // When the next request to an environment may go, for all who send to it. Nothing is lost with it when the server fails,
  // and not to log it lets a turn be taken without waiting for the disk.
  `CREATE UNLOGGED TABLE turns (
  name TEXT COLLATE "C" PRIMARY KEY,
  next_at DOUBLE PRECISION NOT NULL,
  held_until DOUBLE PRECISION NOT NULL DEFAULT 0
)`,
  ...SHARED_RUNS,
  `CREATE FUNCTION handbill.now_ms() RETURNS double precision LANGUAGE sql VOLATILE
  AS 'SELECT extract(epoch FROM clock_timestamp())::double precision * 1000'`,
  COMMIT_ROWS,
  // The stores call these by the names that SQLite has.
  `CREATE FUNCTION handbill.instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT strpos($1, $2)'`,
  `CREATE FUNCTION handbill.json_each(text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE
  AS 'SELECT ordinality - 1, value FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY'`,
  `CREATE FUNCTION handbill.randomblob(integer) RETURNS bytea LANGUAGE sql VOLATILE
  AS 'SELECT substring(uuid_send(gen_random_uuid()) FROM 1 FOR $1)'`,
];

/** `hash` identifies a ledger of another build. */
export const schema = onDemand(() => {
  const sql = statements().join(';\n');
  return { sql, hash: hash('sha256', sql, 'hex') };
});
