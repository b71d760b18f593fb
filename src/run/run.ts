import pLimit from 'p-limit';
import { HandbillError } from '../errors.ts';
import type { Endpoint } from '../http/connect.ts';
import type { CompiledWire } from '../http/pointers.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { AsideRow, CountRecord, RunRecord } from '../ledger/records.ts';
import type { DeferDecision, Halt, LegMessage, OutcomeState, RunState, SendDecision } from '../model.ts';
import { decisions } from '../plan/decide.ts';
import type { Plan } from '../plan/plan.ts';
import type { ListDigest } from '../recipients/read.ts';
import { deliver, type Shift } from './deliver.ts';
import { createDesk } from './desk.ts';
import { createPace } from './pace.ts';
import { createPacker, type Due, dueOn, legFacts, type Parcel } from './parcel.ts';
import { addFigures, createProgress, type Figures } from './progress.ts';
import { createRamp } from './ramp.ts';
import { createStop, inputHalt, ledgerHalt } from './stop.ts';
import { TIMERS, type Timers } from './timers.ts';
import { createTodo } from './todo.ts';

export interface RunOptions {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly run: RunRecord;
  readonly list: ListDigest;
  readonly endpoint: Pick<Endpoint, 'ready' | 'post' | 'release'>;
  readonly wire: CompiledWire;
  /** Price of a message in millionths of the currency; for the legs that the check pass did not price. */
  readonly costOf?: (message: LegMessage) => number | null;
  readonly concurrency: number;
  readonly ratePerSecond: number | null;
  /** Recipients that are posted to in this start; null: all. */
  readonly limit: number | null;
  /** Ends the start in good order: what is in flight is finished. */
  readonly interrupt: AbortSignal;
  readonly now: () => number;
  readonly random: () => number;
  /** Default: the real ones. */
  readonly timers?: Timers;
  readonly onStart?: (figures: Readonly<Figures>) => void;
}

/** Rows of one transaction; there are hardly ever more than a few. */
const REMOVED_BATCH = 1000;

type EndState = Exclude<RunState, 'running'>;

export interface RunEnd {
  readonly run: RunRecord;
  readonly state: RunState;
  readonly halt: Halt | null;
  readonly recovered: number;
  readonly posted: number;
  /** The ledger could not be written: exit status 7. */
  readonly ledgerError: Error | null;
}

/**
 * One start of a run, under its lock: sends to everybody who is still to do, in list order, and records what happened.
 * p-limit is fed with back-pressure from the same stream of decisions that preview prints; its width is the ramp's.
 */
export async function sendRun(options: RunOptions): Promise<RunEnd> {
  const { plan, ledger, concurrency, now, timers = TIMERS } = options;
  const { run, recovered } = ledger.start(options.run, now());
  const before = ledger.counts(run);
  const began = timers.monotonicMs();
  const stopping = new AbortController();
  const interrupted = (): void => stopping.abort();
  if (options.interrupt.aborted) interrupted();
  options.interrupt.addEventListener('abort', interrupted, { once: true });

  const limit = pLimit(1);
  const progress = createProgress();
  const ramp = createRamp(concurrency, (width) => {
    limit.concurrency = width;
  });
  const desk = createDesk(
    { commit: (results, claims) => ledger.commit(run, results, claims, now()) },
    () => stopping.abort(),
    timers,
  );
  const stop = createStop({
    inFlight: concurrency * plan.recipientsPerRequest,
    rows: run.rows,
    limits: plan.campaign.limits,
    before: { accepted: sumOf(before, 'accepted'), rejected: sumOf(before, 'rejected'), ...firstLegsOf(ledger, run) },
    onHalt: () => stopping.abort(),
  });
  const { notAfterMs } = plan.campaign.send;
  const costOf = options.costOf ?? (() => null);
  // Who waited for the winner has no variant in the ledger yet.
  const decidesLate = plan.campaign.split.test !== null;
  const shift: Shift = {
    desk,
    endpoint: options.endpoint,
    pace: createPace(options.ratePerSecond, stopping.signal, timers),
    ramp,
    stop,
    progress,
    wire: options.wire,
    attempts: plan.campaign.send.attempts,
    expand: plan.expander(run.startedAtMs ?? now()),
    factsOf: ({ decision, message }) => (message.leg > 0 || decidesLate ? legFacts(decision, message, costOf) : null),
    costOf,
    isLate: () => notAfterMs !== null && now() > notAfterMs,
    expire(row, leg) {
      ledger.skip(run, [{ row, leg, reason: 'expired' }], now());
      progress.settled('skipped');
    },
    now,
    random: options.random,
    stopped: stopping.signal,
  };

  const todo = createTodo((after, count) => ledger.pending(run, after, count));
  progress.figures.toDo = sumOf(before, 'pending');
  options.onStart?.(progress.figures);
  const trouble = await feed(options, run, shift, todo, limit, stopping);
  await desk.flush();

  const { posted } = progress.figures;
  const ledgerError = desk.failure ?? (trouble instanceof LedgerError ? trouble : null);
  // Before the first request a changed input is refused as it is; after it, it halts what has begun (J2).
  const changed = trouble instanceof HandbillError && ledgerError === null && posted > 0 ? inputHalt(trouble) : null;
  const halt = ledgerError === null ? (changed ?? stop.halt) : ledgerHalt(ledgerError);
  const state = stateAfter(ledger, run, halt, options.interrupt.aborted);
  const figures = addFigures(run.figures, progress, timers.monotonicMs() - began);
  options.interrupt.removeEventListener('abort', interrupted);
  // Whatever happened, this start has ended, and what it did is recorded.
  const ended = ledgerError === null ? ledger.finish(run, { state, halt, figures, nowMs: now() }) : run;
  if (trouble !== null && ledgerError === null && changed === null) throw trouble;
  return { run: ended, state, halt, recovered, posted, ledgerError };
}

