import { HandbillError } from '../errors.ts';
import type { Endpoint } from '../http/connect.ts';
import type { CompiledWire } from '../http/pointers.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { LegCount, ResultRecord, RunRecord } from '../ledger/records.ts';
import type { Halt, LegMessage, RunState } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import type { Reached } from '../plan/reach.ts';
import type { Suppressions } from '../plan/suppression.ts';
import { createWindowGate } from '../plan/window.ts';
import type { ListDigest } from '../recipients/read.ts';
import { createCanary } from './canary.ts';
import { createGate, type Gate, type OnWait } from './canary-gate.ts';
import { asksReports, judgeReports } from './canary-reports.ts';
import { claimInTime, type TimedClaim } from './claim-in-time.ts';
import { findWinner, winnerIn } from './decide-winner.ts';
import { deliver } from './deliver.ts';
import { createDesk } from './desk.ts';
import { settleByReports } from './evidence.ts';
import { feed } from './feed.ts';
import { joinReplies } from './join-replies.ts';
import { createLists, type ListsAgain } from './lists.ts';
import { createPace, type Pace } from './pace.ts';
import { legFacts } from './parcel.ts';
import { createPool } from './pool.ts';
import { addFigures, createProgress, type Figures } from './progress.ts';
import { createRamp } from './ramp.ts';
import { returnedIn } from './returned.ts';
import { createSharedPace } from './shared-pace.ts';
import type { Shift } from './shift.ts';
import { answersIn, stateAfter, sumOf } from './start-counts.ts';
import { createStop, inputHalt, ledgerHalt } from './stop.ts';
import { TIMERS, type Timers } from './timers.ts';
import { createTodo } from './todo.ts';
import { isUnreached, unreachedRows, withUnreached } from './unreached.ts';

export interface RunOptions {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly run: RunRecord;
  readonly list: ListDigest;
  /** As they were read last; what comes into the ledger since is seen by the claims. */
  readonly suppressions: Suppressions;
  /**
   * Reads them again when the start has waited: for an answer, an opening, the pause of a canary. Default: it does not.
   */
  readonly listsAgain?: ListsAgain;
  /** Requests that this start made before it waited for a window; default: it begins. */
  readonly postedBefore?: number;
  /** Whom other runs reached; what those do from now on is seen by the claims. Default: no rule asks for it. */
  readonly reached?: Reached | null;
  /** Recipients whom a report makes due for a fallback; 0: nobody is looked for. */
  readonly unreached?: number;
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
  readonly onWait?: OnWait;
  readonly now: () => number;
  readonly random: () => number;
  /** Default: the real ones. */
  readonly timers?: Timers;
  readonly onStart?: (figures: Readonly<Figures>) => void;
  /** Told what is on the disk now, once for each commit: for whoever watches. It must not throw. Default: nobody does. */
  readonly onCommitted?: (results: readonly ResultRecord[], claims: readonly TimedClaim[]) => void;
}

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
  const { plan, ledger, concurrency, now, timers = TIMERS, reached = null, onCommitted } = options;
  const { run, recovered } = ledger.start(options.run, now());
  // Of those whom a kill left in doubt, some may have been reported since.
  settleByReports(ledger, now());
  const before = ledger.legs(run);
  const began = timers.monotonicMs();
  const stopping = new AbortController();
  const interrupted = (): void => stopping.abort();
  if (options.interrupt.aborted) interrupted();
  options.interrupt.addEventListener('abort', interrupted, { once: true });

  const pool = createPool(
    2 * concurrency,
    (parcel) => deliver(parcel, shift),
    () => stopping.abort(),
  );
  const progress = createProgress();
  const lists = createLists(options.suppressions, options.listsAgain ?? null, now, timers);
  const ramp = createRamp(concurrency, pool.setWidth);
  const pace = paceOf(options, stopping.signal, timers);
  const desk = createDesk(
    {
      commit(results, claims) {
        const nowMs = now();
        const { rules } = lists.current;
        const answers = claimInTime(claims, nowMs, pace.isHeld(), (inTime) =>
          ledger.commit(run, results, inTime, nowMs, rules, reached?.reach),
        );
        if (onCommitted !== undefined) onCommitted(results, claims);
        return answers;
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
  const startMs = run.startedAtMs ?? now();
  // Nothing waits where there is no window: the turns of the event loop are those of a run without.
  const window = plan.campaign.send.window === null ? null : await createWindowGate(plan, { now, startMs });
  const start: Start = { options, run, startMs, desk, ramp, pace, stop, window, progress, stopped: stopping.signal };
  const shift = createShift(start);

  const pending = (after: number, count: number) => ledger.pending(run, after, count);
  const todo = createTodo(
    options.unreached ? withUnreached(pending, unreachedRows(ledger, run, plan.campaign)) : pending,
  );
  progress.figures.toDo = sumOf(before, 'pending') + (options.unreached ?? 0);
  options.onStart?.(progress.figures);
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
    gate: createCanaryGate(start, before),
  });
  const trouble = pool.failure;
  await desk.flush();
  // A report may have come before the doubt that it settles was recorded (K1).
  if (desk.failure === null) settleByReports(ledger, now());

  const { posted } = progress.figures;
  if (desk.failure === null && progress.figures.settled.deferred > 0) sayWhenDecided(start);
  const ledgerError = desk.failure ?? (trouble instanceof LedgerError ? trouble : null);
  // Before the first request a changed input is refused as it is; after it, it halts what has begun (J2).
  const hasPosted = posted + (options.postedBefore ?? 0) > 0;
  const changed = trouble instanceof HandbillError && ledgerError === null && hasPosted ? inputHalt(trouble) : null;
  const halt = ledgerError === null ? (changed ?? stop.halt) : ledgerHalt(ledgerError);
  const state = stateAfter(ledger, run, halt, options.interrupt.aborted);
  const figures = addFigures(options.run.figures, progress, timers.monotonicMs() - began);
  options.interrupt.removeEventListener('abort', interrupted);
  // Whatever happened, this start has ended, and what it did is recorded.
  const ended = ledgerError === null ? ledger.finish(run, { state, halt, figures, nowMs: now() }) : run;
  if (trouble !== null && ledgerError === null && changed === null) throw trouble;
  const opensAtMs = progress.figures.opensAtMs ?? null;
  return { run: ended, state, halt, recovered, posted, opensAtMs, figures: progress.figures, ledgerError };
}

