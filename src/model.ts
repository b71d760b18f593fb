/**
 * The nouns that flow through handbill, in the order in which they appear:
 *
 *   CampaignFile -> Campaign -> Plan -> Recipient -> Decision -> SendRequest -> Attempt -> Outcome -> Report
 *
 * The first, files as they were written and not trusted yet, never leave their folder: campaign/written.ts.
 * Nothing here does anything. What a word means is said in ARCHITECTURE.md and in docs/; options and helpers live
 * with the code that uses them.
 */

import type { Diagnostic, Position } from './errors.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const CHANNELS = ['sms', 'rcs', 'messaging-app', 'email', 'voice'] as const;
export type Channel = (typeof CHANNELS)[number];

// ---------------------------------------------------------------------------------------------- campaign, project

export type CharacterSet = 'auto' | 'gsm' | 'unicode';
export type ListEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
export type KeySource = { readonly env: string } | { readonly file: string };

/** A campaign that can be trusted: defaults filled in, units resolved, files read. Frozen. It is its own first leg. */
export interface Campaign extends Leg {
  readonly name: string;
  readonly accountReference: string | null;
  readonly messageType: string | null;
  /** BCP 47 tag for the helpers `number`, `currency`, `date`. */
  readonly locale: string;
  /** IANA zone for the helper `date`. */
  readonly timeZone: string;
  readonly validity: Validity | null;
  readonly metaData: JsonObject | null;
  /** At most 10; empty: everybody gets the campaign's own message. */
  readonly variants: readonly Variant[];
  readonly split: Split;
  /** What goes out when the API says that the recipient cannot receive the leg before; each channel at most once. */
  readonly fallbacks: readonly Fallback[];
  readonly recipientMetaData: Readonly<Record<string, SourceText>> | null;
  readonly partials: ReadonlyMap<string, SourceText>;
  readonly recipients: ListSpec;
  readonly send: SendSettings;
  readonly limits: Limits;
  /** Path of the campaign file as the user would name it. */
  readonly file: string;
  readonly project: Project;
  /** The small files that were read, with the hash of the bytes that were parsed. The list is not among them. */
  readonly inputs: readonly InputFile[];
}

/** The message on one channel: the campaign's own, a variant's, or a fallback's. */
export interface Leg {
  readonly channel: Channel;
  readonly from: string | null;
  readonly characterSet: CharacterSet;
  /** The campaign says `characterSet`, so that it goes on the wire too. */
  readonly characterSetWritten: boolean;
  readonly transliterate: boolean;
  /** Null where the content says it all. */
  readonly template: Template | null;
  /** Provider variables: name to a Handlebars expression; null: every column. Only with a provider template. */
  readonly variables: Variables<SourceText> | null;
  readonly content: Content | null;
}

export interface Fallback extends Leg {
  /** Column with the address on this channel; null: the address of the recipient itself. */
  readonly to: string | null;
}

/** One of several messages that are compared. Weights are relative to those of the others. */
export interface Variant {
  readonly name: string;
  readonly weight: number;
  readonly leg: Leg;
}

/** How recipients are divided, by hashes of their keys: stable when a list is reordered or grows. */
export interface Split {
  /** Part of every hash; default: the name of the campaign. */
  readonly seed: string;
  /** Share of all recipients that get nothing, 0 to 1. */
  readonly holdout: number;
  /** Share that gets the variants first, 0 to 1; null: everybody does. */
  readonly test: number | null;
  /** The variant that everybody else gets; null: not decided yet. */
  readonly winner: string | null;
}

/** Variables of a provider's template, by name; one group deep, as in `header: { image: ... }`. */
export type Variables<T> = Readonly<Record<string, T | Readonly<Record<string, T>>>>;

/** Rich content as it was written and checked: its texts are Handlebars, rendered for each recipient. */
export interface Content {
  /** Without `text`, which is the leg's template. */
  readonly tree: JsonObject;
  /** Where each text of the tree was written, by its JSON pointer; the text of a file stands here, not in the tree. */
  readonly texts: ReadonlyMap<string, SourceText>;
  /** Where every part of the tree was written, by its JSON pointer; `/text` is the leg's text. */
  readonly places: ReadonlyMap<string, Pick<Diagnostic, 'at' | 'source'>>;
}

