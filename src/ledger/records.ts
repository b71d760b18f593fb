import type { Channel, Halt, InputFile, JsonObject, OutcomeState, RunState, SkipReason } from '../model.ts';

/**
 * Plain data that is written to the ledger and read from it.
 *
 * A recipient has one row of step 0 (`leg`), and one more row for each fallback that was begun. Only the last step's
 * row can be pending, claimed or in doubt: the ones before it fell back.
 */

/** Reason of a row, always `rejected`, whose recipient could not receive its step: the row of the next step decides. */
export const FELL_BACK = 'fell-back';

/** A schedule of a campaign, as text, and when it was first seen, in ms since 1970. */
export interface SeenSchedule {
  readonly schedule: string;
  readonly seenMs: number;
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
  /** `running` after a kill too, until the next start: `isRunHeld` (lock.ts) says whether a process works on it. */
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
  /** Recipients: their rows of step 0. */
  readonly rows: number;
  /** The variant of recipients who are not in the test; null while it is not decided. */
  readonly winner: string | null;
  /** What it sent counts towards the frequency caps of other campaigns. */
  readonly isCounted: boolean;
  /** When personal data was taken out of it; such a run is never continued. */
  readonly purgedAtMs: number | null;
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
  /** Null or absent: the run's. */
  readonly channel?: Channel | null;
}

/** The facts about the message in a row. */
export interface LegFacts {
  readonly channel: Channel;
  readonly variant: string | null;
  readonly parts: number | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  readonly costMicros: number | null;
}

/** The ids by which a report names its message; at least one of them. */
export interface MessageIds {
  readonly reference: string | null;
  readonly messageId: string | null;
}

/** A message that was sent, with everything that a report about it must agree with. */
export interface SentMessage extends MessageIds {
  /** Of its run. */
  readonly environment: string;
  /** The address that it was sent to, as in the list; null: not known any more. */
  readonly to: string | null;
  /** When it was claimed, just before the request, in ms since 1970; null: not known. */
  readonly claimedAtMs: number | null;
}

export interface PendingRow {
  readonly row: number;
  readonly leg: number;
  readonly key: string;
  /** Of this step, over all starts. */
  readonly attempts: number;
  /** Channels of the steps before it, which the recipient could not receive; empty for step 0. */
  readonly used: readonly Channel[];
  /** Messages that went to earlier addresses of the recipient; absent: none. */
  readonly resend?: number;
  /**
   * The message of the step before, which was accepted but did not reach the recipient according to a report. This step
   * begins when it is claimed.
   */
  readonly byReport?: SentMessage;
}

export interface ClaimRequest {
  readonly row: number;
  readonly leg: number;
  /** Step 0: the address that was loaded. Later steps: the address that is sent to, which is kept. */
  readonly to: string;
  readonly key: string;
  /**
   * Attempts so far, as the caller knows them. A row with another number was used by another process meanwhile, and is
   * `taken`.
   */
  readonly attempts?: number;
  /** Facts about the message that are not in the row: for a variant decided after it was loaded, or a later step. */
  readonly facts?: LegFacts;
  /** The frequency caps of this recipient at this moment; checked only with `Reach`. */
  readonly caps?: readonly Cap[];
  /**
   * A report says that the step before did not reach the recipient. It falls back in the same move, if it is still
   * accepted.
   */
  readonly byReport?: boolean;
}

/** At most `max` messages per person since an instant, ms since 1970. */
export interface Cap {
  readonly max: number;
  readonly sinceMs: number;
}

/** Reasons of rules that the claim asks again. */
const CLAIM_SKIPS = ['suppressed', 'excluded', 'frequency-cap'] as const satisfies readonly SkipReason[];
export type ClaimSkip = (typeof CLAIM_SKIPS)[number];

/**
 * A reason: a rule applied in the meantime, and the row is skipped. `stopped`: this worker may not claim there any more;
 * the row is unchanged.
 */
export type ClaimAnswer = 'claimed' | ClaimSkip | 'taken' | 'stopped';

