import { changedOf } from '../ledger/reading.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Channel, Delivery, LegOutcome, Outcome, OutcomeState } from '../model.ts';
import { openDeliveries } from '../run/deliveries.ts';
import { createTurns } from '../util/turns.ts';
import type { OpenLedger } from './ledger.ts';
import { matchesSearch, type Search } from './search.ts';

/** The recipients of a run that are asked for: those that match all given criteria. */
export interface RowFilter {
  readonly outcome: OutcomeState | null;
  readonly reason: string | null;
  readonly delivery: Delivery | 'none' | null;
  readonly variant: string | null;
  readonly search: Search | null;
}

/** Where a page begins: behind a row, or before one. Row numbers count from 0, in list order. */
export type Cursor = { readonly after: number } | { readonly before: number };

interface RowPage {
  /** In list order, with the delivery result of each. */
  readonly rows: readonly Outcome[];
  /** Whether there are rows before, and after. */
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
  /** The search took too long: it got as far as this row, and goes on from there. */
  readonly stoppedAt: number | null;
}

/** Rows that are looked at in one query where a filter leaves out most of them: some milliseconds. */
const STEP_ROWS = 20_000;

/** Rows that one query gives back at most: each becomes an object. */
const MOST_ROWS = 1_000;

/** A search that finds too few goes no further for now than so long. */
const LONGEST_MS = 1_500;

/**
 * A page of recipients, found by their place in the list: nothing is skipped or sorted, so the last page of a million
 * takes no longer than the first. A filter walks the list in steps, and other requests are answered in between.
 */
export async function readRows(
  open: OpenLedger,
  run: RunRecord,
  isHeld: boolean,
  filter: RowFilter,
  cursor: Cursor,
  limit: number,
): Promise<RowPage> {
  const walk = createWalk(open, run, isHeld, filter);
  const lastRow = Number(open.query(LAST_ROW).get(run.list)?.[0] ?? -1);
  const until = performance.now() + LONGEST_MS;
  const turn = createTurns();
  const found: Outcome[] = [];
  const isPlain = Object.values(filter).every((one) => one === null);
  if ('before' in cursor) {
    let to = Math.min(cursor.before - 1, lastRow);
    while (to >= 0 && found.length <= limit && performance.now() < until) {
      const from = Math.max(-1, to - (isPlain ? limit + 1 : STEP_ROWS));
      found.unshift(...walk.between(from, to));
      to = from;
      await turn();
    }
    const more = found.length > limit || to >= 0;
    return { rows: found.slice(-limit), hasBefore: more, hasAfter: true, stoppedAt: null };
  }
  let after = cursor.after;
  while (after < lastRow && found.length <= limit && performance.now() < until) {
    const step = walk.next(after, Math.min(lastRow, after + STEP_ROWS), isPlain ? limit + 1 : MOST_ROWS);
    found.push(...step.rows);
    after = step.reached;
    await turn();
  }
  const isCut = found.length <= limit && after < lastRow;
  const more = found.length > limit || isCut;
  return { rows: found.slice(0, limit), hasBefore: cursor.after >= 0, hasAfter: more, stoppedAt: isCut ? after : null };
}

/** One recipient with all channel steps and its delivery result, or null if the list has no such row. */
export function readRow(open: OpenLedger, run: RunRecord, isHeld: boolean, row: number): Outcome | null {
  const walk = createWalk(open, run, isHeld, NO_FILTER);
  return walk.between(row - 1, row)[0] ?? null;
}

const NO_FILTER: RowFilter = { outcome: null, reason: null, delivery: null, variant: null, search: null };

type Row = readonly unknown[];

function createWalk(open: OpenLedger, run: RunRecord, isHeld: boolean, filter: RowFilter) {
  const { list } = run;
  const { search } = filter;
  const query = open.query(ROWS);
  const deliveries = openDeliveries(open.ledger, run);
  const lastLeg = Number(open.query(LAST_LEG).get(list)?.[0] ?? 0);
  const wanted = filter.outcome === null ? null : statesFor(filter.outcome, isHeld);
  // A fallback has an address and an id of its own, which the row of step 0 does not have.
  const names = search === null ? null : JSON.stringify(search.names);
  const params = [wanted, filter.variant, names, search?.line ?? null, search?.part ?? null, filter.reason] as const;
  const unfiltered = [null, null, null, null, null, null] as const;

  const read = (from: number, to: number, most: number): { rows: readonly Outcome[]; reached: number } => {
    const first = query.all(list, 0, from, to, most, ...params) as readonly Row[];
    const reached = first.length < most ? to : Number(first.at(-1)?.[0]);
    const later = new Map<number, Row[]>();
    const fallen = first.filter(hasFallen);
    const [begin, end] = [fallen[0], fallen.at(-1)];
    for (let leg = 1; leg <= lastLeg && begin !== undefined; leg++) {
      for (const row of query.all(
        list,
        leg,
        Number(begin[0]) - 1,
        Number(end?.[0]),
        -1,
        ...unfiltered,
      ) as readonly Row[]) {
        later.set(Number(row[0]), [...(later.get(Number(row[0])) ?? []), row]);
      }
    }
    const outcomes = first.map((row) => toOutcome([row, ...(later.get(Number(row[0])) ?? [])], run, isHeld));
    const joined = deliveries?.join(outcomes.filter((one) => fits(one, filter))) ?? outcomes;
    return { rows: joined.filter((one) => fits(one, filter) && fitsDelivery(one, filter)), reached };
  };
  return {
    next: read,
    between: (from: number, to: number) => read(from, to, STEP_ROWS + 1).rows,
  };
}

