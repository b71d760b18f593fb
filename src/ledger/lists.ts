import type { Channel } from '../model.ts';
import type { Connection } from './connection.ts';
import { lazily } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { LoadRow, RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';

export type ListStore = Pick<Ledger, 'beginLoad' | 'load' | 'sealLoad' | 'discardLoad'>;

/**
 * Loads the list of a new run into the ledger. Other processes do not see it before it is complete, so a kill half way
 * leaves nothing that could be mistaken for a run.
 */
export function listStore(connection: Connection, runs: RunStore): ListStore {
  const leftovers = connection.query(
    `SELECT number, list FROM runs WHERE environment = ? AND campaign = ? AND occurrence = ? AND state = 'loading'`,
  );
  const forgetRows = connection.statement('DELETE FROM recipients WHERE list = ?');
  const forgetRun = connection.statement(`DELETE FROM runs WHERE number = ? AND state = 'loading'`);
  // Prepared when it is needed: in an older ledger that is only read, a view replaces the table.
  const queries = lazily((sql) => connection.query(sql));
  const insertRun = `INSERT INTO runs (list, environment, campaign, occurrence, channel, state, inputs, identity_hash, created_at, counted)
    SELECT coalesce(max(list), 0) + 1, ?, ?, ?, ?, 'loading', '[]', '', ?, ? FROM runs RETURNING number`;
  const insertRow = connection.statement(
    `INSERT INTO recipients (list, row, line, key, address, state, reason, parts, encoding, cost_micros, variant, channel)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // To bind a value takes 0.1 to 0.3 us, and most rows of most lists need no more than these.
  const insertPlain = connection.statement(
    `INSERT INTO recipients (list, row, line, key, address, state, parts, encoding)
      VALUES (?1, ?2, ?3, ?4, ?4, 'pending', ?5, ?6)`,
  );
  const seal = connection.statement(
    `UPDATE runs SET state = 'partial', inputs = ?, identity_hash = ?, created_at = ?,
      rows = (SELECT count(*) FROM recipients WHERE recipients.list = runs.list AND leg = 0)
      WHERE number = ? AND state = 'loading'`,
  );

  const loadingList = (run: RunRecord): number => {
    const { list, state } = runs.listOf(run);
    if (state !== 'loading') throw new Error(`Run ${run.id} is sealed: its list cannot be loaded again.`);
    return list;
  };

  return {
    beginLoad({ environment, campaign, occurrence }, { channel, nowMs, isCounted = true }) {
      const number = connection.write(nowMs, 1, (now) => {
        for (const [number = 0, list = 0] of leftovers.all(environment, campaign, occurrence)) {
          forgetRows(list);
          forgetRun(number);
        }
        return Number(queries(insertRun).get(environment, campaign, occurrence, channel, now, isCounted ? 1 : 0)?.[0]);
      });
      return runs.record(number);
    },

    load(run, rows) {
      if (connection.many !== null) {
        for (const row of rows) if (row.state !== 'skipped') checkComplete(row);
        connection.many.load(loadingList(run), rows, run);
        return;
      }
      connection.write(0, rows.length, () => {
        const list = loadingList(run);
        for (const r of rows) {
          if (r.state !== 'skipped') checkComplete(r);
          const { row, line, key, to, state, reason, parts, encoding, costMicros, variant } = r;
          const channel = ownChannel(r.channel ?? null, run);
          const isPlain = state === 'pending' && key === to && reason === null && costMicros === null;
          if (isPlain && variant === null && channel === null) insertPlain(list, row, line, key, parts, encoding);
          else insertRow(list, row, line, key, to, state, reason, parts, encoding, costMicros, variant, channel);
        }
      });
    },

    sealLoad(run, { inputs, identityHash, nowMs }) {
      connection.write(nowMs, 1, (now) => {
        loadingList(run);
        seal(JSON.stringify(inputs), identityHash, now, run.number);
      });
      return runs.record(run.number);
    },

    discardLoad(run) {
      connection.write(0, run.rows, () => {
        forgetRows(loadingList(run));
        forgetRun(run.number);
      });
    },
  };
}

/** What is kept of a channel: null for that of the run, so that one channel has one spelling. */
export function ownChannel(channel: Channel | null, run: Pick<RunRecord, 'channel'>): Channel | null {
  return channel === run.channel ? null : channel;
}

function checkComplete(row: LoadRow): void {
  if (row.key === null || row.to === null) throw new Error(`Row ${row.row} has no key or address, but is not skipped.`);
}
