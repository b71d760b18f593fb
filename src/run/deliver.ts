import { backoffMs } from '../http/backoff.ts';
import { classify, isRecognised, type Verdict } from '../http/classify.ts';
import type { Endpoint } from '../http/connect.ts';
import type { CompiledWire } from '../http/pointers.ts';
import type { ResultRecord } from '../ledger/records.ts';
import type { Attempt, SendDecision, SendRequest } from '../model.ts';
import type { Desk } from './desk.ts';
import type { Pace } from './pace.ts';
import type { Progress } from './progress.ts';
import type { Ramp } from './ramp.ts';
import type { Stop } from './stop.ts';

/** What one delivery works with; the same for all deliveries of a start. */
export interface Shift {
  readonly desk: Desk;
  readonly endpoint: Pick<Endpoint, 'ready' | 'post' | 'release'>;
  readonly pace: Pace;
  readonly ramp: Ramp;
  readonly stop: Stop;
  readonly progress: Progress;
  readonly wire: CompiledWire;
  readonly attempts: number;
  readonly requestOf: (decision: SendDecision) => SendRequest;
  /** `send.notAfter` has passed: who was not sent to by now is not sent to any more. */
  readonly isLate: () => boolean;
  readonly expire: (row: number) => void;
  readonly now: () => number;
  readonly random: () => number;
  /** No new request is to be made: halted, interrupted, or the ledger failed. */
  readonly stopped: AbortSignal;
}

/**
 * Brings one recipient to an outcome, or leaves it `pending` where the run stops. A request is made only when
 * a connection stands (`ready`), and only after the claim is on disk; every attempt is handed to the desk before the
 * next one begins (FAILURES rules 1, 3, 4, 11).
 *
 * `before` is the number of attempts of earlier starts.
 */
export async function deliver(decision: SendDecision, before: number, shift: Shift): Promise<void> {
  const request = shift.requestOf(decision);
  for (let attempt = 1; ; attempt++) {
    const turn = shift.pace.turn();
    if (turn !== undefined) await turn;
    if (shift.stopped.aborted) return;
    // Its turn may have come late: with a low rate, or after a long Retry-After.
    if (shift.isLate()) return shift.expire(decision.row);
    const unopened = await shift.endpoint.ready();
    if (unopened === null && (shift.stopped.aborted || shift.isLate() || !shift.pace.take())) {
      // The connection was long in coming, and the turn is over. Nothing was tried, so it begins again.
      shift.endpoint.release();
      attempt -= 1;
      continue;
    }
    if (shift.stopped.aborted) return;
    let facts = unopened;
    if (facts === null) {
      if (!(await claimed(decision, before + attempt - 1, shift))) return;
      shift.progress.posted();
      facts = await shift.endpoint.post(request.body, request.reference);
      shift.progress.latency(facts.latencyMs);
    }
    const verdict = judge(facts, shift);
    const again = verdict.again && verdict.halt === null && attempt < shift.attempts && !shift.stopped.aborted;
    record(decision, before + attempt, unopened === null ? 'claimed' : 'pending', facts, verdict, again, shift);
    if (!again) return;
    const wait = backoffMs(attempt - 1, shift.random);
    if (verdict.retryAfterMs !== null) shift.pace.hold(verdict.retryAfterMs + wait);
    await shift.pace.pause(wait);
  }
}

/** True when the claim is on disk. Where it is not, the connection that was kept for it is given back. */
async function claimed(decision: SendDecision, attempts: number, shift: Shift): Promise<boolean> {
  try {
    const answer = await shift.desk.claim({ row: decision.row, leg: 0, to: decision.to, key: decision.key, attempts });
    if (answer === 'claimed' && !shift.stopped.aborted) return true;
    // The run stopped in the very turn in which the claim was written. Nothing was sent, so the row is as it was (B9).
    if (answer === 'claimed') shift.desk.record(unclaimed(decision.row, attempts + 1));
    if (answer === 'suppressed') shift.progress.settled('skipped');
  } catch {
    // The desk has told the run: nothing more is claimed, and this row is as it was.
  }
  shift.endpoint.release();
  return false;
}

/** Counted as an attempt, as one that is stopped before its first byte is: by the count the ledger knows whose claim it is. */
function unclaimed(row: number, attempts: number): ResultRecord {
  const nothing = { httpStatus: null, messageId: null, error: null };
  return { row, leg: 0, from: 'claimed', state: 'pending', reason: 'stopped', attempts, ...nothing };
}

function judge(facts: Attempt, shift: Shift): Verdict {
  const verdict = classify(facts, {
    wire: shift.wire,
    firstAnswer: !shift.progress.recognised,
    nowMs: shift.now(),
    stopping: shift.stopped.aborted,
  });
  if (isRecognised(verdict)) shift.progress.recognised = true;
  if (verdict.outcome === 'accepted') shift.ramp.accepted();
  if (facts.status === 429) shift.ramp.throttled();
  return verdict;
}

function record(
  decision: SendDecision,
  attempts: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdict: Verdict,
  again: boolean,
  shift: Shift,
): void {
  const state = again ? 'pending' : verdict.outcome;
  shift.desk.record({
    row: decision.row,
    leg: 0,
    from,
    state,
    reason: verdict.reason,
    attempts,
    httpStatus: facts.status,
    messageId: verdict.messageId,
    error: verdict.error,
  });
  if (again) {
    shift.progress.retried();
    shift.ramp.retried(shift.progress.figures.retried, shift.progress.figures.posted);
    return;
  }
  if (verdict.retryAfterMs !== null) shift.pace.hold(verdict.retryAfterMs);
  shift.progress.settled(state);
  // What still comes in after a signal did not end this start.
  if (!shift.stopped.aborted) shift.stop.note(verdict);
}
