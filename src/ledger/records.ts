import type { Channel, Halt, InputFile, JsonObject, OutcomeState, RunState } from '../model.ts';

/* What goes into the ledger and comes out of it: plain data. */

/** What makes a run the same run. */
export interface RunIdentity {
  readonly environment: string;
  readonly campaign: string;
  readonly occurrence: string;
}

export interface RunRecord extends RunIdentity {
  /** Shown to people and used in the names of report files: `<campaign>-<8 hex digits>`. */
  readonly id: string;
  readonly number: number;
  /** Which list it had when this record was read; `--amend` gives it another one. */
  readonly list: number;
  readonly channel: Channel;
  /** `running` after a kill too, until the next start: ask `isRunHeld` (lock.ts) whether somebody is at it. */
  readonly state: 'loading' | RunState;
  readonly halt: Halt | null;
  readonly inputs: readonly InputFile[];
  /** Hash of what identifies a recipient (key, to, defaultCountry): may not change, even when amended. */
  readonly identityHash: string;
  readonly createdAtMs: number;
  /** First start. */
  readonly startedAtMs: number | null;
  readonly lastStartAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly starts: number;
  readonly rows: number;
  /** Figures of the requests over all starts; opaque to the ledger. */
  readonly figures: JsonObject | null;
}

export interface SealFacts {
  readonly inputs: readonly InputFile[];
  readonly identityHash: string;
  readonly nowMs: number;
}

export interface AmendFacts {
  readonly inputs: readonly InputFile[];
  readonly nowMs: number;
}

export interface FinishFacts {
  readonly state: Exclude<RunState, 'running'>;
  readonly halt: Halt | null;
  readonly figures: JsonObject | null;
  readonly nowMs: number;
}

/** A row as the plan decided it, before anything was sent. */
export interface LoadRow {
  readonly row: number;
  readonly line: number;
  /** Null where the row is too bad to have one; such a row must be skipped. */
  readonly key: string | null;
  readonly to: string | null;
  readonly state: 'pending' | 'skipped' | 'deferred';
  readonly reason: string | null;
  readonly parts: number | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  /** Millionths of the currency unit. */
  readonly costMicros: number | null;
  readonly variant: string | null;
}

export interface PendingRow {
  readonly row: number;
  readonly key: string;
  /** Over all starts. */
  readonly attempts: number;
}

export interface ClaimRequest {
  readonly row: number;
  readonly to: string;
  readonly key: string;
  /** Attempts so far, as the caller knows them: a row that counts others was somebody else's meanwhile, and is `taken`. */
  readonly attempts?: number;
}

export type ClaimAnswer = 'claimed' | 'suppressed' | 'taken';

/** What came of one attempt. */
export interface ResultRecord {
  readonly row: number;
  /** `pending`: the attempt failed before the row was claimed, so the only results are `failed` and `pending`. */
  readonly from: 'claimed' | 'pending';
  readonly state: 'accepted' | 'rejected' | 'failed' | 'in-doubt' | 'pending';
  readonly reason: string | null;
  /** Over all starts, this one included: `PendingRow.attempts` plus those made since. */
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly messageId: string | null;
  /** At most 2 KiB are kept. */
  readonly error: string | null;
}

export interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly sinceMs: number;
}

export interface CountRecord {
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  readonly count: number;
  readonly parts: number;
  /** Null where no row of the group has a price. */
  readonly costMicros: number | null;
}

/** A recipient of whom nobody knows whether the API had the request. */
export interface DoubtRow {
  readonly row: number;
  readonly line: number;
  readonly key: string;
  readonly to: string | null;
  readonly reason: string | null;
  /** Over all starts, the one in doubt included: no two doubts of a person have the same. */
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
  /** When the request was claimed, just before it was made. */
  readonly sinceMs: number | null;
}

/** What somebody says became of doubts: `resend` makes them pending. */
export type DoubtVerdict = 'accepted' | 'rejected' | 'resend';

export interface Resolution {
  readonly verdict: DoubtVerdict;
  /** The id that the API gave out, where it is known; for `accepted`. */
  readonly messageId: string | null;
  readonly who: string;
  readonly note: string | null;
  readonly nowMs: number;
}

/** One doubt that ended, as it was then. */
export interface ResolutionRecord extends Omit<DoubtRow, 'row'> {
  readonly verdict: DoubtVerdict;
  readonly messageId: string | null;
  /** `user`, or the evidence: `late-result`. */
  readonly resolvedBy: string;
  /** Null for evidence. */
  readonly who: string | null;
  readonly note: string | null;
  readonly resolvedAtMs: number;
}

export interface OutcomeFilter {
  readonly outcomes?: readonly OutcomeState[];
}

export interface RowState {
  readonly outcome: OutcomeState;
  readonly reason: string | null;
}

export interface SuppressFacts {
  readonly reason: string | null;
  /** Null: for ever. */
  readonly untilMs: number | null;
  /** Where it came from: a file, `user`, `reply` ... */
  readonly source: string;
  readonly nowMs: number;
}

export interface SuppressEntry {
  readonly address: string;
  readonly reason: string | null;
  readonly untilMs: number | null;
  readonly source: string;
}

export interface Suppression extends SuppressEntry {
  readonly createdAtMs: number;
}
