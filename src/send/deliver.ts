import { hash } from 'node:crypto';
import { type Addressee, type CompiledWire, parseAnswer } from '../http/answer.ts';
import { type ClassifyContext, classify, ELSEWHERE, isRecognised, type Verdict } from '../http/classify.ts';
import type { Endpoint } from '../http/connect.ts';
import type { AnswerCheck } from '../http/connection-answers.ts';
import { type AnswerReading, explainAnswer } from '../http/explain.ts';
import { classifyMany } from '../http/recipient-answers.ts';
import { backoffMs } from '../http/waits.ts';
import {
  isClaimSkip,
  type PendingRow,
  type ResultRecord,
  type SentMessage,
  type StepFacts,
} from '../ledger/records.ts';
import type { Attempt, Channel, Recipient, SendDecision, SendRequest, StepMessage } from '../model.ts';
import type { Expander } from '../plan/expand.ts';
import type { Fence } from '../plan/fence.ts';
import type { Closed, WindowGate } from '../plan/gate.ts';
import type { GroupCommit, TimedAnswer, TimedClaim } from './group-commit.ts';
import type { Progress } from './progress.ts';
import type { About, Stop } from './stop.ts';
import type { RateLimiter, SlowStart } from './throttle.ts';

export interface SendTask {
  readonly decision: SendDecision;
  /** For step 0, the decision itself. */
  readonly message: StepMessage;
  /** 0, then one more for each fallback that was begun. */
  readonly step: number;
  /** Channels of earlier steps, which the recipient could not receive: not tried again. */
  readonly used: readonly Channel[];
  /** Attempts at this channel step in earlier starts. */
  readonly before: number;
  /** Facts of its message in the ledger, where they were read. */
  readonly kept?: PendingRow['facts'] | undefined;
  /** The previous channel steps, if the last was accepted but reported as undelivered: claiming this one gives it up. */
  readonly byReport?: readonly SentMessage[] | undefined;
}

/** The recipients of one request: several only if they get the same content. */
export type Batch = readonly [SendTask, ...SendTask[]];

/**
 * Brings one recipient to an outcome, or leaves the row `pending` if the run stops. A recipient that cannot receive the
 * channel is sent the next channel step.
 *
 * A request is made only when a connection is open, and only after its claim is on disk. The claim is granted only if
 * the request may be made at once: it checks windows, `notAfter`, `validity`, a `Retry-After`, pauses, the fence, the
 * budget and opt-outs. Every attempt goes to the group commit before the next one begins (failures.md, rules 1, 3, 4,
 * 11).
 * @param made - attempts that this start has made for the task
 */
export async function deliver(task: SendTask, context: SendContext, made = 0): Promise<void> {
  let request = context.expand.one(task.decision, task.message);
  if (isOutside(request, context)) return;
  for (let attempt = made; ; ) {
    if (context.closed(task.decision.recipient) !== null && (await setAside(task, context))) return;
    // As a rule the request needs no token, and a connection is open, which is then reserved.
    const isReady = !context.stopped.aborted && context.rateLimiter.isFree() && context.endpoint.reserve();
    const connection = isReady ? 'open' : await connect(context);
    if (connection === 'stopped') return;
    let facts: Attempt;
    let verdict: Verdict;
    if (connection === 'open') {
      const current = upToDate(request, task, context);
      if (current !== request && isOutside(current, context)) return context.endpoint.release();
      request = current;
      const answer = (await context.groupCommit.claim([context.claimOf(task, attempt)]))?.[0];
      if (answer !== 'claimed') release(answer, context);
      if (answer === 'withdrawn') attempt += 1;
      if (isToWait(answer)) continue;
      if (answer !== 'claimed') return;
      facts = await post(request, context);
      verdict = judge(facts, [addresseeOf(task, request)], context).best;
    } else {
      facts = connection;
      verdict = unsent(facts, context);
    }
    attempt += 1;
    const from = connection === 'open' ? 'claimed' : 'pending';
    const next = applyOutcome(task, attempt, from, facts, verdict, context, { line: task.decision.line });
    if (next === 'again') await backOff(attempt, verdict.retryAfterMs, context);
    else if (next === 'done') return;
    else return await deliver(next, context);
  }
}

/** The time of the message may have run on while it waited for a connection, or for another attempt. */
export function upToDate(request: SendRequest, { decision, message }: SendTask, { expand }: SendContext): SendRequest {
  return request.form.countsDown ? expand.one(decision, message) : request;
}

/**
 * The last check before a request: all of its recipients are allowed in the environment. If not, that is a bug, and the
 * start halts with nothing sent.
 */
export function isOutside(request: SendRequest, { fence, stop }: SendContext): boolean {
  if (fence === null || fence.holds(request)) return false;
  stop.outside();
  return true;
}

