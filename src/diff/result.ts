import type { Code } from '../errors.ts';
import type { Rehearsal, RehearsedOccurrence } from '../model.ts';
import type { CostRange, Estimate } from '../plan/estimate.ts';

/** The meaning of a change in git, as `schemas/diff.schema.json` describes it. It holds no address in clear. */
export interface Diff {
  readonly version: 1;
  readonly before: SideName;
  readonly after: SideName;
  readonly environment: string;
  /** Settings of handbill.yaml that change. */
  readonly project: readonly RuleChange[];
  /** Those that change, by name. */
  readonly campaigns: readonly CampaignDiff[];
  readonly unchanged: readonly string[];
  readonly notes: readonly string[];
  /** The new side can be sent. */
  readonly valid: boolean;
  /** Absent without `days`. */
  readonly rehearsal?: RehearsalDiff;
}

/** The coming days as `rehearse` plays them on both sides. The time zone is that of the new one. */
export interface RehearsalDiff extends Pick<Rehearsal, 'at' | 'until' | 'timeZone' | 'assumed'> {
  readonly days: number;
  /** Both sides had a copy of it; null: as if nothing had been sent before. */
  readonly ledger: string | null;
  readonly before: RehearsedSide;
  readonly after: RehearsedSide;
  /** Where they differ, by day (`2026-12-01`) and campaign; null: nothing happens there. */
  readonly changes: readonly {
    readonly day: string;
    readonly campaign: string;
    readonly before: CampaignDay | null;
    readonly after: CampaignDay | null;
  }[];
}

export interface RehearsedSide extends Pick<Rehearsal, 'currency' | 'busiest'> {
  /** All days of each campaign. */
  readonly campaigns: Readonly<Record<string, DayFigures>>;
  /** Why nothing of it can be played; else empty. */
  readonly errors: readonly Finding[];
}

/**
 * `messages`, `parts` and, with a price list, `cost`; recipients as `skipped: REASON` and `deferred: REASON` (after the
 * last day); occurrences by what goes wrong, such as `cannot begin (CODE)`. What is absent is 0.
 */
export type DayFigures = Readonly<Record<string, number>>;

export interface CampaignDay {
  readonly figures: DayFigures;
  /** The first and the last message of each occurrence that begins on this day. */
  readonly sent: readonly Pick<RehearsedOccurrence, 'begins' | 'ends'>[];
}

export interface SideName {
  /** As the user wrote it, or `work tree`. */
  readonly name: string;
  /** Null for the work tree. */
  readonly commit: string | null;
  /** The commit is the merge base of the named revision and the other side. */
  readonly mergeBase: boolean;
}

export interface CampaignDiff {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Null: the name is unchanged. */
  readonly renamedFrom: string | null;
  /** From the root of the project. */
  readonly file: string;
  readonly notes: readonly string[];
  readonly before: CampaignSide | null;
  readonly after: CampaignSide | null;
  readonly rules: readonly RuleChange[];
  /** Null where the lists could not be compared; a note says why. */
  readonly recipients: RecipientsDiff | null;
  /** For recipients on both sides whose decision changed. */
  readonly decisions: readonly DecisionChange[];
  readonly texts: TextsDiff;
}

export interface CampaignSide {
  /** Empty where the campaign can be sent. */
  readonly errors: readonly Finding[];
  /** Null where its list could not be read to the end. */
  readonly figures: Figures | null;
}

/** A diagnostic without personal data, for `count` rows. */
export interface Finding {
  readonly code: Code;
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly count: number;
}

export interface Figures
  extends Pick<
    Estimate,
    'rows' | 'send' | 'skipped' | 'deferred' | 'invalid' | 'parts' | 'encodings' | 'currency' | 'unpriced'
  > {
  /**
   * For messages to send now, in units of the currency; null without prices. With fallbacks: from the cheapest to the
   * most expensive.
   */
  readonly cost: CostRange | null;
  /** For deferred recipients, in units: of the cheapest and of the most expensive message that they may get. */
  readonly waiting: CostRange | null;
  readonly countries: Readonly<Record<string, CountryFigures>>;
}

export interface CountryFigures {
  readonly messages: number;
  readonly parts: number;
  readonly cost: number | null;
}

export interface RuleChange {
  /** Its path in its file, as `send.rate`. */
  readonly key: string;
  /** As written; null: absent. Possible keys and addresses are hidden. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface RecipientsDiff {
  /** Different recipients of each side's list, whatever the decision about them. */
  readonly before: number;
  readonly after: number;
  readonly added: number;
  readonly removed: number;
  readonly common: number;
  /** On both sides, but with another address. */
  readonly readdressed: number;
  /** A few, masked. */
  readonly addedExamples: readonly string[];
  readonly removedExamples: readonly string[];
}

export interface DecisionChange {
  readonly before: string;
  readonly after: string;
  readonly recipients: number;
  readonly example: string | null;
}

export interface TextsDiff {
  /** Recipients who get a message on both sides, now or later. */
  readonly compared: number;
  readonly changed: number;
  readonly groups: readonly TextGroup[];
  /** Groups beyond the listed ones, and their recipients. */
  readonly more: { readonly groups: number; readonly recipients: number } | null;
}

export interface TextGroup {
  /** 0 if the text of a template changes, but no message does. Null if recipients were not compared. */
  readonly recipients: number | null;
  /** Masked. */
  readonly example: string | null;
  /** The decision on both sides, with its reason. Null if no recipient gets the text, or none was compared. */
  readonly decision: string | null;
  readonly templates: readonly TemplateChange[];
  readonly columns: readonly string[];
  /** Another variant than before; null for no variant. */
  readonly variant: { readonly before: string | null; readonly after: string | null } | null;
}

export interface TemplateChange {
  /** The text: `text`, `content.subject`, `variants.short.text`, `partials.footer`. */
  readonly what: string;
  /** The change, word by word: `[-Hello-]{+Hi+} {{name}}`. */
  readonly shape: string;
}
