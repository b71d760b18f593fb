import type { Channel } from '../model.ts';
import type { Query, Value } from './connection.ts';

/** A row of a page: first its number, then whatever the reader asked for. */
export type LegRow = readonly Value[];

/** How a reader sees that the row of a leg fell back. */
export type HasFallen = (row: LegRow) => boolean;

/** Recipients in list order, with all their legs where there are several. */
export interface LegPage {
  /** The rows of leg 0. */
  readonly first: readonly LegRow[];
  /** The rows of legs 1, 2, ... by the number of the recipient; null where nobody fell back. */
  readonly later: ReadonlyMap<number, readonly LegRow[]> | null;
}

const LAST_ROW = Number.MAX_SAFE_INTEGER;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Reads the next recipients of a list, at most `limit`, without sorting anything: leg 0 is walked in its own order, and
 * where somebody fell back, the later legs between the first and the last of them. Each later leg has a row for exactly
 * those who fell back in the one before, so these are never more rows than the page has.
 *
 * `query` takes list, leg, row to begin after, last row and limit, and then `params`. If it leaves rows out, it must not
 * leave out those that fell back. `lastRow` is included; null: the list has no bound.
 */
export function readPage(
  query: Query,
  hasFallen: HasFallen,
  list: number,
  afterRow: number,
  limit: number,
  lastRow: number | null,
  ...params: readonly (string | number | null)[]
): LegPage {
  const first = query.all(list, 0, afterRow, lastRow ?? LAST_ROW, limit, ...params);
  let later: Map<number, LegRow[]> | null = null;
  for (let leg = 1, span = spanOf(first, hasFallen); span !== null; leg++) {
    const rows = query.all(list, leg, span.from - 1, span.to, NO_LIMIT, ...params);
    later ??= new Map();
    for (const row of rows) {
      const known = later.get(Number(row[0]));
      if (known === undefined) later.set(Number(row[0]), [row]);
      else known.push(row);
    }
    span = spanOf(rows, hasFallen);
  }
  return { first, later };
}

/** The last leg of a recipient who fell back, and its row; null where the query left that out. */
export function lastLeg(page: LegPage, hasFallen: HasFallen, first: LegRow): { leg: number; row: LegRow } | null {
  const legs = page.later?.get(Number(first[0])) ?? [];
  const row = legs.at(-1);
  return row === undefined || hasFallen(row) ? null : { leg: legs.length, row };
}

/** Channels of the legs that a recipient who fell back could not receive. `at` is where the query has the channel. */
export function channelsBefore(page: LegPage, first: LegRow, at: number, ofRun: Channel): readonly Channel[] {
  const fallen = [first, ...(page.later?.get(Number(first[0])) ?? []).slice(0, -1)];
  return fallen.map((row) => (row[at] ?? ofRun) as Channel);
}

/** From which row to which somebody fell back. */
function spanOf(rows: readonly LegRow[], hasFallen: HasFallen): { from: number; to: number } | null {
  const from = rows.find(hasFallen);
  return from === undefined ? null : { from: Number(from[0]), to: Number(rows.findLast(hasFallen)?.[0]) };
}
