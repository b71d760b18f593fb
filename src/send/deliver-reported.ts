import type { SentMessage } from '../ledger/records.ts';
import {
  addresseeOf,
  applyOutcome,
  backOff,
  connect,
  deliver,
  isOutside,
  isToWait,
  judge,
  post,
  release,
  type SendContext,
  type SendTask,
  unsent,
  upToDate,
} from './deliver.ts';

/**
 * Sends the fallback that a report causes. Until it is claimed, the accepted message of the previous channel step stays
 * the outcome of the recipient, and the fallback has no row: nothing is recorded about it.
 */
export async function deliverReported(
  task: SendTask,
  byReport: readonly SentMessage[],
  context: SendContext,
): Promise<void> {
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
