import { createAnswerCheck } from '../http/connection-answers.ts';
import { showExchange } from '../http/explain.ts';
import type { ClaimPolicy, Ledger } from '../ledger/ledger.ts';
import { type HeldShards, isRedirected, type RunRecord } from '../ledger/records.ts';
import { stoppedTopic } from '../ledger/suppressions.ts';
import { budgetState, claimBudget, overBudget } from '../plan/budget.ts';
import { createPricer } from '../plan/estimate.ts';
import { type Closed, lateAt } from '../plan/gate.ts';
import { createWindowGate } from '../plan/window.ts';
import { isTest } from '../util/occurrence-name.ts';
import type { Api } from './api.ts';
import { type Batch, deliver, stepFacts } from './deliver.ts';
import { deliverBatch } from './deliver-shared.ts';
import { isUnreached } from './deliveries.ts';
import { claimInTime, createGroupCommit, type GroupCommitLedger } from './group-commit.ts';
import type { RunMemory } from './memory.ts';
import { PAUSE_LOOK_MS, watchPauses } from './pause.ts';
import type { ProducerContext } from './producer.ts';
import { acceptsAt, createProgress } from './progress.ts';
import { createLists, type PreparedStart } from './start.ts';
import { createStop, type Stop, type StopContext } from './stop.ts';
import {
  createPool,
  createRateLimiter,
  createSharedRateLimiter,
  createSlowStart,
  type RateLimiter,
} from './throttle.ts';
import { TIMERS } from './timers.ts';

export interface WorkShared {
  /** Null: the whole list. */
  readonly held: () => HeldShards | null;
  readonly others: NonNullable<StopContext['others']>;
  /** A claim was refused: others ended the run, or took a shard over. */
  readonly onStopped: () => void;
  /** A rule stops the run: all workers have to know. */
  readonly onHalt: (stop: Stop) => void;
}

/** Everything between the list and the API, of one pass of a start or of one worker. */
export interface Work extends ProducerContext {
  readonly trouble: Error | null;
  /** Nothing more is posted for so long: the API asked another worker to wait. */
  heldByOthers(ms: number): void;
  /** Ends everything, for instance because the ledger failed elsewhere. */
  fail(error: unknown): void;
  halt(): void;
  /** Removes its listeners. */
  end(): void;
}

