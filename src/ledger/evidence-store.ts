import type { DeliveryRecord, UnreachedRow, UnsettledRow } from './event-records.ts';
import type { RunRecord } from './records.ts';
import type { SaidStates } from './said-states.ts';

/** What reports prove about recipients: that a request was received, and that a message was not. */
export interface EvidenceStore extends SaidStates {
  /** Those in doubt, and those who are to be sent to again after a doubt, of every run, in batches. */
  unsettled(): Iterable<readonly UnsettledRow[]>;
  /**
   * Reports of the environment to an address that name no message of ours, but quote its text, from `sinceMs` to
   * `untilMs`.
   */
  quoting(row: UnsettledRow, sinceMs: number, untilMs: number): DeliveryRecord[];
  /** Whether a recipient of the environment has this id of the API. One pass over its lists: ask it rarely. */
  hasMessage(environment: string, messageId: string): boolean;
  /**
   * Whether another message of the environment to the same address, whose id nobody knows, was sent in that time: a
   * report that quotes a text may mean it. One pass over its lists.
   */
  hasOther(row: UnsettledRow, sinceMs: number, untilMs: number): boolean;
  /**
   * K2: a report is evidence that the API had the request. Who was in doubt is accepted, and who was to be sent to
   * again is spared the second message; unless the row was moved meanwhile. Needs no lock of the run: nobody else takes
   * such a row but by the same compare-and-set. Returns whether it was settled.
   */
  settle(
    row: UnsettledRow,
    facts: { readonly messageId: string | null; readonly note: string; readonly nowMs: number },
  ): boolean;
  /** Whether any report says that a channel did not reach somebody. */
  hasUnreached(): boolean;
  /**
   * Accepted rows of one leg after `afterRow`, in list order, at most `limit`, that such a report may be about: the
   * caller looks at all reports of each.
   */
  unreached(run: RunRecord, leg: number, afterRow: number, limit: number): UnreachedRow[];
}
