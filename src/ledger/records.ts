import type {
  Channel,
  Commit,
  Halt,
  InputFile,
  Json,
  JsonObject,
  Outcome,
  OutcomeState,
  Pause,
  RunState,
  SkipReason,
  Totals,
} from '../model.ts';

/**
 * Plain data of the ledger.
 *
 * A recipient has one row of step 0 (`step`), and one more row for each fallback that was begun. Only the last step's
 * row can be pending, claimed or in doubt: the ones before it fell back.
 */

/** Reason of a `rejected` row whose recipient could not receive its step: the row of the next step decides. */
export const FELL_BACK = 'fell-back';

/** A schedule as text, and when it was first seen, in ms since 1970. */
export interface SeenSchedule {
  readonly schedule: string;
  readonly seenMs: number;
}

export interface KnownCampaign {
  readonly id: string;
  /** Name and path (see `knownCampaign`) at its last start. */
  readonly name: string;
  readonly file: string;
}

export interface CampaignPlace {
  readonly environment: string;
  /** The id, which never changes. */
  readonly campaign: string;
}

export interface RunIdentity extends CampaignPlace {
  readonly occurrence: string;
}

export interface RunRecord extends RunIdentity {
  /** Shown to people and used in the names of report files: `<campaign>-<8 hex digits>`. */
  readonly id: string;
  readonly number: number;
  /** The list at the time this record was read; `--allow input-changed` replaces it. */
  readonly list: number;
  readonly channel: Channel;
  /** `running` after a kill too, until the next start: `isRunHeld` (lock.ts) says whether a process works on it. */
  readonly state: 'loading' | RunState;
  readonly halt: Halt | null;
  readonly inputs: readonly InputFile[];
  /** Which of `versions` the messages are made from now, counted from 1. */
  readonly version: number;
  readonly versions: readonly Version[];
  /** Hash of what identifies a recipient (key, to, defaultCountry): may not change, even when amended. */
  readonly identityHash: string;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly lastStartAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly starts: number;
  /** Recipients: their rows of step 0. */
  readonly rows: number;
  /** The variant of recipients who are not in the test; null: not decided. */
  readonly winner: string | null;
  /** Messages count towards the frequency caps of other campaigns. */
  readonly isCounted: boolean;
  /** Topic of the messages; null: none. */
  readonly topic: string | null;
  /** The stand-in that made its last start; null: its own environment. */
  readonly postedFrom: string | null;
  /** When its personal data was taken out; such a run is never continued. */
  readonly purgedAtMs: number | null;
  /** When a person closed it; such a run is never continued. */
  readonly closedAtMs: number | null;
  /** The name by which its campaign was last sent; `campaign` is its id. */
  readonly name: string;
  /** Commits of its starts, each once. A start outside of a git repository adds none. */
  readonly commits: readonly Commit[];
  /** Figures of the requests over all starts; opaque to the ledger. */
  readonly figures: JsonObject | null;
}

/**
 * The inputs of messages: every input of a run but its list, which says who gets one. Its number in the run, from 1,
 * is kept with each row at its claim. Inputs that come back get their number again: their messages are the same.
 */
export interface Version {
  readonly inputs: readonly InputFile[];
  /** Commits of the starts that used it, each once. */
  readonly commits: readonly Commit[];
  readonly sinceMs: number;
}

export interface AmendFacts {
  readonly inputs: readonly InputFile[];
  readonly nowMs: number;
  /** Rows of the campaign's other runs that are still to be sent become skipped (`removed`); default: they stay. */
  readonly takesOver?: boolean;
}

export interface FinishFacts {
  readonly state: Exclude<RunState, 'running'>;
  readonly halt: Halt | null;
  readonly figures: JsonObject | null;
  readonly nowMs: number;
}

export interface LoadRow
  extends Pick<Outcome, 'row' | 'line' | 'reason'>,
    Pick<StepFacts, 'variant' | 'parts' | 'encoding' | 'costMicros'> {
  /** Null where the row is too bad to have one; such a row must be skipped. */
  readonly key: string | null;
  readonly to: string | null;
  readonly state: 'pending' | 'skipped' | 'deferred';
  /** Null or absent: the run's. */
  readonly channel?: Channel | null;
}

export interface StepFacts {
  readonly channel: Channel;
  readonly variant: string | null;
  readonly parts: number | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  /** Millionths of the currency unit. */
  readonly costMicros: number | null;
}

/** Ids by which a report names its message; at least one of them. */
export interface MessageIds {
  readonly reference: string | null;
  readonly messageId: string | null;
}

/** A sent message, with everything that a report about it must agree with. */
export interface SentMessage extends MessageIds {
  /** The environment that posted it: that of its run, or a stand-in. */
  readonly environment: string;
  /** As in the list; null: not known any more, or the message went to another address (`redirect`). */
  readonly to: string | null;
  /** Just before the request, in ms since 1970; null: not known. */
  readonly claimedAtMs: number | null;
}

