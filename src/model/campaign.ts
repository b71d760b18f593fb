import type { Diagnostic, Position, SourceText } from '../errors.ts';
import type { Project } from './project.ts';
import type { ReportInput } from './result-types.ts';
import type { SendWindow } from './window.ts';
import type { Channel, CharacterSet, JsonObject } from './words.ts';

export type { SourceText };

/** A name that TextDecoder gives an encoding: utf-8, utf-16le, windows-1252, shift_jis ... */
export type ListEncoding = string;

/** Keys of a campaign file that only the schema judges, and defaults. A new one: docs/internals/contributing.md. */
export const PLAIN_KEYS: PlainKeys = { accountReference: null, messageType: null, metaData: null, topic: null };

interface PlainKeys {
  readonly accountReference: string | null;
  readonly messageType: string | null;
  readonly metaData: JsonObject | null;
  /** The subject of its messages: people opt out of it, and are capped within it (docs/topics.md). */
  readonly topic: string | null;
}

/** A campaign that can be trusted: defaults filled in, units resolved, files read. Frozen. It is its own first step. */
export interface Campaign extends Step, PlainKeys {
  readonly name: string;
  /** The name in the ledger, which stays when the campaign is renamed; default: the name. */
  readonly id: string;
  /** The campaign file says the id: then it may have the file or the name that another campaign had. */
  readonly isIdWritten: boolean;
  readonly namePlace: Pick<Diagnostic, 'at' | 'source'>;
  /** IANA zone for the helper `date`. */
  readonly timeZone: string;
  readonly validity: Validity | null;
  /** At most 10; empty: all recipients get the campaign's own message. */
  readonly variants: readonly Variant[];
  readonly split: Split;
  /** They follow when the API says that the recipient cannot receive the step before; each channel at most once. */
  readonly fallbacks: readonly Fallback[];
  readonly recipientMetaData: Readonly<Record<string, SourceText>> | null;
  readonly partials: ReadonlyMap<string, SourceText>;
  readonly recipients: ListSpec;
  readonly send: SendSettings;
  readonly limits: Limits;
  /** Checked before anything is sent to the list. */
  readonly guards: ListGuards;
  /** When it goes out by itself; null: only when `send` is called. */
  readonly schedule: Schedule | null;
  /** The campaign whose message this one follows; null: none. */
  readonly after: FollowUp | null;
  /** Files with addresses, or keyed hashes of them, that must not be sent to; beside the list in the ledger. */
  readonly suppressions: readonly SuppressionFile[];
  /** Null: how often an address failed does not count. */
  readonly unreachable: UnreachableRule | null;
  /** Recipients accepted or in doubt there get nothing here. */
  readonly exclude: readonly Excluded[];
  /** Most messages per person over all campaigns of the environment; empty: no cap. */
  readonly frequency: readonly Frequency[];
  /** Its messages count towards the caps of others; false where it says that it is exempt. */
  readonly isCounted: boolean;
  readonly file: string;
  readonly project: Project;
  /** The small files that were read, with the hash of the bytes that were parsed. The list is not among them. */
  readonly inputs: readonly InputFile[];
}

/** An address is skipped after so many permanent failures, with no delivery since. */
export interface UnreachableRule {
  readonly after: number;
  readonly withinMs: number;
  readonly place: Pick<Diagnostic, 'at' | 'source'>;
}

/** The message on one channel: the campaign's own, a variant's, or a fallback's. */
export interface Step {
  readonly channel: Channel;
  readonly from: string | null;
  /** BCP 47 tag for the helpers `number`, `currency`, `date`. A fallback has that of the message before. */
  readonly locale: string;
  readonly characterSet: CharacterSet;
  /** The campaign says `characterSet`, so that it goes on the wire too. */
  readonly characterSetWritten: boolean;
  readonly transliterate: boolean;
  /** Null where the content says it all. */
  readonly template: Template | null;
  /** Provider variables: name to a Handlebars expression; null: every column. Only with a provider template. */
  readonly variables: Variables<SourceText> | null;
  readonly content: Content | null;
  /** Where its keys are written. */
  readonly places: Readonly<Record<string, Pick<Diagnostic, 'at' | 'source'>>>;
}

