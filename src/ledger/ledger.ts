import type { Purge } from '../model/result-types.ts';
import type {
  Allowable,
  ChangedRecipient,
  Channel,
  Commit,
  Delivery,
  DeliveryReport,
  Excluded,
  Outcome,
  Pause,
  Reply,
  ReplyMeaning,
  SecondMessages,
  StepCount,
  StepOutcome,
  StopEnds,
  UnmatchedReason,
  WebhookEvent,
} from '../model.ts';
import type { AddressTrace } from '../util/address-trace.ts';
import type { RowSet } from '../util/row-set.ts';
import type { SharedTurns } from './connection.ts';
import type { LedgerError } from './ledger-error.ts';
import type { RunLock } from './lock.ts';
import type {
  AmendFacts,
  AsideRow,
  BudgetPlace,
  BudgetSpent,
  CampaignPlace,
  Cap,
  ClaimAnswer,
  ClaimRequest,
  ClaimRules,
  DoubtRow,
  EarlierRow,
  FinishFacts,
  HashEntry,
  Hasher,
  HeldShards,
  KnownCampaign,
  LoadRow,
  LockOwner,
  MessageIds,
  OutcomeFilter,
  PauseScope,
  PendingRow,
  Recorded,
  Resolution,
  ResolutionRecord,
  ResultRecord,
  RowState,
  RunIdentity,
  RunRecord,
  SeenSchedule,
  SentMessage,
  SuppressEntry,
  SuppressedHash,
  Suppression,
  WorkerStore,
} from './records.ts';

/**
 * Durable state of all runs. Only interfaces: the ledger of one machine is SQLite, that of several PostgreSQL
 * (open.ts).
 *
 * A list of recipients belongs to a run, and a run to one (environment, campaign, occurrence). All times are
 * milliseconds since 1970 and come from the caller; the ledger never lets them decrease.
 *
 * A recipient has one row for each channel step (`step`) that was begun. The last step has the outcome; the steps
 * before it fell back.
 */
export interface Ledger extends SuppressionStore, UnreachableStore {
  /** The file as it was opened, or the address of a shared ledger without its password. */
  readonly path: string;
  /** The server's timeline: a replica that takes over begins another one. Null: a file has but one. */
  readonly history: number | null;

  // ------------------------------------------------------------------------------------------------------- runs
  /** Oldest first, without lists that were not fully loaded. */
  runs(): RunRecord[];
  findRun(identity: RunIdentity): RunRecord | null;
  /** Oldest first; found by index, also among many others. */
  runsOf(of: CampaignPlace): RunRecord[];
  /** The last one of the campaign that was begun before this one; null: it is the first. Tests do not count. */
  runBefore(run: RunRecord): RunRecord | null;
  /** By the id that people see, as `name@occurrence`, or all of the campaigns last sent under a name; oldest first. */
  runById(named: string): RunRecord[];
  /** The one that was started last first. */
  campaigns(): readonly KnownCampaign[];
  /**
   * Records the name by which a campaign is sent, unless `refusal`, called in the same transaction, returns a reason.
   */
  rememberCampaign<T>(campaign: KnownCampaign, refusal: (known: readonly KnownCampaign[]) => T | null): T | null;

  /** The schedule that was seen last, and when it was first seen; null: none ever was. */
  scheduleOf(of: CampaignPlace): SeenSchedule | null;
  /** A known schedule keeps its time; another one replaces it. */
  seeSchedules(all: readonly (readonly [of: CampaignPlace, seen: SeenSchedule])[]): void;

  // --------------------------------------------------------------- a new list (all of it under the run's lock)
  /** Begins a list in state `loading`, hidden from other processes, and deletes an earlier incomplete list. */
  beginLoad(
    identity: RunIdentity,
    facts: {
      readonly channel: Channel;
      readonly nowMs: number;
      /** Messages count towards the frequency caps of others; default: true. An amended run takes it over. */
      readonly isCounted?: boolean;
      /** Topic of the messages; default: none. An amended run takes it over. */
      readonly topic?: string | null;
    },
  ): RunRecord;
  /** Adds rows to a list that is loading, in one transaction; give it a few thousand at a time. */
  load(run: RunRecord, rows: readonly LoadRow[]): void;
  /** Completes the list: from here on the run exists and its rows count. */
  finishLoad(run: RunRecord, facts: AmendFacts & Pick<RunRecord, 'identityHash'>): RunRecord;
  discardLoad(run: RunRecord): void;
  /** Replaces the old list by a new, fully loaded one in one transaction; see lists.ts. */
  amend(run: RunRecord, draft: RunRecord, facts: AmendFacts): RunRecord;