/** The messages of a run went to another address than their recipient's. */
export function isRedirected({ inputs }: Pick<RunRecord, 'inputs'>): boolean {
  return inputs.some(({ role }) => role === 'redirect');
}

/** For people: a run with what tells it from its neighbours. */
export function runName({ id, environment, occurrence }: RunRecord): string {
  return `${id} (${environment}, ${occurrence})`;
}

export interface PendingRow {
  readonly row: number;
  readonly step: number;
  readonly key: string;
  /** Attempts at this step, over all starts. */
  readonly attempts: number;
  readonly used: readonly Channel[];
  /** As the row has them; a recipient who waits has none yet, a fallback by a report only its variant. Absent: not read. */
  readonly facts?: Pick<StepFacts, 'variant'> & Partial<Pick<StepFacts, 'parts' | 'costMicros'>>;
  /** Messages that went to earlier addresses of the recipient; absent: none. */
  readonly resend?: number;
  /** The API was too busy for it (`rate-limited`); absent: no. */
  readonly isLimited?: true;
  /**
   * The messages of the steps before, if a report says that the last of them, which was accepted, did not arrive. This
   * step begins with its claim.
   */
  readonly byReport?: readonly SentMessage[] | undefined;
}

export interface ClaimRequest {
  readonly row: number;
  readonly step: number;
  /** Step 0: the address that was loaded. Later steps: the address to send to, which is kept. */
  readonly to: string;
  readonly key: string;
  /** As the caller knows them. A row with another number was used by another process meanwhile, and is `taken`. */
  readonly attempts?: number;
  /** Facts that are not in the row: for a variant decided after it was loaded, or a later step. */
  readonly facts?: StepFacts | undefined;
  /** The frequency caps of this recipient now; checked only with `Reach`. */
  readonly caps?: readonly Cap[] | undefined;
  /** A report says that the step before did not arrive: it falls back in the same move, if still accepted. */
  readonly byReport?: boolean;
  /** In millionths of the budget's currency; null or absent: not known, and then no budget has room for it. */
  readonly costMicros?: number | null | undefined;
}

export interface ClaimBudget {
  readonly currency: string;
  readonly maxMicros: number;
  periodOf(ms: number): string;
}

export interface BudgetPlace {
  readonly environment: string;
  readonly period: string;
  readonly currency: string;
}

export interface BudgetSpent extends BudgetPlace {
  readonly spentMicros: number;
}

/** At most `max` messages per person since an instant, ms since 1970. */
export interface Cap {
  readonly max: number;
  readonly sinceMs: number;
  /** Only messages about this count (null: those without a topic); absent: all. */
  readonly topic?: string | null;
}

const CLAIM_SKIPS = [
  'suppressed',
  'unreachable',
  'fenced',
  'excluded',
  'no-follow-up',
  'frequency-cap',
] as const satisfies readonly SkipReason[];
export type ClaimSkip = (typeof CLAIM_SKIPS)[number];

/**
 * A reason: a rule applied in the meantime, and the row is skipped. `follow-up-later`: the message before goes out
 * again, and the row is deferred. The row is unchanged if this worker may not claim there any more (`stopped`), a
 * person paused the environment or the campaign (`paused`), or the message costs more than is left (`over-budget`).
 */
export type ClaimAnswer = 'claimed' | ClaimSkip | 'follow-up-later' | 'taken' | 'stopped' | 'paused' | 'over-budget';

export function isClaimSkip(answer: string | undefined): answer is ClaimSkip {
  return CLAIM_SKIPS.some((reason) => reason === answer);
}

export interface ResultRecord extends Pick<Outcome, 'row' | 'reason' | 'httpStatus' | 'messageId'> {
  readonly step: number;
  /** `pending`: the attempt failed before the row was claimed, so the only results are `failed` and `pending`. */
  readonly from: 'claimed' | 'pending';
  readonly state: 'accepted' | 'rejected' | 'failed' | 'in-doubt' | 'pending';
  /** Attempts at this step over all starts, this one included: `PendingRow.attempts` plus those made since. */
  readonly attempts: number;
  /** At most 2 KiB are kept. */
  readonly error: string | null;
  /** SHA-256 of the text in hex, for `in-doubt`: a report that quotes it may resolve the doubt. */
  readonly textHash?: string | null;
  /**
   * The next step: the claimed row becomes rejected with the reason `fell-back` (instead of `reason`), and the next
   * step's row pending, in one move. If another process moved the row meanwhile, no step follows.
   */
  readonly next?: NextChannelStep;
  /** The API answered that the person has opted out: the address is suppressed in the same transaction. */
  readonly optOut?: {
    /** The address that the message was posted to. */
    readonly to: string;
    /** Empty: for all topics. */
    readonly topic: string;
  };
}

