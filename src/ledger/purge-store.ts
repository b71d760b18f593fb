import type { Delivery } from '../model.ts';
import type { RunRecord } from './records.ts';

/**
 * Takes personal data out of the ledger. Whatever works on many rows is a series of steps, one bounded transaction
 * each: who asks for the next one decides how long others may have the ledger in between. Killed at any time, it is
 * done by doing it again. Everything but the questions belongs under a lock: that of the run, and for all of it that of
 * purges.
 */
export interface PurgeStore {
  /** The newest thing that is recorded of a run, in ms since 1970. One pass over its list. */
  lastActivityMs(run: RunRecord): number;
  /** Lists that were begun and never sealed, or replaced and not forgotten yet; they hold addresses too. */
  drafts(): readonly RunRecord[];
  /** Nothing is left to be taken out of the run. */
  isDone(run: RunRecord): boolean;
  /** A purge was begun and not finished: by `rewrite`, as the last step. */
  isUnderWay(): boolean;
  /** Leaves a note that a purge is under way, durably. Before anything else is changed. */
  begin(): void;
  /** From here on the run can never be continued. Given back as it is then; a run that was marked stays as it is. */
  mark(run: RunRecord, nowMs: number): RunRecord;
  /**
   * Takes keys, addresses, ids and texts out of the rows of a marked run, and what says who out of its history of
   * doubts. States, reasons, attempts, parts, costs, variants, channels, lines and the day of the last claim stay. Each
   * step yields its rows.
   */
  clear(run: RunRecord): Iterable<number>;
  /**
   * Keeps what came back about messages of a marked run as words in its rows, and deletes the reports about them; in
   * one transaction: give it a thousand at a time. Before the rows are cleared, because their ids lead to the reports.
   * Returns how many reports were deleted.
   */
  keepDeliveries(run: RunRecord, kept: readonly KeptDelivery[]): number;
  /** Deletes the replies to a marked run, in steps; what they said must have been kept with its rows. */
  forgetReplies(run: RunRecord): Iterable<number>;
  /** What came back before an instant and still says about whom it is, or is about no run that is kept. */
  oldEvents(beforeMs: number): EventCounts;
  /**
   * Takes personal data out of what came back before an instant. What belongs to runs that stay is emptied, so that it
   * still counts: reports lose address, texts and digest, replies all but their meaning. The rest is deleted.
   */
  forgetEvents(beforeMs: number): Iterable<EventCounts>;
  /** Forgets a list that is not sealed. */
  forget(draft: RunRecord): Iterable<number>;
  /** Suppressions older than that: those that have expired before it, and the others. */
  oldSuppressions(beforeMs: number): { readonly expired: number; readonly active: number };
  /**
   * Suppressions older than that become hashes, without the reason, which is free text; those that have expired before
   * it go. Without a hasher, the others stay as they are.
   */
  hashSuppressions(
    beforeMs: number,
    hasher: Hasher | null,
  ): Iterable<{ readonly hashed: number; readonly expired: number }>;
  /**
   * Writes the file anew, so that nothing is left in its gaps and free pages, and empties its log. It holds the write
   * lock for about 10 ms a megabyte. Not done, to be tried again: `in-use`, somebody else sends from a large ledger or
   * reads from it for long; `no-room`, the disk has not twice the size of the ledger left.
   *
   * @throws LedgerError
   */
  rewrite(): 'done' | 'in-use' | 'no-room';
}

/** What came back about one message, and by what its reports are found. */
export interface KeptDelivery {
  readonly row: number;
  readonly leg: number;
  readonly delivery: Delivery | null;
  readonly reference: string | null;
  readonly messageId: string | null;
}

export interface EventCounts {
  readonly reports: number;
  readonly replies: number;
  readonly unread: number;
}

/** Makes keyed hashes of addresses as they are listed. */
export interface Hasher {
  readonly keyId: string;
  hash(address: string): string;
}