export interface Fallback extends Step {
  /** Column with the address on this channel; null: the address of the recipient itself. */
  readonly to: string | null;
}

/** Weights are relative to those of the other variants. */
export interface Variant {
  readonly name: string;
  readonly weight: number;
  /** Those who meet it get this variant; null: one of all such variants by chance, for those who meet no condition. */
  readonly where: Where | null;
  readonly step: Step;
  /** The channels and addresses are those of the campaign's fallbacks; the texts may differ. */
  readonly fallbacks: readonly Fallback[];
}

/** By hashes of recipients' keys: stable when a list is reordered or grows. */
export interface Split {
  /** Part of every hash; default: the first name of the campaign. */
  readonly seed: string;
  /** Share of all recipients that get nothing, 0 to 1. */
  readonly holdout: number;
  /** Share that gets the variants first, 0 to 1; null: all do. */
  readonly test: number | null;
  /** The variant for the others; null: not decided yet. */
  readonly winner: string | null;
  /** How the winner is found; null: a person names it. */
  readonly decides: WinnerRule | null;
}

/** Shares of messages, of which the greatest wins; of those who opted out, the least. */
const WINNER_METRICS = ['accepted', 'delivered', 'read', 'replied', 'optedOut'] as const;
export type WinnerMetric = (typeof WINNER_METRICS)[number];

export interface WinnerRule {
  readonly by: WinnerMetric;
  /** How long after the last message of the test it is decided. */
  readonly waitMs: number;
  /** With equal shares the first variant wins, or none. */
  readonly tie: 'first' | 'none';
  /** Messages of each variant that the share is of; with fewer no variant wins. */
  readonly minimum: number;
}

/** Variables of a provider's template, by name; one group deep, as in `header: { image: ... }`. */
export type Variables<T> = Readonly<Record<string, T | Readonly<Record<string, T>>>>;

/** Rich content as it was written and checked: its texts are Handlebars, rendered for each recipient. */
export interface Content {
  /** Without `text`, which is the step's template. */
  readonly tree: JsonObject;
  /** Where each text of the tree was written, by its JSON pointer; the text of a file is here, not in the tree. */
  readonly texts: ReadonlyMap<string, SourceText>;
  /** Where every part of the tree was written, by its JSON pointer; `/text` is the step's text. */
  readonly places: ReadonlyMap<string, Pick<Diagnostic, 'at' | 'source'>>;
}

/** How long a message is worth delivering: from the run's first start, or until an instant. */
export type Validity =
  | { readonly kind: 'duration'; readonly ms: number }
  | { readonly kind: 'until'; readonly epochMs: number };

export type Template =
  | { readonly kind: 'text'; readonly source: SourceText }
  | {
      readonly kind: 'provider';
      readonly id: string;
      /** Variables that the template is known to need (`header.image` for one in a group); null: not said. */
      readonly needs: readonly string[] | null;
      readonly place: Pick<Diagnostic, 'at' | 'source'>;
    };

/** It follows from the channel, and from `recipients.contact`. */
export const ADDRESS_KINDS = ['msisdn', 'email', 'contact'] as const;
export type AddressKind = (typeof ADDRESS_KINDS)[number];

export type NumberKind =
  | 'wrong-length'
  | 'landline'
  | 'unassigned'
  | 'premium'
  | 'toll-free'
  | 'shared-cost'
  | 'personal'
  | 'pager'
  | 'uan'
  | 'voicemail';

export const PLAIN_LIST_KEYS: PlainListKeys = {
  duplicates: null,
  headerRow: null,
  delimiter: null,
  escaped: null,
  onInvalid: 'refuse',
  alsoInvalid: [],
  timeZone: null,
};

interface PlainListKeys {
  /** `refuse` stops everything; `skip` sends to the first row; `keep` sends to each key; null: `keep` and warns. */
  readonly duplicates: 'refuse' | 'skip' | 'keep' | null;
  /** Line of the file on which the header begins; null: the first that is not empty. */
  readonly headerRow: number | null;
  /** null: found from the header. */
  readonly delimiter: string | null;
  /** Whether `'` before `=`, `+`, `-` or `@` is the mark of handbill's exports. Null: found from the columns. */
  readonly escaped: boolean | null;
  readonly onInvalid: 'refuse' | 'skip';
  /** Numbers that could get a message, and are invalid for this list. */
  readonly alsoInvalid: readonly NumberKind[];
  /** Column with the IANA time zone of the recipient. */
  readonly timeZone: string | null;
}

