import type { RowSet } from '../util/row-set.ts';
import type { Connection, Value } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { RunRecord } from './records.ts';

/** Rows that are looked at in one question (`open`). */
const PAGE = 4000;

/**
 * J6: another server took over, and may lack the last that the former one confirmed. Whoever sent knows whom he had
 * claimed: those are claimed again, so that nobody sends to them once more.
 */
export function claimRestorer(connection: Connection): Pick<Ledger, 'restoreClaims'> {
  const isThere = connection.query(`SELECT 1 FROM runs WHERE number = ? AND list = ? AND state <> 'loading'`);
  const open = connection.query(
    `SELECT row FROM recipients WHERE list = ? AND leg = ? AND row > ?
      AND (state = 'pending' OR state = 'failed' OR state = 'deferred') ORDER BY row LIMIT 4000`,
  );
  // Only a start makes them pending, which this server may not know of.
  const makePending = connection.statement(
    `UPDATE recipients SET state = 'pending', reason = NULL, http_status = NULL, error = NULL
      WHERE list = ? AND leg = ? AND row = ? AND (state = 'failed' OR state = 'deferred')`,
  );
  const claim = connection.statement(
    `UPDATE recipients SET state = 'claimed', claimed_at = ?, resolved_by = NULL
      WHERE list = ? AND leg = ? AND row = ? AND state = 'pending'`,
  );
  const look = connection.query('SELECT state FROM recipients WHERE list = ? AND leg = ? AND row = ?');
  const fallBack = connection.statement(
    `UPDATE recipients SET reason = 'fell-back', state = 'rejected', resolved_by = 'report'
      WHERE list = ? AND leg = ? AND row = ? AND state = 'accepted'`,
  );

  /** Whoever can be sent to in this leg. */
  function* openRows(list: number, leg: number): Generator<number> {
    for (let after = -1; ; ) {
      const page: readonly (readonly Value[])[] = open.all(list, leg, after);
      for (const [row] of page) yield Number(row);
      if (page.length < PAGE) return;
      after = Number(page.at(-1)?.[0]);
    }
  }

  const restore = ({ list }: RunRecord, claimed: readonly RowSet[], now: number): number => {
    const claimOne = (leg: number, row: number): number => {
      makePending(list, leg, row);
      return claim(now, list, leg, row);
    };
    // The server may know nothing of the legs that follow, so that an earlier one is open still.
    const isLost = (row: number, from: number): boolean => claimed.some((rows, leg) => leg >= from && rows.has(row));
    let count = 0;
    for (const leg of claimed.keys()) {
      for (const row of openRows(list, leg)) if (isLost(row, leg)) count += claimOne(leg, row);
      if (leg === 0) continue;
      // A report had made it due: to this server the leg before was accepted, and would fall back once more.
      for (const row of claimed[leg] ?? []) {
        if (look.get(list, leg, row) === undefined && fallBack(list, leg - 1, row) === 1) count += claimOne(leg, row);
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