/** How long a message is worth delivering: from the run's first start, or until an instant. */
export type Validity =
  | { readonly kind: 'duration'; readonly ms: number }
  | { readonly kind: 'until'; readonly epochMs: number };

/** Text with the place where it was written, so that an error in it can point there. */
export interface SourceText {
  readonly text: string;
  readonly file: string;
  /** Line and column of the first character; 1 and 1 for a file of its own. */
  readonly line: number;
  readonly column: number;
}

export type Template =
  | { readonly kind: 'text'; readonly source: SourceText }
  | {
      readonly kind: 'provider';
      readonly id: string;
      /** Variables that the template is known to need (`header.image` for one in a group); null: not said. */
      readonly needs: readonly string[] | null;
      /** Where the template is named. */
      readonly place: Pick<Diagnostic, 'at' | 'source'>;
    };

/** What an address is: it follows from the channel, and from `recipients.contact`. */
export const ADDRESS_KINDS = ['msisdn', 'email', 'contact'] as const;
export type AddressKind = (typeof ADDRESS_KINDS)[number];

/** Where the recipients are and how to read them. */
export interface ListSpec {
  /** Real path of the file to open; of the campaign file where they are listed in it. */
  readonly path: string;
  /** The path as the user would name it, for messages. */
  readonly file: string;
  /** The recipients themselves, where the campaign file lists them; null: they stand in the file. */
  readonly inline: InlineList | null;
  readonly kind: AddressKind;
  /** Column with the address. */
  readonly to: string;
  readonly key: string | null;
  /** ISO 3166-1 alpha-2, for numbers without a country code. */
  readonly defaultCountry: string | null;
  /** null: found from the first line. */
  readonly delimiter: string | null;
  /** null: found from the first bytes (byte order mark), else UTF-8. */
  readonly encoding: ListEncoding | null;
  readonly onInvalid: 'refuse' | 'skip';
  /** Types of columns; a column that is not named holds strings. */
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Who of the list is meant: a query over the typed columns; null: everybody. */
  readonly where: Where | null;
}

export type ColumnType = 'string' | 'number' | 'date';

/** A query in the form of MongoDB's, with the place where it was written. */
export interface Where {
  readonly query: JsonObject;
  readonly at: Position;
}

/** A small list that stands in the campaign file. */
export interface InlineList {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly line: number; readonly values: readonly string[] }[];
}

export interface SendSettings {
  readonly concurrency: number;
  /** Requests per second over the whole run; null: no limit. */
  readonly ratePerSecond: number | null;
  /** Requests per recipient in one start. */
  readonly attempts: number;
  /** Total time of one request, connect to last byte. */
  readonly timeoutMs: number;
  readonly notAfterMs: number | null;
  /** Most recipients of one request. */
  readonly recipientsPerRequest: number;
}

export interface Limits {
  readonly maxRecipients: number | null;
  readonly maxParts: number | null;
  readonly maxCost: number | null;
  /** A count, or a share of the list between 0 and 1; null: the default of run/stop. */
  readonly stopAfterInDoubt: Threshold | null;
  readonly stopAfterRejected: Threshold | null;
}

export type Threshold = { readonly count: number } | { readonly share: number };

/** The folder that a campaign belongs to, and what handbill.yaml says there. */
export interface Project {
  /** Real path of the project's root; paths of a campaign stay inside. */
  readonly root: string;
  /** Path of handbill.yaml as the user would name it; null without one. */
  readonly file: string | null;
  /** Real path of the ledger file, or a `postgres://` address. */
  readonly ledger: string;
  readonly environments: ReadonlyMap<string, Environment>;
  /** Price list as a real path; null without one. */
  readonly prices: string | null;
  /** What countries do to alphanumeric senders, by ISO 3166-1: over the table that comes with handbill. */
  readonly senderRules: Readonly<Record<string, SenderRule>>;
}

/** `refused`: not delivered, or replaced; `registered`: only when it was registered before; `free`: no rule. */
export type SenderRule = 'refused' | 'registered' | 'free';