export interface ListSpec extends PlainListKeys {
  /** A real path: that of the campaign file where it lists the recipients. */
  readonly path: string;
  readonly file: string;
  /** As `given` of an input. */
  readonly given?: string;
  /** The file is not there: the error for when it is opened. Absent: it was found. */
  readonly missing?: Diagnostic;
  /** The list is not there, and this is its sample, which is never sent to: the notice about it. Absent: the list itself. */
  readonly sampled?: Diagnostic;
  /** The sample of the list, with invented people; absent: there is none. */
  readonly sample?: { readonly path: string; readonly file: string };
  /** Null: the recipients are in the file. */
  readonly inline: InlineList | null;
  readonly kind: AddressKind;
  readonly to: string;
  /** Columns that together identify the person; none: the address does. */
  readonly key: readonly string[];
  /** ISO 3166-1 alpha-2, for numbers without a country code. */
  readonly defaultCountry: string | null;
  /** null: found from the first bytes (byte order mark), else UTF-8. */
  readonly encoding: ListEncoding | null;
  /** Types of columns; a column that is not named holds strings. */
  readonly columns: ColumnTypes;
  readonly where: Where | null;
  /** Each row has its own time, which is part of its key; null: none has. */
  readonly each: EachTime | null;
  /** How a person of the list is shown; null: by the columns that usually hold a name. */
  readonly display: SourceText | null;
}

/** `send.each`: a message goes out some time before that of its row. */
export interface EachTime {
  /** Holds dates with a time of day. */
  readonly column: string;
  readonly before: { readonly written: string; readonly ms: number };
  /** IANA zone of times without an offset, where the row names none: the campaign's, else that of its schedule. */
  readonly timeZone: string;
}

export type ColumnType = 'string' | 'number' | 'date';

export type ColumnTypes = Readonly<Record<string, ColumnType | ColumnContract>>;

/** Checked in every row. */
interface ColumnContract {
  readonly type: ColumnType;
  /** How dates are written that are not in ISO 8601. */
  readonly format?: string;
  /** The sign before the fraction of numbers that may have signs between thousands. */
  readonly decimal?: ',' | '.';
  /** No cell may be empty. */
  readonly required?: boolean;
  /** The texts that a cell may hold. */
  readonly values?: readonly string[];
}

export interface Where {
  readonly query: JsonObject;
  readonly at: Position;
  /** IANA zone of its days: the campaign's, else that of its schedule. */
  readonly timeZone: string;
}

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
  /** Null: at any time. */
  readonly window: SendWindow | null;
  /** Steps in which the list is sent to, with a gate after each; null: all at once. */
  readonly canary: Canary | null;
  readonly recipientsPerRequest: number;
}

export interface SuppressionFile {
  readonly path: string;
  readonly file: string;
  /** Which file names it: numbers without a country code are read with the default country of that one first. */
  readonly namedBy: 'campaign' | 'project';
}

export interface Excluded {
  readonly campaign: string;
  /** Null: no campaign of the project has this name; the ledger may know it. */
  readonly id: string | null;
  /** Null: any. */
  readonly occurrence: string | null;
  readonly place: Pick<Diagnostic, 'at' | 'source'>;
  /** The error unless the ledger holds a run of that name; null: it is a campaign of the project. */
  readonly unknown: Diagnostic | null;
}

/** Exceptions: recipients who answered the message before, or did not receive it, get no follow-up. */
const UNLESS = ['replied', 'opted-out', 'delivered-not'] as const;

/** A campaign that follows on another: each run of that one is followed by the run of this one of the same name. */
export interface FollowUp {
  readonly campaign: string;
  readonly id: string;
  /** How long after the message before, for each recipient. */
  readonly wait: { readonly written: string; readonly ms: number };
  readonly unless: readonly (typeof UNLESS)[number][];
  readonly place: Pick<Diagnostic, 'at' | 'source'>;
}

