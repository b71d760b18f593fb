import { hash } from 'node:crypto';
import type { CompiledWire } from '../http/answer.ts';
import { type ClassifyContext, classify, isRecognised, type Verdict } from '../http/classify.ts';
import type { Endpoint } from '../http/connect.ts';
import type { AnswerCheck } from '../http/connection-answers.ts';
import { type AnswerReading, explainAnswer } from '../http/explain.ts';
import { classifyMany } from '../http/recipient-answers.ts';
import { backoffMs } from '../http/waits.ts';
import { type Cap, isClaimSkip, type ResultRecord, type SentMessage, type StepFacts } from '../ledger/records.ts';
import type { Attempt, Recipient, SendRequest, StepMessage } from '../model.ts';
import type { Expander, SharedRequest } from '../plan/expand.ts';
import type { Fence } from '../plan/fence.ts';
import type { Closed, WindowGate } from '../plan/window.ts';
import { type Batch, type Due, dueAfter, nextStep } from './batch.ts';
import type { SlowStart } from './concurrency.ts';
import type { GroupCommit, TimedAnswer, TimedClaim } from './group-commit.ts';
import type { Progress } from './progress.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { About, Stop } from './stop.ts';

/**
 * Brings the recipients of a batch to an outcome, or leaves them `pending` if the run stops. A recipient that cannot
 * receive the channel gets the next channel step, and a request that is too large is halved. Both become batches of
 * their own, after this one.
 *
 * A request is made only when a connection is open (`ready`), and only after its claims are on disk. Every attempt is
 * handed to the group commit before the next one begins (failures.md, rules 1, 3, 4, 11). One recipient on an open
 * connection costs three promises: the delivery, the claim and the request.
 */
export async function deliver(batch: Batch, context: SendContext): Promise<void> {
  const { stopped, endpoint } = context;
  let due: Batch = batch;
  // A request that is for one stays the same; who shares one is known when the claims are on disk.
  const own = batch.length === 1 ? context.expand.one(batch[0].decision, batch[0].message) : null;
  if (own !== null && isOutside(own, context)) return;
  for (let attempt = 1; ; attempt++) {
    if (context.window !== null) {
      const open = await whoIsOpen(due, context);
      if (open === null) return;
      due = open;
    }
    const turn = context.rateLimiter.turn();
    if (turn !== undefined) await turn;
    if (stopped.aborted) return;
    // Its turn may have come late: with a low rate, or after a long Retry-After.
    if (context.isLate()) return await expire(due, context);
    if (isAnyClosed(due, context)) {
      attempt -= 1;
      continue;
    }
    const opening = endpoint.ready();
    const unopened = opening === null ? null : await opening;
    const isOver = stopped.aborted || context.isLate() || isAnyClosed(due, context);
    if (unopened === null && (isOver || !context.rateLimiter.take())) {
      // The connection was long in coming, and the turn is over. Nothing was tried, so it begins again.
      endpoint.release();
      attempt -= 1;
      continue;
    }
    if (stopped.aborted) return;
    let posted: Posted;
    if (unopened === null) {
      const answers = await claim(due, attempt - 1, context);
      if (answers?.[0] === 'held') {
        // Then all are: a `Retry-After` came while the claim waited for others.
        endpoint.release();
        attempt -= 1;
        continue;
      }
      const claimed = takeClaimed(due, answers, attempt, context);
      if (claimed === null) return;
      due = claimed;
      if (context.isLate() || isAnyClosed(due, context)) {
        // The commit took long. Nothing was sent, and the next claim is for another attempt.
        for (const one of due) context.groupCommit.record(unclaimed(one, attempt));
        endpoint.release();
        continue;
      }
      const request = own ?? requestFor(due, context);
      if (own === null && isOutside(request, context)) {
        for (const one of due) context.groupCommit.record(unclaimed(one, attempt));
        endpoint.release();
        return;
      }
      context.progress.posted();
      posted = judge(await endpoint.post(request.body, request.reference), request, due, context);
    } else posted = unsent(unopened, due, context);
    const end = applyOutcomes(
      due,
      attempt,
      unopened === null ? 'claimed' : 'pending',
      posted.facts,
      posted.verdicts,
      context,
    );
    if (end.again === null) {
      if (end.more !== null) for (const next of end.more) await deliver(next, context);
      return;
    }
    due = end.again;
    const wait = backoffMs(attempt - 1, context.random);
    if (end.retryAfterMs !== null) context.rateLimiter.hold(end.retryAfterMs + wait);
    await context.rateLimiter.pause(wait);
  }
}

