import { fateOf, hasFallen, type StepRow, statesFor, toOutcome, toStep } from '../ledger/reading.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Delivery, Outcome, OutcomeState } from '../model.ts';
import { causeOf } from '../report/causes.ts';
import { type End, endOf } from '../report/ends.ts';
import { WORST_FIRST } from '../report/words.ts';
import { openDeliveries } from '../send/deliveries.ts';
import { createYields } from '../util/long-work.ts';
import type { OpenLedger } from './ledger.ts';
import { matchesSearch, type Search } from './search.ts';

/** Selects the recipients of a run that match all criteria; without any, all of them. */
export interface RowFilter {
  readonly outcome?: OutcomeState;
  readonly reason?: string;
  readonly delivery?: Delivery | 'none';
  readonly variant?: string;
  /** As from `causeOf`. */
  readonly cause?: string;
  readonly end?: End;
  readonly search?: Search;
}

export interface RunList {
  readonly open: OpenLedger;
  readonly run: RunRecord;
  readonly isHeld: boolean;
}

/** A page begins after a row, or ends before one. Row numbers count from 0, in list order. */
type Cursor = { readonly after: number } | { readonly before: number };

/** Rows of one query where a filter excludes most: some milliseconds. */
const STEP_ROWS = 20_000;
/** Most rows of one query: each becomes an object. */
const MOST_ROWS = 1_000;
/** A search that finds too few rows stops after so long. */
const LONGEST_MS = 1_500;

/**
 * A page of recipients by their place in the list: without skipping or sorting, so the last page of a million is as
 * fast as the first. A filter walks the list in steps, and other requests are answered in between.
 */
export async function readRows(list: RunList, filter: RowFilter, cursor: Cursor, limit: number) {
  const walk = createWalk(list, filter);
  const until = performance.now() + LONGEST_MS;
  const turn = createYields();
  const found: Outcome[] = [];
  const isPlain = Object.keys(filter).length === 0;
  if ('before' in cursor) {
    let to = Math.min(cursor.before - 1, walk.lastRow);
    while (to >= 0 && found.length <= limit && performance.now() < until) {
      const from = Math.max(-1, to - (isPlain ? limit + 1 : STEP_ROWS));
      found.unshift(...walk.between(from, to));
      to = from;
      await turn();
    }
    const hasBefore = found.length > limit || to >= 0;
    return { rows: found.slice(-limit), hasBefore, hasAfter: true, stoppedAt: null };
  }
  let after = cursor.after;
  while (after < walk.lastRow && found.length <= limit && performance.now() < until) {
    const step = walk.next(after, Math.min(walk.lastRow, after + STEP_ROWS), isPlain ? limit + 1 : MOST_ROWS);
    found.push(...step.rows);
    after = step.reached;
    await turn();
  }
  const isCut = found.length <= limit && after < walk.lastRow;
  return {
    /** In list order, with the delivery result of each. */
    rows: found.slice(0, limit),
    hasBefore: cursor.after >= 0,
    hasAfter: found.length > limit || isCut,
    /** The row at which a slow search stopped; it can continue from there. */
    stoppedAt: isCut ? after : null,
  };
}

export const SORTS = ['line', 'recipient', 'outcome', 'delivery', 'variant', 'attempts', 'changed'] as const;
export type Sort = (typeof SORTS)[number];

/** Limit of pages in a sorted list: holds at most twice as many rows. */
export const SORTED_ROWS = 10_000;
/** Sorting a row takes 5 us, but up to 40 by its delivery reports: longer lists would take too long. */
const ROWS_BY_DELIVERY = 50_000;

export function canSort({ rows }: Pick<RunRecord, 'rows'>, by: Sort): boolean {
  return by !== 'delivery' || rows <= ROWS_BY_DELIVERY;
}

interface Order {
  readonly by: Sort;
  readonly isDown: boolean;
  readonly from: number;
}

