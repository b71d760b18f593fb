import type { Diagnostic } from '../../errors.ts';
import type { Channel, ReplyMeaning } from '../../model.ts';
import { checkNumbers, INSTANT, type ProjectOptions, present, settle } from '../options.ts';

/** Which replies: those that match all that is given. */
export interface RepliesOptions extends ProjectOptions {
  /** Name of a campaign, or id of a run: only replies to its messages. Default: all. */
  readonly campaign?: string;
  /** Only what means one of these. Default: all. */
  readonly meanings?: readonly ReplyMeaning[];
  /** What was written before is left out, in ms since 1970. Default: nothing is. */
  readonly sinceMs?: number;
}

/** A reply. Texts and addresses are from outside, never trusted. */
export interface ReceivedReply {
  /** As `reviewReplies` takes it. */
  readonly id: number;
  readonly from: string;
  /** Our sender; null where the event does not say. */
  readonly to: string | null;
  readonly channel: Channel | null;
  readonly text: string;
  /** The meaning that counts: from a review, else from its words. */
  readonly meaning: ReplyMeaning;
  /** When it was written, ISO 8601 in UTC; null where the event does not say. */
  readonly at: string | null;
  readonly receivedAt: string;
  /** `webhook`, or the file that was read. */
  readonly source: string;
  /** Of the message that it answers; null, as what follows: not known. */
  readonly run: string | null;
  readonly campaign: string | null;
  readonly environment: string | null;
  readonly occurrence: string | null;
  /** Of the row in the list. */
  readonly line: number | null;
  readonly key: string | null;
  readonly variant: string | null;
  /** Who reviewed it, and when; null: not reviewed. */
  readonly reviewedBy: string | null;
  readonly reviewedAt: string | null;
}

/** What replies mean, and who says so. */
export interface ReviewRepliesOptions extends ProjectOptions {
  readonly as: Exclude<ReplyMeaning, 'review'>;
  /** Who read them. */
  readonly by: string;
}

/** What was entered, and what followed from it. */
export interface ReviewRepliesResult {
  readonly reviewed: number;
  /** Addresses that are suppressed since. */
  readonly suppressed: readonly string[];
  /** Addresses whose opt-out was taken back. */
  readonly lifted: readonly string[];
}

/** Which answers are asked for, and with which list. */
export interface ExportRepliesOptions extends Omit<RepliesOptions, 'campaign'> {
  /** A list to look for the recipients in, relative to `cwd`. Default: the campaign's. */
  readonly recipients?: string;
}

/** Replies to a campaign, oldest first, each with the row of its recipient as the list has it now. */
export interface ReplyExport {
  /** Of the list; empty where it cannot be read. */
  readonly columns: readonly string[];
  readonly replies: readonly ExportedReply[];
  /** Why columns are missing. */
  readonly diagnostics: readonly Diagnostic[];
}

/** One answer. */
export interface ExportedReply {
  readonly key: string | null;
  readonly from: string;
  readonly text: string;
  readonly meaning: ReplyMeaning;
  /** When it was written, else when it came in; ISO 8601 in UTC. */
  readonly at: string;
  readonly variant: string | null;
  readonly environment: string | null;
  readonly occurrence: string | null;
  /** By the names of the list's columns; null: the list does not have this recipient any more. */
  readonly row: Readonly<Record<string, string>> | null;
}

/**
 * `handbill replies`: what people wrote back, newest first. What they answer is looked for before.
 *
 * @throws HandbillError exit 2 (`run-not-found`: no such campaign; a project file that is wrong), 7 (ledger)
 */
export async function listReplies(options: RepliesOptions = {}): Promise<readonly ReceivedReply[]> {
  checkNumbers(options, { sinceMs: INSTANT });
  const { campaign, meanings, sinceMs } = options;
  const { listReplies: list } = await import('../replies.ts');
  return await list({ ...settle(options), ...present({ campaign, meanings, sinceMs }) });
}

/**
 * `handbill replies review`: enters what replies mean, of all that are named or of none. An address that opts out by it is
 * suppressed.
 *
 * @param ids - of replies, as `listReplies` has them
 * @throws HandbillError exit 2 (no such reply), 7 (ledger)
 */
export async function reviewReplies(
  ids: readonly number[],
  options: ReviewRepliesOptions,
): Promise<ReviewRepliesResult> {
  const { as, by } = options;
  const { reviewReplies: review } = await import('../replies.ts');
  return await review({ ...settle(options), ids, as, by });
}

/**
 * `handbill replies export`: what people answered, for a survey. A list that cannot be read any more leaves its columns
 * away, and `diagnostics` says why.
 *
 * @param campaign - name of a campaign for all its runs, or id of one
 * @throws HandbillError exit 2 (`run-not-found`: no such campaign; a project file that is wrong), 7 (ledger)
 */
export async function exportReplies(campaign: string, options: ExportRepliesOptions = {}): Promise<ReplyExport> {
  checkNumbers(options, { sinceMs: INSTANT });
  const { meanings, sinceMs, recipients } = options;
  const { exportReplies: write } = await import('../replies.ts');
  return await write({ ...settle(options), campaign, ...present({ meanings, sinceMs, recipients }) });
}
