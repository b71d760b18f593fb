import type { LegCount, RunRecord } from '../ledger/records.ts';
import type { Channel, OutcomeState } from '../model.ts';
import { createTurns } from '../util/turns.ts';
import type { OpenLedger } from './serve-ledger.ts';

/** What became of the recipients of a run, and how quickly. Parts and costs are not looked at. */
export interface RunCounts {
  readonly legs: readonly LegCount[];
  /** Messages that came to an outcome in the last minute before `atMs`. */
  readonly lastMinute: number;
  readonly atMs: number;
}

/** Rows that are counted at once: some milliseconds. */
const STEP_ROWS = 20_000;

/** States whose rows have a reason only now and then: those are grouped, the others summed. */
const PLAIN = ['accepted', 'pending', 'claimed', 'skipped', 'deferred', 'failed'] as const;

/**
 * Counts a run in steps, so that others are answered in between. Sums take a third of what it takes SQLite to sort a
 * list into groups, as `Ledger.legs` does: only rows with a reason are grouped. What moves meanwhile is counted as it
 * was found.
 *
 * @param isHeld whether some process is at the run: then what is claimed is on its way, else nobody knows
 */
export async function countRun(
  { query }: Pick<OpenLedger, 'query'>,
  run: RunRecord,
  isHeld: boolean,
  nowMs: number,
): Promise<RunCounts> {
  const turn = createTurns();
  const tally = createTally(run, isHeld);
  let lastMinute = 0;
  const lastRow = Number(query(LAST_ROW).get(run.list)?.[0] ?? -1);
  for (let after = -1; after < lastRow; after += STEP_ROWS) {
    const sums = query(SUMS).get(run.list, after, after + STEP_ROWS, nowMs - 60_000) ?? [];
    lastMinute += Number(sums[0] ?? 0);
    for (const [i, state] of PLAIN.entries()) tally.add(0, null, state, null, Number(sums[1 + i] ?? 0));
    for (const [state, reason, count] of query(REASONS).all(run.list, after, after + STEP_ROWS)) {
      tally.add(0, null, String(state), reason as string | null, Number(count));
    }
    await turn();
  }
  for (const [leg, channel, state, reason, count, recent] of query(LATER_LEGS).all(run.list, nowMs - 60_000)) {
    lastMinute += Number(recent);
    tally.add(Number(leg), channel as string | null, String(state), reason as string | null, Number(count));
  }
  return { legs: tally.all(), lastMinute, atMs: nowMs };
}

function createTally(run: RunRecord, isHeld: boolean) {
  const found = new Map<string, LegCount>();
  return {
    add(leg: number, written: string | null, state: string, reason: string | null, count: number): void {
      if (count === 0) return;
      const as = shownAs(state, reason, isHeld);
      const channel = (written ?? run.channel) as Channel;
      const key = JSON.stringify([leg, channel, as.outcome, as.reason]);
      const before = found.get(key)?.count ?? 0;
      found.set(key, { ...as, leg, channel, count: before + count, ...NOT_LOOKED_AT });
    },
    all: (): readonly LegCount[] => [...found.values()],
  };
}

const NOT_LOOKED_AT = { encoding: null, variant: null, parts: 0, costMicros: null } as const;

/** As the ledger's own reader shows a row. */
function shownAs(
  state: string,
  reason: string | null,
  isHeld: boolean,
): { outcome: OutcomeState; reason: string | null; fellBack: boolean } {
  if (state !== 'claimed') {
    return { outcome: state as OutcomeState, reason, fellBack: state === 'rejected' && reason === 'fell-back' };
  }
  const [outcome, why] = isHeld ? (['pending', null] as const) : (['in-doubt', 'crash'] as const);
  return { outcome, reason: why, fellBack: false };
}

const LAST_ROW = 'SELECT row FROM recipients WHERE list = ? AND leg = 0 ORDER BY row DESC LIMIT 1';

// One for the last minute's pace, then one for each of `PLAIN`, in its order.
const SUMS = `SELECT count(*) FILTER (WHERE updated_at >= ?4
      AND (state = 'accepted' OR state = 'rejected' OR state = 'in-doubt' OR state = 'failed')),
    count(*) FILTER (WHERE state = 'accepted' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'pending' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'claimed' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'skipped' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'deferred' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'failed' AND reason IS NULL)
  FROM recipients WHERE list = ?1 AND leg = 0 AND row > ?2 AND row <= ?3`;

const REASONS = `SELECT state, reason, count(*) FROM recipients
  WHERE list = ?1 AND leg = 0 AND row > ?2 AND row <= ?3
    AND (reason IS NOT NULL OR state = 'in-doubt' OR state = 'rejected')
  GROUP BY state, reason`;

const LATER_LEGS = `SELECT leg, channel, state, reason, count(*), count(*) FILTER (WHERE updated_at >= ?2
      AND (state = 'accepted' OR state = 'rejected' OR state = 'in-doubt' OR state = 'failed'))
  FROM recipients WHERE list = ?1 AND leg > 0 GROUP BY leg, channel, state, reason`;