/**
 * The last look before a request is made: whatever made it, its bytes name only recipients that the environment may send
 * to. If not, that is a bug, and the start halts with nothing sent.
 */
function isOutside({ body }: SendRequest, { fence, stop }: SendContext): boolean {
  if (fence === null || fence.holds(body)) return false;
  stop.outside();
  return true;
}

async function expire(due: Batch, context: SendContext): Promise<void> {
  // A recipient that was just refused, or fell back, is pending only when that is written, and can expire only then.
  await context.groupCommit.written();
  if (context.stopped.aborted) return;
  for (const { decision, step } of due) context.expire(decision.row, step);
}

/** An answer for each of them; null where none can be had. It never rejects. */
function claim(due: Batch, made: number, context: SendContext): Promise<readonly TimedAnswer[] | null> | null {
  const [first] = due;
  // It has arrived after all, while this one waited for its turn.
  if (first.byReport !== undefined && !context.isUnreached(first.byReport)) return null;
  return context.groupCommit.claim(
    due.length === 1 ? [claimOf(first, made, context)] : due.map((one) => claimOf(one, made, context)),
  );
}

/**
 * The recipients whose claim is on disk. If there are none, or the run stopped meanwhile, the reserved connection is
 * released, and the result is null.
 */
function takeClaimed(
  due: Batch,
  answers: readonly TimedAnswer[] | null,
  attempt: number,
  context: SendContext,
): Batch | null {
  const isStopped = context.stopped.aborted;
  if (due.length === 1 && !isStopped && due[0].byReport === undefined && answers?.[0] === 'claimed') return due;
  const claimed: Due[] = [];
  const closed: Due[] = [];
  // Without answers the group commit has told the run: nothing more is claimed, and the rows are as they were.
  for (let i = 0; answers !== null && i < due.length; i++) {
    const one = due[i];
    if (one === undefined) continue;
    const answer = answers[i];
    if (isClaimSkip(answer)) context.progress.finished('skipped');
    if (answer === 'follow-up-later') context.progress.finished('deferred');
    if (answer === 'closed') closed.push(one);
    if (answer !== 'claimed') continue;
    if (!isStopped) claimed.push(one.byReport === undefined ? one : { ...one, byReport: undefined });
    // The run stopped while the claim was written. Nothing was sent, so the row is pending again (failures.md, B9).
    else context.groupCommit.record(unclaimed(one, attempt));
  }
  const [first, ...rest] = claimed;
  if (first === undefined) context.endpoint.release();
  if (!isStopped) for (const one of closed) setAside(one, context);
  return first === undefined ? null : [first, ...rest];
}

function claimOf(due: Due, made: number, context: SendContext): TimedClaim {
  const { decision, message, before } = due;
  const facts = context.factsOf(due);
  const caps = context.capsOf === null ? null : context.capsOf(decision.recipient);
  const request = { row: decision.row, step: due.step, to: message.to, key: decision.key, attempts: before + made };
  const withFacts = facts === null ? request : { ...request, facts };
  const withFall = due.byReport === undefined ? withFacts : { ...withFacts, attempts: before, byReport: true };
  const withCost = context.hasBudget ? { ...withFall, costMicros: context.costOf(message) } : withFall;
  const withCaps = caps === null ? withCost : { ...withCost, caps };
  const { window } = context;
  return window === null ? withCaps : { ...withCaps, untilMs: window.closesAtMs(decision.recipient) };
}

/**
 * Counted as an attempt, as one that is stopped before its first byte is: by the count the ledger knows whose claim it
 * is.
 */
function unclaimed({ decision, step, before }: Due, made: number): ResultRecord {
  const nothing = { httpStatus: null, messageId: null, error: null };
  const attempts = before + made;
  return {
    row: decision.row,
    step,
    from: 'claimed',
    state: 'pending',
    reason: 'stopped',
    attempts,
    ...nothing,
  };
}

interface Posted {
  readonly facts: Attempt;
  /** One for each recipient, in order. */
  readonly verdicts: readonly Verdict[];
}

type Request = SendRequest | SharedRequest;

function requestFor(due: Batch, { expand }: SendContext): Request {
  return due.length === 1
    ? expand.one(due[0].decision, due[0].message)
    : expand.many(due.map(({ decision }) => decision));
}

