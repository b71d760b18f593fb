import type { Channel } from '../model.ts';
import type { RowSet } from '../util/row-set.ts';
import type { Connection, Value } from './connection.ts';
import type { CountStore } from './counts.ts';
import type { Ledger } from './ledger.ts';
import { channelsBefore, LAST_ROW, lastStep, readPage, resendOf, type StepRow } from './reading.ts';
import type { PendingRow, RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';
import { withCommit } from './versions.ts';

type StartStore = Pick<Ledger, 'start' | 'finish' | 'closeRun' | 'reopenRejected' | 'pending'>;

/**
 * Puts claimed rows without an outcome in doubt; also when doubts are resolved before the next start. An attempt without an
 * outcome counts, because the API may have had it (failures.md, B1, C10, I5). A row that was not claimed is pending again
 * (failures.md, A1).
 */
export const RECOVER = `UPDATE recipients SET state = 'in-doubt', reason = 'crash', attempts = attempts + 1,
  http_status = NULL, message_id = NULL, error = NULL, updated_at = ? WHERE list = ? AND state = 'claimed'`;

export const TRY_AGAIN = `UPDATE recipients SET state = 'pending', reason = NULL, http_status = NULL, error = NULL
  WHERE list = ? AND (state = 'failed' OR state = 'deferred')`;

export function startStore(connection: Connection, runs: RunStore, counts: CountStore): StartStore {
  const setRunning = connection.statement(
    `UPDATE runs SET state = 'running', halt = NULL, starts = starts + 1, started_at = coalesce(started_at, ?1),
      last_start_at = ?1, finished_at = NULL, posted_from = ?3 WHERE number = ?2`,
  );
  const setVersions = connection.statement('UPDATE runs SET versions = ? WHERE number = ?');
  const setFinished = connection.statement(
    'UPDATE runs SET state = ?, halt = ?, figures = ?, finished_at = ? WHERE number = ?',
  );
  const nextPending = connection.query(
    `SELECT row, CASE state WHEN 'pending' THEN key END, attempts, channel, resend, reason, variant, parts, cost_micros
      FROM recipients
      WHERE list = ?1 AND step = ?2 AND row > ?3 AND row <= ?4
      AND (state = 'pending' OR (state = 'rejected' AND reason = 'fell-back')) ORDER BY row LIMIT ?5`,
  );
  const loadedList = (run: Parameters<RunStore['listOf']>[0]): number => {
    const { list, state } = runs.listOf(run);
    if (state === 'loading') throw new Error(`The list of run ${run.id} is not loaded yet.`);
    return list;
  };

  return {
    start(run, nowMs, commit = null, postedFrom = null) {
      connection.beginStart();
      const recovered = connection.write(nowMs, 0, (now) => {
        const list = loadedList(run);
        const count = connection.statement(RECOVER)(now, list);
        connection.statement(TRY_AGAIN)(list);
        setRunning(now, run.number, postedFrom);
        if (commit !== null) setVersions(JSON.stringify(withCommit(runs.record(run.number), commit)), run.number);
        return count;
      });
      return { run: runs.record(run.number), recovered };
    },

    finish(run, { state, halt, figures, nowMs }) {
      connection.write(nowMs, 1, (now) => {
        loadedList(run);
        setFinished(state, jsonOrNull(halt), jsonOrNull(figures), now, run.number);
        counts.keep(run.number);
      });
      return runs.record(run.number);
    },

    closeRun(run, nowMs) {
      connection.write(nowMs, run.rows, (now) => {
        const list = loadedList(run);
        connection.statement(RECOVER)(now, list);
        connection.statement(CLOSE_ROWS)(now, list, run.number);
        connection.statement(CLOSE)(now, run.number);
        counts.keep(run.number);
      });
      return runs.record(run.number);
    },

    reopenRejected: (run, limit = null) =>
      connection.write(0, 0, () => {
        const list = loadedList(run);
        const last = limit === null ? undefined : connection.query(OPEN_AT).get(list, limit - 1)?.[0];
        return connection.statement(RETRY)(list, last === undefined ? LAST_ROW : Number(last));
      }),

    pending(run, afterRow, limit, lastRow) {
      const list = loadedList(run);
      const found: PendingRow[] = [];
      for (let after = afterRow; found.length < limit; ) {
        const page = readPage(nextPending, hasFallen, list, after, limit, lastRow ?? null);
        for (const first of page.first) {
          const last = hasFallen(first) ? lastStep(page, hasFallen, first) : { step: 0, row: first };
          if (last === null) continue;
          const used = last.step === 0 ? NONE : channelsBefore(page, first, 3, run.channel);
          found.push(pendingRow(last.row, last.step, used));
        }
        if (page.first.length < limit) break;
        after = Number(page.first.at(-1)?.[0]);
      }
      return found.length > limit ? found.slice(0, limit) : found;
    },
  };
}

/** Only a row that fell back comes without its key. */
function hasFallen(row: StepRow): boolean {
  return row[1] === null;
}

const NONE: readonly Channel[] = [];

function pendingRow(row: StepRow, step: number, used: readonly Channel[]): PendingRow {
  return {
    row: Number(row[0]),
    step,
    key: String(row[1]),
    attempts: Number(row[2]),
    used,
    facts: {
      variant: row[6] as string | null,
      parts: row[7] as number | null,
      costMicros: row[8] as number | null,
    },
    ...resendOf(row[4]),
    ...(row[5] === 'rate-limited' ? { isLimited: true as const } : {}),
  };
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Rows of one query (`open`). */
const PAGE = 4000;

/**
 * Another server may lack the last commits: the sender claims its rows again, so that none is sent again (failures.md,
 * J6).
 */
export function claimRestorer(connection: Connection): Pick<Ledger, 'restoreClaims'> {
  const isThere = connection.query(`SELECT 1 FROM runs WHERE number = ? AND list = ? AND state <> 'loading'`);
  const open = connection.query(
    `SELECT row FROM recipients WHERE list = ? AND step = ? AND row > ?
      AND (state = 'pending' OR state = 'failed' OR state = 'deferred') ORDER BY row LIMIT 4000`,
  );
  // Only a start makes them pending, and this server may lack that start.
  const makePending = connection.statement(
    `UPDATE recipients SET state = 'pending', reason = NULL, http_status = NULL, error = NULL
      WHERE list = ? AND step = ? AND row = ? AND (state = 'failed' OR state = 'deferred')`,
  );
  const claim = connection.statement(
    `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL, posted_from = ?2,
      version = (SELECT version FROM runs WHERE runs.list = ?3)
      WHERE list = ?3 AND step = ?4 AND row = ?5 AND state = 'pending'`,
  );
  const look = connection.query('SELECT state FROM recipients WHERE list = ? AND step = ? AND row = ?');
  const fallBack = connection.statement(
    `UPDATE recipients SET reason = 'fell-back', state = 'rejected', resolved_by = 'report'
      WHERE list = ? AND step = ? AND row = ? AND state = 'accepted'`,
  );

  /** The rows that can be sent to in this step. */
  function* openRows(list: number, step: number): Generator<number> {
    for (let after = -1; ; ) {
      const page: readonly (readonly Value[])[] = open.all(list, step, after);
      for (const [row] of page) yield Number(row);
      if (page.length < PAGE) return;
      after = Number(page.at(-1)?.[0]);
    }
  }

  const restore = ({ list, postedFrom }: RunRecord, claimed: readonly RowSet[], now: number): number => {
    const claimOne = (step: number, row: number): number => {
      makePending(list, step, row);
      return claim(now, postedFrom, list, step, row);
    };
    // The server may lack the later steps, so that an earlier one is still open there.
    const isLost = (row: number, from: number): boolean => claimed.some((rows, step) => step >= from && rows.has(row));
    let count = 0;
    for (const step of claimed.keys()) {
      for (const row of openRows(list, step)) if (isLost(row, step)) count += claimOne(step, row);
      if (step === 0) continue;
      // A report had made it due: on this server the step before is accepted, and would fall back again.
      for (const row of claimed[step] ?? []) {
        if (look.get(list, step, row) === undefined && fallBack(list, step - 1, row) === 1)
          count += claimOne(step, row);
      }
    }
    return count;
  };

  return {
    restoreClaims(run, claimed, nowMs) {
      return connection.write(nowMs, 0, (now) => {
        if (isThere.get(run.number, run.list) === undefined) return null;
        return restore(run, claimed, now);
      });
    },
  };
}

// Failed recipients stay so: they were tried. But if they were to be sent to once more, the message before counts again
// (AS_BEFORE).
const CLOSE_ROWS = `UPDATE recipients SET state = 'skipped', reason = 'closed', updated_at = ?1
  WHERE list = ?2 AND (state = 'pending' OR state = 'deferred'
    OR (state = 'failed' AND EXISTS (SELECT 1 FROM resolutions WHERE run = ?3 AND resolutions.key = recipients.key
      AND resolutions.step = recipients.step AND verdict = 'resend')))`;

const CLOSE = `UPDATE runs SET state = 'finished', halt = NULL, finished_at = coalesce(finished_at, ?1), closed_at = ?1
  WHERE number = ?2`;

const RETRY = `UPDATE recipients SET state = 'pending', reason = NULL, http_status = NULL, error = NULL,
    resolved_by = 'retry-rejected', list_address = NULL
  WHERE list = ? AND row <= ? AND state = 'rejected' AND reason IS DISTINCT FROM 'fell-back' AND key IS NOT NULL`;

// The row up to which so many are open, with those that RETRY finds. Not the deferred ones: they may wait again in this
// start, and rejected ones would wait behind them.
const OPEN_AT = `SELECT row FROM recipients
  WHERE list = ? AND (state = 'pending' OR state = 'failed'
    OR (state = 'rejected' AND reason IS DISTINCT FROM 'fell-back' AND key IS NOT NULL))
  ORDER BY row LIMIT 1 OFFSET ?`;
