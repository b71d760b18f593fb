import type { RunRecord } from './records.ts';

/**
 * Takes personal data out of the ledger. Whatever works on many rows is a series of steps, one bounded transaction each:
 * who asks for the next one decides how long others may have the ledger in between. Killed at any time, it is done by
 * doing it again. Everything but the questions belongs under a lock: that of the run, and for all of it that of purges.
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
   * doubts. States, reasons, attempts, parts, costs, variants, channels, lines and the day of the last claim stay. Each step yields its rows.
   */
  clear(run: RunRecord): Iterable<number>;
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

/** Makes keyed hashes of addresses as they are listed. */
export interface Hasher {
  readonly keyId: string;
  hash(address: string): string;
}
