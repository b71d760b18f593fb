import type { InputFile, WinnerMetric } from './campaign.ts';
import type { Commit } from './commit.ts';
import type { Delivery } from './event.ts';
import type { Outcome, OutcomeState } from './outcome.ts';
import type { Pause } from './pause.ts';
import type { Channel } from './words.ts';

export type RunState = 'running' | 'finished' | 'partial' | 'halted' | 'interrupted';

export interface Halt {
  readonly rule: HaltRule;
  readonly message: string;
  readonly next: string;
  /** The pending row that is probably the cause, because the API accepted others: without it, the run goes on. */
  readonly at?: { readonly file: string; readonly line: number };
}

export const HALT_RULES = [
  'not-authorised',
  'wrong-address',
  'not-the-api',
  'tls',
  'invalid-request',
  'doubt',
  'refusals',
  'api-down',
  'throttled',
  'canary',
  'input-changed',
  'paused',
  'over-budget',
  'ledger',
] as const;
export type HaltRule = (typeof HALT_RULES)[number];

/** The first reason that holds why a delivery report is not about the message whose id it names. */
export const UNMATCHED_REASONS = ['environment', 'reference', 'address', 'time'] as const;
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number];

/** The summary of a run: what `send` and `report --format json` print. */
export interface Report {
  readonly version: 1;
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  /** The stand-in that made the last start; absent: `environment` made it. */
  readonly postedFrom?: string;
  readonly occurrence: string;
  readonly state: RunState;
  /** For people: the state of the run, how far the messages came, the most frequent cause of failures. */
  readonly verdict: string;
  readonly halt: Halt | null;
  readonly ledger: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** Where several starts worked on it: how long together, in ms; absent for one start, and where a start broke off. */
  readonly activeMs?: number;
  /** The commits that its starts were made from, each once, in the order of the starts; absent where git knew none. */
  readonly commits?: readonly Commit[];
  /** The files that the messages were made of, with their hashes, as the run was begun or last amended. */
  readonly inputs?: readonly ReportedInput[];
  /** When personal data was taken out of the run, where it was: ISO 8601 in UTC. */
  readonly purgedAt?: string;
  /** When a person closed the run, where one did: ISO 8601 in UTC. It sends nothing more. */
  readonly closedAt?: string;
  /** The guards that the list failed and a person allowed, as sentences; absent for none. */
  readonly acceptedList?: readonly string[];
  /** When the first may be sent to of those who wait for a window, for a gate of a canary, for a winner: ISO 8601 in UTC. */
  readonly opensAt?: string;
  /** A person has paused the run, which is not finished; absent: it may be sent. */
  readonly paused?: ReportedPause;
  /** Where messages were made from several versions of the inputs: each, and the recipients whose message is of it. */
  readonly versions?: readonly VersionResult[];
  readonly totals: Totals;
  /** The same recipients in words for people, from their delivery reports too; absent in `runs`, which reads no reports. */
  readonly ends?: Ends;
  readonly reasons: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly requests: RequestFigures;
  readonly sms: {
    readonly parts: number;
    readonly encodings: Readonly<Record<string, number>>;
    readonly cost: number | null;
  };
  readonly deliveries: Readonly<Record<string, number>>;
  /** Delivery reports that name a message of the run and are not about it, by why; absent for none. They count nowhere. */
  readonly unmatchedReports?: Readonly<Partial<Record<UnmatchedReason, number>>>;
  /** Where there are replies to messages of the run. */
  readonly replies?: ReplyTotals;
  /** The run of the campaign before this one, and how the API answered its messages; absent: this is the first. */
  readonly before?: RunBefore;
  /** Recipients whose message did not reach them, as reports say, and whose fallback waits to be sent; absent for none. */
  readonly fallbacksDue?: number;
  /** Recipients whose address was corrected in the list after the message had gone out; absent for none. */
  readonly changed?: readonly ChangedRecipient[];
  /** Second messages that a person ordered and that did not go out: the message before counts; absent for none. */
  readonly secondMessages?: SecondMessages;
  /** Where the campaign has a fallback, or a recipient fell back: its channel steps in order. */
  readonly steps?: readonly StepTotals[];
  /** Where the campaign has variants: in its order, where that is known. */
  readonly variants?: readonly VariantResult[];
  /** Beside `variants`; null where there are not two to compare. */
  readonly significance?: Significance | null;
  /** The test of variants, once it is over. */
  readonly winner?: WinnerDecision;
  /** When the winner of a test is found, by what has come back until then: ISO 8601 in UTC. */
  readonly winnerAt?: string;
  /** Why messages were refused, never left, are in doubt or did not arrive, in the API's words, most frequent first; absent for none. */
  readonly causes?: readonly ReportedCause[];
}

export interface RunBefore extends Pick<Totals, 'accepted' | 'rejected' | 'failed' | 'skipped'> {
  readonly run: string;
  readonly occurrence: string;
}

type ReportedInput = Pick<InputFile, 'role' | 'file' | 'sha256'>;

export interface VersionResult {
  /** As in the field `inputs` of a recipient. */
  readonly name: string;
  /** When it was first used: ISO 8601 in UTC. */
  readonly since: string;
  /** The commits of the starts that used it; empty where git knew none. */
  readonly commits: readonly Commit[];
  /** As `inputs` of the report, without the list. */
  readonly inputs: readonly ReportedInput[];
  readonly totals: Totals;
}

export interface ReportedCause {
  readonly outcome: OutcomeState;
  /** For an accepted message that did not arrive: the state in its delivery report. */
  readonly delivery?: Delivery;
  /** Status and words of the API or of the report, without addresses and ids; null: of several causes that are too many to name. */
  readonly cause: string | null;
  readonly count: number;
}