export interface Environment {
  readonly name: string;
  /** The exact URL that is posted to, `{baseUrl}/v2/messages`. */
  readonly url: string;
  /** null for the sandbox, which makes its own. */
  readonly apiKey: KeySource | null;
  readonly ratePerSecond: number | null;
  readonly concurrency: number | null;
  readonly proxy: string | null;
  readonly wire: Wire;
}

/** Everything that the API's document leaves unstated, with working defaults. */
export interface Wire {
  readonly channels: Readonly<Record<Channel, string>>;
  readonly characterSets: Readonly<Record<CharacterSet, string>>;
  /** Values of `messageType` by what campaigns say; others go as they stand. */
  readonly messageTypes: Readonly<Record<string, string>>;
  /** `e164` keeps the `+`, `digits` has none, `00` has that instead. */
  readonly msisdn: 'e164' | 'digits' | '00';
  /** Field of `recipients[]` that holds an email address. */
  readonly emailField: string;
  /** Where rich content goes, for each channel, as a JSON pointer into the request. */
  readonly content: Readonly<Record<Channel, string>>;
  /** Other names for keys of rich content. */
  readonly contentNames: Readonly<Record<string, string>>;
  /** Name in `metaData` under which the reference travels. */
  readonly referenceName: string;
  /** Digits of the fraction of a second in `validity`, 1 to 9. */
  readonly validityDigits: number;
  readonly response: {
    /** JSON pointers, first hit counts. */
    readonly messageId: readonly string[];
    /** The project names the pointers itself: then a 2xx without an id is not recognised. */
    readonly messageIdRequired: boolean;
    readonly error: readonly string[];
    /** JSON pointers whose presence (not null, false or empty) in a 2xx means a refusal. */
    readonly failed: readonly string[];
    readonly accept: 'json' | 'any';
    /** Where an answer about several recipients holds one entry for each. */
    readonly recipients: readonly string[];
    /** Where it lists those alone who were refused. */
    readonly refusedRecipients: readonly string[];
    /** Inside such an entry: whom it is about, the id of the message, what says that it was refused, and why. */
    readonly recipientAddress: readonly string[];
    readonly recipientId: readonly string[];
    readonly recipientFailed: readonly string[];
    readonly recipientError: readonly string[];
    /** Where an entry has a word for what became of it, and the words (folded as codes are) that mean a refusal. */
    readonly recipientStatus: { readonly at: readonly string[]; readonly refused: readonly string[] };
  };
  /** Which refusals say that the recipient cannot receive the channel. */
  readonly unsupportedChannel: {
    readonly statuses: readonly number[];
    /** Values (letter case, `-` and `_` do not count) at one of `codeAt` in the answer, or in a recipient's entry. */
    readonly codes: readonly string[];
    readonly codeAt: readonly string[];
  };
  /** Statuses that say that a request with several recipients is too large. */
  readonly tooLargeStatuses: readonly number[];
  readonly retryStatuses: readonly number[];
  /** Header that carries the reference, if the API takes one. */
  readonly idempotencyHeader: string | null;
}

/** A file that went into a plan. */
export interface InputFile {
  readonly role: 'campaign' | 'project' | 'template' | 'partial' | 'recipients' | 'settings';
  /** As the user would name it; relative to the project's root where it lies inside. */
  readonly file: string;
  /** SHA-256 of the bytes that were parsed, in hex. */
  readonly sha256: string;
}

// -------------------------------------------------------------------------------------------------------- recipient

/** One row of the list, read but not yet judged. */
export interface Row {
  /** Position among the data rows, from 0: the row's identity in the ledger while the list is unchanged. */
  readonly row: number;
  /** First line of the row in its file. */
  readonly line: number;
  /** One value per column, exactly as written. Null when the row is ragged; `fault` says how. */
  readonly values: readonly string[] | null;
  readonly fault: string | null;
}