  // ----------------------------------------------------------------------------- sending (under the run's lock)
  /**
   * Begins or continues to send: a claimed row without an outcome is in doubt (`crash`, counted as one more attempt),
   * failed and deferred rows are pending again. From the first start on, a marker beside the ledger remembers that this
   * project was sent from.
   * @param commit - that the start is made from; null, the default: git does not know
   */
  start(
    run: RunRecord,
    nowMs: number,
    commit?: Commit | null,
    postedFrom?: string | null,
  ): { readonly run: RunRecord; readonly recovered: number };
  /**
   * Rejected recipients become pending, in their last step; only when the user asks for it. Returns how many.
   * @param limit - recipients that this start sends to: the first of the pending, failed and rejected ones, in list order.
   * Rejected ones behind them stay as they are. Null, the default: all become pending.
   */
  reopenRejected(run: RunRecord, limit?: number | null): number;
  /**
   * Recipients who got the message, or may have, at another address than the list's, or (`draft`) the amended list's.
   */
  changed(run: RunRecord, draft?: RunRecord | null): readonly ChangedRecipient[];
  /** Null: none. Scans the list of a run in which a second message was ordered. */
  secondMessages(run: RunRecord): SecondMessages | null;
  /**
   * Makes accepted recipients among `changed` pending at their new address, and keeps the message before in `earlier`.
   * No address gets the message twice. Only when the user asks for it. Returns how many.
   */
  reopenCorrected(run: RunRecord, nowMs: number): number;
  /** Messages to earlier addresses of recipients, by key and in order. */
  earlier(run: RunRecord): ReadonlyMap<string, readonly EarlierRow[]>;
  /** Versions of messages that were sent again, by key, ascending; empty where the run has one version. */
  versionsBefore(run: RunRecord): ReadonlyMap<string, readonly number[]>;
  /** Sets the variant of recipients who are not in the test, and returns the run with it. */
  setWinner(run: RunRecord, variant: string): RunRecord;

  /** Pauses that have not ended, oldest first. */
  pauses(): readonly Pause[];
  /** The pause that applies to a campaign in an environment; null: it may send. */
  pauseOf(of: CampaignPlace): Pause | null;
  /** From the commit on, no process claims anything there. An earlier pause stays, and is returned. */
  pause(
    scope: PauseScope,
    facts: { readonly reason: string; readonly who: string; readonly nowMs: number },
  ): Pause | null;
  /** Ends exactly this pause and returns it; null: there was none. */
  resume(scope: PauseScope, facts: { readonly who: string; readonly nowMs: number }): Pause | null;

  /** Spent by the campaigns of an environment in a period, in millionths of the currency. */
  spent(of: BudgetPlace): number;
  /** One counter for each currency. */
  spentIn(environment: string, period: string): readonly BudgetSpent[];
  /** Counters that claims of this process changed, as it saw them last. */
  spentHere(): readonly BudgetSpent[];
  /** Another server took over and may lack the last confirmed commits: a counter that is lower there is raised. */
  raiseSpent(all: readonly BudgetSpent[], nowMs: number): void;

  /** The next pending rows after `afterRow` (-1 for all), of any step, in list order: at most one for a recipient. */
  pending(run: RunRecord, afterRow: number, limit: number, lastRow?: number): PendingRow[];
  /**
   * Records outcomes, then claims, in one transaction that is on disk when this returns. A request may be made only for
   * a row that was `claimed`. `taken` rows are not pending any more: another process has them. A result with `next`
   * begins the next channel step, which can be claimed from then on, also by the same call.
   *
   * A result is dropped if another process moved its row meanwhile. The exception is a late answer, as evidence for its
   * own attempt: a row that a recovery put in doubt (`crash`) takes it, and a row that waits for a retry takes an
   * acceptance. A late answer never begins another step.
   * @param policy what a claim checks in addition to the addresses in the ledger; required while the ledger holds
   * hashes
   * @throws LedgerError; `recorded`: the outcomes are on disk nevertheless. After it no request may be made; outcomes
   * of
   * requests in flight may be committed without claims, unless the kind is `io` or `corrupt`.
   */
  commit(
    run: RunRecord,
    results: readonly ResultRecord[],
    claims: readonly ClaimRequest[],
    nowMs: number,
    policy?: ClaimPolicy,
  ): readonly ClaimAnswer[];
  /** Null if the ledger's name still leads to the open file and, with `last`, the file is whole. */
  displacement(when?: 'last'): LedgerError | null;
  /** Pending rows become skipped, for instance `expired`; others stay as they are. */
  skip(run: RunRecord, rows: readonly AsideRow[], nowMs: number): void;
  /** Pending rows wait for the next start, for instance `winner-undecided`; others stay as they are. */
  defer(run: RunRecord, rows: readonly AsideRow[], nowMs: number): void;
  /**
   * Another server took over and may lack the last confirmed commits. Claims again the rows that this process had
   * claimed, so that they are in doubt at the next start (failures.md, J6).
   * @param claimed - rows by step
   * @returns how many; null: the server does not have this list
   */
  restoreClaims(run: RunRecord, claimed: readonly RowSet[], nowMs: number): number | null;
  finish(run: RunRecord, facts: FinishFacts): RunRecord;
  /** Ends the run for good: pending and deferred recipients are skipped (`closed`), and claimed ones are in doubt. */
  closeRun(run: RunRecord, nowMs: number): RunRecord;

