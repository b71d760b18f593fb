import type { ChangedRecipient, Channel, Outcome } from '../model.ts';
import type { RowSet } from '../util/row-set.ts';
import type { EventStore } from './events.ts';
import type { EvidenceStore } from './evidence-store.ts';
import type { LedgerError } from './ledger-error.ts';
import type { RunLock } from './lock.ts';
import type { PurgeStore } from './purge-store.ts';
import type { Reach } from './reach.ts';
import type { ReachRules } from './reach-runs.ts';
import type {
  AmendFacts,
  AsideRow,
  ClaimAnswer,
  ClaimRequest,
  ClaimRules,
  CountRecord,
  DoubtRow,
  EarlierRow,
  FinishFacts,
  HashEntry,
  Holder,
  LegCount,
  LoadRow,
  OutcomeFilter,
  PendingRow,
  Resolution,
  ResolutionRecord,
  ResultRecord,
  RowState,
  RunIdentity,
  RunRecord,
  SealFacts,
  SeenSchedule,
  SuppressEntry,
  SuppressedHash,
  SuppressFacts,
  Suppression,
} from './records.ts';
import type { ReplyStore } from './reply-store.ts';
import type { SharedTurns } from './shared-turns.ts';
import type { HeldShards, WorkerStore } from './worker-store.ts';

/**
 * What happened, durably. Everything here is an interface: the ledger of one machine is SQLite, that of several
 * PostgreSQL (open.ts).
 *
 * A list of recipients belongs to a run, and a run to one (environment, campaign, occurrence). All times are
 * milliseconds since 1970 and come from the caller; the ledger never lets them decrease.
 *
 * What became of a recipient is what became of the last leg that was begun; the legs before it fell back.
 */
export interface Ledger {
  /** The file, as it was opened, or the address of a shared one without its password. */
  readonly path: string;
  /** Which history of its server this is: a replica that takes over begins another one. Null: a file has but one. */
  readonly history: number | null;

  // ------------------------------------------------------------------------------------------------------- runs
  /** Every run, oldest first; lists that were begun and not sealed are not among them. */
  runs(): RunRecord[];
  findRun(identity: RunIdentity): RunRecord | null;
  /** The runs of a campaign in an environment, oldest first: found by index, however many others there are. */
  runsOf(of: Pick<RunIdentity, 'environment' | 'campaign'>): RunRecord[];
  /** By the id that people see, or every run of a campaign by its name; oldest first. */
  runById(idOrCampaign: string): RunRecord[];

  /** The schedule of a campaign that was seen last in an environment, and when it was first seen; null: none ever was. */
  scheduleOf(of: Pick<RunIdentity, 'environment' | 'campaign'>): SeenSchedule | null;
  /** Remembers when a schedule was first seen. One that is known keeps its time; another one takes its place. */
  seeSchedule(of: Pick<RunIdentity, 'environment' | 'campaign'>, seen: SeenSchedule): void;

