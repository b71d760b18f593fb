import type { Verdict } from '../http/classify.ts';
import type { SentMessage } from '../ledger/records.ts';
import type { Attempt } from '../model.ts';
import type { SharedRequest } from '../plan/expand.ts';
import {
  addresseeOf,
  applyOutcome,
  type Batch,
  backOff,
  connect,
  countSkip,
  deliver,
  isOutside,
  isToWait,
  judge,
  post,
  record,
  release,
  type SendContext,
  type SendTask,
  setAside,
  unsent,
  upToDate,
} from './deliver.ts';
import { withdrawal } from './group-commit.ts';

export function deliverBatch(batch: Batch, context: SendContext): Promise<void> {
  const [first] = batch;
  if (batch.length > 1) return deliverShared(batch, context);
  return first.byReport === undefined ? deliver(first, context) : deliverReported(first, first.byReport, context);
}

/**
 * Brings the recipients of one request to their outcomes. Recipients who can no longer share it (they fell back, their
 * window closed, the request is too large for all) become separate deliveries after this one.
 */
async function deliverShared(batch: readonly SendTask[], context: SendContext): Promise<void> {
  const { endpoint, groupCommit } = context;
  const later: (readonly SendTask[])[] = [];
  let tasks = batch;
  let made = 0;
  while (tasks.length > 0) {
    tasks = await whoIsOpen(tasks, context);
    const connection = tasks.length === 0 ? 'stopped' : await connect(context);
    if (connection === 'stopped') break;
    let facts: Attempt;
    let verdicts: readonly Verdict[];
    if (connection === 'open') {
      const claims = tasks.map((task) => context.claimOf(task, made));
      const answers = (await groupCommit.claim(claims)) ?? [];
      // One commit answers all of them, so all are held.
      if (answers[0] === 'held') {
        endpoint.release();
        continue;
      }
      for (const answer of answers) countSkip(answer, context);
      for (const [i, task] of tasks.entries()) {
        if (answers[i] === 'closed') later.push([{ ...task, before: task.before + made }]);
        if (answers[i] === 'withdrawn') later.push([{ ...task, before: task.before + made + 1 }]);
      }
      tasks = tasks.filter((_, i) => answers[i] === 'claimed');
      const request = requestFor(tasks, context);
      if (request === null || isOutside(request, context)) {
        for (const [i, one] of claims.entries()) if (answers[i] === 'claimed') groupCommit.record(withdrawal(one));
        endpoint.release();
        break;
      }
      facts = await post(request, context);
      verdicts = judge(facts, request.addressees, context).verdicts;
    } else {
      facts = connection;
      const verdict = unsent(facts, context);
      verdicts = tasks.map(() => verdict);
    }
    made += 1;
    const from = connection === 'open' ? 'claimed' : 'pending';
    const applied = applyOutcomes(tasks, made, from, facts, verdicts, context);
    later.push(...applied.later);
    tasks = applied.again;
    if (tasks.length > 0) await backOff(made, applied.retryAfterMs, context);
  }
  for (const [first, ...rest] of later) {
    if (first !== undefined) await deliverBatch([first, ...rest], context);
  }
}

/** Skips or defers recipients who may not be sent to now, and returns the others. */
async function whoIsOpen(tasks: readonly SendTask[], context: SendContext): Promise<readonly SendTask[]> {
  const open: SendTask[] = [];
  for (const task of tasks) {
    const isClosed = context.closed(task.decision.recipient) !== null;
    if (!(isClosed && (await setAside(task, context)))) open.push(task);
  }
  return open;
}

function requestFor(tasks: readonly SendTask[], { expand }: SendContext): SharedRequest | null {
  const [first] = tasks;
  if (first === undefined) return null;
  if (tasks.length > 1) return expand.many(tasks.map(({ decision }) => decision));
  const request = expand.one(first.decision, first.message);
  return { ...request, addressees: [addresseeOf(first, request)] };
}

/** `later`: fallbacks, and the halves of a request that is too large. */
function applyOutcomes(
  tasks: readonly SendTask[],
  made: number,
  from: 'claimed' | 'pending',
  facts: Attempt,
  verdicts: readonly Verdict[],
  context: SendContext,
) {
  const again: SendTask[] = [];
  const halves: SendTask[] = [];
  const later: (readonly SendTask[])[] = [];
  let retryAfterMs: number | null = null;
  let noted: Verdict | null = null;
  for (const [i, task] of tasks.entries()) {
    const verdict = verdicts[i];
    if (verdict === undefined) continue;
    if (verdict.split) {
      record(task, made, from, facts, verdict, 'pending', context);
      halves.push({ ...task, before: task.before + made });
      continue;
    }
    // Several doubts of one request are one event for rules that count events in a row, and so is another attempt.
    const about = tasks.length === 1 ? { line: task.decision.line } : { sameEvent: noted?.outcome === verdict.outcome };
    const next = applyOutcome(task, made, from, facts, verdict, context, about);
    noted = verdict;
    if (next === 'again') again.push(task);
    else if (next !== 'done') later.push([next]);
    if (next === 'again') retryAfterMs ??= verdict.retryAfterMs;
  }
  const middle = Math.ceil(halves.length / 2);
  later.push(halves.slice(0, middle), halves.slice(middle));
  return { again, retryAfterMs, later };
}

/**
 * Sends the fallback that a report causes. Until it is claimed, the accepted message of the previous channel step stays
 * the outcome of the recipient, and the fallback has no row: nothing is recorded about it.
 */
async function deliverReported(task: SendTask, byReport: readonly SentMessage[], context: SendContext): Promise<void> {
  const about = { line: task.decision.line };
  const first = context.expand.one(task.decision, task.message);
  if (isOutside(first, context)) return;
  for (let attempt = 1; context.closed(task.decision.recipient) === null; ) {
    const connection = await connect(context);
    if (connection === 'stopped') return;
    if (connection === 'open') {
      // A later report may prove that a message was delivered after all.
      if (!context.isUnreached(byReport)) return context.endpoint.release();
      const request = upToDate(first, task, context);
      if (request !== first && isOutside(request, context)) return context.endpoint.release();
      const claim = { ...context.claimOf(task, 0), byReport: true };
      const answer = (await context.groupCommit.claim([claim]))?.[0];
      if (answer !== 'claimed') release(answer, context);
      if (answer === 'withdrawn') return await deliver(begun(task), context, 1);
      if (isToWait(answer)) continue;
      if (answer !== 'claimed') return;
      const facts = await post(request, context);
      const { best: verdict } = judge(facts, [addresseeOf(task, request)], context);
      const next = applyOutcome(begun(task), attempt, 'claimed', facts, verdict, context, about);
      if (next === 'done') return;
      if (next !== 'again') return await deliver(next, context);
      await backOff(attempt, verdict.retryAfterMs, context);
      return await deliver(begun(task), context, attempt);
    }
    const verdict = unsent(connection, context);
    if (applyOutcome(task, attempt, 'pending', connection, verdict, context, about) !== 'again') return;
    await backOff(attempt, verdict.retryAfterMs, context);
    attempt += 1;
  }
}

/** Claimed: from here on the channel step has a row. */
function begun({ byReport: _, ...task }: SendTask): SendTask {
  return task;
}
