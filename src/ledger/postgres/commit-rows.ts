/**
 * What a group commit writes, in one journey and one transaction: outcomes, then claims, each as a compare-and-set. Arrays hold
 * a column each; `form_rows`, `forms` and `hashes` the spellings under which a claim may be suppressed. Whoever shares a run claims
 * only in shards that are his at this moment (`worker_shards`). Called by many.ts.
 */
export const COMMIT_ROWS = `CREATE FUNCTION handbill.commit_rows(run_number bigint, list_number bigint, now_ms bigint,
    rows bigint[], states text[], reasons text[], counts bigint[], statuses bigint[], ids text[], errors text[], froms text[],
    claim_rows bigint[], claim_keys text[], claim_addresses text[], claim_counts bigint[],
    form_rows bigint[], forms text[], hashes text[], hash_key text, worker_id text, worker_shards bigint[],
    OUT recorded bigint[], OUT claimed bigint[]) LANGUAGE plpgsql AS $$
DECLARE at bigint; list bigint; state text; kept bigint[];
BEGIN
  recorded := '{}';
  claimed := '{}';
  UPDATE handbill.ledger SET changes = changes + 1, newest_at = greatest(newest_at, now_ms) RETURNING newest_at INTO at;
  SELECT runs.list, runs.state INTO list, state FROM handbill.runs WHERE number = run_number;
  IF list IS DISTINCT FROM list_number OR (cardinality(claim_rows) > 0 AND (state <> 'running'
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
      WHERE s.address = given.form AND (s.until_at IS NULL OR s.until_at > at))
    OR EXISTS (SELECT 1 FROM handbill.suppressed_hashes AS s
      WHERE s.hash = given.hash AND (s.until_at IS NULL OR s.until_at > at));
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