/** Defers or skips a recipient who may not be sent to now, and returns whether it did. */
export async function setAside({ decision, step }: SendTask, context: SendContext): Promise<boolean> {
  // A recipient that was just refused, or fell back, is pending only when that is on disk.
  await context.groupCommit.written();
  const closed = context.closed(decision.recipient);
  if (closed !== null && !context.stopped.aborted) context.aside(decision.row, step, closed);
  return closed !== null || context.stopped.aborted;
}

/** Waits for a token and an open connection, which is then reserved. Returns a failed attempt to connect. */
export async function connect({ rateLimiter, endpoint, stopped }: SendContext): Promise<'open' | 'stopped' | Attempt> {
  for (;;) {
    await rateLimiter.token();
    if (stopped.aborted) return 'stopped';
    const failed = await endpoint.ready();
    if (failed === null && !stopped.aborted && rateLimiter.take()) return 'open';
    // Opening took so long that the token expired. Nothing was sent: wait for another token.
    if (failed === null) endpoint.release();
    if (stopped.aborted) return 'stopped';
    if (failed !== null) return failed;
  }
}

/** Releases the reserved connection of a claim that was not granted. Undefined: the ledger failed. */
export function release(answer: TimedAnswer | undefined, context: SendContext): void {
  context.endpoint.release();
  countSkip(answer, context);
}

/** A recipient that the claim skipped or deferred is no longer to do. */
export function countSkip(answer: TimedAnswer | undefined, { progress }: SendContext): void {
  if (isClaimSkip(answer)) progress.finished('skipped');
  if (answer === 'follow-up-later') progress.finished('deferred');
}

/** Nothing was sent, and the recipient is still to do: when the API takes requests again, or at the next opening. */
export function isToWait(answer: TimedAnswer | undefined): boolean {
  return answer === 'held' || answer === 'closed' || answer === 'withdrawn';
}

export function post({ body, reference, form }: SendRequest, { endpoint, progress }: SendContext): Promise<Attempt> {
  progress.figures.posted += 1;
  return endpoint.post(body, reference, form);
}

export function addresseeOf({ message }: SendTask, { to = message.to, reference }: SendRequest): Addressee {
  return { to, reference };
}

/** The verdicts in the order of the request's recipients, and `best`, on the answer as a whole. */
export function judge(facts: Attempt, addressees: readonly Addressee[], context: SendContext) {
  context.progress.times.add(facts.latencyMs);
  const document = parseAnswer(facts, addressees);
  const about = classifyContext(facts, context);
  const classified = classifyMany(facts, addressees, about, document);
  const verdicts = context.checkAnswer(facts, addressees, classified, document);
  // One answer raises the concurrency by one, for any number of recipients: its best verdict counts.
  const best = verdicts.find(({ outcome }) => outcome === 'accepted') ?? verdicts.find(isRecognised) ?? verdicts[0];
  if (best === undefined) throw new Error('a request has a recipient');
  const { onAnswer, wire } = context;
  if (onAnswer !== undefined) {
    onAnswer(
      facts,
      addressees.map((one, i) => explainAnswer(facts, one, verdicts[i] ?? best, wire)),
    );
  }
  note(facts, best, context);
  return { verdicts, best };
}

/** The verdict on a request that was not made, because no connection could be opened. */
export function unsent(facts: Attempt, context: SendContext): Verdict {
  const verdict = classify(facts, classifyContext(facts, context));
  note(facts, verdict, context);
  return verdict;
}

function classifyContext(
  { status }: Attempt,
  { wire, progress, isAccepting, now, stopped }: SendContext,
): ClassifyContext {
  return {
    wire,
    firstAnswer: !progress.recognised,
    // Asked where it counts: the ledger has to know.
    neverAccepted: status !== null && ELSEWHERE.has(status) && !isAccepting(),
    nowMs: now(),
    stopping: stopped.aborted,
  };
}

function note({ status }: Attempt, verdict: Verdict, { progress, slowStart, stop, stopped }: SendContext): void {
  if (isRecognised(verdict)) progress.recognised = true;
  if (verdict.outcome === 'accepted') slowStart.accepted();
  if (status === 429) slowStart.throttled();
  if (verdict.reason === 'rate-limited') progress.asked(verdict.retryAfterMs);
  if (status !== null && !stopped.aborted) stop.answered(status);
}

/** Passes the outcome of an attempt to the group commit. Returns another attempt, a fallback, or nothing. */
export function applyOutcome(
  task: SendTask,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdict: Verdict,
  context: SendContext,
  about: About,
): 'again' | 'done' | SendTask {
  const { progress, slowStart, stop, stopped } = context;
  // If the run was stopped, recipients that could have been tried again wait for the next start.
  if (verdict.again && verdict.halt === null && attempt < context.attempts) {
    record(task, attempt, from, facts, verdict, 'pending', context);
    // Once for a request with any number of recipients: figures and concurrency count requests.
    if (about.sameEvent !== true && !stopped.aborted) {
      progress.figures.retried += 1;
      slowStart.retried(progress.figures.retried, progress.figures.posted);
    }
    return 'again';
  }
  let next: SendTask | undefined;
  if (verdict.reason === 'unsupported-channel' && from === 'claimed') {
    const used = [...task.used, task.message.channel];
    const message = unused(task.decision, used);
    // Undefined after the last channel step.
    next = message && { decision: task.decision, message, step: task.step + 1, used, before: 0 };
  }
  record(task, attempt, from, facts, verdict, verdict.outcome, context, next);
  if (next !== undefined) {
    if (task.step === 0 && !stopped.aborted) stop.fellBack();
    return next;
  }
  if (verdict.retryAfterMs !== null) context.rateLimiter.hold(verdict.retryAfterMs);
  progress.finished(verdict.outcome);
  if (verdict.reason === 'rate-limited' && verdict.halt === null) progress.limited(context.now());
  // Answers after a signal did not end this start.
  if (!stopped.aborted)
    stop.note(verdict, { line: about.line, sameEvent: about.sameEvent, step: task.step, status: facts.status });
  return 'done';
}