/** An environment's rate is for all who send to it, where they share a ledger. */
function paceOf({ plan, ledger, ratePerSecond }: RunOptions, stopped: AbortSignal, timers: Timers): Pace {
  const { name, ratePerSecond: sharedPerSecond } = plan.environment;
  const turns = sharedPerSecond === null ? null : ledger.turns(name, sharedPerSecond);
  if (turns === null || sharedPerSecond === null) return createPace(ratePerSecond, stopped, timers);
  return createSharedPace({ ratePerSecond: ratePerSecond ?? sharedPerSecond, turns, sharedPerSecond, stopped, timers });
}

/** What a start is made of, beside its list. */
interface Start extends Pick<Shift, 'desk' | 'ramp' | 'pace' | 'stop' | 'window' | 'progress' | 'stopped'> {
  readonly options: RunOptions;
  readonly run: RunRecord;
  /** The run's first start, in ms since 1970: it dates a relative validity. */
  readonly startMs: number;
}

function createShift({ options, run, startMs, progress, ...parts }: Start): Shift {
  const { plan, ledger, now, reached = null, costOf = () => null } = options;
  const { notAfterMs, attempts } = plan.campaign.send;
  // Who waited for the winner has no variant in the ledger yet.
  const decidesLate = plan.campaign.split.test !== null;
  return {
    ...parts,
    progress,
    endpoint: options.endpoint,
    wire: options.wire,
    attempts,
    expand: plan.expander(startMs),
    // Nor does it know what those get now who had an attempt before: the campaign may have been amended since.
    factsOf: ({ decision, message, leg, before }) =>
      leg > 0 || decidesLate || before > 0 ? legFacts(decision, message, costOf) : null,
    costOf,
    capsOf: reached === null ? null : (recipient) => reached.capsOf(recipient, now()),
    isUnreached: (message) => isUnreached(ledger.events.reportsOf(message)),
    isLate: () => notAfterMs !== null && now() > notAfterMs,
    expire(row, leg) {
      ledger.skip(run, [{ row, leg, reason: 'expired' }], now());
      progress.settled('skipped');
    },
    aside(row, leg, closed) {
      const { decision, reason } = closed;
      ledger[decision](run, [{ row, leg, reason }], now());
      progress.settled(decision === 'skip' ? 'skipped' : 'deferred');
      if (decision === 'defer' && closed.opensAtMs !== null) progress.opens(closed.opensAtMs);
    },
    now,
    random: options.random,
  };
}

/** Whoever waits for the winner of a test waits until it is found. */
function sayWhenDecided({ options, run, progress }: Start): void {
  const state = findWinner(options.ledger, options.plan, run, options.now());
  // With no time to wait, the next start finds it.
  if (state.kind === 'waits') progress.figures.winnerAtMs = state.untilMs;
  if (winnerIn(state) !== null) progress.figures.winnerAtMs = options.now();
  if (progress.figures.winnerAtMs !== undefined) progress.opens(progress.figures.winnerAtMs);
}

/** Null without a canary. */
function createCanaryGate(start: Start, before: readonly LegCount[]): Gate | null {
  const { options, run, desk, stop, progress, stopped } = start;
  const { plan, ledger, now, timers = TIMERS, onWait, wait = false } = options;
  const { canary } = plan.campaign.send;
  if (canary === null) return null;
  const asks = asksReports(canary.gate);
  const judge = (isOver: boolean) => judgeReports(canary.gate, returnedIn(ledger, run), isOver);
  return createGate({
    steps: createCanary({ canary, before, figures: progress.figures }),
    async recount() {
      await desk.written();
      settleByReports(ledger, now());
      if (asks) joinReplies(ledger, { startLifts: plan.campaign.project.webhook.replies.startLifts, now });
      return ledger.legs(run);
    },
    reports: asks ? { waitMs: canary.gate.waitMs, judge } : null,
    pauseMs: canary.pauseMs,
    lastClaimMs: ledger.lastClaimMs(run),
    stays: wait,
    onWait,
    progress,
    stop,
    now,
    timers,
    stopped,
  });
}