/** A row whose address was understood. */
export interface Recipient {
  readonly row: number;
  readonly line: number;
  /** Identifies the person: the key column, else the normalised address. */
  readonly key: string;
  /** Normalised address: an E.164 number with `+`, an email address, or the id of a contact. */
  readonly to: string;
  readonly kind: AddressKind;
  /** ISO 3166-1 alpha-2 of the number, null where there is none (satellite, international networks, email). */
  readonly country: string | null;
  /** The numbering plan uses the number; false where it is only possible (numbers reserved for documentation). */
  readonly assigned: boolean;
  readonly values: readonly string[];
}

// --------------------------------------------------------------------------------------------------------- decision

export const SKIP_REASONS = [
  'duplicate',
  'invalid-address',
  'suppressed',
  'excluded',
  'frequency-cap',
  'expired',
  'window-closed',
  'holdout',
  'missing-variable',
  'render-error',
  'bad-row',
  'removed',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** What will be done with one row, and why. Preview prints them, send carries them out: it is the same stream. */
export type Decision = SendDecision | SkipDecision | DeferDecision | DoneDecision | InvalidDecision;

interface Decided {
  readonly row: number;
  readonly line: number;
  /** Null where the address could not be understood. */
  readonly key: string | null;
  readonly to: string | null;
}

/** Somebody is sent to; the decision is itself the message of the first leg. */
export interface SendDecision extends Decided, LegMessage {
  readonly decision: 'send';
  readonly key: string;
  readonly to: string;
  readonly recipient: Recipient;
  readonly variant: string | null;
  /** The messages of the legs after the first, in order; hardly any campaign has them. */
  readonly fallbacks: readonly LegMessage[];
}

/** What one leg says to one recipient. */
export interface LegMessage {
  /** 0: the campaign's own, or the variant's; then the fallbacks. */
  readonly leg: number;
  readonly channel: Channel;
  readonly to: string;
  /** Of the number, as of the recipient; what a message costs depends on it. */
  readonly country: string | null;
  /** What the recipient will read or hear; null with a provider template, and where rich content says it all. */
  readonly text: string | null;
  /** Values for the provider's template; null without one. */
  readonly variables: Variables<string> | null;
  /** Rich content with its texts filled in; null without any. */
  readonly content: JsonObject | null;
  /** The recipient's own metadata; null without any. */
  readonly metaData: Readonly<Record<string, string>> | null;
  /** Characters that were replaced to stay in GSM-7; empty in most messages. */
  readonly replaced: readonly Replacement[];
  /** SMS only. */
  readonly sms: SmsFacts | null;
}

/** One character that was replaced, and by what. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
}

export interface SkipDecision extends Decided {
  readonly decision: 'skip';
  readonly reason: SkipReason;
  /** What the rule saw, where that is more than the reason says: which condition of `where` was not met. */
  readonly detail?: string;
}

/** A rule says later. */
export interface DeferDecision extends Decided {
  readonly decision: 'defer';
  readonly key: string;
  readonly to: string;
  readonly reason: DeferReason;
}

export const DEFER_REASONS = ['winner-undecided'] as const;
export type DeferReason = (typeof DEFER_REASONS)[number];

/** The ledger already holds a final outcome for this recipient and occurrence. */
export interface DoneDecision extends Decided {
  readonly decision: 'done';
  readonly key: string;
  readonly to: string;
  readonly outcome: OutcomeState;
  readonly reason: string | null;
}

/** The row refuses the whole run unless invalid rows are skipped. */
export interface InvalidDecision extends Decided {
  readonly decision: 'invalid';
  readonly reason: SkipReason;
  readonly problem: Diagnostic;
}

/** Encoding and length of one SMS. */
export interface SmsFacts {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly parts: number;
  /** Septets for GSM-7, UTF-16 units for UCS-2. */
  readonly units: number;
}

/** One request as plain data; it holds no secret. */
export interface SendRequest {
  /** handbill's own id for (environment, campaign, occurrence, recipient key, channel). */
  readonly reference: string;
  /** JSON text: its UTF-8 bytes are what is posted. */
  readonly body: string;
}

// --------------------------------------------------------------------------------------------------------- attempt

/**
 * How far one request got. P1: not started, so nothing was sent. P2: may have reached the API. P3: the final status
 * is known. P4: the whole answer is known. (P0, not claimed, never becomes an attempt.)
 */
