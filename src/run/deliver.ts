import { backoffMs } from '../http/backoff.ts';
import { type ClassifyContext, classify, isRecognised, type Verdict } from '../http/classify.ts';
import { classifyMany } from '../http/recipient-answers.ts';
import type { ResultRecord } from '../ledger/records.ts';
import type { Attempt, SendRequest } from '../model.ts';
import type { Due, Parcel } from './parcel.ts';
import { type More, settle } from './settle.ts';
import type { Shift } from './shift.ts';
import { isAnyClosed, setAside, whoIsOpen } from './window.ts';

/**
 * Brings the recipients of a parcel to an outcome, or leaves them `pending` where the run stops. Whoever cannot receive
 * the channel gets the next leg, and a request that is too large is halved: both become parcels of their own, after
 * this one.
 */
export async function deliver(parcel: Parcel, shift: Shift): Promise<void> {
  const more = await deliverOne(parcel, shift);
  if (more === null) return;
  for (const next of more) await deliver(next, shift);
}

/**
 * One request until nobody of it is left to try again. A request is made only when a connection stands (`ready`), and
 * only after its claims are on disk; every attempt is handed to the desk before the next one begins (FAILURES rules 1,
 * 3, 4, 11).
 */
async function deliverOne(parcel: Parcel, shift: Shift): Promise<More> {
  let due: Parcel = parcel;
  // A request that is for one stays the same; who shares one is known when the claims are on disk.
  const [{ decision, message }] = parcel;
  const own = parcel.length === 1 ? shift.expand.one(decision, message) : null;
  for (let attempt = 1; ; attempt++) {
    if (shift.window !== null) {
      const open = await whoIsOpen(due, shift);
      if (open === null) return null;
      due = open;
    }
    const turn = shift.pace.turn();
    if (turn !== undefined) await turn;
    if (shift.stopped.aborted) return null;
    // Its turn may have come late: with a low rate, or after a long Retry-After.
    if (shift.isLate()) return await expire(due, shift);
    if (isAnyClosed(due, shift)) {
      attempt -= 1;
      continue;
    }
    const unopened = await shift.endpoint.ready();
    const isOver = shift.stopped.aborted || shift.isLate() || isAnyClosed(due, shift);
    if (unopened === null && (isOver || !shift.pace.take())) {
      // The connection was long in coming, and the turn is over. Nothing was tried, so it begins again.
      shift.endpoint.release();
      attempt -= 1;
      continue;
    }
    if (shift.stopped.aborted) return null;
    if (unopened === null) {
      const claimed = await claim(due, attempt - 1, shift);
      if (claimed === null) return null;
      due = claimed;
    }
    const { facts, verdicts } = unopened === null ? await post(due, own, shift) : unsent(unopened, due, shift);
    const from = unopened === null ? 'claimed' : 'pending';
    const end = settle(due, attempt, from, facts, verdicts, shift);
    if (end.again === null) return end.more;
    due = end.again;
    const wait = backoffMs(attempt - 1, shift.random);
    if (end.retryAfterMs !== null) shift.pace.hold(end.retryAfterMs + wait);
    await shift.pace.pause(wait);
  }
}

async function expire(due: Parcel, shift: Shift): Promise<null> {
  // Whoever was just refused, or fell back, is pending when that is written, and only then can expire.
  await shift.desk.written();
  if (shift.stopped.aborted) return null;
  for (const { decision, leg } of due) shift.expire(decision.row, leg);
  return null;
}

/**
 * Those whose claim is on disk. Where nobody's is, or the run stopped meanwhile, the connection that was kept for them
 * is given back, and the answer is null.
 */
async function claim(due: Parcel, made: number, shift: Shift): Promise<Parcel | null> {
  const claimed: Due[] = [];
  const closed: Due[] = [];
  try {
    const answers =
      due.length === 1
        ? [await claimOne(due[0], made, shift)]
        : await Promise.all(due.map((d) => claimOne(d, made, shift)));
    for (let i = 0; i < due.length; i++) {
      const one = due[i];
      if (one === undefined) continue;
      const answer = answers[i];
      if (answer === 'suppressed' || answer === 'excluded' || answer === 'capped') shift.progress.settled('skipped');
      if (answer === 'closed') closed.push(one);
      if (answer !== 'claimed') continue;
      if (!shift.stopped.aborted) claimed.push(one);
      // The run stopped in the very turn in which the claim was written. Nothing was sent, so the row is as it was (B9).
      else shift.desk.record(unclaimed(one, made + 1));
    }
  } catch {
    // The desk has told the run: nothing more is claimed, and the rows are as they were.
  }
  const [first, ...rest] = claimed;
  if (first === undefined) shift.endpoint.release();
  if (!shift.stopped.aborted) for (const one of closed) setAside(one, shift);
  return first === undefined ? null : [first, ...rest];
}

function claimOne(due: Due, made: number, shift: Shift) {
  const { decision, message, before } = due;
  const facts = shift.factsOf(due);
  const caps = shift.capsOf === null ? null : shift.capsOf(decision.recipient);
  const request = { row: decision.row, leg: due.leg, to: message.to, key: decision.key, attempts: before + made };
  const withFacts = facts === null ? request : { ...request, facts };
  const withCaps = caps === null ? withFacts : { ...withFacts, caps };
  const { window } = shift;
  return shift.desk.claim(window === null ? withCaps : { ...withCaps, untilMs: window.closesAtMs(decision.recipient) });
}

/** Counted as an attempt, as one that is stopped before its first byte is: by the count the ledger knows whose claim it is. */
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

async function post(due: Parcel, own: SendRequest | null, shift: Shift): Promise<Posted> {
  shift.progress.posted();
  if (own !== null || due.length === 1) {
    const request = own ?? shift.expand.one(due[0].decision, due[0].message);
    const facts = await shift.endpoint.post(request.body, request.reference);
    shift.progress.latency(facts.latencyMs);
    return { facts, verdicts: [note(facts, classify(facts, contextOf(shift)), shift)] };
  }
  const request = shift.expand.many(due.map(({ decision }) => decision));
  const facts = await shift.endpoint.post(request.body, request.reference);
  shift.progress.latency(facts.latencyMs);
  const verdicts = classifyMany(facts, request.addressees, contextOf(shift));
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
