import type { Channel, ReplyMeaning } from '../model.ts';
import type { ReplyRecord, ReplyReview } from './event-records.ts';
import type { RunRecord } from './records.ts';

/** What people wrote back: reading it, having it read, and finding the message that each reply answers. */
export interface ReplyStore {
  /** Newest first as they came in, in batches; those that a purge has emptied are left out. */
  replies(filter?: ReplyFilter): Iterable<readonly ReplyRecord[]>;
  /**
   * Enters what replies mean, by somebody's word, in one transaction; who opts out by it is suppressed in that
   * transaction. `missed` are numbers that no reply has: then nothing is entered.
   */
  reviewReplies(numbers: readonly number[], review: ReplyReview, facts: OptOutFacts): Reviewed;
  /** Whether there are replies whose message has not been looked for since any run was last started. */
  hasUnjoined(): boolean;
  /** Whether somebody opted out by a reply whose message has never been looked for: it may be to another address. */
  hasUnjoinedOptOut(): boolean;
  /**
   * Looks for the messages of such replies. Each step is a page of a list or a transaction; whoever walks leaves the
   * ledger to others between two. It needs no lock: what it finds is looked at once more where it is written.
   */
  joinReplies(facts: JoinFacts): Generator<Joined>;
}

export interface ReplyFilter {
  /** Numbers of runs: only replies to their messages. */
  readonly runs?: readonly number[];
  /** As somebody reviewed it, else as it was read. */
  readonly meanings?: readonly ReplyMeaning[];
  /** Not before this instant, by the time that the reply carries; in ms since 1970. */
  readonly sinceMs?: number;
}

export interface OptOutFacts {
  /** A word of opting in takes back an opt-out that was a reply, and no other. */
  readonly startLifts: boolean;
  /** The form in which an address is compared with the suppression list. */
  readonly listed: (address: string) => string;
}

export interface JoinFacts extends OptOutFacts {
  readonly now: () => number;
  /** Makes what our references of a run are made by. */
  readonly referencesOf: (run: RunRecord) => (key: string, channel: Channel, resend?: number) => string;
}

/** One step. */
export interface Joined {
  /** Replies whose message is known since. */
  readonly joined: number;
  /** Addresses of those messages that are suppressed since, beside those that the replies came from. */
  readonly suppressed: readonly string[];
}

export interface Reviewed {
  readonly reviewed: number;
  readonly suppressed: readonly string[];
  readonly lifted: readonly string[];
  readonly missed: readonly number[];
}
