import { problem, refuse } from '../errors.ts';
import type { ReplyReview } from '../ledger/event-records.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import type { Reviewed } from '../ledger/reply-store.ts';
import { listedForm } from '../suppression/form.ts';
import type { CommandContext } from './context.ts';
import { projectHere } from './project-ledger.ts';

export interface ReplyReviewOptions extends Pick<CommandContext, 'cwd' | 'env' | 'now'> {
  readonly ledger?: string;
  /** Of replies, as `listReplies` has them. */
  readonly ids: readonly number[];
  readonly as: ReplyReview['meaning'];
  /** Who says so. */
  readonly by: string;
}

/** What was entered, and what followed from it. */
export type ReplyReviewResult = Pick<Reviewed, 'reviewed' | 'suppressed' | 'lifted'>;

/**
 * Enters what replies mean, of all that are named or of none; who and when is kept. Whoever opts out by it is
 * suppressed in the same transaction. A word of opting in lifts an opt-out only where `webhook.replies.startLifts` says
 * so.
 *
 * @throws HandbillError exit 2 (no such reply), 7 (ledger)
 */
export async function reviewReplies(options: ReplyReviewOptions): Promise<ReplyReviewResult> {
  const { ids, as, by, now } = options;
  if (by.trim() === '' || by.length > LONGEST_NAME) {
    throw refuse(problem('usage', `--by is ${by.trim() === '' ? 'empty' : 'too long'}.`));
  }
  const { project } = await projectHere(options, options.ledger);
  const numbers = [...new Set(ids)];
  const read = openExistingLedger(project.ledger, { nowMs: now() });
  if (read === null) throw unknown(numbers);
  read.close();
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs: now() });
  try {
    const { startLifts } = project.webhook.replies;
    const review = { meaning: as, who: by, atMs: now() };
    const { missed, ...done } = ledger.events.reviewReplies(numbers, review, { startLifts, listed: listedForm });
    if (missed.length > 0) throw unknown(missed);
    return done;
  } finally {
    ledger.close();
  }
}

const LONGEST_NAME = 200;

function unknown(ids: readonly number[]) {
  const which = `${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ' ...' : ''}`;
  const hint = 'Nothing was entered. `handbill replies` shows the ids.';
  return refuse(problem('usage', `The ledger holds no ${ids.length === 1 ? 'reply' : 'replies'} ${which}.`, { hint }));
}
