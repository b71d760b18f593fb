import type { SmsFacts } from '../content/sms-parts.ts';
import type { Replacement } from '../content/unicode.ts';
import type { Diagnostic } from '../errors.ts';
import type { RequestForm } from '../providers/request.ts';
import type { Variables } from './campaign.ts';
import type { OutcomeState } from './outcome.ts';
import type { Recipient } from './recipient.ts';
import type { SuppressionCheck } from './result-types.ts';
import type { Channel, JsonObject } from './words.ts';

export interface ReasonWords {
  /** In half a sentence that fits every outcome with this reason. */
  readonly means: string;
  /** One sentence; docs/reference/outcomes.md has more. */
  readonly advice: string;
}

export const SKIP_WORDS = {
  duplicate: { means: 'duplicate of an earlier line', advice: 'Nothing to do: the first row counts.' },
  'invalid-address': { means: 'not a valid address', advice: 'Correct the address in the list.' },
  suppressed: {
    means: 'on the suppression list',
    advice: 'Nothing to do, unless it is there by mistake: `handbill suppress list`.',
  },
  unreachable: {
    means: 'failed for good too often, and nothing was delivered since',
    advice: 'Nothing to do, or correct the address. If it is in use again: `handbill suppress remove ADDRESS`.',
  },
  country: {
    means: 'a number of a country that the environment does not send to',
    advice: 'Nothing to do, or add the country to `countries` of the environment in handbill.yaml.',
  },
  fenced: {
    means: 'not among the only addresses that the environment sends to',
    advice: 'Nothing to do, or add the address to `only` of the environment in handbill.yaml.',
  },
  excluded: {
    means: 'left out by `where`, `exclude` or `send.each`',
    advice: 'Nothing to do: `handbill preview` says which condition, campaign or run it was.',
  },
  'no-follow-up': {
    means: 'did not get the message before, or needs none after it',
    advice: 'Nothing to do: `handbill preview` says why.',
  },
  'frequency-cap': { means: 'got enough messages lately', advice: 'Nothing to do.' },
  expired: {
    means: 'too late: `notAfter`, `validity` or its time had ended',
    advice: 'Nothing to do: stale is worse than never.',
  },
  'window-closed': {
    means: 'its window did not open again in time',
    advice: 'Nothing to do: stale is worse than never.',
  },
  holdout: { means: 'held out: gets nothing, to compare with', advice: 'Nothing to do.' },
  'missing-variable': {
    means: 'an empty cell where the text needs a value',
    advice: 'Fill the cell, or give the template a `default`.',
  },
  'render-error': {
    means: 'the text cannot be made for it',
    advice: 'Correct the row or the template: `handbill validate` names both.',
  },
  'bad-row': { means: 'the row cannot be read', advice: 'Correct the row in the list.' },
  removed: { means: 'gone from list or campaign, or taken over by a later run', advice: 'Nothing to do.' },
  closed: {
    means: 'not sent to before the run was closed',
    advice: 'Nothing to do: a person closed the run with `handbill runs close`.',
  },
} as const satisfies Readonly<Record<string, ReasonWords>>;
export type SkipReason = keyof typeof SKIP_WORDS;
export const SKIP_REASONS = Object.keys(SKIP_WORDS) as readonly SkipReason[];

/** Faults of the list, the template or the settings: a start with changed inputs decides such a row again. */
export const REPAIRABLE: ReadonlySet<string> = new Set<SkipReason>([
  'missing-variable',
  'render-error',
  'bad-row',
  'invalid-address',
  'suppressed',
  'unreachable',
  'country',
]);

export type { SmsFacts };

export type Decision = SendDecision | SkipDecision | DeferDecision | DoneDecision | InvalidDecision;

interface Decided {
  readonly row: number;
  readonly line: number;
  /** Null where the address could not be understood. */
  readonly key: string | null;
  readonly to: string | null;
}

export interface SendDecision extends Decided, StepMessage {
  readonly decision: 'send';
  readonly key: string;
  readonly to: string;
  readonly recipient: Recipient;
  readonly variant: string | null;
  readonly fallbacks: readonly StepMessage[];
  /** Messages that went to earlier addresses of this recipient; absent: none. */
  readonly resend?: number;
  /** Line of an earlier recipient with another key and the same address, where there is one. */
  readonly sameAddressAs?: number;
}

