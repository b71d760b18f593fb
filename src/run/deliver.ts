import { hash } from 'node:crypto';
import type { CompiledWire } from '../http/answer.ts';
import { type ClassifyContext, classify, isRecognised, type Verdict } from '../http/classify.ts';
import type { Endpoint } from '../http/connect.ts';
import type { AnswerCheck } from '../http/connection-answers.ts';
import { classifyMany } from '../http/recipient-answers.ts';
import { backoffMs } from '../http/waits.ts';
import type { Cap, LegFacts, ResultRecord, SentMessage } from '../ledger/records.ts';
import type { Attempt, LegMessage, Recipient, SendRequest } from '../model.ts';
import type { Closed } from '../plan/decide.ts';
import type { Expander, SharedRequest } from '../plan/expand.ts';
import type { WindowGate } from '../plan/window.ts';
import { type Due, dueAfter, nextLeg, type Parcel } from './batch.ts';
import type { Ramp } from './concurrency.ts';
import type { GroupCommit, TimedAnswer, TimedClaim } from './group-commit.ts';
import type { Progress } from './progress.ts';
import type { Pace } from './rate-limiter.ts';
import type { Stop } from './stop.ts';

/**
 * Brings the recipients of a parcel to an outcome, or leaves them `pending` where the run stops. Whoever cannot receive
 * the channel gets the next leg, and a request that is too large is halved: both become parcels of their own, after
 * this one.
 *
 * A request is made only when a connection stands (`ready`), and only after its claims are on disk; every attempt is
 * handed to the group commit before the next one begins (FAILURES rules 1, 3, 4, 11). One recipient on an open connection costs
 * three promises: the delivery, the claim and the request.
 */
export async function deliver(parcel: Parcel, shift: Shift): Promise<void> {
  const { stopped, endpoint } = shift;
  let due: Parcel = parcel;
  // A request that is for one stays the same; who shares one is known when the claims are on disk.
  const own = parcel.length === 1 ? shift.expand.one(parcel[0].decision, parcel[0].message) : null;
  for (let attempt = 1; ; attempt++) {
    if (shift.window !== null) {
      const open = await whoIsOpen(due, shift);
      if (open === null) return;
      due = open;
    }
    const turn = shift.pace.turn();
    if (turn !== undefined) await turn;
    if (stopped.aborted) return;
    // Its turn may have come late: with a low rate, or after a long Retry-After.
    if (shift.isLate()) return await expire(due, shift);
    if (isAnyClosed(due, shift)) {
      attempt -= 1;
      continue;
    }
    const opening = endpoint.ready();
    const unopened = opening === null ? null : await opening;
    const isOver = stopped.aborted || shift.isLate() || isAnyClosed(due, shift);
    if (unopened === null && (isOver || !shift.pace.take())) {
      // The connection was long in coming, and the turn is over. Nothing was tried, so it begins again.
      endpoint.release();
      attempt -= 1;
      continue;
    }
    if (stopped.aborted) return;
    let posted: Posted;
    if (unopened === null) {
      const answers = await claim(due, attempt - 1, shift);
      if (answers?.[0] === 'held') {
        // Then all are: a `Retry-After` came while the claim waited for others.
        endpoint.release();
        attempt -= 1;
        continue;
      }
      const claimed = takeClaimed(due, answers, attempt, shift);
      if (claimed === null) return;
      due = claimed;
      if (shift.isLate() || isAnyClosed(due, shift)) {
        // The commit took long. Nothing was sent, and the next claim is for another attempt.
        for (const one of due) shift.groupCommit.record(unclaimed(one, attempt));
        endpoint.release();
        continue;
      }
      const request = own ?? requestFor(due, shift);
      shift.progress.posted();
      posted = judge(await endpoint.post(request.body, request.reference), request, due, shift);
    } else posted = unsent(unopened, due, shift);
    const end = settle(due, attempt, unopened === null ? 'claimed' : 'pending', posted.facts, posted.verdicts, shift);
    if (end.again === null) {
      if (end.more !== null) for (const next of end.more) await deliver(next, shift);
      return;
    }
    due = end.again;
    const wait = backoffMs(attempt - 1, shift.random);
    if (end.retryAfterMs !== null) shift.pace.hold(end.retryAfterMs + wait);
    await shift.pace.pause(wait);
  }
}