  // --------------------------------------------------------------- a new list (all of it under the run's lock)
  /** Begins a list in state `loading`, which nobody else sees, and forgets what an earlier one left unsealed. */
  beginLoad(
    identity: RunIdentity,
    facts: {
      readonly channel: Channel;
      readonly nowMs: number;
      /** What it sends counts towards the frequency caps of others; default: it does. An amended run takes it over. */
      readonly isCounted?: boolean;
    },
  ): RunRecord;
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
  /** Rejected recipients become pending, in their last leg; only when the user asks for it. Returns how many. */
  retryRejected(run: RunRecord): number;
  /**
   * Recipients to whom the message went, or may have gone, and for whom the list has another address by now; in list
   * order. Of the list as it was amended last, or as `draft` would amend it.
   */
  changed(run: RunRecord, draft?: RunRecord | null): readonly ChangedRecipient[];
  /**
   * Accepted recipients among `changed` become pending, at the address that the list has now; the message that they were
   * sent is kept in `earlier`. Nobody is sent to twice at one address. Only when the user asks for it. Returns how many.
   */
  resendChanged(run: RunRecord, nowMs: number): number;
  /** Messages that went to earlier addresses of recipients, by key and in the order in which they went. */
  earlier(run: RunRecord): ReadonlyMap<string, readonly EarlierRow[]>;
  /** Says which variant those get who are not in the test; the run is given back with it. */
  setWinner(run: RunRecord, variant: string): RunRecord;
  /**
   * The next pending rows after `afterRow` (-1 for all) up to `lastRow` (default: the last of the list), of any leg and in
   * list order: at most one for a recipient.
   */
  pending(run: RunRecord, afterRow: number, limit: number, lastRow?: number): PendingRow[];
  /**
   * Records outcomes, then claims, in one transaction that is on the disk when this returns: a request may be made
   * for a row that was `claimed`, and for no other. `taken` rows are not pending any more (another process has them).
   * A result with `next` begins the next leg, which can be claimed from then on, also by the same call.
   *
   * A result whose row somebody else moved meanwhile is dropped, but for a late answer, which is evidence for the very
   * attempt that it is of: a row that a recovery put in doubt (`crash`) takes it, and one that waits to be sent to
   * again takes an acceptance. No late answer begins another leg.
   *
   * @param rules what a claim looks at besides the ledger's own addresses; while the ledger holds hashes, it is needed
   * @param reach whoever another run reached by then is skipped instead of claimed
   * @param held whoever shares the run claims in these shards alone: where one is another one's by now, or the run does
   *   not go on, every claim is `stopped`. Without it a run that is not running is an error.
   * @throws LedgerError; its `recorded` says whether the outcomes are on the disk all the same. After it no request
   * may be made; outcomes of requests in flight may be committed without claims, unless the kind is `io` or `corrupt`.
   */
  commit(
    run: RunRecord,
    results: readonly ResultRecord[],
    claims: readonly ClaimRequest[],
    nowMs: number,
    rules?: ClaimRules,
    reach?: Reach | null,
    held?: HeldShards | null,
  ): readonly ClaimAnswer[];
  /** Looks whether the ledger's name still leads to the file that is open: what is wrong, or null. */
  displacement(): LedgerError | null;
  /** Pending rows become skipped, for instance `expired`; rows that are not pending stay as they are. */
  skip(run: RunRecord, rows: readonly AsideRow[], nowMs: number): void;
  /** Pending rows become deferred until the next start, for instance `winner-undecided`; others stay as they are. */
  defer(run: RunRecord, rows: readonly AsideRow[], nowMs: number): void;
  /**
   * J6: another server took over, which may lack the last that was confirmed. Claims again whom this process had claimed
   * and who can be sent to here, so that they are in doubt at the next start.
   *
   * @param claimed - rows by leg
   * @returns how many; null: the server knows nothing of this list
   */
  restoreClaims(run: RunRecord, claimed: readonly RowSet[], nowMs: number): number | null;
  /** Ends this start. */
  finish(run: RunRecord, facts: FinishFacts): RunRecord;

  /**
   * J3: takes the lock of one run, or null when another process (or another part of this one) has it. The system lets
   * go of it when the process ends, however it ends.
   *
   * @param despiteWorkers also while workers are at a run that nobody holds: whoever calls them back
   */
  lock(identity: RunIdentity, despiteWorkers?: boolean): RunLock | null;
  /** Whether some process is at this run now. */
  isHeld(identity: RunIdentity): boolean;
  /** Turns that all who send to an environment through this ledger take together; null: those of a file do not. */
  turns(environment: string, ratePerSecond: number): SharedTurns | null;
  /** Runs that several workers share; null: those of a file are one process's. */
  readonly workers: WorkerStore | null;
  /** Says who holds the run's lock, for the message that another process shows; null when it is let go. */
  hold(identity: RunIdentity, holder: Holder | null): void;
  holder(identity: RunIdentity): Holder | null;

