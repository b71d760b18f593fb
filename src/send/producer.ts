import type { AsideRow, PendingRow, RunRecord } from '../ledger/records.ts';
import type { Channel, Decision } from '../model.ts';
import { decisions } from '../plan/decide.ts';
import { openRules } from '../plan/skip-rules.ts';
import type { RowSet } from '../util/row-set.ts';
import type { Gate } from './canary.ts';
import { type Batch, type SendContext, type SendTask, taskOf } from './deliver.ts';
import type { Lists, PreparedStart } from './start.ts';
import type { Pool } from './throttle.ts';

export interface ProducerContext extends SendContext {
  readonly start: PreparedStart;
  readonly run: RunRecord;
  readonly lists: Lists;
  readonly pool: Pool<Batch>;
}

export interface RowsToSend {
  readonly pendingRows: PendingRows;
  /** Recipients of this pass; null: all. */
  readonly limit: number | null;
  readonly gate: Gate | null;
  /** Return when the last gate has opened: all workers share the recipients behind it. */
  readonly untilWide?: boolean;
  /**
   * Called after each batch of the list, while it is in flight; false: this process does not send the rest. Pending
   * rows behind a worker's shards are other workers'.
   */
  readonly between?: () => Promise<boolean> | boolean;
}

/** Rows of one transaction; there are rarely more than a few. */
const REMOVED_BATCH = 1000;

/** Puts decisions whose rows are still to do into the pool, in list order; returns when the pool is empty. */
export async function feed(rows: RowsToSend, context: ProducerContext): Promise<void> {
  const { lists, pool } = context;
  const ended = new AbortController();
  // As long as anything is claimed, also after the last row was taken.
  const watching = lists.watch(ended.signal).catch((error: unknown) => {
    if (!ended.signal.aborted) pool.fail(error);
  });
  try {
    await feedAll(rows, context);
  } finally {
    ended.abort();
    await watching;
  }
}

async function feedAll(rows: RowsToSend, context: ProducerContext): Promise<void> {
  const { pendingRows, gate, between } = rows;
  const { start, run, pool, lists, stopped, now, window, lateAtMs } = context;
  const { plan, ledger, reached } = start;
  const packer = createPacker<SendTask>(plan.recipientsPerRequest);
  let left = rows.limit ?? Number.POSITIVE_INFINITY;
  let isLater = false;
  let isOver = false;
  try {
    await lists.renew();
    const view = {
      wanted: pendingRows.wants,
      expected: start.list,
      // The claims check again; a recipient who is certainly skipped need not wait for a token.
      rules: openRules(plan, { suppressions: lists.current, ledger, reached, now, window, lateAtMs }),
      skipsInvalid: true,
      winner: run.winner,
      variantOf(row: number, key: string) {
        const pending = pendingRows.find(row, key);
        return pending === null || pending.step === 0 ? undefined : pending.facts?.variant;
      },
    };
    for await (const batch of decisions(plan, view)) {
      const aside: Aside = { skipped: [], deferred: [] };
      for (const decision of batch) {
        if (stopped.aborted || left <= 0) break;
        const task = toTask(decision, pendingRows, context, aside);
        if (task === null) continue;
        // A recipient whose fallback a report causes passed the gate with the first message.
        const isGated = gate !== null && task.byReport === undefined;
        if (isGated && !isLater && !gate.isOpen()) isLater = !(await atGate(gate, packer, context));
        if (isLater && stopped.aborted) break;
        isOver = rows.untilWide === true && gate?.isWide() === true;
        if (isOver) break;
        // The gate is not decided in this start: the recipients left wait for the next one.
        if (isLater && isGated) {
          aside.deferred.push({ row: task.decision.row, step: task.step, reason: 'canary-undecided' });
          context.progress.finished('deferred');
          continue;
        }
        left -= 1;
        if (isGated) gate.put(1);
        // A fallback has a separate request; others with the same content may share one.
        const batch: Batch | null = task.step > 0 ? [task] : packer.add(task, task.decision.variant);
        const full = batch === null ? undefined : pool.put(batch);
        if (full !== undefined) await full;
      }
      if (aside.skipped.length > 0) ledger.skip(run, aside.skipped, now());
      if (aside.deferred.length > 0) ledger.defer(run, aside.deferred, now());
      if (stopped.aborted || left <= 0 || isOver) break;
      if (between !== undefined && !(await between())) {
        isOver = true;
        break;
      }
    }
    for (const batch of stopped.aborted ? [] : packer.rest()) await pool.put(batch);
    if (!stopped.aborted && left > 0 && !isOver && between === undefined) skipRemoved(pendingRows, context);
  } catch (error) {
    pool.fail(error);
  }
  await pool.idle();
}

