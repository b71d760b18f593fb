import type { ChangedRecipient, Channel } from '../model.ts';
import type { Connection, Value } from './connection.ts';
import { lazily } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { EarlierRow, RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';

/** Recipients whose address was corrected in the list after the message had gone out, and the second message to them. */
export function changedStore(
  connection: Connection,
  runs: RunStore,
): Pick<Ledger, 'changed' | 'resendChanged' | 'earlier'> {
  // Prepared when they are needed: an older ledger that is only read lacks the table of what went out before.
  const query = lazily((sql) => connection.query(sql));
  const statement = lazily((sql) => connection.statement(sql));
  const hasHistory = (): boolean => query(HAS_HISTORY).get() !== undefined;

  return {
    changed(run, draft = null) {
      if (run.purgedAtMs !== null || !hasHistory()) return [];
      const { list } = runs.listOf(run);
      if (draft === null) return query(CHANGED).all(list, run.number).map(toChanged);
      return query(CHANGED_BY).all(list, runs.listOf(draft).list, run.number).map(toChanged);
    },

    resendChanged: (run, nowMs) =>
      connection.write(nowMs, 2, (now) => {
        const { list, state } = runs.listOf(run);
        if (state === 'loading') throw new Error(`The list of run ${run.id} is not sealed yet.`);
        statement(NOTE_EARLIER)(run.number, now, list);
        return statement(SEND_ONCE_MORE)(now, list, run.number);
      }),

    earlier(run) {
      if (run.purgedAtMs !== null || !hasHistory()) return new Map();
      const found = new Map<string, EarlierRow[]>();
      for (const row of query(EARLIER).all(run.number)) {
        const key = String(row[0]);
        const before = found.get(key) ?? [];
        // A second message that was never sent was withdrawn by an amendment: the message before it is recorded again
        // later.
        if (before.some(({ to }) => to === row[2])) continue;
        found.set(key, [...before, toEarlier(row, run, before.length)]);
      }
      return found;
    },
  };
}

const HAS_HISTORY = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'resolutions'`;

const CHANGED = `SELECT line, key, address, list_address, state,
    EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?2 AND former.key = recipients.key
      AND former.address = recipients.list_address)
  FROM recipients WHERE list = ?1 AND leg = 0 AND list_address IS NOT NULL
    AND (state = 'accepted' OR state = 'in-doubt') ORDER BY row`;

// Before a list takes the place of another: what `--amend` will write down, asked of both. A second message that has not
// gone out is taken back by it.
const CHANGED_BY = `SELECT n.line, o.key, coalesce(r.address, o.address), n.address,
    CASE WHEN r.number IS NULL THEN o.state ELSE 'accepted' END,
    EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?3 AND former.key = o.key
      AND former.address = n.address)
  FROM recipients AS n JOIN recipients AS o ON o.key = n.key
    LEFT JOIN resolutions AS r ON o.resend IS NOT NULL
    AND (o.state = 'pending' OR o.state = 'failed' OR o.state = 'deferred' OR o.state = 'skipped')
    AND r.number = (SELECT max(number) FROM resolutions AS last WHERE last.run = ?3 AND last.key = o.key
      AND last.resolved_by = 'resend-changed')
  WHERE o.list = ?1 AND o.leg = 0 AND n.list = ?2 AND n.leg = 0
    AND (o.state = 'accepted' OR o.state = 'in-doubt' OR r.number IS NOT NULL)
    AND n.state <> 'skipped' AND n.address <> coalesce(r.address, o.address) ORDER BY n.row`;

const NOTE_EARLIER = `INSERT INTO resolutions (run, leg, channel, key, attempts, line, address, reason, http_status, error,
    doubt_at, verdict, message_id, resolved_by, who, note, resolved_at)
  SELECT CAST(?1 AS INTEGER), leg, channel, key, attempts, line, address, reason, http_status, error,
    coalesce(claimed_at, updated_at), 'resend', message_id, 'resend-changed', NULL, NULL, CAST(?2 AS INTEGER)
  FROM recipients WHERE list = ?3 AND leg = 0 AND list_address IS NOT NULL AND recipients.state = 'accepted'
    AND NOT EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?1 AND former.key = recipients.key
      AND former.address = recipients.list_address)`;

const SEND_ONCE_MORE = `UPDATE recipients SET state = 'pending', reason = 'resend', resolved_by = 'resend-changed',
    address = list_address, list_address = NULL, resend = coalesce(resend, 0) + 1, http_status = NULL, message_id = NULL,
    error = NULL, updated_at = ?1
  WHERE list = ?2 AND leg = 0 AND list_address IS NOT NULL AND state = 'accepted'
    AND NOT EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?3 AND former.key = recipients.key
      AND former.address = recipients.list_address)`;

const EARLIER = `SELECT key, channel, address, message_id, http_status, doubt_at FROM resolutions
  WHERE run = ? AND resolved_by = 'resend-changed' ORDER BY number`;

function toChanged(row: readonly Value[]): ChangedRecipient {
  return {
    line: Number(row[0]),
    key: String(row[1]),
    to: String(row[2]),
    listTo: String(row[3]),
    outcome: row[4] as ChangedRecipient['outcome'],
    sentBefore: row[5] === 1,
  };
}

function toEarlier(row: readonly Value[], run: RunRecord, resend: number): EarlierRow {
  return {
    channel: (row[1] ?? run.channel) as Channel,
    to: row[2] as string | null,
    messageId: row[3] as string | null,
    httpStatus: row[4] as number | null,
    resend,
    sentAtMs: row[5] as number | null,
  };
}