/** Feeds the deliveries, at most two rounds ahead of what is in flight; returns what must not be swallowed. */
async function feed(
  options: RunOptions,
  run: RunRecord,
  shift: Shift,
  todo: ReturnType<typeof createTodo>,
  limit: ReturnType<typeof pLimit>,
  stopping: AbortController,
): Promise<HandbillError | Error | null> {
  const { plan, ledger, concurrency, now } = options;
  let waiting = 0;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let roomFreed: (() => void) | null = null;
  let failure: Error | null = null;
  const done = (): void => {
    waiting -= 1;
    roomFreed?.();
  };
  const room = (most: number): Promise<void> | undefined =>
    waiting < most
      ? undefined
      : new Promise((resolve) => {
          roomFreed = () => {
            if (waiting < most) {
              roomFreed = null;
              resolve();
            }
          };
        });
  const failed = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    stopping.abort();
  };
  const take = (parcel: Parcel): Promise<void> | undefined => {
    waiting += 1;
    limit(deliver, parcel, shift).catch(failed).finally(done);
    return room(2 * concurrency);
  };
  const packer = createPacker<Due>(plan.recipientsPerRequest);
  /** A fallback is a request of its own; who else gets the same may share one. */
  const packed = (due: Due): Parcel | null =>
    due.message.leg > 0 ? [due] : parcelOf(packer.add(due, due.decision.variant));

  try {
    const view = { wanted: todo.wants, expected: options.list, skipInvalid: true, winner: run.winner };
    for await (const batch of decisions(plan, view)) {
      const aside: { skipped: AsideRow[]; deferred: AsideRow[] } = { skipped: [], deferred: [] };
      for (const decision of batch) {
        if (stopping.signal.aborted || left <= 0) break;
        const leg = todo.legOf(decision.row);
        if (shift.isLate()) {
          aside.skipped.push({ row: decision.row, leg, reason: 'expired' });
          shift.progress.settled('skipped');
          continue;
        }
        if (decision.decision === 'defer' && isExpected(decision, todo)) {
          aside.deferred.push({ row: decision.row, leg, reason: decision.reason });
          shift.progress.settled('deferred');
          continue;
        }
        if (decision.decision !== 'send' || !isExpected(decision, todo)) throw unexpected(decision.line);
        const due = dueOn(decision, leg, todo.attemptsOf(decision.row));
        if (due === undefined) {
          // The fallback was begun, and an amended campaign has it no more.
          aside.skipped.push({ row: decision.row, leg, reason: 'removed' });
          shift.progress.settled('skipped');
          continue;
        }
        left -= 1;
        const parcel = packed(due);
        const full = parcel === null ? undefined : take(parcel);
        if (full !== undefined) await full;
      }
      if (aside.skipped.length > 0) ledger.skip(run, aside.skipped, now());
      if (aside.deferred.length > 0) ledger.defer(run, aside.deferred, now());
      if (stopping.signal.aborted || left <= 0) break;
    }
    for (const dues of stopping.signal.aborted ? [] : packer.rest()) {
      const parcel = parcelOf(dues);
      const full = parcel === null ? undefined : take(parcel);
      if (full !== undefined) await full;
    }
    if (!stopping.signal.aborted && left > 0) skipRemoved(options, run, shift, todo.lastRow);
  } catch (error) {
    failed(error);
  }
  const idle = room(1);
  if (idle !== undefined) await idle;
  return failure;
}

/**
 * Pending rows behind the last one of the list: whoever had been removed from it when somebody asked to try them again
 * (`--retry-rejected`, `doubt resolve --resend`). There is nothing to send to them, and nobody stays pending for ever.
 */
function skipRemoved({ ledger, now }: RunOptions, run: RunRecord, shift: Shift, lastRow: number): void {
  const next = () =>
    ledger.pending(run, lastRow, REMOVED_BATCH).map(({ row, leg }) => ({ row, leg, reason: 'removed' }));
  for (let rows = next(); rows.length > 0; rows = next()) {
    ledger.skip(run, rows, now());
    for (const _ of rows) shift.progress.settled('skipped');
  }
}

function parcelOf(dues: readonly Due[] | null): Parcel | null {
  const [first, ...rest] = dues ?? [];
  return first === undefined ? null : [first, ...rest];
}

function isExpected(decision: SendDecision | DeferDecision, todo: ReturnType<typeof createTodo>): boolean {
  return decision.key === todo.keyOf(decision.row);
}

/** The ledger says that this row is to be sent to, but the list says otherwise although its bytes are the same. */
function unexpected(line: number): Error {
  return new Error(`line ${line} of the list is not the recipient that the ledger holds`);
}

function firstLegsOf(ledger: Ledger, run: RunRecord): { readonly firstLegs: number; readonly fellBack: number } {
  const first = ledger.legs(run).filter(({ leg }) => leg === 0);
  return {
    firstLegs: sumOf(first, 'accepted'),
    fellBack: first.reduce((sum, { fellBack, count }) => (fellBack ? sum + count : sum), 0),
  };
}

function sumOf(counts: readonly CountRecord[], outcome: OutcomeState): number {
  return counts.reduce((sum, count) => (count.outcome === outcome ? sum + count.count : sum), 0);
}

function stateAfter(ledger: Ledger, run: RunRecord, halt: Halt | null, interrupted: boolean): EndState {
  if (halt !== null) return 'halted';
  const open = ledger.counts(run).some((c) => ['pending', 'failed', 'deferred'].includes(c.outcome) && c.count > 0);
  if (!open) return 'finished';
  return interrupted ? 'interrupted' : 'partial';
}