  /**
   * Takes the lock of one run. Null if another process, or another part of this one, has it. The operating system
   * releases it when the process ends, however it ends (failures.md, J3).
   * @param despiteWorkers even if workers are active in a run without a coordinator: used to call them back
   */
  lock(identity: RunIdentity, despiteWorkers?: boolean): RunLock | null;
  /** Whether a process works on this run now. */
  isHeld(identity: RunIdentity): boolean;
  turns(environment: string, ratePerSecond: number): SharedTurns | null;
  /** Runs that several workers share; null for a file. */
  readonly workers: WorkerStore | null;
  /** Records who has the run's lock, for the message that another process shows; null when it is released. */
  setLockOwner(identity: RunIdentity, lockOwner: LockOwner | null): void;
  lockOwner(identity: RunIdentity): LockOwner | null;

  // ----------------------------------------------------------------------------------------------------- doubts
  doubts(run: RunRecord): Iterable<readonly DoubtRow[]>;
  /**
   * Ends doubts by a person's decision, under the lock of the run. Keeps the doubt, who decided, when and why, in one
   * transaction. `missed` are rows that are not in doubt as they were: then none is resolved. A finished run that has
   * rows to send again is `partial`; a run without anything left, not even a doubt, is `finished`.
   */
  resolve(
    run: RunRecord,
    doubts: readonly DoubtRow[],
    resolution: Resolution,
  ): { readonly run: RunRecord; readonly missed: readonly DoubtRow[] };
  /** All that ever resolved a doubt of this run, oldest first, in batches. */
  resolutions(run: RunRecord): Iterable<readonly ResolutionRecord[]>;

  // ---------------------------------------------------------------------------------------------------- reading
  /**
   * By outcome; they add up to the rows of the run. A claimed row counts as pending while a live process holds the run,
   * and as in doubt (`crash`) after that.
   */
  counts(run: RunRecord): Omit<StepCount, 'fellBack'>[];
  /** `counts`, with the steps that fell back. Both take one scan of the list. */
  steps(run: RunRecord): StepCount[];
  hasErased(run: RunRecord): boolean;
  /**
   * Recipients that a start has to send to: pending, failed and deferred, and `rejected` where those are tried again.
   * `undecided` wait for the winner of a test. Takes a quarter of the time of `counts`.
   */
  countOpen(
    run: RunRecord,
    also: { readonly rejected: boolean },
  ): { readonly rows: number; readonly undecided: number };
  /** In list order, in batches; memory stays flat. */
  outcomes(run: RunRecord, filter?: OutcomeFilter): Iterable<readonly Outcome[]>;
  /** When a row of this run was last claimed; null: none was. One scan of the list. */
  lastClaimMs(run: RunRecord): number | null;
  /** Messages whose outcome was recorded since then, in ms since 1970. One scan of the list. */
  triedSince(run: RunRecord, sinceMs: number): number;
  /** Keys and rows in list order, without recipients that an amended list no longer had. */
  keys(run: RunRecord): Iterable<readonly [key: string, row: number]>;
  /** The state of a row while the list is unchanged; null if row and key do not belong together. */
  stateOf(run: RunRecord): (row: number, key: string) => RowState | null;

  // ------------------------------------------------------------------------------------------------- other runs
  /** Recipients reached by other runs of the environment, as far as the rules need them: 1 us each. */
  reach(own: RunIdentity, rules: ReachRules): Reach;

  // -------------------------------------------------------------------------------- delivery reports and replies
  readonly events: EventStore & EvidenceStore & ReplyStore;

  // ------------------------------------------------------------------------------------------------------ privacy
  readonly purge: PurgeStore;

