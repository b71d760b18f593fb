import { hash } from 'node:crypto';
import type { Verdict } from '../http/classify.ts';
import type { ResultRecord } from '../ledger/records.ts';
import type { Attempt } from '../model.ts';
import { type Due, dueAfter, nextLeg, type Parcel } from './parcel.ts';
import type { Shift } from './shift.ts';

/** What is to be sent to after a request: halves, and fallbacks. */
export type More = readonly Parcel[] | null;

/** What is left of a request once its answer is known. */
export interface Settled {
  /** Who is to be tried again; null: nobody. */
  readonly again: Parcel | null;
  readonly retryAfterMs: number | null;
  readonly more: More;
}

const DONE: Settled = { again: null, retryAfterMs: null, more: null };

/** Hands what became of everybody to the group commit, and says who is to be sent to next. */
export function settle(
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