async function expire(due: Parcel, shift: Shift): Promise<void> {
  // Whoever was just refused, or fell back, is pending when that is written, and only then can expire.
  await shift.groupCommit.written();
  if (shift.stopped.aborted) return;
  for (const { decision, leg } of due) shift.expire(decision.row, leg);
}

/** An answer for each of them; null where none can be had. It never rejects. */
function claim(due: Parcel, made: number, shift: Shift): Promise<readonly TimedAnswer[] | null> | null {
  const [first] = due;
  // It has arrived after all, while this one waited for its turn.
  if (first.byReport !== undefined && !shift.isUnreached(first.byReport)) return null;
  return shift.groupCommit.claim(
    due.length === 1 ? [claimOf(first, made, shift)] : due.map((one) => claimOf(one, made, shift)),
  );
}

/**
 * Those whose claim is on disk. Where nobody's is, or the run stopped meanwhile, the connection that was kept for them
 * is given back, and the answer is null.
 */
function takeClaimed(
  due: Parcel,
  answers: readonly TimedAnswer[] | null,
  attempt: number,
  shift: Shift,
): Parcel | null {
  const isStopped = shift.stopped.aborted;
  if (due.length === 1 && !isStopped && due[0].byReport === undefined && answers?.[0] === 'claimed') return due;
  const claimed: Due[] = [];
  const closed: Due[] = [];
  // Without answers the group commit has told the run: nothing more is claimed, and the rows are as they were.
  for (let i = 0; answers !== null && i < due.length; i++) {
    const one = due[i];
    if (one === undefined) continue;
    const answer = answers[i];
    if (answer === 'suppressed' || answer === 'excluded' || answer === 'capped') shift.progress.settled('skipped');
    if (answer === 'closed') closed.push(one);
    if (answer !== 'claimed') continue;
    if (!isStopped) claimed.push(one.byReport === undefined ? one : { ...one, byReport: undefined });
    // The run stopped in the very turn in which the claim was written. Nothing was sent, so the row is as it was
    // (B9).
    else shift.groupCommit.record(unclaimed(one, attempt));
  }
  const [first, ...rest] = claimed;
  if (first === undefined) shift.endpoint.release();
  if (!isStopped) for (const one of closed) setAside(one, shift);
  return first === undefined ? null : [first, ...rest];
}

function claimOf(due: Due, made: number, shift: Shift): TimedClaim {
  const { decision, message, before } = due;
  const facts = shift.factsOf(due);
  const caps = shift.capsOf === null ? null : shift.capsOf(decision.recipient);
  const request = { row: decision.row, leg: due.leg, to: message.to, key: decision.key, attempts: before + made };
  const withFacts = facts === null ? request : { ...request, facts };
  const withFall = due.byReport === undefined ? withFacts : { ...withFacts, attempts: before, byReport: true };
  const withCaps = caps === null ? withFall : { ...withFall, caps };
  const { window } = shift;
  return window === null ? withCaps : { ...withCaps, untilMs: window.closesAtMs(decision.recipient) };
}

/**
 * Counted as an attempt, as one that is stopped before its first byte is: by the count the ledger knows whose claim it
 * is.
 */