  /** All reads until the end see one moment, so that figures agree. This process cannot write until then. */
  hold(): Disposable;
  /** Writes its present content to another file, which must be empty. */
  copyTo(path: string): void;
  /** Messages that the API accepted since an instant, in ms since 1970, by run and quarter of an hour. Reads their lists. */
  sentSince(environment: string, sinceMs: number): readonly SentQuarter[];
  /** The 20 people with the most of these messages, and how many people have more than `more`. */
  busiestSince(environment: string, sinceMs: number, more: number): { over: number; people: readonly Busy[] };
  /** Idempotent. */
  close(): void;
  [Symbol.dispose](): void;
}

/** The suppression list. The claim reads the same tables in its transaction. */
export interface SuppressionStore {
  /**
   * The caller normalises addresses. An entry never gets weaker: of two, the longer one stays. A reason is never lost:
   * a `user` one replaces the old one, another only if there is none. Returns whether the address was not suppressed.
   */
  suppress(address: string, facts: Omit<SuppressEntry, 'address'> & { readonly nowMs: number }): boolean;
  /** Removes the entry for a topic ('': for all topics); default: every entry. */
  unsuppress(address: string, topic?: string | null): boolean;
  suppressions(): Iterable<Suppression>;
  /** Whether a campaign of this topic (null: none) must not send to it. */
  isSuppressed(address: string, nowMs: number, topic?: string | null): boolean;
  /**
   * All or nothing. Returns how many were not suppressed before.
   * @throws HandbillError (exit 2): the ledger holds hashes that were made with another key
   */
  suppressAll(addresses: readonly SuppressEntry[], hashes: readonly HashEntry[], nowMs: number): number;
  unsuppressHash(hash: string, topic?: string | null): boolean;
  /** Every hash, expired ones too, in their order. */
  suppressedHashes(): Iterable<SuppressedHash>;
  /** One for each topic, also those that have ended. */
  suppressionsOf(address: string): readonly Suppression[];
  suppressedHashesOf(hash: string): readonly SuppressedHash[];
  isHashSuppressed(hash: string, nowMs: number, topic?: string | null): boolean;
  /** Id of the one key that all hashes were made with; null while there are none. */
  hashKeyId(): string | null;
  /** Expired entries count too. */
  suppressionCounts(): { readonly addresses: number; readonly hashes: number };
}

export interface UnreachableStore {
  /**
   * Addresses with so many permanent failures and no delivery since, in the form in which addresses are compared.
   * @param among - only these, as messages have them; null, the default: every address. One statement for all.
   */
  unreachable(
    rule: LedgerUnreachable,
    nowMs: number,
    among?: readonly string[] | null,
  ): ReadonlyMap<string, { readonly failures: number; readonly lastAtMs: number }>;
  /** A person took the address off the list: failures until now no longer count. Returns whether there were any. */
  dismissFailures(address: string, nowMs: number): boolean;
}

export interface LedgerUnreachable {
  readonly after: number;
  readonly withinMs: number;
  /** Whose reports count. */
  readonly environments: readonly string[];
}

export interface LedgerOptions {
  /** `read` never creates or changes anything. */
  readonly mode: 'write' | 'read';
  readonly nowMs: number;
  /**
   * `ledger-missing`: begin with an empty ledger despite the marker; never replaces an existing one.
   * `ledger-taken-over`: go on with another server of a shared ledger.
   */
  readonly allow?: readonly Allowable[];
  /** Called before a shared ledger that another server took over is refused: this process adds what it knows. */
  readonly witness?: (ledger: Ledger) => void;
  /** Does not make a missing shared ledger, unless `ledger-missing` is allowed. */
  readonly mustExist?: boolean;
  /** `read`: makes no files beside the ledger either, until another process begins to write. */
  readonly leaveNothing?: boolean;
  /** A private copy, deleted at the end of the process: nothing is synced to disk, and its pages are not checked again. */
  readonly isCopy?: boolean;
  /** Wait for another process that writes; default: 30 s. */
  readonly busyTimeoutMs?: number;
}