export function record(
  { decision, message, step, before, byReport }: SendTask,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdict: Verdict,
  state: ResultRecord['state'],
  context: SendContext,
  next?: SendTask,
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
  const { optOutTopic: topic } = context;
  if (next !== undefined) {
    const facts = stepFacts(next.decision, next.message, context.costOf);
    context.groupCommit.record({ ...result, next: { ...facts, to: next.message.to } });
  } else if (verdict.reason === 'opted-out' && topic !== null) {
    context.groupCommit.record({ ...result, optOut: { to: message.to, topic } });
  } else if (state !== 'in-doubt' || message.text === null) context.groupCommit.record(result);
  else context.groupCommit.record({ ...result, textHash: hash('sha256', message.text) });
}

/** Waits before the next attempt. A `Retry-After` holds back all requests of the run. */
export async function backOff(attempts: number, retryAfterMs: number | null, context: SendContext): Promise<void> {
  const waitMs = backoffMs(attempts - 1, context.random);
  if (retryAfterMs !== null) context.rateLimiter.hold(retryAfterMs + waitMs);
  await context.rateLimiter.pause(waitMs);
}

/** Undefined where the campaign has no fallback left for it. */
export function taskOf(
  decided: SendDecision,
  { step, used, attempts, byReport, resend, facts }: PendingRow,
): SendTask | undefined {
  const decision = resend === undefined ? decided : { ...decided, resend };
  const message = step === 0 ? decision : unused(decision, used);
  if (message === undefined) return undefined;
  return { decision, message, step, used, before: attempts, kept: facts, byReport };
}

/** By channel, not by number: an amended campaign may have other fallbacks, or the same in another order. */
function unused({ fallbacks }: SendDecision, used: readonly Channel[]): StepMessage | undefined {
  return fallbacks.find(({ channel }) => !used.includes(channel));
}

export function stepFacts(
  { variant }: SendDecision,
  message: StepMessage,
  costOf: (message: StepMessage) => number | null,
): StepFacts {
  return {
    channel: message.channel,
    variant,
    parts: message.sms?.parts ?? null,
    encoding: message.sms?.encoding ?? null,
    costMicros: costOf(message),
  };
}

/** The same for all deliveries of a start. */
export interface SendContext {
  readonly groupCommit: GroupCommit;
  readonly endpoint: Pick<Endpoint, 'reserve' | 'ready' | 'post' | 'release'>;
  readonly rateLimiter: RateLimiter;
  readonly slowStart: SlowStart;
  readonly stop: Stop;
  readonly progress: Progress;
  readonly wire: CompiledWire;
  /** Whether the environment was ever accepted at this address: by this start, its other workers, or before. */
  readonly isAccepting: () => boolean;
  readonly checkAnswer: AnswerCheck;
  readonly onAnswer: ((facts: Attempt, readings: readonly AnswerReading[]) => void) | undefined;
  readonly attempts: number;
  readonly expand: Expander;
  /** The only addresses that the environment sends to; null: all. */
  readonly fence: Pick<Fence, 'holds'> | null;
  /** The conditions of a claim, after so many attempts in this start. */
  readonly claimOf: (task: SendTask, made: number) => TimedClaim;
  readonly costOf: (message: StepMessage) => number | null;
  /** Whether reports still show that none of the messages was delivered. */
  readonly isUnreached: (messages: readonly SentMessage[]) => boolean;
  /** The topic that an opt-out ends, '' for all; null: messages go to others than their recipients, or to none. */
  readonly optOutTopic: string | null;
  /** See `lateAt`. */
  readonly lateAtMs: number;
  /** For decisions; null without a window. */
  readonly window: WindowGate | null;
  /** Why a recipient may not be sent to now: it is too late, or the window is closed. */
  readonly closed: (recipient: Recipient) => Closed | null;
  /** Defers a recipient until its window opens again, or skips it permanently. The row must be pending. */
  readonly aside: (row: number, step: number, closed: Closed) => void;
  readonly now: () => number;
  readonly random: () => number;
  /** No new request may be made: halted, interrupted, or the ledger failed. */
  readonly stopped: AbortSignal;
}
