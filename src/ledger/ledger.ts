import type { Channel, Halt, InputFile, JsonObject, Outcome, OutcomeState, RunState } from '../model.ts';

/**
 * What happened, durably. Everything here is an interface: the ledger of one machine is SQLite (open.ts).
 *
 * A list of recipients belongs to a run, and a run to one (environment, campaign, occurrence). All times are
 * milliseconds since 1970 and come from the caller; the ledger never lets them decrease.
 */
export interface Ledger {
  /** The file, as it was opened. */
  readonly path: string;

  // ------------------------------------------------------------------------------------------------------- runs
  /** Every run, oldest first; lists that were begun and not sealed are not among them. */
  runs(): RunRecord[];
  findRun(identity: RunIdentity): RunRecord | null;
  /** By the id that people see, or every run of a campaign by its name; oldest first. */
  runById(idOrCampaign: string): RunRecord[];

  // --------------------------------------------------------------- a new list (all of it under the run's lock)
  /** Begins a list in state `loading`, which nobody else sees, and forgets what an earlier one left unsealed. */
  beginLoad(identity: RunIdentity, facts: { readonly channel: Channel; readonly nowMs: number }): RunRecord;
  /** Adds rows to a list that is loading, in one transaction; give it a few thousand at a time. */
  load(run: RunRecord, rows: readonly LoadRow[]): void;
  /** From here on the run exists and its rows count. */
  sealLoad(run: RunRecord, facts: SealFacts): RunRecord;
  /** Forgets a list that was begun and not sealed. */
  discardLoad(run: RunRecord): void;
  /** Puts a new list, loaded and not sealed, in the place of the old one, in one transaction; see amend.ts. */
  amend(run: RunRecord, draft: RunRecord, facts: AmendFacts): RunRecord;

  // ----------------------------------------------------------------------------- sending (under the run's lock)
  /**
   * Begins or continues to send: a row that was claimed and has no outcome is in doubt (`crash`, counted as one more
   * attempt), failed and deferred rows are pending again. From the first start on, a marker beside the ledger
   * remembers that this project was sent from.
   */
  start(run: RunRecord, nowMs: number): { readonly run: RunRecord; readonly recovered: number };
  /** Rejected rows become pending; only when the user asks for it. Returns how many. */
  retryRejected(run: RunRecord): number;
  /** The next pending rows after `afterRow` (-1 for all), in list order. */
  pending(run: RunRecord, afterRow: number, limit: number): PendingRow[];
  /**
   * Records outcomes, then claims, in one transaction that is on the disk when this returns: a request may be made
   * for a row that was `claimed`, and for no other. `taken` rows are not pending any more (another process has them).
   *
   * A result whose row somebody else moved meanwhile is dropped, but for a late answer, which is evidence for the very
   * attempt that it is of: a row that a recovery put in doubt (`crash`) takes it, and one that waits to be sent to again
   * takes an acceptance.
   *
   * @throws LedgerError; its `recorded` says whether the outcomes are on the disk all the same. After it no request
   * may be made; outcomes of requests in flight may be committed without claims, unless the kind is `io` or `corrupt`.
   */
  commit(
    run: RunRecord,
    results: readonly ResultRecord[],
    claims: readonly ClaimRequest[],
    nowMs: number,
  ): ClaimAnswer[];
  /** Pending rows become skipped, for instance `expired`; rows that are not pending stay as they are. */
  skip(run: RunRecord, rows: readonly { readonly row: number; readonly reason: string }[], nowMs: number): void;
  /** Ends this start. */
  finish(run: RunRecord, facts: FinishFacts): RunRecord;

  /** Says who holds the run's lock, for the message that another process shows; null when it is let go. */
  hold(identity: RunIdentity, holder: Holder | null): void;
  holder(identity: RunIdentity): Holder | null;

  // ----------------------------------------------------------------------------------------------------- doubts
  /** The recipients in doubt in list order, in batches. */
  doubts(run: RunRecord): Iterable<readonly DoubtRow[]>;
  /**
   * Ends doubts by somebody's word (under the run's lock), and keeps what was in doubt, who said it, when and why; all
   * of it in one transaction. `missed` are those who are not in doubt any more as they were: then nobody is resolved.
   * A finished run with somebody to send to again is `partial`; one without anything left, not even a doubt, `finished`.
   */
  resolve(
    run: RunRecord,
    doubts: readonly DoubtRow[],
    resolution: Resolution,
  ): { readonly run: RunRecord; readonly missed: readonly DoubtRow[] };
  /** Everything that ever resolved a doubt of this run, oldest first, in batches. */
  resolutions(run: RunRecord): Iterable<readonly ResolutionRecord[]>;

  // ---------------------------------------------------------------------------------------------------- reading
  /*
   * A claimed row is shown as pending while the process that holds the run is alive, and as in doubt (`crash`) when
   * nobody holds the run any more.
   */
  counts(run: RunRecord): CountRecord[];
  /** Every row in list order, in batches; memory stays flat. */
  outcomes(run: RunRecord, filter?: OutcomeFilter): Iterable<readonly Outcome[]>;
  /** Looks up what became of a row while the list is unchanged; null where row and key do not belong together. */
  stateOf(run: RunRecord): (row: number, key: string) => RowState | null;

  // ----------------------------------------------------------------------------------------------- suppressions
  /**
   * Addresses are normalised by the caller. An entry never gets weaker: of two, the one that lasts longer stays.
   * Returns whether the address was not suppressed before.
   */
  suppress(address: string, facts: SuppressFacts): boolean;
  /** As `suppress`, many in one transaction; give it a few thousand at a time. Returns how many are new. */
  suppressMany(entries: readonly SuppressEntry[], nowMs: number): number;
  unsuppress(address: string): boolean;
  /** Every entry, expired ones too, by address. */
  suppressions(): Iterable<Suppression>;
  isSuppressed(address: string, nowMs: number): boolean;

  /** Idempotent. */
  close(): void;
}

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

export interface LedgerOptions {
  /** `read` never creates or changes anything. */
  readonly mode: 'write' | 'read';
  readonly nowMs: number;
  /** Begin with an empty ledger although the marker says that there was one. It never replaces one that exists. */
  readonly newLedger?: boolean;
  /** Trust a network file system with locks. */
  readonly allowNetworkFileSystem?: boolean;
  /** How long to wait for another process that writes; 30 s. */
  readonly busyTimeoutMs?: number;
}
