import { problem } from '../errors.ts';
import type { Channel, Delivery, Outcome, OutcomeState, StepCount, StepOutcome } from '../model.ts';
import { iso } from '../util/time.ts';
import type { Connection, Query, Value } from './connection.ts';
import type { Ledger } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import { FELL_BACK, type RowState, type RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';

const BATCH_ROWS = 1000;

export type Fate = Omit<RowState, 'step'>;

export function reader(
  connection: Connection,
  runs: RunStore,
  counts: { count(run: RunRecord, claimed: (state: RunRecord['state']) => Fate): StepCount[] },
) {
  const allOpen = connection.query(
    `SELECT count(*), count(*) FILTER (WHERE reason IS NOT DISTINCT FROM 'winner-undecided') FROM recipients
      WHERE list = ?1 AND (state = 'pending' OR state = 'failed' OR state = 'deferred' OR state = ?2
      OR (state = ?3 AND reason IS DISTINCT FROM 'fell-back' AND key IS NOT NULL))`,
  );
  const lastClaim = connection.query('SELECT max(claimed_at) FROM recipients WHERE list = ?');
  const tried = connection.query(
    `SELECT count(*) FROM recipients WHERE list = ?1 AND updated_at >= ?2
      AND (state = 'accepted' OR state = 'rejected' OR state = 'failed' OR state = 'in-doubt')`,
  );
  const nextRows = connection.query(
    `SELECT row, key, state, reason, line, address, channel, variant, attempts, http_status, message_id, error, parts,
      encoding, cost_micros, updated_at, claimed_at, delivery,
      CASE WHEN state = 'accepted' OR state = 'in-doubt' OR state = 'rejected' OR state = 'claimed' THEN list_address END, resend, posted_from,
      version, by_report
      FROM recipients
      WHERE list = ?1 AND step = ?2 AND row > ?3 AND row <= ?4
      AND (instr(coalesce(?6, ' ' || state || ' '), ' ' || state || ' ') > 0 OR (state = 'rejected' AND reason = 'fell-back'))
      ORDER BY row LIMIT ?5`,
  );
  const nextStates = connection.query(
    `SELECT row, key, state, reason, channel, address, resend, variant FROM recipients
      WHERE list = ?1 AND step = ?2 AND row > ?3 AND row <= ?4 ORDER BY row LIMIT ?5`,
  );

  const claimedAs = (run: RunRecord, state: RunRecord['state']): Fate =>
    fateOf(state === 'running' && connection.isHeld(run));

  const countsOf = (run: RunRecord): StepCount[] => counts.count(run, (state) => claimedAs(run, state));

  return {
    steps: countsOf,

    counts: (run) => countsOf(run).flatMap(({ fellBack, ...count }) => (fellBack ? [] : [count])),

    hasErased: (run) => connection.query(ERASED).get(runs.listOf(run).list) !== undefined,
    countOpen(run, { rejected }) {
      const { list, state } = runs.listOf(run);
      const isUnderWay = claimedAs(run, state).outcome === 'pending';
      const counted = allOpen.get(list, isUnderWay ? 'claimed' : 'pending', rejected ? 'rejected' : null);
      return { rows: Number(counted?.[0]), undecided: Number(counted?.[1]) };
    },

    *outcomes(run, filter) {
      const { list, state } = runs.listOf(run);
      const claimed = claimedAs(run, state);
      const wanted = filter?.outcomes === undefined ? null : statesFor(filter.outcomes, claimed);
      let after = -1;
      for (;;) {
        const page = readPage(nextRows, hasFallen, list, after, BATCH_ROWS, null, wanted);
        if (page.first.length === 0) break;
        after = Number(page.first.at(-1)?.[0]);
        const found = outcomesOf(page, run, claimed);
        // Some recipients who fell back may have another outcome, but each has one.
        if (found.length < page.first.length && wanted === null) throw amendedMeanwhile(connection.path);
        if (found.length > 0) yield found;
      }
      if (runs.listOf(run).list !== list) throw amendedMeanwhile(connection.path);
    },

    lastClaimMs: (run) => (lastClaim.get(runs.listOf(run).list)?.[0] ?? null) as number | null,

    triedSince: (run, sinceMs) => Number(tried.get(runs.listOf(run).list, sinceMs)?.[0]),

    *keys(run) {
      const { list } = runs.listOf(run);
      for (let page = connection.query(KEYS).all(list, -1, BATCH_ROWS); page.length > 0; ) {
        for (const [key, row] of page) yield [String(key), Number(row)];
        page = connection.query(KEYS).all(list, Number(page.at(-1)?.[1]), BATCH_ROWS);
      }
    },

    stateOf(run) {
      const { list, state } = runs.listOf(run);
      const claimed = claimedAs(run, state);
      // In list order, a window is read once; a step back costs a query.
      let window: StepPage = { first: [], later: null };
      let at = 0;
      let asked = -1;
      return (row, key) => {
        while (at < window.first.length && Number(window.first[at]?.[0]) < row) at++;
        if (at >= window.first.length || row < asked) {
          window = readPage(nextStates, hasFallen, list, row - 1, BATCH_ROWS, null);
          at = 0;
        }
        asked = row;
        const first = window.first[at];
        if (first === undefined || first[0] !== row || first[1] !== key) return null;
        if (!hasFallen(first)) {
          const to = first[5] as string | null;
          return { step: 0, ...shown(first[2], first[3], claimed), to, ...variantIn(first), ...resendOf(first[6]) };
        }
        const last = lastStep(window, hasFallen, first);
        if (last === null) return null;
        const used = channelsBefore(window, first, 4, run.channel);
        return { step: last.step, ...shown(last.row[2], last.row[3], claimed), used, ...variantIn(last.row) };
      };
    },
  } satisfies Partial<Ledger>;
}

/** @param row - as `nextStates` reads it */
function variantIn(row: StepRow): Pick<RowState, 'variant'> {
  return row[7] === null ? {} : { variant: String(row[7]) };
}

/** A row that never had a key or an address was only ever skipped; a row that was sent to had a key. */
const ERASED = `SELECT 1 FROM recipients WHERE list = ? AND key IS NULL AND state <> 'skipped' LIMIT 1`;

const KEYS = `SELECT key, row FROM recipients WHERE list = ? AND step = 0 AND key IS NOT NULL
  AND reason IS DISTINCT FROM 'removed' AND row > ? ORDER BY row LIMIT ?`;

/** A claimed row is in flight, or left behind by a dead process. */
export function fateOf(isHeld: boolean): Fate {
  return isHeld ? { outcome: 'pending', reason: null } : { outcome: 'in-doubt', reason: 'crash' };
}

function amendedMeanwhile(path: string): LedgerError {
  const message = 'The list of the run was replaced while it was read.';
  return new LedgerError('busy', problem('ledger-unusable', message, { at: { file: path }, hint: 'Run it again.' }));
}

export function shown(state: Value | undefined, reason: Value | undefined, claimed: Fate): Fate {
  if (state === 'claimed') return claimed;
  return { outcome: state as OutcomeState, reason: (reason ?? null) as string | null };
}

/** The database's states with one of these outcomes, in a form that `instr` can search. */
export function statesFor(outcomes: readonly OutcomeState[], claimed: Fate): string {
  const states: readonly string[] = outcomes.includes(claimed.outcome) ? [...outcomes, 'claimed'] : outcomes;
  return ` ${states.join(' ')} `;
}

/** By recipient: the last step, and all steps if there are several. */
function outcomesOf(page: StepPage, run: RunRecord, claimed: Fate): Outcome[] {
  if (page.later === null) return page.first.map((row) => toOutcome(row, run, claimed));
  return page.first.flatMap((first) => {
    if (!hasFallen(first)) return [toOutcome(first, run, claimed)];
    const last = lastStep(page, hasFallen, first);
    if (last === null) return [];
    const steps = [first, ...(page.later?.get(Number(first[0])) ?? [])];
    return [{ ...toOutcome(last.row, run, claimed), steps: steps.map((row) => toStep(row, run, claimed)) }];
  });
}

/** All queries begin with row, key, state, reason. */
export function hasFallen(row: StepRow): boolean {
  return row[3] === FELL_BACK && row[2] === 'rejected';
}

/** Columns as in `nextRows`, and in the list of recipients on the pages (web/rows.ts). */
export function toOutcome(row: StepRow, run: RunRecord, claimed: Fate): Outcome {
  const crashed = row[2] === 'claimed' && claimed.outcome === 'in-doubt';
  const micros = row[14] as number | null;
  const updatedAt = (crashed ? row[16] : row[15]) as number | null;
  return {
    row: Number(row[0]),
    line: Number(row[4]),
    key: row[1] as string | null,
    to: row[5] as string | null,
    channel: (row[6] ?? run.channel) as Channel,
    variant: row[7] as string | null,
    ...shown(row[2], row[3], claimed),
    // As the next start will count it.
    attempts: Number(row[8]) + (crashed ? 1 : 0),
    httpStatus: crashed ? null : (row[9] as number | null),
    messageId: row[10] as string | null,
    error: crashed ? null : (row[11] as string | null),
    parts: row[12] as number | null,
    encoding: row[13] as 'GSM-7' | 'UCS-2' | null,
    cost: micros === null ? null : micros / 1e6,
    updatedAt: iso(updatedAt),
    ...(row[16] === null ? {} : { claimedAtMs: Number(row[16]) }),
    ...(row[17] === null ? {} : { delivery: row[17] as Delivery }),
    ...(typeof row[18] === 'string' ? { listTo: row[18] } : {}),
    ...resendOf(row[19]),
    ...postedFromOf(row[20]),
    ...madeFrom(row[2], row[21]),
    ...fellBackBy(row[22]),
  };
}

const REQUESTED: ReadonlySet<unknown> = new Set(['claimed', 'accepted', 'in-doubt', 'rejected']);

/** For a row with a message, the version of the inputs: one that is to be tried again may get another. */
export function madeFrom(state: unknown, version: unknown): Pick<Outcome, 'version'> {
  return typeof version === 'number' && REQUESTED.has(state) ? { version } : {};
}

/** @param byReport - the column `by_report` */
export function fellBackBy(byReport: unknown): Pick<Outcome, 'byReport'> {
  return Number(byReport) === 1 ? { byReport: true } : {};
}

/** How many messages went to earlier addresses; no field if none did. */
export function resendOf(value: unknown): { readonly resend?: number } {
  return value === null || value === undefined ? {} : { resend: Number(value) };
}

/** The stand-in that posted a message; no field if the run's environment did. */
export function postedFromOf(value: unknown): { readonly postedFrom?: string } {
  return typeof value === 'string' ? { postedFrom: value } : {};
}

export function toStep(step: StepRow, run: RunRecord, claimed: Fate): StepOutcome {
  const { row, line, key, steps, ...facts } = toOutcome(step, run, claimed);
  return facts;
}

/** The row's number, then the columns that the reader asked for. */
export type StepRow = readonly Value[];

type HasFallen = (row: StepRow) => boolean;

/** Recipients in list order, with all their steps if there are several. */
export interface StepPage {
  readonly first: readonly StepRow[];
  /** Rows of steps 1, 2, ... by the number of the recipient; null if no recipient fell back. */
  readonly later: ReadonlyMap<number, readonly StepRow[]> | null;
}

/** A bound that no row reaches. */
export const LAST_ROW = Number.MAX_SAFE_INTEGER;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Reads the next recipients of a list, at most `limit`, without sorting: step 0 in its own order, and later steps
 * between the first and the last recipient who fell back. A later step has rows only for those who fell back in the
 * step before, so there are never more than the page has.
 *
 * `query` takes list, step, row to begin after, last row and limit, and then `params`. It may filter rows, but not
 * those that fell back. `lastRow` is included; null: the list has no bound.
 */
export function readPage(
  query: Query,
  hasFallen: HasFallen,
  list: number,
  afterRow: number,
  limit: number,
  lastRow: number | null,
  ...params: readonly (string | number | null)[]
): StepPage {
  const first = query.all(list, 0, afterRow, lastRow ?? LAST_ROW, limit, ...params);
  let later: Map<number, StepRow[]> | null = null;
  for (let step = 1, span = spanOf(first, hasFallen); span !== null; step++) {
    const rows = query.all(list, step, span.from - 1, span.to, NO_LIMIT, ...params);
    later ??= new Map();
    for (const row of rows) later.set(Number(row[0]), [...(later.get(Number(row[0])) ?? []), row]);
    span = spanOf(rows, hasFallen);
  }
  return { first, later };
}

/** The last step of a recipient who fell back; null if the query skipped it. */
export function lastStep(page: StepPage, hasFallen: HasFallen, first: StepRow): { step: number; row: StepRow } | null {
  const steps = page.later?.get(Number(first[0])) ?? [];
  const row = steps.at(-1);
  return row === undefined || hasFallen(row) ? null : { step: steps.length, row };
}

/** Channels that a recipient who fell back could not receive. `at` is the column of the channel in the query. */
export function channelsBefore(page: StepPage, first: StepRow, at: number, ofRun: Channel): readonly Channel[] {
  const fallen = [first, ...(page.later?.get(Number(first[0])) ?? []).slice(0, -1)];
  return fallen.map((row) => (row[at] ?? ofRun) as Channel);
}

function spanOf(rows: readonly StepRow[], hasFallen: HasFallen): { from: number; to: number } | null {
  const from = rows.find(hasFallen);
  return from === undefined ? null : { from: Number(from[0]), to: Number(rows.findLast(hasFallen)?.[0]) };
}