function unclaimed({ decision, leg, before }: Due, made: number): ResultRecord {
  const nothing = { httpStatus: null, messageId: null, error: null };
  const attempts = before + made;
  return {
    row: decision.row,
    leg,
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

function requestFor(due: Parcel, { expand }: Shift): Request {
  return due.length === 1
    ? expand.one(due[0].decision, due[0].message)
    : expand.many(due.map(({ decision }) => decision));
}

/** What the answer to a request means for each of its recipients. */
function judge(facts: Attempt, request: Request, due: Parcel, shift: Shift): Posted {
  shift.progress.latency(facts.latencyMs);
  const addressees =
    'addressees' in request ? request.addressees : [{ to: due[0].message.to, reference: request.reference }];
  const verdicts = shift.answers.check(facts, addressees, classifyMany(facts, addressees, contextOf(shift)));
  // One answer opens one lane and says once whether it is the API's: the best that it says of anybody.
  const told = verdicts.find(({ outcome }) => outcome === 'accepted') ?? verdicts.find(isRecognised) ?? verdicts[0];
  if (told !== undefined) note(facts, told, shift);
  return { facts, verdicts };
}

function unsent(facts: Attempt, due: Parcel, shift: Shift): Posted {
  const verdict = note(facts, classify(facts, contextOf(shift)), shift);
  return { facts, verdicts: due.map(() => verdict) };
}

function contextOf(shift: Shift): ClassifyContext {
  return {
    wire: shift.wire,
    firstAnswer: !shift.progress.recognised,
    nowMs: shift.now(),
    stopping: shift.stopped.aborted,
  };
}

function note(facts: Attempt, verdict: Verdict, shift: Shift): Verdict {
  if (isRecognised(verdict)) shift.progress.recognised = true;
  if (verdict.outcome === 'accepted') shift.ramp.accepted();
  if (facts.status === 429) shift.ramp.throttled();
  return verdict;
}

/** What one delivery works with; the same for all deliveries of a start. */
export interface Shift {
  readonly groupCommit: GroupCommit;
  readonly endpoint: Pick<Endpoint, 'ready' | 'post' | 'release'>;
  readonly pace: Pace;
  readonly ramp: Ramp;
  readonly stop: Stop;
  readonly progress: Progress;
  readonly wire: CompiledWire;
  /** Finds answers that belong to another request. */
  readonly answers: AnswerCheck;
  readonly attempts: number;
  readonly expand: Expander;
  /** What the ledger is to know of a leg that it did not know when the list was loaded; null: it knows. */
  readonly factsOf: (due: Due) => LegFacts | null;
  readonly costOf: (message: LegMessage) => number | null;
  /** What somebody may get at most at this moment; null: as many as they are sent. */
  readonly capsOf: ((recipient: Recipient) => readonly Cap[]) | null;
  /** Whether reports still say of an accepted message that it reached nobody. */
  readonly isUnreached: (message: SentMessage) => boolean;
  /** `send.notAfter` has passed: who was not sent to by now is not sent to any more. */
  readonly isLate: () => boolean;
  readonly expire: (row: number, leg: number) => void;
  /** Whether somebody may be sent to at this moment; null without a window. */
  readonly window: WindowGate | null;
  /** Whoever's window is closed waits until it opens again, or gets nothing any more. The row must be pending. */
  readonly aside: (row: number, leg: number, closed: Closed) => void;
  readonly now: () => number;
  readonly random: () => number;
  /** No new request is to be made: halted, interrupted, or the ledger failed. */
  readonly stopped: AbortSignal;
}

/** Is the window of anybody closed? */
function isAnyClosed(due: Parcel, { window }: Shift): boolean {
  return window !== null && due.some(({ decision }) => window.closed(decision.recipient) !== null);
}

/** Sets aside whose window is closed, and gives the others back; null where nobody is left. */
async function whoIsOpen(due: Parcel, shift: Shift): Promise<Parcel | null> {
  if (!isAnyClosed(due, shift)) return due;
  // Whoever was just refused, or fell back, is pending when that is written, and only then can be set aside.
  await shift.groupCommit.written();
  if (shift.stopped.aborted) return null;
  const [first, ...rest] = due.filter((one) => !setAside(one, shift));
  return first === undefined ? null : [first, ...rest];
}

/** Defers or skips somebody whose row is pending, and says whether it did: the window may be open. */
function setAside({ decision, leg }: Due, { window, aside }: Shift): boolean {
  const closed = window?.closed(decision.recipient) ?? null;
  if (closed === null) return false;
  aside(decision.row, leg, closed);
  return true;
}

/** What is to be sent to after a request: halves, and fallbacks. */
type More = readonly Parcel[] | null;

/** What is left of a request once its answer is known. */
interface Settled {
  /** Who is to be tried again; null: nobody. */
  readonly again: Parcel | null;
  readonly retryAfterMs: number | null;
  readonly more: More;
}

const DONE: Settled = { again: null, retryAfterMs: null, more: null };

/** Hands what became of everybody to the group commit, and says who is to be sent to next. */
function settle(
  due: Parcel,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdicts: readonly Verdict[],
  shift: Shift,
): Settled {
  if (due.length === 1) {
    const [verdict] = verdicts;
    return verdict === undefined ? DONE : settleOne(due[0], attempt, from, facts, verdict, shift);
  }
  const again: Due[] = [];
  const halves: Due[] = [];
  const more: Parcel[] = [];
  let retryAfterMs: number | null = null;
  let noted: Verdict | null = null;
  for (let i = 0; i < due.length; i++) {
    const one = due[i];
    const verdict = verdicts[i];
    if (one === undefined || verdict === undefined) continue;
    if (verdict.split) {
      record(one, attempt, from, facts, verdict, 'pending', shift);
      halves.push({ ...one, before: one.before + attempt });
      continue;
    }
    // Several doubts of one request are one event for the rules that count events in a row, and so is another attempt.
    const settled = settleOne(one, attempt, from, facts, verdict, shift, noted?.outcome === verdict.outcome);
    noted = verdict;
    if (settled.again !== null) again.push(...settled.again);
    if (settled.more !== null) more.push(...settled.more);
    retryAfterMs ??= settled.retryAfterMs;
  }
  const middle = Math.ceil(halves.length / 2);
  for (const half of [halves.slice(0, middle), halves.slice(middle)]) {
    const [first, ...rest] = half;
    if (first !== undefined) more.push([first, ...rest]);
  }
  const [first, ...rest] = again;
  return { again: first === undefined ? null : [first, ...rest], retryAfterMs, more: more.length === 0 ? null : more };
}

function settleOne(
  due: Due,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdict: Verdict,
  shift: Shift,
  sameEvent = false,
): Settled {
  // Also when the run was stopped meanwhile: whoever could have been tried again waits for the next start.
  if (verdict.again && verdict.halt === null && attempt < shift.attempts) {
    record(due, attempt, from, facts, verdict, 'pending', shift);
    if (!sameEvent && !shift.stopped.aborted) noteRetry(shift);
    return { again: [due], retryAfterMs: verdict.retryAfterMs, more: null };
  }
  const next = verdict.reason === 'unsupported-channel' && from === 'claimed' ? dueAfter(due) : undefined;
  if (next !== undefined) {
    record(due, attempt, from, facts, verdict, verdict.outcome, shift, next);
    if (due.leg === 0 && !shift.stopped.aborted) shift.stop.fellBack();
    return { ...DONE, more: [[next]] };
  }
  record(due, attempt, from, facts, verdict, verdict.outcome, shift);
  if (verdict.retryAfterMs !== null) shift.pace.hold(verdict.retryAfterMs);
  shift.progress.settled(verdict.outcome);
  // What still comes in after a signal did not end this start.
  if (!shift.stopped.aborted) shift.stop.note(verdict, due.leg, sameEvent);
  return DONE;
}

/** Once for a request, however many it is for: figures and lanes are those of requests. */
function noteRetry({ progress, ramp }: Shift): void {
  progress.retried();
  ramp.retried(progress.figures.retried, progress.figures.posted);
}

function record(
  { decision, message, leg, before, byReport }: Due,
  attempt: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdict: Verdict,
  state: ResultRecord['state'],
  shift: Shift,
  next?: Due,
): void {
  // A fallback that was never claimed has no row yet: the leg before is accepted as it was.
  if (byReport !== undefined) return;
  const result: ResultRecord = {
    row: decision.row,
    leg,
    from,
    state,
    reason: verdict.reason,
    attempts: before + attempt,
    httpStatus: facts.status,
    messageId: verdict.messageId,
    error: verdict.error,
  };
  if (next !== undefined) shift.groupCommit.record({ ...result, next: nextLeg(next, shift.costOf) });
  else if (state !== 'in-doubt' || message.text === null) shift.groupCommit.record(result);
  else shift.groupCommit.record({ ...result, textHash: hash('sha256', message.text) });
}