/** A rule left the recipient out at the claim. */
export function isClaimSkip(answer: string | undefined): answer is ClaimSkip {
  return CLAIM_SKIPS.some((reason) => reason === answer);
}

/** The result of one attempt. */
export interface ResultRecord {
  readonly row: number;
  readonly leg: number;
  /** `pending`: the attempt failed before the row was claimed, so the only results are `failed` and `pending`. */
  readonly from: 'claimed' | 'pending';
  readonly state: 'accepted' | 'rejected' | 'failed' | 'in-doubt' | 'pending';
  readonly reason: string | null;
  /** Of this step over all starts, this one included: `PendingRow.attempts` plus those made since. */
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly messageId: string | null;
  /** At most 2 KiB are kept. */
  readonly error: string | null;
  /** SHA-256 of the text as hex digits, for `in-doubt`: a report that quotes it may resolve the doubt. */
  readonly textHash?: string | null;
  /**
   * The next step: the claimed row becomes rejected with the reason `fell-back` (instead of `reason`), and the next
   * step's row pending, in one move. If another process moved the row meanwhile, no step follows.
   */
  readonly next?: NextLeg;
}

export interface NextLeg extends LegFacts {
  readonly to: string;
}

/** A row that is not for now, or not at all. */
export interface AsideRow {
  readonly row: number;
  readonly leg: number;
  readonly reason: string;
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
  readonly variant: string | null;
  readonly channel: Channel;
  readonly leg: number;
  readonly count: number;
  readonly parts: number;
  /** Null where no row of the group has a price. */
  readonly costMicros: number | null;
}

/** As `CountRecord`, of steps instead of recipients. */
export interface LegCount extends CountRecord {
  /** These recipients could not receive this step: they are counted again with the next one. */
  readonly fellBack: boolean;
}

/** A recipient in doubt: it is unknown whether the API had the request. */
export interface DoubtRow {
  readonly row: number;
  readonly leg: number;
  readonly channel: Channel;
  readonly line: number;
  readonly key: string;
  readonly to: string | null;
  readonly reason: string | null;
  /** Of this step over all starts, the one in doubt included: two doubts of a step never have the same number. */
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
  /** When the request was claimed, just before it was made. */
  readonly sinceMs: number | null;
  /** Messages that went to earlier addresses of the recipient; absent: none. */
  readonly resend?: number;
}

/** A person's decision about a doubt; `resend`: the next send posts once more. */
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
  /** `user`, or the evidence: `late-result`, `report`. */
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
  /** The last step that was begun; the fields below belong to it. */
  readonly leg: number;
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  /** Channels of the steps before it; absent for step 0. */
  readonly used?: readonly Channel[];
  /** The address that step 0 went to, or will; absent for later steps. */
  readonly to?: string | null;
  /** Messages that went to earlier addresses of the recipient; absent: none. */
  readonly resend?: number;
}

/** A message to an address that was corrected since, and the messages to the recipient that went before it. */
export interface EarlierRow {
  readonly channel: Channel;
  readonly to: string | null;
  readonly messageId: string | null;
  readonly httpStatus: number | null;
  /** How many went before this one. */
  readonly resend: number;
  /** When it was claimed, in ms since 1970. */
  readonly sentAtMs: number | null;
}

export interface SuppressFacts {
  readonly reason: string | null;
  /** Null: without an end. */
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

/** A keyed hash of an address, as 64 hex digits, and the id of the key. */
export interface HashEntry extends Omit<SuppressEntry, 'address'> {
  readonly hash: string;
  readonly keyId: string;
}

export interface SuppressedHash extends HashEntry {
  readonly createdAtMs: number;
}

/**
 * What a claim checks in addition to the addresses in the ledger. Passed in, because the ledger knows no lists and no
 * key.
 */
export interface ClaimRules {
  /** Whether they are on a list outside the ledger. */
  isListed(to: string, key: string, nowMs: number): boolean;
  /** How the ledger may hold this recipient: the address, and the key where that is an address too. */
  forms(to: string, key: string): readonly string[];
  /** Makes the hashes under which the ledger may hold an address; null: there is no key. */
  readonly hasher: { readonly keyId: string; hash(form: string): string } | null;
}
