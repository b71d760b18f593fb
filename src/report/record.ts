import type { ReportRecord as ReportRow } from '../model/result-types.ts';
import type { Channel, Outcome, Report, StepOutcome } from '../model.ts';
import { given } from '../util/given.ts';
import { causeOf } from './causes.ts';
import type { Formats } from './locale.ts';
import type { SentAs } from './next-steps.ts';

/** The fields of `jsonl`. Scripts rely on their order. */
export const RECORD_FIELDS = [
  'line',
  'key',
  'to',
  'channel',
  'variant',
  'reference',
  'outcome',
  'reason',
  'attempts',
  'httpStatus',
  'messageId',
  'delivery',
  'updatedAt',
  'inputs',
  'cause',
] as const;

/**
 * The columns of `csv`. `postedFrom` is empty for the run's environment; `steps` is `rcs:rejected sms:accepted`, and
 * empty for one step; `listTo` is a changed address of the list; `earlier` has addresses of earlier messages.
 */
export const CSV_FIELDS = [...RECORD_FIELDS, 'postedFrom', 'steps', 'listTo', 'earlier'] as const;

/** Without `columns`, which only `--with-columns` adds. */
export type ReportRecord = Omit<ReportRow, 'columns'>;

/** handbill's id of the message to a recipient on a channel, as it was sent; null where there was nothing to send. */
export type ReferenceOf = (message: {
  readonly key: string | null;
  readonly channel: Channel;
  readonly resend?: number;
  readonly postedFrom?: string;
}) => string | null;

/** A row of `jsonl`. `delivery` is null before the first report. */
export function recordOf(outcome: Outcome, referenceOf: ReferenceOf): ReportRecord {
  const { steps } = outcome;
  return {
    line: outcome.line,
    key: outcome.key,
    to: outcome.to,
    channel: outcome.channel,
    variant: outcome.variant,
    reference: referenceOf(outcome),
    outcome: outcome.outcome,
    reason: outcome.reason,
    attempts: outcome.attempts,
    httpStatus: outcome.httpStatus,
    messageId: outcome.messageId,
    delivery: outcome.delivery ?? null,
    updatedAt: outcome.updatedAt,
    inputs: inputsText(outcome),
    cause: causeOf(outcome),
    ...given(outcome, 'postedFrom'),
    ...(steps === undefined ? {} : { steps: steps.map((step) => stepRecordOf(step, outcome.key, referenceOf)) }),
    ...given(outcome, 'listTo', 'earlier'),
  };
}

export function stepRecordOf(step: StepOutcome, key: string | null, referenceOf: ReferenceOf) {
  return {
    channel: step.channel,
    to: step.to,
    reference: referenceOf({ ...step, key }),
    outcome: step.outcome,
    reason: step.reason,
    attempts: step.attempts,
    httpStatus: step.httpStatus,
    messageId: step.messageId,
    delivery: step.delivery ?? null,
    parts: step.parts,
    encoding: step.encoding,
    // 0 for a message that was not sent, so that all costs add up to the report's.
    cost: step.cost === null || wasSent(step) ? step.cost : 0,
    updatedAt: step.updatedAt,
    inputs: inputsText(step),
    ...given(step, 'postedFrom'),
  };
}

/**
 * Versions of the inputs of a recipient's message, such as `v1`. Two, the earlier one first, if a message of an earlier
 * version may have arrived before it was sent again.
 */
export function inputsOf({ version, versionsBefore = [] }: Pick<Outcome, 'version' | 'versionsBefore'>): string[] {
  const all = [...versionsBefore, ...(version === undefined ? [] : [version])];
  return [...new Set(all)].map(versionName);
}

/** Separated by blanks; null without a message. */
export function inputsText(outcome: Parameters<typeof inputsOf>[0]): string | null {
  return inputsOf(outcome).join(' ') || null;
}

export function versionName(version: number): string {
  return `v${version}`;
}

/** Probably sent, so that it has a cost: in doubt or accepted, even if a report let the recipient fall back since. */
export function wasSent({ outcome, byReport }: Pick<StepOutcome, 'outcome' | 'byReport'>): boolean {
  return outcome === 'accepted' || outcome === 'in-doubt' || byReport === true;
}

export function cellsOf(outcome: Outcome, referenceOf: ReferenceOf): readonly (string | number | null)[] {
  const record = recordOf(outcome, referenceOf);
  const steps = outcome.steps?.map(({ channel, outcome: state }) => `${channel}:${state}`).join(' ');
  const earlier = outcome.earlier?.map(({ to }) => to ?? '').join(' ');
  const more = [record.postedFrom, steps, record.listTo, earlier];
  return [...RECORD_FIELDS.map((field) => record[field]), ...more.map((cell) => cell ?? null)];
}

export interface ReportOptions {
  /** Colours and bars; `text` only. */
  readonly colour: boolean;
  /** The summary at the end of a send, in about eight lines; `text` only. */
  readonly short?: boolean;
  /** Every cause instead of the most frequent, in `text`. */
  readonly causes?: boolean;
  /** Columns of the terminal; Infinity: none, so that nothing is cut; `text` only. */
  readonly width: number;
  readonly referenceOf: ReferenceOf;
  /** The requests of this start, at the end of one of several starts. */
  readonly postedNow?: number;
  /** As the user would name it on the command line; default: its name. */
  readonly campaignFile?: SentAs;
  /** The plan file as the user would name it, where the environment accepts approved plans only. */
  readonly planPath?: string;
  /** ISO 4217 code of the costs; absent: none is shown. */
  readonly currency?: string | null;
  /** For `text`, `brief` and pages; default: `PLAIN`. */
  readonly formats?: Formats;
  /** The report once all outcomes have been read, if delivery reports are counted on the way. */
  readonly completed?: () => Report;
  /** For Excel in this locale; `csv` only. */
  readonly excelLocale?: string;
  /** List columns to print next to each outcome; `jsonl` and `csv` only. */
  readonly columns?: ListColumns;
}

export interface ListColumns {
  readonly names: readonly string[];
  /** A comma when the campaign does not say. */
  readonly delimiter: string;
  /** The campaign reads the list in another encoding than UTF-8, so that a UTF-8 file needs a byte order mark. */
  readonly needsMark: boolean;
  /** Cells of these outcomes' rows, in list order; null: the list lacks the row, or cannot be read. */
  valuesOf(outcomes: readonly Outcome[]): Promise<readonly (readonly string[] | null)[]>;
}

/** In list order, in batches of any size. */
export type Outcomes = AsyncIterable<readonly Outcome[]> | Iterable<readonly Outcome[]>;
export type Formatter = (report: Report, outcomes: Outcomes, options: ReportOptions) => AsyncGenerator<string>;