export interface NextChannelStep extends Omit<StepFacts, 'variant'> {
  readonly to: string;
}

export interface AsideRow extends Pick<ResultRecord, 'row' | 'step'> {
  readonly reason: string;
}

export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  readonly sinceMs: number;
}

/** A recipient in doubt: it is unknown whether the API had the request. */
export interface DoubtRow
  extends Pick<
    Outcome,
    'row' | 'line' | 'channel' | 'to' | 'reason' | 'httpStatus' | 'error' | 'resend' | 'postedFrom'
  > {
  readonly step: number;
  readonly key: string;
  /** Attempts at this step over all starts, with the doubtful one: two doubts of a step have different numbers. */
  readonly attempts: number;
  /** Time of the claim, just before the request. */
  readonly sinceMs: number | null;
}

/** A person's decision about a doubt; `resend`: the next send posts once more. */
export type DoubtVerdict = 'accepted' | 'rejected' | 'resend';

export interface Resolution {
  readonly verdict: DoubtVerdict;
  /** For `accepted`; null: not known. */
  readonly messageId: string | null;
  readonly who: string;
  readonly note: string | null;
  readonly nowMs: number;
}

export interface ResolutionRecord extends Omit<DoubtRow, 'row'>, Omit<Resolution, 'who' | 'nowMs'> {
  /** `user`, or the evidence: `late-result`, `report`. */
  readonly resolvedBy: string;
  /** Null for evidence. */
  readonly who: string | null;
  readonly resolvedAtMs: number;
}

/** A campaign of an environment, or (null) all of them. */
export type PauseScope = Pick<Pause, 'environment' | 'campaign'>;

export interface OutcomeFilter {
  readonly outcomes?: readonly OutcomeState[];
}

export interface RowState {
  /** The last step that was begun; the fields below belong to it. */
  readonly step: number;
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  /** Channels of the steps before it; absent for step 0. */
  readonly used?: readonly Channel[];
  /** Absent: none. */
  readonly variant?: string;
  /** The address of step 0; absent for later steps. */
  readonly to?: string | null;
  /** Messages that went to earlier addresses of the recipient; absent: none. */
  readonly resend?: number;
}

/** A message to an address that was corrected since, and the messages to the recipient that went before it. */
export interface EarlierRow extends Pick<Outcome, 'channel' | 'to' | 'messageId' | 'httpStatus' | 'postedFrom'> {
  /** How many went before this one. */
  readonly resend: number;
  /** The version of its inputs (`RunRecord.versions`); null: not known. */
  readonly version: number | null;
  /** In ms since 1970. */
  readonly sentAtMs: number | null;
}

export interface SuppressEntry {
  readonly address: string;
  /** Absent or empty: for all topics. */
  readonly topic?: string;
  readonly reason: string | null;
  /** Null: without an end. */
  readonly untilMs: number | null;
  /** A file, `user`, `reply`, `report` or `provider`. */
  readonly source: string;
}

export interface Suppression extends SuppressEntry {
  /** Empty: for all topics; `?`: for all until it is known which message a STOP answered. */
  readonly topic: string;
  readonly createdAtMs: number;
}

/** A keyed hash of an address, as 64 hex digits. */
export interface HashEntry extends Omit<SuppressEntry, 'address'> {
  readonly hash: string;
  readonly keyId: string;
}

export interface SuppressedHash extends HashEntry {
  readonly topic: string;
  readonly createdAtMs: number;
}

export interface Hasher {
  readonly keyId: string;
  hash(address: string): string;
}

/** Checks of a claim beside the addresses in the ledger, which knows no lists and no key. */
export interface ClaimRules {
  isListed(to: string, key: string, nowMs: number): boolean;
  /** Whether the environment may not send there, whatever else allows it. Default: it may. */
  isFenced?(to: string): boolean;
  /** The environment's budget. Default: none, and nothing is counted. */
  readonly budget?: ClaimBudget;
  /** Hashes under which the ledger may hold an address; null: there is no key. */
  readonly hasher: Hasher | null;
}

export interface Recorded extends Readonly<Record<'reports' | 'replies' | 'unread', number>> {
  /** Events that the ledger already held. */
  readonly known: number;
  /** Addresses that are suppressed now, and were not before. */
  readonly suppressed: readonly string[];
  readonly lifted: readonly string[];
  /** Senders of opt-outs that are no address: nothing is suppressed until the answered message is found. */
  readonly unassigned: readonly string[];
}