  // ----------------------------------------------------------------------------------------------------- doubts
  /** The recipients in doubt in list order, in batches. */
  doubts(run: RunRecord): Iterable<readonly DoubtRow[]>;
  /**
   * Ends doubts by somebody's word (under the run's lock), and keeps what was in doubt, who said it, when and why; all
   * of it in one transaction. `missed` are those who are not in doubt any more as they were: then nobody is resolved.
   * A finished run with somebody to send to again is `partial`; one without anything left, not even a doubt,
   * `finished`.
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
  /** Recipients by what became of them; they add up to the rows of the run. */
  counts(run: RunRecord): CountRecord[];
  /** As `counts`, with the legs that fell back beside them. Both are one pass over the list. */
  legs(run: RunRecord): LegCount[];
  /**
   * How many recipients a start has something to do for: pending, failed and deferred, and `rejected` where those are tried
   * again. `undecided` is how many of them wait for the winner of a test. A quarter of the time of `counts`.
   */
  countOpen(
    run: RunRecord,
    also: { readonly rejected: boolean },
  ): { readonly rows: number; readonly undecided: number };
  /** Every recipient in list order, in batches; memory stays flat. */
  outcomes(run: RunRecord, filter?: OutcomeFilter): Iterable<readonly Outcome[]>;
  /** When somebody of this run was last claimed, in ms since 1970; null: nobody was. One pass over the list. */
  lastClaimMs(run: RunRecord): number | null;
  /** Looks up what became of a row while the list is unchanged; null where row and key do not belong together. */
  stateOf(run: RunRecord): (row: number, key: string) => RowState | null;

  // ------------------------------------------------------------------------------------------------- other runs
  /** Whom other runs of the environment reached, as far as the rules ask for it: a microsecond for each of them. */
  reach(own: RunIdentity, rules: ReachRules): Reach;

  // ----------------------------------------------------------------------------------------------- suppressions
  /**
   * Addresses are normalised by the caller. An entry never gets weaker: of two, the one that lasts longer stays. A reason
   * is never lost: one with the source `user` replaces the old one, another only where there is none.
   * Returns whether the address was not suppressed before.
   */
  suppress(address: string, facts: SuppressFacts): boolean;
  /** As `suppress`, many in one transaction; give it a few thousand at a time. Returns how many are new. */
  suppressMany(entries: readonly SuppressEntry[], nowMs: number): number;
  unsuppress(address: string): boolean;
  /** Every entry, expired ones too, by address. */
  suppressions(): Iterable<Suppression>;
  isSuppressed(address: string, nowMs: number): boolean;
  /**
   * Addresses and hashes in one transaction, all or nothing. Returns how many were not suppressed before.
   *
   * @throws HandbillError (exit 2): the ledger holds hashes that were made with another key
   */
  suppressAll(addresses: readonly SuppressEntry[], hashes: readonly HashEntry[], nowMs: number): number;
  /** Takes hashes off the list. */
  unsuppressHash(hash: string): boolean;
  /** Every hash, expired ones too, in their order. */
  suppressedHashes(): Iterable<SuppressedHash>;
  /** One entry, also where it has ended; null where there is none. */
  suppressionOf(address: string): Suppression | null;
  suppressedHashOf(hash: string): SuppressedHash | null;
  isHashSuppressed(hash: string, nowMs: number): boolean;
  /** Id of the one key that all hashes were made with; null while there are none. */
  hashKeyId(): string | null;
  /** How many entries there are, expired ones too. */
  suppressionCounts(): { readonly addresses: number; readonly hashes: number };

  // -------------------------------------------------------------------------------------------- what came back
  /** Delivery reports and replies. */
  readonly events: EventStore & EvidenceStore & ReplyStore;

  // ------------------------------------------------------------------------------------------------------ privacy
  readonly purge: PurgeStore;

  /** Writes all that it holds at this moment to another file, which is empty. */
  copyTo(path: string): void;
  /** Idempotent. */
  close(): void;
}

export interface LedgerOptions {
  /** `read` never creates or changes anything. */
  readonly mode: 'write' | 'read';
  readonly nowMs: number;
  /** Begin with an empty ledger although the marker says that there was one. It never replaces one that exists. */
  readonly newLedger?: boolean;
  /** Told of a shared one that another server took over, before it is refused: what this process knows can be said. */
  readonly witness?: (ledger: Ledger) => void;
  /** A shared one that is not there is not made, unless `newLedger` says so. */
  readonly mustExist?: boolean;
  /** Trust a network file system with locks. */
  readonly allowNetworkFileSystem?: boolean;
  /** `read`: makes no files beside the ledger either, for as long as no other process begins to write. */
  readonly leaveNothing?: boolean;
  /** How long to wait for another process that writes; 30 s. */
  readonly busyTimeoutMs?: number;
}
