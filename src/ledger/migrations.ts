import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from './schema.ts';

/** "hbll": says that a SQLite file is a ledger of handbill. */
export const APPLICATION_ID = 0x68626c6c;

export { MIGRATIONS };

export const NEWEST_VERSION = MIGRATIONS.length;

/** Brings an empty database or an older ledger to the newest version, all or nothing. Safe against a second process. */
export function migrate(db: DatabaseSync, nowMs: number): void {
  if (userVersion(db) === NEWEST_VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Read again: another process may have done it while this one waited.
    const from = userVersion(db);
    for (const step of MIGRATIONS.slice(from)) {
      for (const statement of step.statements) db.exec(statement);
    }
    if (from === 0) {
      db.prepare('INSERT INTO ledger (only_row, created_at, newest_at) VALUES (1, ?, ?)').run(nowMs, nowMs);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Shows an older ledger to this connection as the newest version, by temporary views over its tables. If another
 * process migrates it meanwhile, columns that exist take precedence.
 */
export function readAsNewest(db: DatabaseSync): void {
  const version = userVersion(db);
  if (version === NEWEST_VERSION) return;
  db.exec(`CREATE TEMP VIEW attempts AS SELECT NULL AS number, NULL AS run, NULL AS leg, NULL AS key, NULL AS attempt,
    NULL AS state, NULL AS reason, NULL AS http_status, NULL AS error, NULL AS claimed_at, NULL AS ended_at WHERE 0`);
  if (version === 9) return;
  db.exec(`CREATE TEMP VIEW budgets AS SELECT NULL AS environment, NULL AS period, NULL AS currency,
    NULL AS spent_micros WHERE 0`);
  if (version === 8) db.exec('CREATE TEMP VIEW runs AS SELECT *, NULL AS formerly FROM main.runs');
  if (version === 8) return;
  // Before version 8 every entry was for all topics.
  db.exec("CREATE TEMP VIEW suppressions AS SELECT *, '' AS topic FROM main.suppressions");
  if (version >= 4) db.exec("CREATE TEMP VIEW suppressed_hashes AS SELECT *, '' AS topic FROM main.suppressed_hashes");
  // Before version 7 nothing could be paused.
  if (version < 7) {
    db.exec(`CREATE TEMP VIEW pauses AS SELECT NULL AS number, NULL AS environment, NULL AS campaign, NULL AS reason,
      NULL AS who, NULL AS paused_at, NULL AS resumed_by, NULL AS resumed_at WHERE 0`);
  }
  // Before version 6 it was not kept when a schedule was first seen.
  if (version < 6) {
    db.exec(`CREATE TEMP VIEW schedules AS SELECT NULL AS environment, NULL AS campaign, NULL AS schedule,
      NULL AS seen_at WHERE 0`);
  }
  // Of two columns with one name the first counts.
  db.exec(`CREATE TEMP VIEW recipients AS SELECT *, NULL AS channel, NULL AS delivery, NULL AS text_hash,
    NULL AS list_address, NULL AS resend FROM main.recipients`);
  // Before version 2 no doubt could be resolved.
  db.exec(
    version < 2
      ? `CREATE TEMP VIEW resolutions AS SELECT NULL AS number, NULL AS run, NULL AS leg, NULL AS key, NULL AS attempts,
          NULL AS line, NULL AS address, NULL AS reason, NULL AS http_status, NULL AS error, NULL AS doubt_at,
          NULL AS verdict, NULL AS message_id, NULL AS resolved_by, NULL AS who, NULL AS note, NULL AS resolved_at,
          NULL AS channel WHERE 0`
      : 'CREATE TEMP VIEW resolutions AS SELECT *, NULL AS channel FROM main.resolutions',
  );
  db.exec(`CREATE TEMP VIEW runs AS SELECT *, NULL AS winner, 1 AS counted, NULL AS purged_at, NULL AS git,
    NULL AS topic, NULL AS formerly FROM main.runs`);
  if (version < 4) {
    db.exec(`CREATE TEMP VIEW suppressed_hashes AS SELECT NULL AS hash, NULL AS key_id, NULL AS reason, NULL AS until_at,
      NULL AS source, NULL AS created_at, '' AS topic WHERE 0`);
  }
  if (version === 5) readWithoutEnvironments(db);
  // Before version 5 nothing that came back was kept.
  if (version < 5) readWithoutEvents(db);
}

/** Gives older events their environment, as the step to version 6 does (schema.ts). */
function readWithoutEnvironments(db: DatabaseSync): void {
  db.exec(`CREATE TEMP VIEW former AS
      SELECT CASE WHEN count(DISTINCT environment) = 1 THEN max(environment) ELSE '' END AS environment
      FROM main.runs AS sent WHERE started_at IS NOT NULL AND (environment <> 'sandbox' OR NOT EXISTS
        (SELECT 1 FROM main.runs AS other WHERE other.started_at IS NOT NULL AND other.environment <> 'sandbox'))`);
  db.exec(`CREATE TEMP VIEW delivery_reports AS SELECT *,
      CASE WHEN reference IS NULL THEN (SELECT environment FROM former) ELSE '' END AS environment
      FROM main.delivery_reports`);
  db.exec(`CREATE TEMP VIEW replies AS SELECT *,
      coalesce((SELECT r.environment FROM main.runs AS r WHERE r.number = replies.run), (SELECT environment FROM former))
        AS environment
      FROM main.replies`);
}

function readWithoutEvents(db: DatabaseSync): void {
  db.exec(`CREATE TEMP VIEW delivery_reports AS SELECT NULL AS number, NULL AS digest, NULL AS reference,
    NULL AS message_id, NULL AS address, NULL AS channel, NULL AS state, NULL AS word, NULL AS cause, NULL AS error,
    NULL AS text_hash, NULL AS happened_at, NULL AS received_at, NULL AS source, NULL AS environment WHERE 0`);
  db.exec(`CREATE TEMP VIEW replies AS SELECT NULL AS number, NULL AS digest, NULL AS reply_id, NULL AS reference,
    NULL AS message_id, NULL AS sender, NULL AS recipient, NULL AS channel, NULL AS text, NULL AS meaning,
    NULL AS happened_at, NULL AS received_at, NULL AS source, NULL AS run, NULL AS leg, NULL AS row,
    NULL AS reviewed_as, NULL AS reviewed_by, NULL AS reviewed_at, NULL AS environment WHERE 0`);
  db.exec(`CREATE TEMP VIEW unread_events AS SELECT NULL AS number, NULL AS digest, NULL AS body,
    NULL AS received_at, NULL AS source WHERE 0`);
}

export function userVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
}

/** SHA-256 over every table, index, trigger and view, so that nothing can hide in a ledger from elsewhere. */
export function schemaHash(db: DatabaseSync): string {
  const hash = createHash('sha256');
  const query = db.prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name');
  for (const { type, name, sql } of query.iterate()) hash.update(JSON.stringify([type, name, sql]));
  return hash.digest('hex');
}