/** What the answer to a request means for each of its recipients. */
function judge(facts: Attempt, request: Request, due: Batch, context: SendContext): Posted {
  context.progress.latency(facts.latencyMs);
  const addressees =
    'addressees' in request
      ? request.addressees
      : [{ to: request.to ?? due[0].message.to, reference: request.reference }];
  const verdicts = context.answers.check(facts, addressees, classifyMany(facts, addressees, contextOf(context)));
  const { onAnswer, wire } = context;
  for (const [i, verdict] of onAnswer === null ? [] : verdicts.entries()) {
    const one = addressees[i];
    if (one !== undefined) onAnswer?.(explainAnswer(facts, one, verdict, wire));
  }
  // One answer raises the concurrency by one, however many recipients it is about: its best verdict counts.
  const told = verdicts.find(({ outcome }) => outcome === 'accepted') ?? verdicts.find(isRecognised) ?? verdicts[0];
  if (told !== undefined) note(facts, told, context);
  return { facts, verdicts };
}

function unsent(facts: Attempt, due: Batch, context: SendContext): Posted {
  const verdict = note(facts, classify(facts, contextOf(context)), context);
  return { facts, verdicts: due.map(() => verdict) };
}

function contextOf(context: SendContext): ClassifyContext {
  return {
    wire: context.wire,
    firstAnswer: !context.progress.recognised,
    get neverAccepted() {
      return !context.isAccepting();
    },
    nowMs: context.now(),
    stopping: context.stopped.aborted,
  };
}

function note(facts: Attempt, verdict: Verdict, context: SendContext): Verdict {
  if (isRecognised(verdict)) context.progress.recognised = true;
  if (verdict.outcome === 'accepted') context.slowStart.accepted();
  if (facts.status === 429) context.slowStart.throttled();
  if (verdict.reason === 'rate-limited') context.progress.asked(verdict.retryAfterMs);
  if (facts.status !== null && !context.stopped.aborted) context.stop.answered(facts.status);
  return verdict;
}

/** What one delivery works with; the same for all deliveries of a start. */
export interface SendContext {
  readonly groupCommit: GroupCommit;
  readonly endpoint: Pick<Endpoint, 'ready' | 'post' | 'release'>;
  readonly rateLimiter: RateLimiter;
  readonly slowStart: SlowStart;
  readonly stop: Stop;
  readonly progress: Progress;
  readonly wire: CompiledWire;
  /** Whether the environment was ever accepted at this address: by this start, by its other workers, or before. */
  readonly isAccepting: () => boolean;
  /** Finds answers that belong to another request. */
  readonly answers: AnswerCheck;
  /** Called with how each answer was read; null: it is not worked out. */
  readonly onAnswer: ((reading: AnswerReading) => void) | null;
  readonly attempts: number;
  readonly expand: Expander;
  /** The only addresses that the environment sends to; null: all. */
  readonly fence: Pick<Fence, 'holds'> | null;
  /** What to add to the ledger about a channel step that was not loaded with the list; null: nothing. */
  readonly factsOf: (due: Due) => StepFacts | null;
  readonly costOf: (message: StepMessage) => number | null;
  /** The environment has a budget: claims say what their messages cost. */
  readonly hasBudget: boolean;
  /** The frequency caps of a recipient at this moment; null: no caps. */
  readonly capsOf: ((recipient: Recipient) => readonly Cap[]) | null;
  /** Whether reports still say that an accepted message was not delivered. */
  readonly isUnreached: (message: SentMessage) => boolean;
  /** `send.notAfter` has passed: nothing more is sent. */
  readonly isLate: () => boolean;
  readonly expire: (row: number, step: number) => void;
  /** Whether a recipient may be sent to at this moment; null without a window. */
  readonly window: WindowGate | null;
  /** Defers a recipient until its window opens again, or skips it for good. The row must be pending. */
  readonly aside: (row: number, step: number, closed: Closed) => void;
  readonly now: () => number;
  readonly random: () => number;
  /** No new request is to be made: halted, interrupted, or the ledger failed. */
  readonly stopped: AbortSignal;
}

/** Is the window of any recipient closed? */
function isAnyClosed(due: Batch, { window }: SendContext): boolean {
  return window !== null && due.some(({ decision }) => window.closed(decision.recipient) !== null);
}

/** Sets recipients with a closed window aside, and returns the others; null if none are left. */
async function whoIsOpen(due: Batch, context: SendContext): Promise<Batch | null> {
  if (!isAnyClosed(due, context)) return due;
  // A recipient that was just refused, or fell back, is pending only when that is written, and is set aside only then.
  await context.groupCommit.written();
  if (context.stopped.aborted) return null;
  const [first, ...rest] = due.filter((one) => !setAside(one, context));
  return first === undefined ? null : [first, ...rest];
}

/** Defers or skips a recipient whose row is pending, and returns whether it did: the window may be open. */
function setAside({ decision, step }: Due, { window, aside }: SendContext): boolean {
  const closed = window?.closed(decision.recipient) ?? null;
  if (closed === null) return false;
  aside(decision.row, step, closed);
  return true;
}

