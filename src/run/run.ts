import pLimit from 'p-limit';
import { HandbillError } from '../errors.ts';
import type { Endpoint } from '../http/connect.ts';
import type { CompiledWire } from '../http/pointers.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { LegCount, RunRecord } from '../ledger/records.ts';
import type { Halt, LegMessage, OutcomeState, RunState } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import type { Reached } from '../plan/reach.ts';
import type { Suppressions } from '../plan/suppression.ts';
import { createWindowGate } from '../plan/window.ts';
import type { ListDigest } from '../recipients/read.ts';
import { createCanary } from './canary.ts';
import { createGate } from './canary-gate.ts';
import { claimInTime } from './claim-in-time.ts';
import { createDesk } from './desk.ts';
import { feed } from './feed.ts';
import { createLists, type ListsAgain } from './lists.ts';
import { createPace } from './pace.ts';
import { legFacts } from './parcel.ts';
import { createPool } from './pool.ts';
import { addFigures, createProgress, type Figures } from './progress.ts';
import { createRamp } from './ramp.ts';
import type { Shift } from './shift.ts';
import { createStop, inputHalt, ledgerHalt, type StopContext } from './stop.ts';
import { TIMERS, type Timers } from './timers.ts';
import { createTodo } from './todo.ts';

export interface RunOptions {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly run: RunRecord;
  readonly list: ListDigest;
  /** As they were read last; what comes into the ledger since is seen by the claims. */
  readonly suppressions: Suppressions;
  /** Reads them again when the start has waited: for an answer, an opening, the pause of a canary. Default: it does not. */
  readonly listsAgain?: ListsAgain;
  /** Requests that this start made before it waited for a window; default: it begins. */
  readonly postedBefore?: number;
  /** Whom other runs reached; what those do from now on is seen by the claims. Default: no rule asks for it. */
  readonly reached?: Reached | null;
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
  /** Waits for what is worth waiting for: long pauses of a canary. */
  readonly wait?: boolean;
  /** Nothing is sent before this instant, in ms since 1970: a long pause has begun. */
  readonly onWait?: (untilMs: number) => void;
  readonly now: () => number;
  readonly random: () => number;
  /** Default: the real ones. */
  readonly timers?: Timers;
  readonly onStart?: (figures: Readonly<Figures>) => void;
}

type EndState = Exclude<RunState, 'running'>;

export interface RunEnd {
  readonly run: RunRecord;
  readonly state: RunState;
  readonly halt: Halt | null;
  readonly recovered: number;
  readonly posted: number;
  /** When the first may be sent to of those who wait for a window or a pause, in ms since 1970; null: nobody does. */
  readonly opensAtMs: number | null;
  /** Of this start, as a progress line shows them. */
  readonly figures: Figures;
  /** The ledger could not be written: exit status 7. */
  readonly ledgerError: Error | null;
}

/**
 * One start of a run, under its lock: sends to everybody who is still to do, in list order, and records what happened.
 * p-limit is fed with back-pressure from the same stream of decisions that preview prints; its width is the ramp's.
 */