/** Checked again with all steps, because the query includes every recipient who fell back. */
function fits(outcome: Outcome, { outcome: wanted, reason, variant, search }: RowFilter): boolean {
  return (
    (wanted === null || outcome.outcome === wanted) &&
    (reason === null || outcome.reason === reason) &&
    (variant === null || (outcome.legs?.[0]?.variant ?? outcome.variant) === variant) &&
    (search === null || matchesSearch(search, outcome))
  );
}

function fitsDelivery({ delivery = null }: Outcome, filter: RowFilter): boolean {
  return filter.delivery === null || (delivery ?? 'none') === filter.delivery;
}

function statesFor(outcome: OutcomeState, isHeld: boolean): string {
  const claimed = outcome === (isHeld ? 'pending' : 'in-doubt') ? ' claimed' : '';
  return ` ${outcome}${claimed} `;
}

function hasFallen(row: Row): boolean {
  return row[2] === 'rejected' && row[3] === 'fell-back';
}

function toOutcome(legs: readonly Row[], run: RunRecord, isHeld: boolean): Outcome {
  const [first = []] = legs;
  const all = legs.map((row) => toLeg(row, run, isHeld));
  const last = all.at(-1) ?? toLeg(first, run, isHeld);
  const who = { row: Number(first[0]), line: Number(first[4]), key: first[1] as string | null };
  return { ...who, ...last, ...(all.length > 1 ? { legs: all } : {}) };
}

/** As the ledger's own reader shows a row: a claimed row is in flight, or in doubt. */
function toLeg(row: Row, run: RunRecord, isHeld: boolean): LegOutcome {
  const isClaimed = row[2] === 'claimed';
  const crashed = isClaimed && !isHeld;
  const micros = row[14] as number | null;
  const at = (crashed ? row[16] : row[15]) as number | null;
  return {
    to: row[5] as string | null,
    channel: (row[6] ?? run.channel) as Channel,
    variant: row[7] as string | null,
    outcome: isClaimed ? (isHeld ? 'pending' : 'in-doubt') : (row[2] as OutcomeState),
    reason: crashed ? 'crash' : isClaimed ? null : (row[3] as string | null),
    attempts: Number(row[8]) + (crashed ? 1 : 0),
    httpStatus: crashed ? null : (row[9] as number | null),
    messageId: row[10] as string | null,
    error: crashed ? null : (row[11] as string | null),
    parts: row[12] as number | null,
    encoding: row[13] as 'GSM-7' | 'UCS-2' | null,
    cost: micros === null ? null : micros / 1e6,
    updatedAt: at === null ? null : new Date(at).toISOString(),
    ...(row[16] === null ? {} : { claimedAtMs: Number(row[16]) }),
    ...(row[17] === null ? {} : { delivery: row[17] as Delivery }),
    ...changedOf(row[18], row[19]),
  };
}

const LAST_ROW = 'SELECT row FROM recipients WHERE list = ? AND leg = 0 ORDER BY row DESC LIMIT 1';

const LAST_LEG = 'SELECT leg FROM recipients WHERE list = ? ORDER BY list DESC, leg DESC LIMIT 1';

// Recipients who fell back are included whatever is asked for: their outcome is in another row.
const ROWS = `SELECT row, key, state, reason, line, address, channel, variant, attempts, http_status, message_id, error,
    parts, encoding, cost_micros, updated_at, claimed_at, delivery,
    CASE WHEN state = 'accepted' OR state = 'in-doubt' OR state = 'rejected' OR state = 'claimed' THEN list_address END, resend
  FROM recipients
  WHERE list = ?1 AND leg = ?2 AND row > ?3 AND row <= ?4
    AND ((state = 'rejected' AND reason = 'fell-back')
      OR ((?6 IS NULL OR instr(?6, ' ' || state || ' ') > 0) AND (?7 IS NULL OR variant = ?7)
        AND (?11 IS NULL OR reason = ?11 OR state = 'claimed')
        AND (?8 IS NULL OR line = ?9 OR instr(key, ?10) > 0 OR instr(address, ?10) > 0
          OR key IN (SELECT value FROM json_each(?8)) OR address IN (SELECT value FROM json_each(?8))
          OR message_id IN (SELECT value FROM json_each(?8)))))
  ORDER BY row LIMIT ?5`;