/** Nothing is in flight when a gate is judged: batches that wait for others go first. */
async function atGate(
  gate: Gate,
  packer: ReturnType<typeof createPacker<SendTask>>,
  { pool, lists }: ProducerContext,
): Promise<boolean> {
  do {
    for (const batch of packer.rest()) await pool.put(batch);
    await pool.idle();
    if (!(await gate.turn())) return false;
    // The pause may take hours. The claims check the suppression lists for addresses added meanwhile.
    await lists.renew();
  } while (!gate.isOpen());
  return true;
}

/** Rows to skip or defer; in one transaction for each batch of the list. */
interface Aside {
  readonly skipped: AsideRow[];
  readonly deferred: AsideRow[];
}

/** Null where a rule skips or defers the recipient. */
function toTask(decision: Decision, pendingRows: PendingRows, context: SendContext, aside: Aside): SendTask | null {
  const { row, line } = decision;
  const pending = pendingRows.find(row, decision.key);
  if (pending === null && pendingRows.isLost?.(row) === true) return null;
  if (pending === null) throw unexpected(line);
  const { step } = pending;
  if (pending.byReport !== undefined) return reportedTask(decision, pending, context);
  // A rule skips them by now: they opted out, others wrote to them, or the campaign was amended.
  if (decision.decision === 'skip') return skip(pending, decision.reason, aside, context);
  // It was decided with its batch, which may have been long ago.
  if (context.now() >= context.lateAtMs) return skip(pending, 'expired', aside, context);
  if (decision.decision === 'defer') {
    aside.deferred.push({ row, step, reason: decision.reason });
    context.progress.finished('deferred');
    if (decision.untilMs !== undefined) context.progress.opens(decision.untilMs);
    return null;
  }
  if (decision.decision !== 'send') throw unexpected(line);
  // The fallback was begun, and an amended campaign no longer has it.
  return taskOf(decision, pending) ?? skip(pending, 'removed', aside, context);
}

/** A fallback that a report causes. If a rule skips it, the accepted message stays: only the claim changes the row. */
function reportedTask(
  decision: Decision,
  pending: PendingRow,
  { now, lateAtMs, progress }: SendContext,
): SendTask | null {
  if (decision.decision === 'defer' && decision.untilMs !== undefined) progress.opens(decision.untilMs);
  if (decision.decision !== 'send' || now() >= lateAtMs) return null;
  return taskOf(decision, pending) ?? null;
}

function skip({ row, step }: PendingRow, reason: string, aside: Aside, { progress }: SendContext): null {
  aside.skipped.push({ row, step, reason });
  progress.finished('skipped');
  return null;
}

/**
 * Skips pending rows behind the last one of the list, which would stay pending. Their recipients had left the list when
 * the user asked to try them again (`--retry rejected`, `doubt resolve --resend`): there is nothing to send.
 */