/** What is to be sent to after a request: halves, and fallbacks. */
type More = readonly Batch[] | null;

/** What is left of a request once its answer is known. */
interface Applied {
  /** The recipients to try again; null: none. */
  readonly again: Batch | null;
  readonly retryAfterMs: number | null;
  readonly more: More;
}

const DONE: Applied = { again: null, retryAfterMs: null, more: null };

/** Hands all outcomes to the group commit, and returns which recipients are sent to next. */
function applyOutcomes(
  due: Batch,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdicts: readonly Verdict[],
  context: SendContext,
): Applied {
  if (due.length === 1) {
    const [verdict] = verdicts;
    const { line } = due[0].decision;
    return verdict === undefined ? DONE : applyOutcome(due[0], attempt, from, facts, verdict, context, { line });
  }
  const again: Due[] = [];
  const halves: Due[] = [];
  const more: Batch[] = [];
  let retryAfterMs: number | null = null;
  let noted: Verdict | null = null;
  for (let i = 0; i < due.length; i++) {
    const one = due[i];
    const verdict = verdicts[i];
    if (one === undefined || verdict === undefined) continue;
    if (verdict.split) {
      record(one, attempt, from, facts, verdict, 'pending', context);
      halves.push({ ...one, before: one.before + attempt });
      continue;
    }
    // Several doubts of one request are one event for the rules that count events in a row, and so is another attempt.
    const sameEvent = noted?.outcome === verdict.outcome;
    const applied = applyOutcome(one, attempt, from, facts, verdict, context, { sameEvent });
    noted = verdict;
    if (applied.again !== null) again.push(...applied.again);
    if (applied.more !== null) more.push(...applied.more);
    retryAfterMs ??= applied.retryAfterMs;
  }
  const middle = Math.ceil(halves.length / 2);
  for (const half of [halves.slice(0, middle), halves.slice(middle)]) {
    const [first, ...rest] = half;
    if (first !== undefined) more.push([first, ...rest]);
  }
  const [first, ...rest] = again;
  return { again: first === undefined ? null : [first, ...rest], retryAfterMs, more: more.length === 0 ? null : more };
}

function applyOutcome(
  due: Due,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdict: Verdict,
  context: SendContext,
  about: About,
): Applied {
  // Also when the run was stopped meanwhile: recipients that could have been tried again wait for the next start.
  if (verdict.again && verdict.halt === null && attempt < context.attempts) {
    record(due, attempt, from, facts, verdict, 'pending', context);
    if (about.sameEvent !== true && !context.stopped.aborted) noteRetry(context);
    return { again: [due], retryAfterMs: verdict.retryAfterMs, more: null };
  }
  const next = verdict.reason === 'unsupported-channel' && from === 'claimed' ? dueAfter(due) : undefined;
  if (next !== undefined) {
    record(due, attempt, from, facts, verdict, verdict.outcome, context, next);
    if (due.step === 0 && !context.stopped.aborted) context.stop.fellBack();
    return { ...DONE, more: [[next]] };
  }
  record(due, attempt, from, facts, verdict, verdict.outcome, context);
  if (verdict.retryAfterMs !== null) context.rateLimiter.hold(verdict.retryAfterMs);
  context.progress.finished(verdict.outcome);
  if (verdict.reason === 'rate-limited' && verdict.halt === null) context.progress.limited(context.now());
  // What still comes in after a signal did not end this start.
  if (!context.stopped.aborted) context.stop.note(verdict, { ...about, step: due.step, status: facts.status });
  return DONE;
}

/** Once for a request, however many recipients it has: figures and concurrency count requests. */
function noteRetry({ progress, slowStart }: SendContext): void {
  progress.retried();
  slowStart.retried(progress.figures.retried, progress.figures.posted);
}

function record(
  { decision, message, step, before, byReport }: Due,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdict: Verdict,
  state: ResultRecord['state'],
  context: SendContext,
  next?: Due,
): void {
  // A fallback that was never claimed has no row yet: the previous channel step stays accepted.
  if (byReport !== undefined) return;
  const result: ResultRecord = {
    row: decision.row,
    step,
    from,
    state,
    reason: verdict.reason,
    attempts: before + attempt,
    httpStatus: facts.status,
    messageId: verdict.messageId,
    error: verdict.error,
  };
  if (next !== undefined) context.groupCommit.record({ ...result, next: nextStep(next, context.costOf) });
  else if (state !== 'in-doubt' || message.text === null) context.groupCommit.record(result);
  else context.groupCommit.record({ ...result, textHash: hash('sha256', message.text) });
}