/** @param before - answers to earlier starts */
export async function openWork(
  start: PreparedStart,
  run: RunRecord,
  { endpoint, wire, secrets }: Pick<Api, 'endpoint' | 'wire' | 'secrets'>,
  before: StopContext['before'],
  remembered: RunMemory | null,
  shared: WorkShared | null = null,
): Promise<Work> {
  const { plan, ledger, concurrency, prices, reached, now, timers = TIMERS, onEvent, onExchange } = start;
  const { campaign, environment, fence } = plan;
  const startMs = run.startedAtMs ?? now();
  const lateAtMs = lateAt(plan, startMs);
  // Without a window nothing waits, and no turn of the event loop is added.
  const isTimed = campaign.send.window !== null || campaign.recipients.each !== null;
  const window = isTimed ? await createWindowGate(plan, { now, lateAtMs }) : null;
  const stopping = new AbortController();
  const stopped = stopping.signal;
  const halt = (): void => stopping.abort();
  if (start.interrupt.aborted) halt();
  start.interrupt.addEventListener('abort', halt, { once: true });

  const lists = createLists(start.suppressions, start.listsAgain ?? null, now, timers);
  const { rateLimiter, heldByOthers } = pacesOf(start, run, stopped, shared !== null);
  const stop: Stop = createStop({
    inFlight: concurrency * plan.recipientsPerRequest,
    rows: run.rows,
    limits: campaign.limits,
    api: environment,
    list: campaign.recipients.file,
    before,
    onHalt() {
      halt();
      shared?.onHalt(stop);
    },
    ...(shared === null ? {} : { others: shared.others }),
  });
  const pool = createPool(
    (batch: Batch) => {
      const [task] = batch;
      const isPlain = batch.length === 1 && task.byReport === undefined;
      return isPlain ? deliver(task, work) : deliverBatch(batch, work);
    },
    stopped,
    halt,
  );

  const budget = claimBudget(plan, prices);
  const policy: ClaimPolicy = {
    // As they were read last.
    isListed: (to, key, nowMs) => lists.current.rules.isListed(to, key, nowMs),
    get hasher() {
      return lists.current.rules.hasher;
    },
    ...(fence === null ? {} : { isFenced: (to) => !fence.reaches(to) }),
    ...(budget === null ? {} : { budget }),
    reach: reached?.reach ?? null,
    get held() {
      return shared?.held() ?? null;
    },
  };
  const clock = { now, isHeld: rateLimiter.isHeld, isStopped: () => stopped.aborted };
  let claimedAtMs = 0;
  const committed: NonNullable<GroupCommitLedger['committed']> = (results, claims, answers) => {
    remembered?.committed(results, claims, answers);
    onEvent?.({ kind: 'committed', results, claims });
  };
  const groupCommit = createGroupCommit(
    {
      commit(results, claims) {
        const answers = claimInTime(claims, clock, (inTime, nowMs) =>
          ledger.commit(run, results, inTime, nowMs, policy),
        );
        if (answers.includes('stopped')) shared?.onStopped();
        if (answers.includes('paused')) stop.paused(ledger.pauseOf(run));
        if (budget !== null && answers.includes('over-budget')) {
          const isUnpriced = claims.some(
            ({ costMicros = null }, i) => answers[i] === 'over-budget' && costMicros === null,
          );
          const state = budgetState(plan, budget, now(), ledger);
          // In the next turn of the event loop: the granted requests of this commit are posted first.
          if (state !== null) timers.soon(() => stop.overBudget(overBudget(state, isUnpriced)));
        }
        if (claims.length > 0) claimedAtMs = timers.monotonicMs();
        return answers;
      },
      record(results) {
        ledger.commit(run, results, [], now(), policy);
        committed(results, [], []);
      },
      committed,
    },
    halt,
    timers,
  );

  const { attempts } = campaign.send;
  const stopTopic = campaign.project.webhook.replies.stopEnds === 'topic' ? stoppedTopic(run) : '';
  const costOf = createPricer(prices);
  // A recipient who waited for the winner has no variant in the ledger yet.
  const decidesLate = campaign.split.test !== null;
  // Read when the first 404 needs it: a ledger may hold many runs.
  let acceptedBefore: boolean | undefined;
  const progress = createProgress();

  const { pauseLookMs = PAUSE_LOOK_MS } = start;
  const isClaiming = (): boolean => timers.monotonicMs() - claimedAtMs < pauseLookMs;
  const endWatch = watchPauses({ ledger, run, stop, timers, everyMs: pauseLookMs, isClaiming }, stopped);

  const work: Work = {
    start,
    run,
    lists,
    pool,
    progress,
    stop,
    groupCommit,
    rateLimiter,
    slowStart: createSlowStart(concurrency, pool.setWidth),
    stopped,
    endpoint,
    wire,
    isAccepting() {
      if (stop.isAccepting) return true;
      acceptedBefore ??= ledger
        .runs()
        .some((one) => one.environment === run.environment && acceptsAt(one, environment.url));
      return acceptedBefore;
    },
    checkAnswer: createAnswerCheck(wire, (notice) => onEvent?.({ kind: 'notice', notice })),
    onAnswer: onExchange && ((facts, readings) => onExchange(showExchange(facts, readings, Object.values(secrets)))),
    attempts,
    expand: plan.expander(startMs, { secrets, now }),
    fence,
    claimOf({ decision, message, step, before, kept }, made) {
      const { row, key, recipient } = decision;
      // A recipient who waited was loaded without a message.
      const isLoaded =
        kept === undefined ||
        (kept.parts === (message.sms?.parts ?? null) &&
          kept.variant === decision.variant &&
          kept.costMicros === costOf(message));
      // After an earlier attempt the campaign may have been amended, so that its message is another one.
      const isNew = step > 0 || decidesLate || before > 0 || !isLoaded;
      return {
        row,
        step,
        to: message.to,
        key,
        attempts: before + made,
        facts: isNew ? stepFacts(decision, message, costOf) : undefined,
        costMicros: budget === null ? undefined : costOf(message),
        caps: reached?.capsOf(recipient, now()),
        untilMs: Math.min(lateAtMs, window?.closesAtMs(recipient) ?? Number.POSITIVE_INFINITY),
      };
    },
    costOf,
    isUnreached: (messages) => isUnreached(ledger.events, messages),
    // A test, a redirected message or one to the sandbox shows nothing about its recipient.
    optOutTopic: isTest(run.occurrence) || isRedirected(run) || environment.secrets === null ? null : stopTopic,
    lateAtMs,
    window,
    closed: (recipient) => (now() >= lateAtMs ? EXPIRED : (window?.closed(recipient) ?? null)),
    aside(row, step, closed) {
      const { decision, reason } = closed;
      ledger[decision](run, [{ row, step, reason }], now());
      progress.finished(decision === 'skip' ? 'skipped' : 'deferred');
      if (decision === 'defer' && closed.opensAtMs !== null) progress.opens(closed.opensAtMs);
    },
    now,
    random: start.random,
    get trouble() {
      return pool.failure;
    },
    heldByOthers,
    fail: pool.fail,
    halt,
    end() {
      start.interrupt.removeEventListener('abort', halt);
      endWatch();
    },
  };
  return work;
}