export interface StepMessage {
  /** 0: the campaign's own, or the variant's; then the fallbacks. */
  readonly step: number;
  readonly channel: Channel;
  readonly to: string;
  /** Country of the number, as of the recipient; the price of a message depends on it. */
  readonly country: string | null;
  /** The words that the recipient reads or hears; null with a provider template, and where rich content has them all. */
  readonly text: string | null;
  /** Values for the provider's template; null without one. */
  readonly variables: Variables<string> | null;
  /** Rich content as it goes on the wire; null without any. */
  readonly content: JsonObject | null;
  /** The same as it was rendered: what an email says beside its text is elsewhere on the wire. Shown, not sent. */
  readonly rendered: JsonObject | null;
  /** The recipient's own metadata; null without any. */
  readonly metaData: Readonly<Record<string, string>> | null;
  /** Headers of an email, such as `List-Unsubscribe`; null without any. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** Characters that were replaced to stay in GSM-7; empty in most messages. */
  readonly replaced: readonly Replacement[];
  /** SMS only. */
  readonly sms: SmsFacts | null;
}

/** A message that a recipient may get; null: it is of no variant. */
export type PossibleMessage = StepMessage & { readonly variant: string | null };

export interface SkipDecision extends Decided {
  readonly decision: 'skip';
  readonly reason: SkipReason;
  /** More than the reason says, such as the condition of `where` that was not met. */
  readonly detail?: string;
  /** The line of the row that counts, and whether it has the same values. */
  readonly duplicateOf?: number;
  readonly isSame?: boolean;
}

export interface DeferDecision extends Decided {
  readonly decision: 'defer';
  readonly key: string;
  readonly to: string;
  readonly reason: DeferReason;
  readonly recipient: Recipient;
  /** Every variant and fallback that they may get then; empty in the second pass over the list. */
  readonly mayGet: readonly PossibleMessage[];
  /** More than the reason says. */
  readonly detail?: string;
  /** When the rule will allow it, in ms since 1970, where that is known. */
  readonly untilMs?: number;
}

export const DEFER_WORDS = {
  'winner-undecided': {
    means: 'waits for the variant that wins the test',
    advice: 'Name the winner with `--winner`, or run again once the test is over.',
  },
  'outside-window': { means: 'waits until its window opens', advice: 'Run again later, or once with `--wait`.' },
  'zone-unknown': {
    means: 'waits: the time zone of the recipient is not known',
    advice: 'Add a column with the zone (`recipients.timeZone`), or set `send.window.unknown`.',
  },
  'follow-up-later': {
    means: 'waits until the message before is old enough',
    advice: 'Nothing to do: `handbill due` sends it then.',
  },
  'too-early': {
    means: 'waits for its own time (`send.each`)',
    advice: 'Nothing to do: `handbill due` sends it then, or `send --wait`.',
  },
  'canary-undecided': { means: 'waits for a gate of the canary', advice: 'Run again later, or once with `--wait`.' },
} as const satisfies Readonly<Record<string, ReasonWords>>;
export type DeferReason = keyof typeof DEFER_WORDS;
export const DEFER_REASONS = Object.keys(DEFER_WORDS) as readonly DeferReason[];

/** The ledger already holds a final outcome for this recipient and occurrence. */
export interface DoneDecision extends Decided {
  readonly decision: 'done';
  readonly key: string;
  readonly to: string;
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  /** The address that the message went to, where the list names another one by now. */
  readonly sentTo?: string;
}

/** The row refuses the whole run unless invalid rows are skipped. */
export interface InvalidDecision extends Decided {
  readonly decision: 'invalid';
  readonly reason: SkipReason;
  readonly problem: Diagnostic;
}

/** One request as plain data; it holds no secret. */
export interface SendRequest {
  /** handbill's own id for (environment, campaign, occurrence, recipient key, channel). */
  readonly reference: string;
  /** How it is posted, and where its addresses are. */
  readonly form: RequestForm;
  /** Its UTF-8 bytes are what is posted. */
  readonly body: string;
  /** The address in the body, where it is not that of the recipient (`redirect`). */
  readonly to?: string;
}

/** Whether an address that was asked about is suppressed, and what the lists say about it. */
export type SuppressionAnswer = NonNullable<SuppressionCheck['answers']>[number];
export type SuppressionEntry = SuppressionAnswer['entries'][number];
/** An address that messages to an environment skip as `unreachable`. */
export type UnreachableAddress = NonNullable<SuppressionAnswer['unreachable']>[number];