export type Phase = 'P1' | 'P2' | 'P3' | 'P4';

/** The facts of one POST; what they mean is decided by http/classify. */
export interface Attempt {
  readonly phase: Phase;
  /** Final status line, from P3 on. */
  readonly status: number | null;
  /** Error code as the library gave it; explains, never decides. */
  readonly error: AttemptError | null;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  /** Whole body of the answer in P4, else what came of it. At most 64 KiB. */
  readonly body: string;
  readonly latencyMs: number;
}

export interface AttemptError {
  readonly code: string;
  readonly message: string;
}

// --------------------------------------------------------------------------------------------------------- outcome

export const OUTCOMES = ['accepted', 'rejected', 'failed', 'skipped', 'deferred', 'in-doubt', 'pending'] as const;
/** The closed set of what can have become of a recipient. */
export type OutcomeState = (typeof OUTCOMES)[number];

/** What became of one row, as the ledger holds it: of its last leg, where it has several. */
export interface Outcome {
  readonly row: number;
  readonly line: number;
  readonly key: string | null;
  readonly to: string | null;
  readonly channel: Channel;
  readonly variant: string | null;
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly messageId: string | null;
  /** What the API said of a refusal, at most 2 KiB; text from outside, never trusted. */
  readonly error: string | null;
  readonly parts: number | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  readonly cost: number | null;
  /** ISO 8601 in UTC; null while nothing happened. */
  readonly updatedAt: string | null;
  /** Every leg in order, the last included; only where there is more than one. */
  readonly legs?: readonly LegOutcome[];
}

/** What became of one leg; `rejected` with the reason `fell-back` for all but the last. */
export type LegOutcome = Omit<Outcome, 'row' | 'line' | 'key' | 'legs'>;

// ---------------------------------------------------------------------------------------------------------- report

export type RunState = 'running' | 'finished' | 'partial' | 'halted' | 'interrupted';

/** Why a start stopped early, and what to do about it. */
export interface Halt {
  readonly rule: HaltRule;
  readonly message: string;
  readonly next: string;
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
  'input-changed',
  'ledger',
] as const;
export type HaltRule = (typeof HALT_RULES)[number];

/** The summary of a run: what `send` and `report --format json` print. */
export interface Report {
  readonly version: 1;
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  readonly state: RunState;
  readonly halt: Halt | null;
  readonly ledger: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly totals: Totals;
  readonly reasons: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly requests: RequestFigures;
  readonly sms: {
    readonly parts: number;
    readonly encodings: Readonly<Record<string, number>>;
    readonly cost: number | null;
  };
  readonly deliveries: Readonly<Record<string, number>>;
  /** Where the campaign has a fallback, or somebody fell back: its legs in order. */
  readonly legs?: readonly LegTotals[];
  /** Where the campaign has variants: in its order, where that is known. */
  readonly variants?: readonly VariantResult[];
  /** Beside `variants`; null where there are not two to compare. */
  readonly significance?: Significance | null;
}

/** What became of the messages on one channel; who was left out before, or waits, is not counted. */
export interface LegTotals {
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
  /** Of those accepted or in doubt, as in `sms`. */
  readonly parts: number;
  readonly cost: number | null;
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

/** What became of the recipients of one variant. */
export interface VariantResult extends Totals {
  readonly name: string;
  /** Accepted among those of whom it is known: accepted / (accepted + rejected), 0 to 1; null while nobody is. */
  readonly rate: number | null;
  /** Where the true rate probably lies: the 95 % interval; null while the rate is. */
  readonly low: number | null;
  readonly high: number | null;
}

/** Whether the rates of the variants differ by more than chance. */
export interface Significance {
  /** How probable differences at least as large are if the variants are equally good; null when that cannot be told. */
  readonly p: number | null;
  readonly test: 'chi-square' | 'fisher' | null;
  /** Enough is known for `p` to mean something. */
  readonly enough: boolean;
}

export interface RequestFigures {
  readonly posted: number;
  readonly retried: number;
  readonly perSecond: number;
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number };
}