function skipRemoved(pendingRows: PendingRows, { start: { ledger }, run, now, progress }: ProducerContext): void {
  const next = () =>
    ledger.pending(run, pendingRows.lastRow, REMOVED_BATCH).map(({ row, step }) => ({ row, step, reason: 'removed' }));
  for (let rows = next(); rows.length > 0; rows = next()) {
    ledger.skip(run, rows, now());
    for (const _ of rows) progress.finished('skipped');
  }
}

/** The ledger has this row to send to, but the list does not, although its bytes are the same. */
function unexpected(line: number): Error {
  return new Error(`line ${line} of the list is not the recipient that the ledger holds`);
}

/**
 * Collects recipients who can share a request: same variant, so the same text or template; in list order.
 * @param most - recipients of one request
 */
export function createPacker<T>(most: number) {
  const open = new Map<string | null, [T, ...T[]]>();
  return {
    add(item: T, variant: string | null): readonly [T, ...T[]] | null {
      const items = open.get(variant);
      if (items === undefined) {
        if (most === 1) return [item];
        open.set(variant, [item]);
        return null;
      }
      items.push(item);
      if (items.length < most) return null;
      open.delete(variant);
      return items;
    },
    /** The incomplete batches, in the order in which they were begun. */
    rest(): readonly (readonly [T, ...T[]])[] {
      const left = [...open.values()];
      open.clear();
      return left;
    },
  };
}

/** The rows that are still to do, walked along with the list: both are in list order, so no row needs a look-up. */
export interface PendingRows {
  /** Called with ascending rows, once each. */
  wants(row: number): boolean;
  /** The ledger's entry of a wanted row, until `wants` is a batch further; null if it belongs to another recipient. */
  find(row: number, key: string | null): PendingRow | null;
  /** A wanted row that belongs to another worker by now; default: none does. */
  isLost?(row: number): boolean;
  /** The last row that `wants` was called with; -1 before the first. */
  readonly lastRow: number;
}

/** Few, so that V8 frees them while they are young: two batches are kept at a time. */
const BATCH = 400;

/** @param isWaiting - whether a pending row is not wanted yet; default: none */
export function createPendingRows(
  pending: (afterRow: number, limit: number) => readonly PendingRow[],
  isWaiting?: (row: PendingRow) => boolean,
): PendingRows {
  let ahead: readonly PendingRow[] = [];
  let next = 0;
  let last = -1;
  let ended = false;
  let asked = -1;
  // A batch of the list may straddle two batches of the ledger, so the latest wanted rows are kept by row.
  let wanted = new Map<number, PendingRow>();
  let older = wanted;

  const refill = (): void => {
    ahead = pending(last, BATCH);
    next = 0;
    last = ahead.at(-1)?.row ?? last;
    ended = ahead.length === 0;
    older = wanted;
    wanted = new Map();
  };
  return {
    wants(row) {
      asked = row;
      while (!ended) {
        if (next >= ahead.length) refill();
        const candidate = ahead[next];
        if (candidate === undefined || candidate.row > row) return false;
        next += 1;
        if (candidate.row === row) {
          if (isWaiting?.(candidate) === true) return false;
          wanted.set(row, candidate);
          return true;
        }
      }
      return false;
    },
    find(row, key) {
      const found = wanted.get(row) ?? older.get(row);
      return found !== undefined && found.key === key ? found : null;
    },
    get lastRow() {
      return asked;
    },
  };
}

const NONE: readonly Channel[] = [];

/**
 * The same for the first start of a run whose list this process has just loaded: no recipient was sent to, so nothing
 * is read. The recipient of a row is known from the list, whose bytes are the same, and the claim checks it.
 * @param loaded - the rows, without those that are skipped
 */
export function createFirstPendingRows(loaded: Pick<RowSet, 'has'>): PendingRows {
  let asked = -1;
  return {
    wants(row) {
      asked = row;
      return loaded.has(row);
    },
    find: (row, key) => (key !== null && loaded.has(row) ? { row, step: 0, key, attempts: 0, used: NONE } : null),
    get lastRow() {
      return asked;
    },
  };
}