/** A sorted page of the recipients that match. Most orders read all rows for every page, but hold only those up to its end. */
export async function readSorted(list: RunList, filter: RowFilter, order: Order, limit: number) {
  const { by, isDown, from } = order;
  if (by === 'outcome' && Object.keys(filter).every((name) => name === 'outcome'))
    return await readByOutcome(list, filter, order, limit);
  // Looks up delivery reports of all rows only where the order or the filter needs them.
  const isJoined = by === 'delivery' || 'delivery' in filter || 'cause' in filter || 'end' in filter;
  const walk = createWalk(list, filter, isJoined);
  const turn = createYields();
  const keyOf = KEYS[by];
  const sign = isDown ? -1 : 1;
  const most = Math.min(from + limit, SORTED_ROWS);
  let best: { readonly key: string | number; readonly outcome: Outcome }[] = [];
  let total = 0;
  // Those without a value come last in both orders, and equal ones stay in list order.
  const keepBest = (): void => {
    best.sort(
      (a, b) =>
        compare(Number(a.key === ''), Number(b.key === '')) ||
        sign * compare(a.key, b.key) ||
        a.outcome.row - b.outcome.row,
    );
    best = best.slice(0, most);
  };
  for (let after = -1; after < walk.lastRow; ) {
    const step = walk.next(after, walk.lastRow, MOST_ROWS);
    for (const outcome of step.rows) best.push({ key: keyOf(outcome), outcome });
    total += step.rows.length;
    if (best.length > 2 * most + MOST_ROWS) keepBest();
    after = step.reached;
    await turn();
  }
  keepBest();
  const rows = best.slice(from).map(({ outcome }) => outcome);
  return { rows: isJoined ? rows : walk.join(rows), total };
}

/** The counts by outcome and reason are the order: reads only the groups of the page, each from its first row. */
async function readByOutcome(list: RunList, filter: RowFilter, { isDown, from }: Order, limit: number) {
  const { open, run } = list;
  const keyOf = (one: Pick<Outcome, 'outcome' | 'reason'>) => KEYS.outcome(one as Outcome);
  const counted = open.ledger.counts(run).filter(({ outcome }) => outcome === (filter.outcome ?? outcome));
  const groups = [...Map.groupBy(counted, keyOf)].sort(([a], [b]) => (isDown ? -1 : 1) * compare(a, b));
  const turn = createYields();
  const rows: Outcome[] = [];
  let total = 0;
  for (const [key, steps] of groups) {
    const [first] = steps;
    const count = steps.reduce((sum, step) => sum + step.count, 0);
    const wanted = { outcome: first?.outcome, ...(first?.reason && { reason: first.reason }) } as RowFilter;
    const walk = createWalk(list, wanted, false);
    let [after, left, skipped] = [-1, total + count > from ? count : 0, Math.max(0, from - total)];
    total += count;
    while (rows.length < limit && left > 0 && after < walk.lastRow) {
      const step = walk.next(after, Math.min(walk.lastRow, after + STEP_ROWS), MOST_ROWS);
      const found = step.rows.filter((one) => keyOf(one) === key);
      rows.push(...walk.join(found.slice(skipped, skipped + limit - rows.length)));
      skipped = Math.max(0, skipped - found.length);
      left -= found.length;
      after = step.reached;
      await turn();
    }
  }
  return { rows, total };
}

const KEYS: Readonly<Record<Sort, (outcome: Outcome) => string | number>> = {
  line: ({ line }) => line,
  recipient: ({ to, key }) => to ?? key ?? '',
  outcome: ({ outcome, reason }) => `${WORST_FIRST.indexOf(outcome)} ${reason ?? ''}`,
  delivery: ({ delivery = null }) => delivery ?? '',
  variant: ({ variant }) => variant ?? '',
  attempts: ({ attempts }) => attempts,
  changed: ({ updatedAt }) => updatedAt ?? '',
};

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** One recipient with all channel steps and its delivery result; null: the list has no such row. */
export function readRow(list: RunList, row: number): Outcome | null {
  return createWalk(list, {}).between(row - 1, row)[0] ?? null;
}