/** A pause as reports show it; `since` is ISO 8601 in UTC. */
export type ReportedPause = Omit<Pause, 'id' | 'pausedAtMs'> & { readonly since: string };

/** The list has another address than the one that the message went to. */
export interface ChangedRecipient {
  readonly line: number;
  readonly key: string;
  /** The address that the message went to, or may have gone to. */
  readonly to: string;
  readonly listTo: string;
  readonly outcome: 'accepted' | 'in-doubt';
  /** An earlier message went to `listTo`: `--retry corrected` sends nothing there. */
  readonly sentBefore: boolean;
}

/** By recipient, as things are: the next order counts anew. */
export interface SecondMessages {
  /** The API refused it. The recipient is accepted or in doubt, as the message before left it. */
  readonly refused: number;
  /** Nothing was sent, because the API could not be reached. The next start tries again. */
  readonly failed: number;
}

export interface ReplyTotals {
  /** Recipients with a reply, each once. */
  readonly recipients: number;
  /** Replies that may mean to opt out, and wait for review. */
  readonly review: number;
}

/** Outcomes of the messages on one channel; recipients that were skipped before, or wait, are not counted. */
export interface StepTotals {
  readonly channel: Channel;
  /** Recipients with an outcome on this channel: the sum of the next five. */
  readonly attempted: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly inDoubt: number;
  readonly failed: number;
  /** They could not receive this channel, and are counted again with the next one. */
  readonly fellBack: number;
  /** Not sent yet. */
  readonly pending: number;
  /** Parts of the messages that were probably sent, as in `sms`. */
  readonly parts: number;
  readonly cost: number | null;
}

/** How far the message to each recipient came: each recipient counts once. */
export interface Ends {
  /** A report or a reply proves it, whatever the API had answered. */
  readonly delivered: number;
  /** The API took it, and no report has decided since. */
  readonly sent: number;
  /** Refused, never posted, or reported as not delivered. */
  readonly notDelivered: number;
  readonly unclear: number;
  readonly notSent: number;
  readonly waits: number;
  readonly notTried: number;
}

export interface Totals {
  readonly recipients: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly failed: number;
  readonly skipped: number;
  readonly deferred: number;
  readonly inDoubt: number;
  readonly pending: number;
}

export interface VariantResult extends Totals {
  readonly name: string;
  /** Accepted among those with a known result: accepted / (accepted + rejected), 0 to 1; null while there are none. */
  readonly rate: number | null;
  /** Where the true rate probably lies: the 95% interval; null while the rate is. */
  readonly low: number | null;
  readonly high: number | null;
  /**
   * Where anything came back about the run: recipients for which a report or a reply proves that the message was delivered,
   * those of them who read it (absent while no report says so of any message), those of these who replied without opting
   * out, and those who opted out. Shares of these are of the accepted messages.
   */
  readonly delivered?: number;
  readonly read?: number;
  readonly replied?: number;
  readonly optedOut?: number;
}

export interface WinnerDecision {
  /** Null: no variant wins, and a person has to name one. */
  readonly variant: string | null;
  /** Null: a person named it. */
  readonly by: WinnerMetric | null;
  /** Why no variant wins, or the first one did: too few messages, equal shares. */
  readonly why: 'sample' | 'tie' | null;
  readonly minimum: number;
  /** The shares that were compared, in the order of the campaign: `part` of `whole` messages. */
  readonly shares: readonly { readonly name: string; readonly part: number; readonly whole: number }[];
}

export interface Significance {
  /** The share that decides the winner, or `accepted` where none is decided. */
  readonly by: WinnerMetric;
  /** How probable differences at least as large are if the variants are equally good; null when that cannot be told. */
  readonly p: number | null;
  readonly test: 'chi-square' | 'fisher' | null;
  /** Enough is known for `p` to mean something. */
  readonly enough: boolean;
  /** The variant with the best share, the first of equals; null where `p` is null. */
  readonly best: string | null;
}

export interface RequestFigures {
  readonly posted: number;
  readonly retried: number;
  /** Starts that broke off, killed or without their ledger: their requests are counted nowhere; absent for none. */
  readonly uncountedStarts?: number;
  readonly perSecond: number;
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number };
}

export type WinnerState =
  /** Nothing decides it but a person, or it is decided. */
  | { readonly kind: 'none' }
  /** The test is still being sent. */
  | { readonly kind: 'testing' }
  /** The test was sent; delivery reports and replies until then count. */
  | { readonly kind: 'waits'; readonly untilMs: number }
  /** A variant won, or none did and the user has to name one. */
  | { readonly kind: 'decided'; readonly decision: WinnerDecision };

export interface StepCount
  extends Pick<Outcome, 'reason' | 'encoding' | 'variant' | 'channel' | 'version' | 'byReport'> {
  readonly outcome: OutcomeState;
  readonly count: number;
  /** SMS parts of all of them together. */
  readonly parts: number;
  /** Price of all of them together in millionths of the currency; null where no price is known. */
  readonly costMicros: number | null;
  /** 0 for the campaign's own message, then its fallbacks. */
  readonly step: number;
  /** They could not receive this step, and are counted again with the next one. */
  readonly fellBack: boolean;
}

/** When a run will be finished at its rate, in its windows, and how many recipients it does not reach in time. */
export interface Forecast {
  /** ISO 8601 in UTC; null where it takes more than a year, a window never opens, or recipients expire. */
  readonly finishesAt: string | null;
  /** Recipients it is about: those who are sent to now or in their window. */
  readonly recipients: number;
  /** Recipients whose time ends before their turn: `send.notAfter`, or the end of the message's validity. */
  readonly expire: number;
}
