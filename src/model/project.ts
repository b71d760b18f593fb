import type { SenderRule } from '../content/senders.ts';
import type { Diagnostic } from '../errors.ts';
import type { AnswerRule, Provider } from '../providers/provider.ts';
import type { GitRule } from './commit.ts';
import type { EnvironmentWebhook, Webhook } from './webhook.ts';
import type { WindowRule } from './window.ts';
import type { KeySource } from './words.ts';

export type { SenderRule };

export interface Project {
  /** Real path of the project's root; paths of a campaign stay inside. */
  readonly root: string;
  /** Path of handbill.yaml as the user would name it; null without one. */
  readonly file: string | null;
  /** Real path of the ledger file, or a `postgres://` address. */
  readonly ledger: string;
  /** Real path of another file of this project that is a ledger; absent: there is none, or it was not looked for. */
  readonly otherLedger?: string;
  readonly environments: ReadonlyMap<string, Environment>;
  /** Price list as a real path; null without one. */
  readonly prices: string | null;
  /** Rules of countries for alphanumeric senders, by ISO 3166-1: over the table that comes with handbill. */
  readonly senderRules: Readonly<Record<string, SenderRule>>;
  /** When people may be sent to, by country and `other`: over the table that comes with handbill. */
  readonly windows: Readonly<Record<string, WindowRule>>;
  /** Key of the hashes in suppression lists; null: hashes cannot be read or made. */
  readonly suppressionKey: KeySource | null;
  /** Addresses of those who try messages out, as they were written. */
  readonly testers: readonly string[];
  /** ISO 3166-1 alpha-2, for numbers without a country code that do not come from a campaign's list. */
  readonly defaultCountry: string | null;
  /** How dates and numbers are written, as BCP 47; null: handbill.yaml names no locale. */
  readonly locale: string | null;
  /** IANA zone of days that do not belong to a campaign; default UTC. */
  readonly timeZone: string;
  readonly webhook: Webhook;
}

export interface Environment {
  readonly name: string;
  /** Its name in the ledger: for a stand-in that of its original, whose fence, approval, git rule and budget it has. */
  readonly identity: string;
  /** With the words that `wire` changes. */
  readonly provider: Provider;
  readonly vars: Readonly<Record<string, string>>;
  /** Where the secrets are that the provider asks for, by name; null for the sandbox, which makes its key. */
  readonly secrets: Readonly<Record<string, KeySource>> | null;
  /** In the place of `{baseUrl}`, or of the origin of the provider's URLs; null: none. */
  readonly baseUrl: string | null;
  /** Where requests are posted, unless the provider has another URL for some. */
  readonly url: string;
  readonly ratePerSecond: number | null;
  readonly concurrency: number | null;
  readonly proxy: string | null;
  readonly webhook: EnvironmentWebhook;
  /** Reports and replies are asked for, and not only received. */
  readonly fetch: boolean;
  readonly wire: Wire;
  /** The people who must sign a plan before it is sent there; null: no one. Never for the sandbox. */
  readonly approval: Approval | null;
  /** The rule for the commit that is sent; null: none. */
  readonly git: GitRule | null;
  /** The only countries whose numbers are sent to, ISO 3166-1; null: all. */
  readonly countries: readonly string[] | null;
  /** The only addresses that are sent to; null: all. */
  readonly only: readonly FenceEntry[] | null;
  /** The most that all its campaigns may spend together; null: as much as they cost. */
  readonly budget: Budget | null;
  /** Where every message goes instead, one address for each kind; null: to its recipient. */
  readonly redirect: readonly FenceEntry[] | null;
}

/** The most that is spent in each calendar day, week or month of the project's time zone. */
export interface Budget {
  /** Millionths of the currency of the price list. */
  readonly maxMicros: number;
  readonly per: 'day' | 'week' | 'month';
}

export interface FenceEntry {
  readonly text: string;
  /** The full path, if it is a file; it is read when it is needed. */
  readonly path: string | null;
  readonly where: Pick<Diagnostic, 'at' | 'source'>;
}

export interface Approval {
  readonly approvers: SignerSource;
  /** The people who may plan without being approvers; null: no one else. */
  readonly planners: SignerSource | null;
  /** How many approvers must sign in addition to the planner. */
  readonly approvals: number;
  /** A campaign may be approved until a day, whatever its list holds; null: each send needs its own plan. */
  readonly standing: StandingRule | null;
}

export interface StandingRule {
  /** From the plan to the last day, at most; and as it is written. */
  readonly longestMs: number;
  readonly longest: string;
  /** Full path of the folder in which `send` and `due` look for them. */
  readonly folder: string;
}

/** `file`: a full path, in the format of git's allowed signers. */
export type SignerSource =
  | { readonly signers: readonly Signer[] }
  /** `where`: the place in handbill.yaml that names the file. */
  | { readonly file: string; readonly where: Pick<Diagnostic, 'at' | 'source'> };

export interface Signer {
  /** Names of one person, or (for an authority) patterns of the names that its certificates may give. */
  readonly names: readonly string[];
  /** Type and base64, as in a `.pub` file, without the comment. */
  readonly key: string;
  /** Signs no plans itself, but certificates of those who do. */
  readonly authority: boolean;
  /** The first and the last moment, as ssh-keygen reads them (`20261231`, `20261231120000Z`); null: no such limit. */
  readonly validAfter: string | null;
  readonly validBefore: string | null;
  /** Patterns of what the key may sign; null: anything. */
  readonly namespaces: string | null;
}

/** How the answers of the API are read, with working defaults. */
export interface Wire {
  readonly response: {
    /** JSON pointers, first hit counts. */
    readonly messageId: readonly string[];
    /** The project names the pointers itself: then a 2xx without an id is not recognised. */
    readonly messageIdRequired: boolean;
    readonly error: readonly string[];
    /** JSON pointers whose presence (not null, false or empty) in a 2xx means a refusal. */
    readonly failed: readonly string[];
    /** Header that holds the id, in lower case; null: none does. */
    readonly messageIdHeader: string | null;
    /** Characters that are taken off both ends of an id. */
    readonly trimId: string;
    readonly accept: 'json' | 'any';
    /** Where an answer about several recipients holds one entry for each. */
    readonly recipients: readonly string[];
    /** Where it lists those alone who were refused. */
    readonly refusedRecipients: readonly string[];
    /** Inside such an entry: its recipient, the id of the message, what else says that it was refused, and why. */
    readonly recipientAddress: readonly string[];
    readonly recipientId: readonly string[];
    readonly recipientFailed: readonly string[];
    readonly recipientError: readonly string[];
    /** Where an entry has its word, and words of refusal and acceptance beside answer-words.ts; also at the top. */
    readonly recipientStatus: {
      readonly at: readonly string[];
      readonly refused: readonly string[];
      readonly accepted: readonly string[];
    };
  };
  /** Rules by status and code. The first that matches counts; those of the environment come before its provider's. */
  readonly answers: readonly AnswerRule[];
  /** Header that carries the reference, if the API takes one. */
  readonly idempotencyHeader: string | null;
}