export interface Frequency {
  readonly max: number;
  readonly per: Period;
  /** Which messages count: those of every campaign, or of those with the same topic. */
  readonly of: 'all' | 'topic';
}

/** Calendar units are those of the person's time zone; a week begins on Monday. */
export type Period =
  | { readonly kind: 'rolling'; readonly ms: number }
  | { readonly kind: 'calendar'; readonly unit: 'day' | 'week' | 'month' };

/** The list is sent to in steps; after each a gate on the results so far, and a pause. */
export interface Canary {
  /** Recipients that have been sent to when a step ends: a count, or a share of the list. Ascending; then the rest. */
  readonly steps: readonly Threshold[];
  readonly pauseMs: number;
  readonly gate: CanaryGate;
}

/** Shares between 0 and 1; null: not asked for. */
export interface CanaryGate {
  /** Least share of accepted recipients among those with an outcome. */
  readonly accepted: number | null;
  /** Least share of messages that arrived among those accepted, as far as reports and replies say. */
  readonly delivered: number | null;
  /** Greatest share of recipients who opted out among those accepted. */
  readonly optedOut: number | null;
  /** How long a run waits for final reports after the pause at most, if `delivered` is set. */
  readonly waitMs: number;
}

export interface Limits {
  readonly maxRecipients: number | null;
  readonly maxParts: number | null;
  readonly maxCost: number | null;
  /** A count, or a share of the list between 0 and 1; null: the default of run/stop. */
  readonly stopAfterInDoubt: Threshold | null;
  readonly stopAfterRejected: Threshold | null;
}

/** Each with how and where it is written; null: not asked for. */
export interface ListGuards {
  readonly maxAge: (Guarded & { readonly ms: number }) | null;
  readonly minRecipients: (Guarded & { readonly count: number }) | null;
  /** Greatest difference to the rows of the last occurrence that was sent: 0.3 is 30% more or fewer. */
  readonly change: (Guarded & { readonly share: number }) | null;
}

type Guarded = { readonly text: string; readonly place: Pick<Diagnostic, 'at' | 'source'> };

export type Threshold = { readonly count: number } | { readonly share: number };

export interface Schedule {
  /** A cron expression of 5 fields, which fires at some time; null: it goes out once, `at` says when. */
  readonly cron: string | null;
  /** The one instant, as it is written and in ms since 1970; null: `cron` says when. */
  readonly at: { readonly written: string; readonly ms: number } | null;
  /** IANA zone in which they are read. */
  readonly timeZone: string;
  /** An instant at which nothing ran: the latest one is made up for, or skipped. */
  readonly missed: 'catch-up' | 'skip';
  /** The campaign says `missed: catch-up` itself: then an instant before the schedule was first seen counts too. */
  readonly asksCatchUp: boolean;
}

/**
 * Roles without a file: `day`: from which relative dates in `recipients.where` count. `fence`: the addresses of `only`.
 * `redirect`: the address that all messages of a kind went to. `guards`: the limits and rules of each run of a standing
 * plan. `suppressions`: the names of the lists, whose entries may change. `stand-in`: its address and `wire`; `settings` is
 * about its original. A campaign has the `provider` files of all environments; a plan has that of one environment.
 */
export interface InputFile extends ReportInput {
  /** With these, the cells of a list are read as they were read before, whatever the campaign says by then. */
  readonly reading?: Pick<ListSpec, 'headerRow' | 'delimiter' | 'encoding' | 'escaped'>;
  /** The list of `--recipients`: from the root where it lies inside, `-` for standard input. Absent: that of the campaign. */
  readonly given?: string;
  /** The guards that the list failed and a person allowed, in words. */
  readonly accepted?: readonly string[];
  /** Its size was one of these guards, so that the next list is compared with an earlier one. */
  readonly isOtherSize?: true;
}

/** Two inputs with this id are the same one before and after a change: on another machine the bytes may be elsewhere. */
export function inputId({ role, file }: InputFile): string {
  return `${role}\n${ONE_OF_ITS_KIND.has(role) ? '' : file}`;
}

const ONE_OF_ITS_KIND: ReadonlySet<InputFile['role']> = new Set([
  'settings',
  'recipients',
  'day',
  'fence',
  'guards',
  'suppressions',
]);