/** Rows of a run's list that one worker has at a time; both bounds are included. */
export interface Shard {
  readonly number: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

export interface HeldShards {
  readonly worker: string;
  /** The number of the shard that a row is in; null: in none of the worker's. */
  of(row: number): number | null;
}

export interface WorkerFacts {
  /** No other process ever has it. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** A worker that is silent for so long counts as dead. */
  readonly leaseMs: number;
}

export interface Share extends Omit<Totals, 'recipients' | 'pending'> {
  readonly posted: number;
  readonly retried: number;
  /** Recipients whose step 0 was accepted and then given up for the next step. */
  readonly firstSteps: number;
  readonly fellBack: number;
  /** When the first window opens for waiting recipients, in ms since 1970; null: none waits. */
  readonly opensAtMs: number | null;
  /** Earliest time for recipients that the API was too busy for, in ms since 1970; null: there are none. */
  readonly limitedUntilMs: number | null;
}

export interface Pulse {
  readonly state: RunState | 'loading';
  readonly halt: Halt | null;
  readonly others: Share;
  /** The API asked a worker to wait: no worker posts for so long. 0 or less: it did not. */
  readonly heldMs: number;
}

/** A worker as `handbill worker list` shows it; times are the database's, in ms since 1970. */
export interface WorkerRecord extends WorkerFacts {
  readonly joinedAtMs: number;
  readonly heardAtMs: number;
  readonly nowMs: number;
  /** Heard of within its lease. */
  readonly isAlive: boolean;
  readonly run: RunRecord | null;
  readonly shards: readonly number[];
  readonly rows: number;
  readonly posted: number;
}

/**
 * Runs that several workers share, on any machine. A queue hands out shards; this store decides where a worker may
 * claim, and each claim checks it again in its transaction. All times are the database's.
 */
export interface WorkerStore {
  join(worker: WorkerFacts): void;
  /** Keeps an idle worker's lease. */
  beat(worker: WorkerFacts): void;
  /** Keeps the lease of a worker in a run and records its counts; returns the state of the run. */
  pulse(worker: WorkerFacts, run: RunRecord, share: Share): Pulse;
  /** The worker has recorded all of its requests. `latency` is kept with the run's figures. */
  rest(worker: WorkerFacts, run: RunRecord, share: Share, latency: string): void;
  /** The worker's claimed rows are in doubt, and its shards are open again. */
  leave(id: string): void;
  workers(): WorkerRecord[];

  /**
   * Deletes shards of a former start, with their counts. From now on a pending row with reason `rate-limited` waits for
   * the next start.
   * @param waits - also those of former starts: their time has not come
   */
  forget(run: RunRecord, waits?: boolean): void;
  /**
   * Cuts the pending rows that do not wait into shards of so many recipients; there were none before.
   * @param limit - recipients at most; null: all
   * @param facts - what a worker needs that is neither in the ledger nor in the files
   */
  cut(run: RunRecord, rows: number, limit: number | null, facts: Json): Shard[];
  /** As `cut` was given them; null: the run is not shared any more. */
  facts(run: RunRecord): Json;
  /** Running runs with a shard that is not done. */
  shared(): RunRecord[];
  /** Running runs whose shards are all done. If no process holds such a run, the caller has to end it. */
  finished(): RunRecord[];
  /**
   * Takes a shard: from now on only this worker claims in it. Null if it is done, another live worker has it, or the
   * run is not running. Rows that a dead worker left claimed in it become in doubt (`crash`).
   */
  take(run: RunRecord, number: number, worker: WorkerFacts, nowMs: number): Shard | null;
  /** Whether this worker has the shard now. In the transaction of a claim. */
  holds(list: number, number: number, id: string): boolean;
  /**
   * Ends a shard without pending or claimed rows. False if it has one, or if another worker has the shard.
   * @param passed - rows that are still pending are not on the list any more
   */
  finish(run: RunRecord, number: number, id: string, passed?: boolean): boolean;
  /** Opens this worker's shards for others. */
  giveBack(run: RunRecord, id: string, nowMs: number): number[];
  /**
   * Reopens the shards of dead workers, whose claims are in doubt then, so that they are offered again. With `drained`
   * (the queue is empty), also shards that were not offered for some time: the worker that was about to take them died.
   */
  reopen(run: RunRecord, drained: boolean, nowMs: number): number[];
  /** Shards that are not done. */
  left(run: RunRecord): number;
  sum(run: RunRecord): { readonly share: Share; readonly latencies: readonly string[] };

  /** Ends the run: the next claim of every worker is refused. An earlier end is not overwritten. */
  end(run: RunRecord, state: 'halted' | 'interrupted', halt: Halt | null): void;
  /** Takes all shards away, of a start that is over. */
  callBack(run: RunRecord): void;
  /** Whether another live worker has requests in flight, or claims. */
  isWorkedOn(run: Pick<RunRecord, 'list'>, id: string): boolean;
}