export async function sendRun(options: RunOptions): Promise<RunEnd> {
  const { plan, ledger, concurrency, now, timers = TIMERS, reached = null } = options;
  const { run, recovered } = ledger.start(options.run, now());
  const before = ledger.legs(run);
  const began = timers.monotonicMs();
  const stopping = new AbortController();
  const interrupted = (): void => stopping.abort();
  if (options.interrupt.aborted) interrupted();
  options.interrupt.addEventListener('abort', interrupted, { once: true });

  const limit = pLimit(1);
  const progress = createProgress();
  const lists = createLists(options.suppressions, options.listsAgain ?? null, now);
  const ramp = createRamp(concurrency, (width) => {
    limit.concurrency = width;
  });
  const desk = createDesk(
    {
      commit(results, claims) {
        const nowMs = now();
        const { rules } = lists.current;
        return claimInTime(claims, nowMs, (inTime) =>
          ledger.commit(run, results, inTime, nowMs, rules, reached?.reach),
        );
      },
    },
    () => stopping.abort(),
    timers,
  );
  const stop = createStop({
    inFlight: concurrency * plan.recipientsPerRequest,
    rows: run.rows,
    limits: plan.campaign.limits,
    before: answersIn(before),
    onHalt: () => stopping.abort(),
  });
  const { notAfterMs } = plan.campaign.send;
  const costOf = options.costOf ?? (() => null);
  // Who waited for the winner has no variant in the ledger yet.
  const decidesLate = plan.campaign.split.test !== null;
  const startMs = run.startedAtMs ?? now();
  // Nothing waits where there is no window: the turns of the event loop are those of a run without.
  const window = plan.campaign.send.window === null ? null : await createWindowGate(plan, { now, startMs });
  const shift: Shift = {
    desk,
    endpoint: options.endpoint,
    pace: createPace(options.ratePerSecond, stopping.signal, timers),
    ramp,
    stop,
    progress,
    wire: options.wire,
    attempts: plan.campaign.send.attempts,
    expand: plan.expander(startMs),
    // Nor does it know what those get now who had an attempt before: the campaign may have been amended since.
    factsOf: ({ decision, message, leg, before: attempts }) =>
      leg > 0 || decidesLate || attempts > 0 ? legFacts(decision, message, costOf) : null,
    costOf,
    capsOf: reached === null ? null : (recipient) => reached.capsOf(recipient, now()),
    isLate: () => notAfterMs !== null && now() > notAfterMs,
    expire(row, leg) {
      ledger.skip(run, [{ row, leg, reason: 'expired' }], now());
      progress.settled('skipped');
    },
    window,
    aside(row, leg, closed) {
      const { decision, reason } = closed;
      ledger[decision](run, [{ row, leg, reason }], now());
      progress.settled(decision === 'skip' ? 'skipped' : 'deferred');
      if (decision === 'defer' && closed.opensAtMs !== null) progress.opens(closed.opensAtMs);
    },
    now,
    random: options.random,
    stopped: stopping.signal,
  };

  const todo = createTodo((after, count) => ledger.pending(run, after, count));
  progress.figures.toDo = sumOf(before, 'pending');
  options.onStart?.(progress.figures);
  const pool = createPool(limit, 2 * concurrency, shift, () => stopping.abort());
  const { canary } = plan.campaign.send;
  const gate =
    canary === null
      ? null
      : createGate({
          steps: createCanary({ canary, before, figures: progress.figures }),
          pauseMs: canary.pauseMs,
          lastClaimMs: ledger.lastClaimMs(run),
          stays: options.wait === true,
          onWait: options.onWait,
          progress,
          stop,
          now,
          timers,
          stopped: stopping.signal,
        });
  await feed({
    plan,
    ledger,
    run,
    list: options.list,
    lists,
    reached,
    limit: options.limit,
    now,
    shift,
    todo,
    pool,
    gate,
  });
  const trouble = pool.failure;
  await desk.flush();

  const { posted } = progress.figures;
  const ledgerError = desk.failure ?? (trouble instanceof LedgerError ? trouble : null);
  // Before the first request a changed input is refused as it is; after it, it halts what has begun (J2).
  const hasPosted = posted + (options.postedBefore ?? 0) > 0;
  const changed = trouble instanceof HandbillError && ledgerError === null && hasPosted ? inputHalt(trouble) : null;
  const halt = ledgerError === null ? (changed ?? stop.halt) : ledgerHalt(ledgerError);
  const state = stateAfter(ledger, run, halt, options.interrupt.aborted);
  const figures = addFigures(run.figures, progress, timers.monotonicMs() - began);
  options.interrupt.removeEventListener('abort', interrupted);
  // Whatever happened, this start has ended, and what it did is recorded.
  const ended = ledgerError === null ? ledger.finish(run, { state, halt, figures, nowMs: now() }) : run;
  if (trouble !== null && ledgerError === null && changed === null) throw trouble;
  const opensAtMs = progress.figures.opensAtMs ?? null;
  return { run: ended, state, halt, recovered, posted, opensAtMs, figures: progress.figures, ledgerError };
}

/** What earlier starts were answered; one look at the list says all of it. */
function answersIn(legs: readonly LegCount[]): StopContext['before'] {
  const first = legs.filter(({ leg }) => leg === 0);
  return {
    accepted: sumOf(legs, 'accepted'),
    rejected: sumOf(legs, 'rejected'),
    firstLegs: sumOf(first, 'accepted'),
    fellBack: first.reduce((sum, { fellBack, count }) => (fellBack ? sum + count : sum), 0),
  };
}

/** Recipients with an outcome: a leg that fell back is none. */
function sumOf(legs: readonly LegCount[], outcome: OutcomeState): number {
  return legs.reduce((sum, leg) => (leg.outcome === outcome && !leg.fellBack ? sum + leg.count : sum), 0);
}

function stateAfter(ledger: Ledger, run: RunRecord, halt: Halt | null, interrupted: boolean): EndState {
  if (halt !== null) return 'halted';
  const open = ledger.counts(run).some((c) => ['pending', 'failed', 'deferred'].includes(c.outcome) && c.count > 0);
  if (!open) return 'finished';
  return interrupted ? 'interrupted' : 'partial';
}