function createWalk({ open, run, isHeld }: RunList, filter: RowFilter, isJoined = true) {
  const { list } = run;
  const { outcome, variant = null, reason = null, search } = filter;
  const query = open.query(ROWS);
  const claimed = fateOf(isHeld);
  const deliveries = openDeliveries(open.ledger, run);
  const join = (rows: readonly Outcome[]): readonly Outcome[] => deliveries?.join(rows) ?? rows;
  const lastStep = Number(open.query(LAST_STEP).get(list)?.[0] ?? 0);
  const wanted = outcome === undefined ? null : statesFor([outcome], claimed);
  // The row of step 0 lacks the address and the id of a fallback.
  const names = search === undefined ? null : JSON.stringify(search.names);
  const listed = [...(search?.rows ?? [])];
  const params = [wanted, variant, names, search?.line ?? null, search?.part ?? null, reason] as const;
  const unfiltered = [null, null, null, null, null, null, null] as const;

  const read = (from: number, end: number, most: number): { rows: readonly Outcome[]; reached: number } => {
    // A query gets at most so many rows of the list, and ends where they do.
    const named = listed.filter((row) => row > from && row <= end).slice(0, most);
    const to = named.length < most ? end : (named.at(-1) ?? end);
    const first = query.all(list, 0, from, to, most, ...params, JSON.stringify(named.map(String)));
    const reached = first.length < most ? to : Number(first.at(-1)?.[0]);
    const later = new Map<number, StepRow[]>();
    const fallen = first.filter(hasFallen);
    const [begin, last] = [fallen[0], fallen.at(-1)];
    for (let step = 1; step <= lastStep && begin !== undefined; step++) {
      for (const row of query.all(list, step, Number(begin[0]) - 1, Number(last?.[0]), -1, ...unfiltered)) {
        later.set(Number(row[0]), [...(later.get(Number(row[0])) ?? []), row]);
      }
    }
    const outcomes = first.map((row): Outcome => {
      const steps = [row, ...(later.get(Number(row[0])) ?? [])];
      const outcome = toOutcome(steps.at(-1) ?? [], run, claimed);
      return steps.length > 1 ? { ...outcome, steps: steps.map((one) => toStep(one, run, claimed)) } : outcome;
    });
    const fitting = outcomes.filter((one) => fits(one, filter));
    if (!isJoined) return { rows: fitting, reached };
    return { rows: join(fitting).filter((one) => fitsJoined(one, filter)), reached };
  };
  return {
    lastRow: Number(open.query(LAST_ROW).get(list)?.[0] ?? -1),
    join,
    next: read,
    between: (from: number, to: number) => read(from, to, STEP_ROWS + 1).rows,
  };
}

/** Checks all steps, because the query includes every recipient who fell back. */
function fits(outcome: Outcome, { outcome: wanted, reason, variant, search }: RowFilter): boolean {
  return (
    (wanted === undefined || outcome.outcome === wanted) &&
    (reason === undefined || outcome.reason === reason) &&
    (variant === undefined || outcome.variant === variant) &&
    (search === undefined || matchesSearch(search, outcome))
  );
}

/** For an outcome with its delivery reports. */
export function matches(outcome: Outcome, filter: RowFilter): boolean {
  return fits(outcome, filter) && fitsJoined(outcome, filter);
}

/** Criteria that need the delivery reports. */
function fitsJoined(one: Outcome, { delivery: wanted, cause, end }: RowFilter): boolean {
  const { delivery = null } = one;
  return (
    (wanted === undefined || (delivery ?? 'none') === wanted) &&
    (cause === undefined || causeOf(one) === cause) &&
    (end === undefined || endOf(one) === end)
  );
}

const LAST_ROW = 'SELECT row FROM recipients WHERE list = ? AND step = 0 ORDER BY row DESC LIMIT 1';
const LAST_STEP = 'SELECT step FROM recipients WHERE list = ? ORDER BY list DESC, step DESC LIMIT 1';

// The columns of `toOutcome`. Includes every recipient who fell back: the outcome is in another row.
const ROWS = `SELECT row, key, state, reason, line, address, channel, variant, attempts, http_status, message_id, error, parts,
    encoding, cost_micros, updated_at, claimed_at, delivery,
    CASE WHEN state = 'accepted' OR state = 'in-doubt' OR state = 'rejected' OR state = 'claimed' THEN list_address END, resend, posted_from,
    version, by_report
  FROM recipients
  WHERE list = ?1 AND step = ?2 AND row > ?3 AND row <= ?4
    AND ((state = 'rejected' AND reason = 'fell-back')
      OR ((?6 IS NULL OR instr(?6, ' ' || state || ' ') > 0) AND (?7 IS NULL OR variant = ?7)
        AND (?11 IS NULL OR reason = ?11 OR state = 'claimed')
        AND (?8 IS NULL OR line = ?9 OR instr(key, ?10) > 0 OR key IN (SELECT value FROM json_each(?8))
          OR ((key IS NULL OR address <> key) AND (instr(address, ?10) > 0 OR address IN (SELECT value FROM json_each(?8))))
          OR message_id IN (SELECT value FROM json_each(?8))
          OR (?12 <> '[]' AND CAST(row AS TEXT) IN (SELECT value FROM json_each(?12))))))
  ORDER BY row LIMIT ?5`;
