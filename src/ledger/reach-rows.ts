import type { Connection } from './connection.ts';
import { lazily } from './lazily.ts';

/**
 * Says that a row of a run reached a person, or may; `sentMs` is when, infinite where that is not known or may change.
 */
export type AddPerson = (person: string, row: number, sentMs: number) => void;

/** Looks at the rows of other runs. */
export interface ReachRows {
  /** Whoever was reached by leg 0 since an instant, by key and by address. */
  reached(list: number, sinceMs: number, add: AddPerson): void;
  /** Whoever may be reached, now or later. */
  all(list: number, add: AddPerson): void;
  /** Whoever was reached by a later leg: by key and by the address of each leg. */
  reachedLater(list: number, sinceMs: number, add: AddPerson): void;
  /** The addresses of all later legs that were begun. */
  allLater(list: number, add: (person: string, row: number, leg: number) => void): void;
  laterLegs(list: number): number;
  /** The highest row of a list; -1: it has none. */
  lastRow(list: number): number;
  /** When somebody by this key or address was reached by the last leg of this row; -1: not at all, or somebody else. */
  reachedAt(list: number, row: number, key: string, to: string): number;
  /** Somebody was reached since then, whoever it was. */
  wasReachedSince(list: number, sinceMs: number): boolean;
}

/**
 * Few enough that no page outlives V8's young generation: with 4000 rows a start peaked 9 MB higher, and was no faster.
 */
const PAGE_ROWS = 500;

/** Sent at some time that is not known: it counts in any period. */
const UNKNOWN_MS = Number.POSITIVE_INFINITY;

export function reachRows(connection: Connection): ReachRows {
  const query = lazily((sql) => connection.query(sql));

  /** All rows of a query by pages: (list, leg, after row, since, how many). */
  const pages = (sql: string, list: number, leg: number, sinceMs: number, take: (row: readonly unknown[]) => void) => {
    for (let after = -1; ; ) {
      const rows = query(sql).all(list, leg, after, sinceMs, PAGE_ROWS);
      for (const row of rows) take(row);
      if (rows.length < PAGE_ROWS) return;
      after = Number(rows.at(-1)?.[0]);
    }
  };
  const lastLeg = (list: number): number => Number(query(LAST_LEG).get(list)?.[0] ?? 0);

  return {
    reached(list, sinceMs, add) {
      pages(REACHED_PAGE, list, 0, sinceMs, ([row, key, address, sent]) => {
        const sentMs = timeOf(sent);
        if (typeof key === 'string') add(key, Number(row), sentMs);
        if (typeof address === 'string') add(address, Number(row), sentMs);
      });
    },
    all(list, add) {
      pages(ALL_PAGE, list, 0, 0, ([row, key, address]) => {
        if (typeof key === 'string') add(key, Number(row), UNKNOWN_MS);
        if (typeof address === 'string') add(address, Number(row), UNKNOWN_MS);
      });
    },
    reachedLater(list, sinceMs, add) {
      for (let leg = 1; leg <= lastLeg(list); leg++) {
        pages(REACHED_PAGE, list, leg, sinceMs, ([row, key, address, sent]) => {
          const sentMs = timeOf(sent);
          if (typeof key === 'string') add(key, Number(row), sentMs);
          if (typeof address === 'string') add(address, Number(row), sentMs);
          for (let former = 0; former < leg; former++) {
            const [own] = query(ADDRESS).get(list, former, Number(row)) ?? [];
            if (typeof own === 'string' && own !== key) add(own, Number(row), sentMs);
          }
        });
      }
    },
    allLater(list, add) {
      for (let leg = 1; leg <= lastLeg(list); leg++) {
        pages(ALL_PAGE, list, leg, 0, ([row, key, address]) => {
          const person = address ?? key;
          if (typeof person === 'string') add(person, Number(row), leg);
        });
      }
    },
    laterLegs: (list) => Number(query(LATER_LEGS).get(list)?.[0] ?? 0),
    lastRow: (list) => Number(query(LAST_ROW).get(list)?.[0] ?? -1),
    reachedAt(list, row, key, to) {
      let isThem = false;
      for (let leg = 0; ; leg++) {
        const [reached, fellBack, sent, itsKey, address] = query(STATE).get(list, leg, row) ?? [];
        // Purged since the run was read: whoever it was found for is taken for them, because to send twice is worse.
        isThem ||= itsKey === null || itsKey === key || itsKey === to || address === key || address === to;
        if (reached === 1) return isThem ? timeOf(sent) : -1;
        if (fellBack !== 1) return -1;
      }
    },
    wasReachedSince: (list, sinceMs) => query(ANYBODY).get(list, sinceMs) !== undefined,
  };
}

// Reached is what was accepted, may have been, or is on its way: chains of `=`, as in the schema. The claim is just
// before the request; an answer, or somebody's word about a doubt, may come days later.
const REACHED_PAGE = `SELECT row, key, nullif(address, key), coalesce(claimed_at, updated_at) FROM recipients
  WHERE list = ?1 AND leg = ?2 AND row > ?3 AND (state = 'accepted' OR state = 'in-doubt' OR state = 'claimed')
    AND (coalesce(claimed_at, updated_at) IS NULL OR coalesce(claimed_at, updated_at) >= ?4)
  ORDER BY row LIMIT ?5`;

const ALL_PAGE = `SELECT row, key, nullif(address, key), ?4 FROM recipients
  WHERE list = ?1 AND leg = ?2 AND row > ?3 AND state <> 'skipped' ORDER BY row LIMIT ?5`;

const STATE = `SELECT (state = 'accepted' OR state = 'in-doubt' OR state = 'claimed'),
    state = 'rejected' AND reason IS NOT DISTINCT FROM 'fell-back', coalesce(claimed_at, updated_at), key, address
  FROM recipients WHERE list = ? AND leg = ? AND row = ?`;

const ADDRESS = 'SELECT address FROM recipients WHERE list = ? AND leg = ? AND row = ?';

const LAST_ROW = 'SELECT max(row) FROM recipients WHERE list = ? AND leg = 0';

const LAST_LEG = 'SELECT max(leg) FROM recipients WHERE list = ?';

const LATER_LEGS = 'SELECT count(*) FROM recipients WHERE list = ? AND leg > 0';

const ANYBODY = `SELECT 1 FROM recipients
  WHERE list = ? AND (state = 'accepted' OR state = 'in-doubt' OR state = 'claimed')
    AND (coalesce(claimed_at, updated_at) IS NULL OR coalesce(claimed_at, updated_at) >= ?) LIMIT 1`;

function timeOf(value: unknown): number {
  return typeof value === 'number' ? value : UNKNOWN_MS;
}