export interface SentQuarter {
  readonly run: number;
  readonly messages: number;
  readonly parts: number;
  readonly costMicros: number;
  /** Ms since 1970. */
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface Busy {
  readonly to: string;
  readonly messages: number;
}

export interface LedgerFacts {
  readonly bytes: number;
  readonly newestMs: number;
  readonly runs: number;
  /** Runs that a process works on now, with the lock's owner if it is known. */
  readonly held: readonly { readonly run: RunRecord; readonly lockOwner: LockOwner | null }[];
  /** Runs whose process ended while they were running. */
  readonly broken: readonly RunRecord[];
  /** Id of the key of its hashes; null: it holds none. */
  readonly hashKeyId: string | null;
  readonly isPurgeUnfinished: boolean;
  readonly pauses: readonly Pause[];
  /** Other users of the machine may read it. */
  readonly isReadable: boolean;
  /** The server's clock, ms since 1970; null: it is a file. */
  readonly serverMs: number | null;
}

export type PlaceFacts = Pick<LedgerFacts, 'bytes' | 'newestMs' | 'isReadable' | 'serverMs'>;

/** Replies: reading and reviewing them, and finding the message that each answers. */
export interface ReplyStore {
  /** Newest first as they came in, in batches, some empty, without those that a purge has emptied. */
  replies(filter?: ReplyFilter): Iterable<readonly ReplyRecord[]>;
  /** How many there are, newest first, in parts: the sum is what the filter has. `questions`: with a question mark. */
  replyCounts(
    filter?: Pick<ReplyFilter, 'runs'>,
  ): Iterable<Readonly<Record<'all' | 'review' | 'opt-out' | 'questions', number>> & { readonly isLast: boolean }>;
  /**
   * A person's decision about replies; suppresses those who opt out by it, in one transaction. `missed` are numbers
   * without a reply: then nothing is entered.
   * @param facts with `onlyUnread` nothing is entered if one of them no longer waits to be read
   */
  reviewReplies(
    numbers: readonly number[],
    review: ReplyReview,
    facts: OptOutFacts & { readonly onlyUnread?: boolean },
  ): {
    readonly reviewed: number;
    readonly suppressed: readonly string[];
    readonly lifted: readonly string[];
    /** Senders that are no address, and whose message is not known: nothing is suppressed. */
    readonly unassigned: readonly string[];
    readonly missed: readonly number[];
    /** Decisions from before, by number: replaced by this one, or the reason why nothing is entered. */
    readonly earlier: readonly (ReplyReview & { readonly number: number })[];
  };
  /** Whether replies wait for their message to be found since any run was last started. */
  hasUnjoined(): boolean;
  /** Opt-outs whose message is not found. */
  unjoinedOptOuts(): readonly { readonly sender: string; readonly replyId: string | null }[];
  /** Whether the message of an opt-out by reply is still to be found: it may be about another address. */
  hasUnjoinedOptOut(): boolean;
  /**
   * Looks for the messages of such replies. Each step is a page of a list or a transaction, and other processes can
   * write between two steps. Needs no lock: the transaction that writes a match checks it again.
   */
  joinReplies(facts: JoinFacts): Generator<Joined>;
}

interface ReplyFilter {
  /** Numbers of runs: only replies to their messages. */
  readonly runs?: readonly number[];
  /** As a reviewer entered it, or else as read from the text. */
  readonly meanings?: readonly ReplyMeaning[];
  /** By the time that the reply carries; in ms since 1970. */
  readonly sinceMs?: number;
  /** With a question mark. Default: any text. */
  readonly questions?: boolean;
  /** Only numbers below this one. */
  readonly before?: number;
  readonly numbers?: readonly number[];
}

interface OptOutFacts {
  /** A word of opting in takes back an opt-out by reply, and no other. */
  readonly startLifts: boolean;
  /** `topic`: a STOP is about the topic of the message that it answers; default: about everything. */
  readonly stopEnds?: StopEnds;
}

export interface JoinFacts extends OptOutFacts {
  readonly now: () => number;
  readonly referencesOf: (run: RunRecord) => (key: string, channel: Channel, resend?: number) => string;
}

export interface Joined {
  readonly joined: number;
  /** Addresses of those messages that are suppressed now, beside the senders. */
  readonly suppressed: readonly string[];
}

/**
 * Takes personal data out of the ledger. Work on many rows is a series of steps, one bounded transaction each: the
 * caller decides how long other processes get the ledger in between. After a kill it can be repeated. All but the
 * queries need a lock: that of the run, and for the whole that of purges.
 */
export interface PurgeStore {
  /** The newest time recorded of a run. One pass over its list. */
  lastActivityMs(run: RunRecord): number;
  /** Lists that were never fully loaded, or were replaced and not deleted yet; they hold addresses too. */
  drafts(): readonly RunRecord[];
  isDone(run: RunRecord): boolean;
  /** A purge was begun and not finished: `rewrite` is the last step. */
  isUnderWay(): boolean;
  /** Notes durably that a purge is under way. Before anything else is changed. */
  begin(): void;
  /** From here on the run can never be continued. Returns it; a marked run stays as it is. */
  mark(run: RunRecord, nowMs: number): RunRecord;
  /**
   * Takes keys, addresses, ids and texts out of the rows of a marked run, and names out of its history of doubts. The
   * rest stays, with only the day of the last claim. Each step yields its rows.
   */
  clear(run: RunRecord): Iterable<number>;
  /**
   * Keeps delivery results as words in the rows of a marked run, and deletes the reports, in one transaction: pass a
   * thousand at a time, before `clear`, because the rows' ids lead to the reports. Returns how many it deleted.
   */
  keepDeliveries(run: RunRecord, kept: readonly KeptDelivery[]): number;
  /** Deletes the replies to a marked run except those that wait for review, in steps; `keepDeliveries` comes first. */
  forgetReplies(run: RunRecord): Iterable<number>;
  /** Unread replies that may mean to opt out: they stay. Counts those before an instant, and those to these runs. */
  waitingReplies(beforeMs: number | null, runs: readonly number[]): number;
  /** Events from before an instant that still contain personal data, or belong to no run that is kept. */
  oldEvents(beforeMs: number): EventCounts;
  /**
   * Takes personal data out of events from before an instant. Events of kept runs are emptied, so that they still
   * count: reports lose address, texts and digest, replies all but their meaning. The rest is deleted.
   */
  forgetEvents(beforeMs: number): Iterable<EventCounts>;
  forget(draft: RunRecord): Iterable<number>;
  /** Suppressions from before an instant: those that had expired by then, and the others. */
  oldSuppressions(beforeMs: number): { readonly expired: number; readonly active: number };
  /**
   * Makes suppressions older than that hashes, without the reason, which is free text; deletes those that have expired
   * before it. Without a hasher, the others stay.
   */
  hashSuppressions(
    beforeMs: number,
    hasher: Hasher | null,
  ): Iterable<{ readonly hashed: number; readonly expired: number }>;
  /**
   * Takes one person out, in one transaction: after a kill, all of it is done or nothing. Clears their rows as a purge
   * does, deletes reports and replies, and suppresses their addresses. The caller holds the locks of the runs, all of
   * which are finished. Returns which events were deleted.
   */
  erase(erasure: Erasure, nowMs: number): EventCounts;
  /** `erase` would take these beside the rows and replies of the person. */
  traces(
    address: string,
    trace: AddressTrace,
  ): {
    readonly unread: readonly { readonly receivedAtMs: number; readonly body: string }[];
    /** Reports with the address, of a message or not. */
    readonly reports: number;
    /** Errors and replies about others that name the address. */
    readonly mentions: number;
  };
  /**
   * Writes the file anew, so that nothing is left in its gaps and free pages, and empties its log. It holds the write
   * lock for about 10 ms a megabyte. If it was not done, try again: `in-use` means that another process sends from a
   * large ledger or reads from it for long; `no-room` that the disk lacks twice the size of the ledger.
   * @throws LedgerError
   */
  rewrite(): 'done' | 'in-use' | 'no-room';
}

/** The delivery result of one message, and the ids by which its reports are found. */
export interface KeptDelivery extends MessageIds, Pick<DoubtRow, 'row' | 'step' | 'postedFrom'> {
  readonly delivery: Delivery | null;
}

export interface Erasure {
  /** In the form in which addresses are listed. */
  readonly address: string;
  readonly runs: readonly ErasedRows[];
  /** Rows of lists that were never fully loaded. */
  readonly drafts: readonly Pick<ErasedRows, 'run' | 'rows'>[];
  /** That address, and those that the rows hold beside it. */
  readonly suppressed: readonly string[];
  /** Suppresses them as hashes; null: as they are. */
  readonly hasher: Hasher | null;
  /** Finds the address in texts of people and the API. */
  readonly trace: AddressTrace;
}

export interface ErasedRows {
  readonly run: RunRecord;
  readonly rows: readonly number[];
  readonly keys: readonly string[];
  /** Their messages, also to earlier addresses: the delivery result stays as a word. */
  readonly kept: readonly KeptDelivery[];
}

export type EventCounts = Purge['events'];

/** Evidence from reports: that a request was received, or that a message was not. */
export interface EvidenceStore {
  /** Recipients in doubt, or to be sent to again after a doubt, of every run, in batches. */
  inDoubt(): Iterable<readonly InDoubtRow[]>;
  /** Reports of the environment to an address that name no message of ours but quote its text. */
  quoting(row: InDoubtRow, sinceMs: number, untilMs: number): DeliveryRecord[];
  /** Whether a recipient of the environment has this id of the API. Scans its lists: call it rarely. */
  hasMessage(environment: string, messageId: string): boolean;
  /**
   * Whether another message without a known id went to the same address in that time: a report that quotes a text may
   * mean it. Scans the lists of the environment.
   */
  hasOther(row: InDoubtRow, sinceMs: number, untilMs: number): boolean;
  /**
   * A report is evidence that the API had the request (failures.md, K2). A row in doubt becomes accepted, and a row
   * that waits to be sent again is accepted without a second message, unless the row was moved meanwhile. Needs no lock
   * of the run: other processes move such a row only by the same compare-and-set. Returns whether it was resolved.
   */
  resolve(
    row: InDoubtRow,
    facts: { readonly messageId: string | null; readonly note: string; readonly nowMs: number },
  ): boolean;
  /** Whether any report says that a channel did not reach the recipient. */
  hasUnreached(): boolean;
  /** Accepted rows of one step that such a report may be about, in list order: the caller reads all reports of each. */
  unreached(run: RunRecord, step: number, afterRow: number, limit: number): UnreachedRow[];
  /**
   * The states that the reports about each message name, as bits by their position in `DELIVERY_STATES`; 0: there are
   * no reports. Pass some hundred at a time: that costs a quarter of single calls.
   * @param judged - called for each report that names one of them, with its number, and why it is not about that
   * message
   */
  statesOf(messages: readonly SentMessage[], judged?: Judged): Uint16Array;
  /** Whether any report names a reference of ours: if none does, references need not be computed. */
  hasReferences(): boolean;
  /** Keeps 16 MB of the ledger in memory from here on, for many thousand events. */
  expectMany(): void;
  /** Changes whenever another process has written. */
  version(): number;
}

/** Null: it is about the message. */
export type Judged = (report: number, mismatch: UnmatchedReason | null) => void;

export interface DeliveryRecord extends Omit<DeliveryReport, 'kind' | 'eventId'> {
  /** In the order of their arrival. */
  readonly number: number;
  readonly receivedAtMs: number;
  readonly source: string;
  /** Empty: unknown. */
  readonly environment: string;
}

export interface ReplyRecord extends Omit<Reply, 'kind'> {
  readonly number: number;
  readonly receivedAtMs: number;
  readonly source: string;
  /** The message that it answers; null: not known, or not looked for yet. */
  readonly answers: {
    readonly run: number;
    readonly row: number;
    readonly step: number;
    /** As in the list; null after a purge. */
    readonly key: string | null;
    readonly line: number | null;
    readonly variant: string | null;
  } | null;
  /** False: its message was never looked for. */
  readonly isSought: boolean;
  /** Null: not reviewed. */
  readonly review: ReplyReview | null;
}

export interface ReplyReview {
  readonly meaning: Exclude<ReplyMeaning, 'review'>;
  readonly who: string;
  readonly atMs: number;
}

export interface RecordFacts {
  readonly nowMs: number;
  /** `webhook`, or the file that was read. */
  readonly source: string;
  /** Reports count for messages of this environment only, opt-outs everywhere. */
  readonly environment: string;
  /** Other environments of the same sender: an event stored for one of them is a repetition. Default: none. */
  readonly alsoIn?: readonly string[];
  /** A word of opting in takes back an opt-out by reply, and no other; default: it does not. */
  readonly startLifts?: boolean;
  /** `topic`: a STOP is about everything only until `joinReplies` finds the message that it answers; default: always. */
  readonly stopEnds?: StopEnds;
  /** Whether an opt-out from there can be put on the suppression list. Default: always. */
  readonly isAddress?: (written: string) => boolean;
  /** The number of the page that these events were read from: it goes in the same transaction. */
  readonly page?: number;
}

/** A message in doubt, or to be sent again after a doubt: a report may show that it was received. */
export interface InDoubtRow
  extends Pick<DoubtRow, 'row' | 'step' | 'key' | 'to' | 'channel' | 'attempts' | 'resend' | 'sinceMs' | 'postedFrom'> {
  /** Number of the run, and what its references are made of. */
  readonly run: number;
  readonly identity: RunIdentity;
  readonly list: number;
  readonly messageId: string | null;
  /** SHA-256 of the text that was sent, in hex; null if there was none, or the process was killed. */
  readonly textHash: string | null;
  /** It went to another address than `to`. */
  readonly isRedirected: boolean;
}

export interface UnreachedRow extends Pick<DoubtRow, 'row' | 'step' | 'key'> {
  readonly variant: string | null;
  /** The messages of the steps so far, this one last. */
  readonly steps: readonly Pick<
    StepOutcome,
    'channel' | 'messageId' | 'to' | 'claimedAtMs' | 'resend' | 'postedFrom'
  >[];
}

/** Each report or reply is stored once, even if it arrives before the API's answer to its message (failures.md, K1). */
export interface EventStore {
  /**
   * Stores events, and suppresses recipients who opted out by them, in one transaction that is on disk when this
   * returns. An event already stored for this environment, or one of `alsoIn`, changes nothing, unless it opts out and
   * has neither a time nor an id.
   *
   * A reply that opts out suppresses its sender, in every campaign and on every channel. So does a report of an
   * opt-out. If `startLifts` is set, the last opt-out or opt-in of a sender counts, by the time that it carries.
   * @throws LedgerError: nothing is stored
   */
  record(events: readonly WebhookEvent[], facts: RecordFacts): Recorded;
  reportsOf(message: SentMessage): DeliveryRecord[];
  /** Also reports that are about another message. */
  reportsNaming(ids: MessageIds): DeliveryRecord[];
  /** The number of the newest report; 0: none. */
  lastReport(): number;
  /** Since an instant, in ms since 1970. */
  hasReports(sinceMs: number): boolean;
  /** Rows of a run with a joined reply. An opt-out has priority. */
  answered(run: Pick<RunRecord, 'number'>): ReadonlyMap<number, 'replied' | 'opted-out'>;
  /** Pages of a source that are kept unread, oldest first. */
  pages(source: string): readonly { readonly number: number; readonly body: string }[];
  /** When the API was last asked for all its reports and replies with success, in ms since 1970; null: never. */
  fetchedMs(environment: string): number | null;
  setFetched(environment: string, atMs: number): void;
  /** How many events of each kind there are. */
  counts(): { readonly reports: number; readonly replies: number; readonly unread: number };
}

/** Checks of a claim in addition to the rows and addresses of the ledger. Made once for a start. */
export interface ClaimPolicy extends Partial<ClaimRules> {
  /** The contact history: recipients that another run reached by then are skipped. */
  readonly reach?: Reach | null;
  /**
   * The shards of a worker: if another worker has one by now, or the run is not running, every claim is `stopped`.
   * Without it, a run that is not running is an error.
   */
  readonly held?: HeldShards | null;
}

/**
 * Recipients reached by other runs of the environment: accepted, in doubt, or claimed at this moment (failures.md, A2).
 * A person is a key or an address, of any step; the steps of one row are one message.
 *
 * A run without an active process is read once, and the recipients it reached go into an index. If a run is `running`,
 * or another process starts it later (`refresh` finds it), all recipients that it may reach go in. The index only says
 * who may have been reached; the ledger's row decides. So a claim that checks in its transaction sees every earlier
 * claim.
 */
export interface Reach {
  /** Runs that a rule asks about, but whose personal data is purged. */
  readonly purged: readonly RunIdentity[];
  /** The run of `exclude` that reached this person. */
  excludedBy(to: string, key: string): RunIdentity | null;
  cappedBy<C extends Cap>(to: string, key: string, caps: readonly C[]): C | null;
  /** The followed run's message to this person; null: the run does not have them. */
  followed(key: string): FollowedMessage | null;
  /** The answer to that message, or one that came from its address since. */
  replyTo(message: FollowedMessage, names: AnswerNames): 'opt-out' | 'answer' | null;
  /** Why a person gets no follow-up, or not yet; null: it is due. Absent: the campaign follows no other. */
  readonly followUp?: (key: string, nowMs: number) => 'no-follow-up' | 'follow-up-later' | null;
  /** Whether reports say that an address is out of use. Absent: the campaign does not ask. */
  readonly unreachable?: {
    /** Reads the reports about these addresses, in the transaction of their claims. */
    ask(addresses: readonly string[], nowMs: number): void;
    has(to: string): boolean;
  };
  /** Finds new writes of other processes; 3 us if there are none. */
  refresh(): void;
}

export interface ReachRules {
  readonly exclude: readonly Pick<Excluded, 'campaign' | 'occurrence'>[];
  /** Beginning of the longest period of a cap, in ms since 1970; null: no cap. */
  readonly sinceMs: number | null;
  /** Its run of the same occurrence; null or absent: none. */
  readonly follows?: string | null;
  /** Since when runs of the campaign itself exclude recipients, by their keys, in ms since 1970; null or absent: never. */
  readonly sameSinceMs?: number | null;
}

/** Names that an answer may carry, apart from the id of the message. */
export interface AnswerNames {
  /** As replies carry it: email addresses in lower case. */
  readonly sender: string;
  readonly reference: string | null;
}

/** The last step of a message that another one follows. */
export interface FollowedMessage extends Pick<Outcome, 'row' | 'channel' | 'messageId' | 'postedFrom'> {
  readonly run: number;
  readonly state: string;
  readonly to: string;
  /** Just before the request, in ms since 1970. */
  readonly claimedAtMs: number;
  readonly resend: number;
}