const EXPIRED: Closed = { decision: 'skip', reason: 'expired', detail: '' };

/** An environment's rate is for all who send to it, where they share a ledger; a run's for all who share the run. */
function pacesOf(
  { plan, ledger, ratePerSecond, timers = TIMERS }: PreparedStart,
  run: RunRecord,
  stopped: AbortSignal,
  isShared: boolean,
) {
  const { identity, ratePerSecond: environmentPerSecond } = plan.environment;
  const environment = environmentPerSecond === null ? null : ledger.turns(identity, environmentPerSecond);
  const isLower = ratePerSecond !== null && ratePerSecond !== environmentPerSecond;
  const own = isShared && isLower ? ledger.turns(tokensOf(run), ratePerSecond) : null;
  const turns = [environment, own].filter((one) => one !== null);
  const sharedPerSecond = own === null ? environmentPerSecond : ratePerSecond;
  if (turns.length === 0 || sharedPerSecond === null) {
    const rateLimiter = createRateLimiter(ratePerSecond, stopped, timers);
    return {
      rateLimiter: isShared ? heldTogether(rateLimiter, ledger, run) : rateLimiter,
      heldByOthers: (ms: number) => rateLimiter.hold(ms),
    };
  }
  const shared = { turns, sharedPerSecond, ratePerSecond: ratePerSecond ?? sharedPerSecond };
  // A process that takes shared tokens also gets the time until which all are held back.
  return { rateLimiter: createSharedRateLimiter({ ...shared, stopped, timers }), heldByOthers: () => undefined };
}

/** Without a rate no tokens are shared: workers read a `Retry-After` of another one with their next pulse. */
function heldTogether(rateLimiter: RateLimiter, ledger: Ledger, run: RunRecord): RateLimiter {
  const turns = ledger.turns(tokensOf(run), 1);
  return {
    ...rateLimiter,
    hold(ms) {
      rateLimiter.hold(ms);
      try {
        turns?.hold(ms);
      } catch {
        // The ledger that cannot be read ends the run at its next commit.
      }
    },
  };
}

/** The name of a run's tokens in the ledger. The space keeps it apart from names of environments. */
function tokensOf({ number }: RunRecord): string {
  return `run ${number}`;
}
