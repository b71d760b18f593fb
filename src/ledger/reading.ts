import { problem } from '../errors.ts';
import type { Outcome, OutcomeState } from '../model.ts';
import type { Connection, Value } from './connection.ts';
import type { Ledger } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import { isRunHeld } from './lock.ts';
import type { RowState, RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';

const BATCH_ROWS = 1000;

/** What became of the rows. */
export function reader(connection: Connection, runs: RunStore): Pick<Ledger, 'counts' | 'outcomes' | 'stateOf'> {
  const count = connection.query(
    `SELECT state, reason, encoding, count(*), sum(parts), sum(cost_micros) FROM recipients
      WHERE list = ? AND leg = 0 GROUP BY state, reason, encoding`,
  );
  const nextRows = connection.query(
    `SELECT row, line, key, address, variant, state, reason, attempts, http_status, message_id, error, parts, encoding,
      cost_micros, updated_at, claimed_at FROM recipients
      WHERE list = ?1 AND leg = 0 AND row > ?2 AND (?3 IS NULL OR instr(?3, ' ' || state || ' ') > 0)
      ORDER BY row LIMIT ?4`,
  );
  const nextStates = connection.query(
    'SELECT row, key, state, reason FROM recipients WHERE list = ? AND leg = 0 AND row >= ? ORDER BY row LIMIT ?',
  );

  /** What a claimed row is now: in flight, or left behind by a process that died. */
  const claimedAs = (run: RunRecord, state: RunRecord['state']): RowState =>
    state === 'running' && isRunHeld(connection.path, run)
      ? { outcome: 'pending', reason: null }
      : { outcome: 'in-doubt', reason: 'crash' };

  return {
    counts(run) {
      const { list, state } = runs.listOf(run);
      const claimed = claimedAs(run, state);
      return count.all(list).map((row) => ({
        ...shown(row[0], row[1], claimed),
        encoding: row[2] as 'GSM-7' | 'UCS-2' | null,
        count: Number(row[3]),
        parts: Number(row[4] ?? 0),
        costMicros: row[5] === null ? null : Number(row[5]),
      }));
    },

    *outcomes(run, filter) {
      const { list, state } = runs.listOf(run);
      const claimed = claimedAs(run, state);
      const wanted = filter?.outcomes === undefined ? null : statesFor(filter.outcomes, claimed);
      let after = -1;
      for (;;) {
        const rows = nextRows.all(list, after, wanted, BATCH_ROWS);
        if (rows.length === 0) break;
        after = Number(rows.at(-1)?.[0]);
        yield rows.map((row) => toOutcome(row, run, claimed));
      }
      if (runs.listOf(run).list !== list) throw amendedMeanwhile(connection.path);
    },

    stateOf(run) {
      const { list, state } = runs.listOf(run);
      const claimed = claimedAs(run, state);
      // Asked in list order, a window is read once; a step back costs a query.
      let window: readonly (readonly Value[])[] = [];
      let at = 0;
      let last = -1;
      return (row, key) => {
        while (at < window.length && Number(window[at]?.[0]) < row) at++;
        if (at >= window.length || row < last) {
          window = nextStates.all(list, row, BATCH_ROWS);
          at = 0;
        }
        last = row;
        const found = window[at];
        return found === undefined || found[0] !== row || found[1] !== key ? null : shown(found[2], found[3], claimed);
      };
    },
  };
}

function amendedMeanwhile(path: string): LedgerError {
  const message = 'The list of the run was replaced while it was read.';
  return new LedgerError('busy', problem('ledger-unusable', message, { at: { file: path }, hint: 'Run it again.' }));
}

function shown(state: Value | undefined, reason: Value | undefined, claimed: RowState): RowState {
  if (state === 'claimed') return claimed;
  return { outcome: state as OutcomeState, reason: (reason ?? null) as string | null };
}

/** The states of the database that are shown as one of these outcomes, in a form that `instr` can search. */
function statesFor(outcomes: readonly OutcomeState[], claimed: RowState): string {
  const states: readonly string[] = outcomes.includes(claimed.outcome) ? [...outcomes, 'claimed'] : outcomes;
  return ` ${states.join(' ')} `;
}

function toOutcome(row: readonly Value[], run: RunRecord, claimed: RowState): Outcome {
  const crashed = row[5] === 'claimed' && claimed.outcome === 'in-doubt';
  const micros = row[13] as number | null;
  const updatedAt = (crashed ? row[15] : row[14]) as number | null;
  return {
    row: Number(row[0]),
    line: Number(row[1]),
    key: row[2] as string | null,
    to: row[3] as string | null,
    channel: run.channel,
    variant: row[4] as string | null,
    ...shown(row[5], row[6], claimed),
    // As the next start will count it.
    attempts: Number(row[7]) + (crashed ? 1 : 0),
    httpStatus: crashed ? null : (row[8] as number | null),
    messageId: row[9] as string | null,
    error: crashed ? null : (row[10] as string | null),
    parts: row[11] as number | null,
    encoding: row[12] as 'GSM-7' | 'UCS-2' | null,
    cost: micros === null ? null : micros / 1e6,
    updatedAt: updatedAt === null ? null : new Date(updatedAt).toISOString(),
  };
}
