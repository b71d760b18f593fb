import type { Channel } from '../model.ts';
import type { Connection, Value } from './connection.ts';
import type { CountStore } from './counts.ts';
import type { Ledger } from './ledger.ts';
import { lastStep, postedFromOf, readPage, resendOf, type StepRow } from './reading.ts';
import type { DoubtRow, Resolution, ResolutionRecord, ResultRecord, RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';
import { RECOVER } from './starts.ts';

const BATCH_ROWS = 1000;

/** Reads doubts and ends them, by a person's decision or a late answer. */
export function doubtStore(connection: Connection, runs: RunStore, counts: CountStore) {
  const { query, statement } = connection;

  const resolveOne = (run: RunRecord, list: number, doubt: DoubtRow, order: Resolution, now: number): boolean => {
    const { verdict, messageId, who, note } = order;
    const { row, step, key, attempts } = doubt;
    const facts = [run.number, verdict, messageId, who, note, now, list, step, row, key, attempts];
    if (statement(NOTE_ORDER)(...facts) === 0) return false;
    if (verdict === 'resend') statement(SEND_AGAIN)(now, list, step, row);
    else statement(SETTLE)(verdict, messageId, now, list, step, row);
    return true;
  };

  return {
    *doubts(run) {
      // The run is purged: its recipients cannot be identified any more.
      if (runs.record(run.number).purgedAtMs !== null) return;
      const { list, state } = runs.listOf(run);
      // No process works on the run: a claimed row has no outcome and will not get one.
      const leftBehind = state !== 'running' || !connection.isHeld(run) ? 1 : 0;
      for (let after = -1; ; ) {
        const page = readPage(query(NEXT_DOUBTS), hasFallen, list, after, BATCH_ROWS, null, leftBehind);
        if (page.first.length === 0) return;
        after = Number(page.first.at(-1)?.[0]);
        const last = (first: StepRow) => (hasFallen(first) ? lastStep(page, hasFallen, first)?.row : first);
        const doubtful = page.first.map(last).filter((row) => row !== undefined);
        const toDoubt = (row: StepRow): DoubtRow => {
          return { row: Number(row[0]), ...factsOf(row, run), ...resendOf(row[12]), ...postedFromOf(row[13]) };
        };
        if (doubtful.length > 0) yield doubtful.map(toDoubt);
      }
    },

    resolve(run, doubts, order) {
      let missed: readonly DoubtRow[] = [];
      try {
        connection.write(order.nowMs, 2 * doubts.length, (now) => {
          const { list } = runs.listOf(run);
          statement(RECOVER)(now, list);
          missed = doubts.filter((doubt) => !resolveOne(run, list, doubt, order, now));
          if (missed.length > 0) throw UNDONE;
          const [open, doubtful] = query(WHAT_IS_LEFT).get(list) ?? [];
          if (open === 1) statement(REOPEN)(run.number);
          else if (doubtful !== 1) statement(FINISH)(now, run.number);
          counts.keep(run.number);
        });
      } catch (error) {
        if (error !== UNDONE) throw error;
      }
      return { run: runs.record(run.number), missed };
    },

    *resolutions(run) {
      for (let after = 0; ; ) {
        const rows = query(NEXT_RESOLUTIONS).all(run.number, after, BATCH_ROWS);
        if (rows.length === 0) return;
        after = Number(rows.at(-1)?.[0]);
        yield rows.map((row) => ({
          ...factsOf(row, run),
          verdict: row[12] as ResolutionRecord['verdict'],
          messageId: row[13] as string | null,
          resolvedBy: String(row[14]),
          who: row[15] as string | null,
          note: row[16] as string | null,
          resolvedAtMs: Number(row[17]),
        }));
      }
    },

    /** Takes a late answer of a process that counted as dead: evidence for its own attempt only. Inside a transaction. */
    lateAnswer(list: number, late: ResultRecord, now: number): void {
      const { row, step, state, reason, attempts, httpStatus, messageId, error } = late;
      if (state === 'in-doubt') {
        // The doubt stays, with more known about it.
        statement(EXPLAIN)(reason, httpStatus, messageId, error, now, list, step, row, attempts);
        return;
      }
      if (state !== 'accepted' && state !== 'rejected') return;
      if (statement(NOTE_LATE)(state, messageId, now, list, row, attempts, step) === 0) return;
      statement(SETTLE_LATE)(state, reason, httpStatus, messageId, error, now, list, step, row);
    },
  } satisfies Partial<Ledger> & { readonly lateAnswer: unknown };
}

/** Undoes the whole transaction: a resolution is entered for all named recipients or for none. */
const UNDONE = new Error('the recipient is no longer in doubt');

// Counted as the next start counts: an attempt without an outcome counts, with the reason `crash`.
const NEXT_DOUBTS = `SELECT row, state = 'rejected', step, channel, line, key, address,
    CASE state WHEN 'claimed' THEN 'crash' ELSE reason END, attempts + CASE state WHEN 'claimed' THEN 1 ELSE 0 END,
    CASE state WHEN 'claimed' THEN NULL ELSE http_status END, CASE state WHEN 'claimed' THEN NULL ELSE error END,
    coalesce(claimed_at, updated_at), resend, posted_from
  FROM recipients WHERE list = ?1 AND step = ?2 AND row > ?3 AND row <= ?4
    AND (state = 'in-doubt' OR (state = 'claimed' AND ?6 = 1) OR (state = 'rejected' AND reason = 'fell-back'))
  ORDER BY row LIMIT ?5`;

/** Enters what is known of the message of a row. Then follow the number of the run, the verdict, and the row. */
export const NOTE = `INSERT INTO resolutions (step, channel, key, attempts, line, address, reason, http_status, error, doubt_at,
    run, verdict, message_id, resolved_by, who, note, resolved_at, posted_from, version)
  SELECT step, recipients.channel, key, attempts, line, address, reason, http_status, error, coalesce(claimed_at, updated_at)`;

// Where the list has again an address that got the message, no second message goes there.
const NOTE_ORDER = `${NOTE}, CAST(?1 AS INTEGER), ?2, ?3, 'user', ?4, ?5, CAST(?6 AS INTEGER), posted_from, version
  FROM recipients WHERE list = ?7 AND step = ?8 AND row = ?9 AND key = ?10 AND attempts = ?11 AND state = 'in-doubt'
    AND (CAST(?2 AS TEXT) <> 'resend' OR resend IS NULL OR list_address IS NULL OR NOT EXISTS (SELECT 1 FROM resolutions AS former
      WHERE former.run = ?1 AND former.key = recipients.key AND former.resolved_by = 'resend-changed'
      AND former.address = recipients.list_address))`;

// Status and text of the API's answer stay, whatever the resolution says.
const SETTLE = `UPDATE recipients SET state = ?1, reason = 'resolved', message_id = coalesce(?2, message_id),
    updated_at = ?3, resolved_by = 'user'
  WHERE list = ?4 AND step = ?5 AND row = ?6 AND state = 'in-doubt'`;

const SEND_AGAIN = `UPDATE recipients SET state = 'pending', reason = 'resend', http_status = NULL, message_id = NULL,
    error = NULL, updated_at = ?, resolved_by = 'resend', list_address = NULL
  WHERE list = ? AND step = ? AND row = ? AND state = 'in-doubt'`;

const WHAT_IS_LEFT = `SELECT max(CASE WHEN state = 'pending' OR state = 'failed' OR state = 'deferred' THEN 1 ELSE 0 END),
    max(CASE state WHEN 'in-doubt' THEN 1 ELSE 0 END)
  FROM recipients WHERE list = ?`;

const REOPEN = `UPDATE runs SET state = 'partial' WHERE number = ? AND state = 'finished'`;

// Ends a halt that left nothing but doubts.
const FINISH = `UPDATE runs SET state = 'finished', halt = NULL, finished_at = coalesce(finished_at, ?) WHERE number = ?`;

// Only a doubt that a recovery made and no one resolved takes a late answer; `attempts` shows that it is the same
// attempt (failures.md, J5). A recipient who waits for a second message does not get it then.
const NOTE_LATE = `${NOTE}, runs.number, ?1, ?2, 'late-result', NULL, NULL, CAST(?3 AS INTEGER), NULL, NULL
  FROM recipients JOIN runs ON runs.list = recipients.list
  WHERE recipients.list = ?4 AND step = ?7 AND row = ?5 AND attempts = ?6
    AND ((recipients.state = 'in-doubt' AND reason = 'crash')
      OR ((recipients.state = 'pending' OR recipients.state = 'deferred') AND resolved_by = 'resend' AND ?1 = 'accepted'))`;

const SETTLE_LATE = `UPDATE recipients SET state = ?, reason = ?, http_status = ?, message_id = ?, error = ?,
    updated_at = ?, resolved_by = 'late-result' WHERE list = ? AND step = ? AND row = ?`;

const EXPLAIN = `UPDATE recipients SET reason = ?, http_status = ?, message_id = ?, error = ?, updated_at = ?
  WHERE list = ? AND step = ? AND row = ? AND attempts = ? AND state = 'in-doubt' AND reason = 'crash'`;

const NEXT_RESOLUTIONS = `SELECT number, 0, step, channel, line, key, address, reason, attempts, http_status, error,
    doubt_at, verdict, message_id, resolved_by, who, note, resolved_at
  FROM resolutions WHERE run = ? AND number > ? AND resolved_by <> 'resend-changed' ORDER BY number LIMIT ?`;

function hasFallen(row: StepRow): boolean {
  return row[1] === 1;
}

function factsOf(row: readonly Value[], run: RunRecord): Omit<DoubtRow, 'row'> {
  return {
    step: Number(row[2]),
    channel: (row[3] ?? run.channel) as Channel,
    line: Number(row[4]),
    key: String(row[5]),
    to: row[6] as string | null,
    reason: row[7] as string | null,
    attempts: Number(row[8]),
    httpStatus: row[9] as number | null,
    error: row[10] as string | null,
    sinceMs: row[11] as number | null,
  };
}
