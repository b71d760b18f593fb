import type { Query, Value } from './connection.ts';

/** A row of a page: first its number, then 1 where it fell back, then whatever the reader asked for. */
export type LegRow = readonly Value[];

/** Recipients in list order, with all their legs where there are several. */
export interface LegPage {
  /** The rows of leg 0. */
  readonly first: readonly LegRow[];
  /** The rows of the later legs, in order, by the number of the recipient; null where nobody fell back. */
  readonly later: ReadonlyMap<number, readonly LegRow[]> | null;
}

const LAST_ROW = Number.MAX_SAFE_INTEGER;
const NO_LIMIT = -1;

/**
 * Reads the next recipients of a list, at most `limit`, without sorting anything: leg 0 is walked in its own order, and
 * where somebody fell back, the later legs between the first and the last of them. Each later leg has a row for exactly
 * those who fell back in the one before, so these are never more rows than the page has.
 *
 * `query` takes list, leg, row to begin after, last row and limit, and then `params`. If it leaves rows out, it must not
 * leave out those that fell back.
 */
export function readPage(
  query: Query,
  list: number,
  afterRow: number,
  limit: number,
  ...params: readonly (string | number | null)[]
): LegPage {
  const first = query.all(list, 0, afterRow, LAST_ROW, limit, ...params);
  let later: Map<number, LegRow[]> | null = null;
  for (let leg = 1, span = fallen(first); span !== null; leg++) {
    const rows = query.all(list, leg, span.from - 1, span.to, NO_LIMIT, ...params);
    later ??= new Map();
    for (const row of rows) {
      const known = later.get(Number(row[0]));
      if (known === undefined) later.set(Number(row[0]), [row]);
      else known.push(row);
    }
    span = fallen(rows);
  }
  return { first, later };
}

/** The row of a recipient's last leg; undefined where the query left it out. */
export function lastLeg(page: LegPage, first: LegRow): LegRow | undefined {
  if (first[1] !== 1) return first;
  const last = page.later?.get(Number(first[0]))?.at(-1);
  return last?.[1] === 1 ? undefined : last;
}

/** From which row to which somebody fell back. */
function fallen(rows: readonly LegRow[]): { from: number; to: number } | null {
  const from = rows.find((row) => row[1] === 1);
  if (from === undefined) return null;
  return { from: Number(from[0]), to: Number(rows.findLast((row) => row[1] === 1)?.[0]) };
}
