import type { Channel, DeliveryReport, Reply, ReplyMeaning } from '../model.ts';
import type { RunIdentity } from './records.ts';

/** A report as the ledger holds it. */
export interface DeliveryRecord extends Omit<DeliveryReport, 'kind' | 'eventId'> {
  /** In the order in which they came in. */
  readonly number: number;
  readonly receivedAtMs: number;
  readonly source: string;
  /** That it came in for; empty: nobody said so. */
  readonly environment: string;
}

/** A reply as the ledger holds it. */
export interface ReplyRecord extends Omit<Reply, 'kind'> {
  readonly number: number;
  readonly receivedAtMs: number;
  readonly source: string;
  /** The message that it answers; null: not known, or not looked for yet. */
  readonly answers: AnsweredMessage | null;
  /** What somebody made of it who read it; null: nobody did. */
  readonly review: ReplyReview | null;
}

/** Number of the run, and the row and leg in its list. */
export interface AnsweredMessage {
  readonly run: number;
  readonly row: number;
  readonly leg: number;
  /** As the list has them; null after a purge. */
  readonly key: string | null;
  readonly line: number | null;
  readonly variant: string | null;
}

export interface ReplyReview {
  readonly meaning: Exclude<ReplyMeaning, 'review'>;
  readonly who: string;
  readonly atMs: number;
}

/** What was done with a group of events; they add up to it. */
export interface Recorded {
  readonly reports: number;
  readonly replies: number;
  readonly unread: number;
  /** Events that the ledger held already. */
  readonly known: number;
  /** Addresses that are suppressed since, and were not before. */
  readonly suppressed: readonly string[];
  /** Addresses whose opt-out was taken back. */
  readonly lifted: readonly string[];
}

export interface RecordFacts {
  readonly nowMs: number;
  /** Where they come from: `webhook`, or the file that was read. */
  readonly source: string;
  /**
   * The environment that they came in for: they say something about its messages and about no others. Empty where nobody
   * says so: then a report counts only where it names our reference, and whoever opts out is suppressed all the same.
   */
  readonly environment: string;
  /** A word of opting in takes back an opt-out that was a reply, and no other; default: it does not. */
  readonly startLifts?: boolean;
}

/** A message that is in doubt, or is to be sent to again after a doubt: a report may say that it was received. */
export interface UnsettledRow {
  /** Number of the run, and what its references are made of. */
  readonly run: number;
  readonly identity: RunIdentity;
  readonly list: number;
  readonly row: number;
  readonly leg: number;
  readonly key: string;
  readonly to: string | null;
  readonly channel: Channel;
  readonly attempts: number;
  /** Messages that went to earlier addresses of the recipient; absent: none. */
  readonly resend?: number;
  /** When it was claimed, in ms since 1970. */
  readonly sinceMs: number | null;
  readonly messageId: string | null;
  /** SHA-256 of the text that was sent, as hex digits; null where there was none, or the process was killed. */
  readonly textHash: string | null;
}

/** An accepted message that may not have reached anybody. */
export interface UnreachedRow {
  readonly row: number;
  readonly leg: number;
  readonly key: string;
  /** Channels of the legs so far, this one last. */
  readonly used: readonly Channel[];
  readonly messageId: string | null;
  /** Messages that went to earlier addresses of the recipient; absent: none. */
  readonly resend?: number;
  readonly to: string | null;
  readonly claimedAtMs: number | null;
}
