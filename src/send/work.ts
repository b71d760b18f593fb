import type { CompiledWire } from '../http/answer.ts';
import { createAnswerCheck } from '../http/connection-answers.ts';
import type { ClaimPolicy, Ledger } from '../ledger/ledger.ts';
import type { ClaimBudget, HeldShards, RunRecord } from '../ledger/records.ts';
import type { StepMessage } from '../model.ts';
import { budgetState, overBudget } from '../plan/budget.ts';
import type { Reached } from '../plan/contact-history.ts';
import type { Plan } from '../plan/plan.ts';
import type { Suppressions } from '../plan/suppression.ts';
import { type Closed, createWindowGate } from '../plan/window.ts';
import type { ListDigest } from '../recipients/read.ts';
import { stepFacts } from './batch.ts';
import { createPool, createSlowStart } from './concurrency.ts';
import { deliver, type SendContext } from './deliver.ts';
import { deliverBatch } from './deliver-shared.ts';
import { isUnreached } from './deliveries.ts';
import type { OnEvent } from './event.ts';
import { claimInTime, createGroupCommit, type GroupCommit, type GroupCommitLedger } from './group-commit.ts';
import type { RunMemory } from './memory.ts';
import { PAUSE_LOOK_MS, watchPauses } from './pause.ts';
import { createLists, feed, type ListsAgain, type ProducerOptions } from './producer.ts';
import { acceptsAt, createProgress, type ProgressWithLatency } from './progress.ts';
import { createRateLimiter, createSharedRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { createStop, type Stop, type StopContext } from './stop.ts';
import type { Timers } from './timers.ts';

export interface WorkOptions {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly run: RunRecord;
  readonly list: ListDigest;
  /** As last read; the claims see later entries of the ledger. */
  readonly suppressions: Suppressions;
  /** Reads them again after a wait: for an answer, an opening, the pause of a canary. Default: not at all. */
  readonly listsAgain?: ListsAgain;
  /** The contact history of other runs; the claims check what those add from now on. Default: no rule uses it. */
  readonly reached?: Reached | null;
  /** The environment's budget, which the claims check. Default: none. */
  readonly budget?: ClaimBudget | null;
  readonly endpoint: SendContext['endpoint'];
  readonly wire: CompiledWire;
  /** Of the provider, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Price of a message in millionths of the currency; for the channel steps that the check pass did not price. */
  readonly costOf?: (message: StepMessage) => number | null;
  readonly concurrency: number;
  readonly ratePerSecond: number | null;
  /** Ends the start in good order: requests in flight are finished. */
  readonly interrupt: AbortSignal;
  readonly now: () => number;
  readonly random: () => number;
  /** Called with claimed recipients: this process knows them even if the ledger is lost. Default: not called. */
  readonly remembered?: RunMemory | null;
  readonly onEvent?: OnEvent | undefined;
  /** How each answer was read is an event too. Default: it is not computed. */
  readonly explainsAnswers?: boolean;
  /** Poll interval for a pause while nothing is claimed, in ms. Default: 500. */
  readonly pauseLookMs?: number;
}

export interface WorkShared {
  /** Null: the whole list. */
  readonly held: () => HeldShards | null;
  readonly others: NonNullable<StopContext['others']>;
  /** A claim was refused: others ended the run, or took a shard over. */
  readonly onStopped: () => void;
  /** A rule stops the run: all workers have to know. */
  readonly onHalt: (stop: Stop) => void;
}

/** Everything between the list and the API, of one start or of one worker. */
export interface Work {
  readonly progress: ProgressWithLatency;
  readonly stop: Stop;
  readonly groupCommit: GroupCommit;
  /** Nothing more is claimed: halted, interrupted, or the ledger failed. */
  readonly stopped: AbortSignal;
  readonly trouble: Error | null;
  /** Sends to all pending recipients in these rows, and returns when nothing is in flight. */
  feed(rows: Pick<ProducerOptions, 'pendingRows' | 'limit' | 'gate'> & Partial<ProducerOptions>): Promise<void>;
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
  options: WorkOptions,
  before: StopContext['before'],
  timers: Timers,
  shared: WorkShared | null = null,
): Promise<Work> {
  const { plan, ledger, run, concurrency, now, reached = null, remembered = null, onEvent } = options;
  const stopping = new AbortController();
  const halt = (): void => stopping.abort();
  if (options.interrupt.aborted) halt();
  options.interrupt.addEventListener('abort', halt, { once: true });

  const pool = createPool(
    (batch) => {
      const [task] = batch;
      const isPlain = batch.length === 1 && task.byReport === undefined;
      return isPlain ? deliver(task, context) : deliverBatch(batch, context);
    },
    stopping.signal,
    halt,
  );
  const progress = createProgress();
  const lists = createLists(options.suppressions, options.listsAgain ?? null, now, timers);
  const slowStart = createSlowStart(concurrency, pool.setWidth);
  const { rateLimiter, heldByOthers } = pacesOf(options, stopping.signal, timers, shared !== null);
  const committed: NonNullable<GroupCommitLedger['committed']> = (results, claims, answers) => {
    remembered?.committed(results, claims, answers);
    onEvent?.({ kind: 'committed', results, claims });
  };
  const clock = { now, isHeld: rateLimiter.isHeld, isStopped: () => stopping.signal.aborted };
  let claimedAtMs = 0;
  const { fence } = plan;
  const { budget = null } = options;
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
  const stop: Stop = createStop({
    inFlight: concurrency * plan.recipientsPerRequest,
    rows: run.rows,
    limits: plan.campaign.limits,
    api: plan.environment,
    list: plan.campaign.recipients.file,
    before,
    onHalt() {
      halt();
      shared?.onHalt(stop);
    },
    ...(shared === null ? {} : { others: shared.others }),
  });
  const startMs = run.startedAtMs ?? now();
  // Without a window nothing waits, and no turn of the event loop is added.
  const window = plan.campaign.send.window === null ? null : await createWindowGate(plan, { now, startMs });
  const context = createSendContext({
    options,
    run,
    startMs,
    groupCommit,
    slowStart,
    rateLimiter,
    stop,
    window,
    progress,
    stopped: stopping.signal,
  });

  const { pauseLookMs = PAUSE_LOOK_MS } = options;
  const isClaiming = (): boolean => timers.monotonicMs() - claimedAtMs < pauseLookMs;
  const endWatch = watchPauses({ ledger, run, stop, timers, everyMs: pauseLookMs, isClaiming }, stopping.signal);

  return {
    progress,
    stop,
    groupCommit,
    stopped: stopping.signal,
    get trouble() {
      return pool.failure;
    },
    feed: (rows) => feed({ plan, ledger, run, list: options.list, lists, reached, now, context, pool, ...rows }),
    heldByOthers,
    fail: (error) => pool.fail(error),
    halt,
    end() {
      options.interrupt.removeEventListener('abort', halt);
      endWatch();
    },
  };
}

/** An environment's rate is for all who send to it, where they share a ledger; a run's for all who share the run. */
function pacesOf(
  { plan, run, ledger, ratePerSecond }: WorkOptions,
  stopped: AbortSignal,
  timers: Timers,
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

interface Start
  extends Pick<SendContext, 'groupCommit' | 'slowStart' | 'rateLimiter' | 'stop' | 'window' | 'progress' | 'stopped'> {
  readonly options: WorkOptions;
  readonly run: RunRecord;
  /** Time of the run's first start, in ms since 1970: it dates a relative validity. */
  readonly startMs: number;
}

const EXPIRED: Closed = { decision: 'skip', reason: 'expired', detail: '' };

function createSendContext({ options, run, startMs, progress, ...parts }: Start): SendContext {
  const { plan, ledger, now, reached = null, costOf = () => null, onEvent } = options;
  const { window } = parts;
  const { notAfterMs, attempts } = plan.campaign.send;
  // Read when the first 404 needs it: a ledger may hold many runs.
  let acceptedBefore: boolean | null = null;
  const isAcceptedBefore = (): boolean =>
    ledger.runs().some((one) => one.environment === run.environment && acceptsAt(one, plan.environment.url));
  // A recipient who waited for the winner has no variant in the ledger yet.
  const decidesLate = plan.campaign.split.test !== null;
  const hasBudget = (options.budget ?? null) !== null;
  // The last millisecond of `notAfter` counts.
  const lateAtMs = notAfterMs === null ? Number.POSITIVE_INFINITY : notAfterMs + 1;
  const isLate = (): boolean => notAfterMs !== null && now() >= lateAtMs;
  return {
    ...parts,
    progress,
    endpoint: options.endpoint,
    wire: options.wire,
    isAccepting: () => {
      if (parts.stop.isAccepting) return true;
      acceptedBefore ??= isAcceptedBefore();
      return acceptedBefore;
    },
    answers: createAnswerCheck(options.wire, (notice) => onEvent?.({ kind: 'notice', notice })),
    onAnswer: options.explainsAnswers === true ? (reading) => onEvent?.({ kind: 'answer', reading }) : null,
    attempts,
    expand: plan.expander(startMs, { secrets: options.secrets, now }),
    fence: plan.fence,
    claimOf({ decision, message, step, before }, made) {
      const { row, key, recipient } = decision;
      // Nor the current message of recipients with an earlier attempt: the campaign may have been amended since.
      const isNew = step > 0 || decidesLate || before > 0;
      return {
        row,
        step,
        to: message.to,
        key,
        attempts: before + made,
        facts: isNew ? stepFacts(decision, message, costOf) : undefined,
        costMicros: hasBudget ? costOf(message) : undefined,
        caps: reached?.capsOf(recipient, now()),
        untilMs: Math.min(lateAtMs, window?.closesAtMs(recipient) ?? Number.POSITIVE_INFINITY),
      };
    },
    costOf,
    isUnreached: (message) => isUnreached(ledger.events.reportsOf(message)),
    isLate,
    closed: (recipient) => (isLate() ? EXPIRED : (window?.closed(recipient) ?? null)),
    aside(row, step, closed) {
      const { decision, reason } = closed;
      ledger[decision](run, [{ row, step, reason }], now());
      progress.finished(decision === 'skip' ? 'skipped' : 'deferred');
      if (decision === 'defer' && closed.opensAtMs !== null) progress.opens(closed.opensAtMs);
    },
    now,
    random: options.random,
  };
}
