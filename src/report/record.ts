import type { Channel, EarlierMessage, Outcome, Report, StepOutcome } from '../model.ts';
import type { Formats } from './locale.ts';

/** The fields of `jsonl` in their order. Scripts rely on it. */
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
] as const;

/**
 * The columns of `csv`: `postedFrom` is empty where the environment of the run posted the message; `steps` holds `rcs:rejected sms:accepted`, and nothing where there is one step only; `listTo` the
 * address that the list has by now, where it is another one; `earlier` those that earlier messages went to.
 */
export const CSV_FIELDS = [...RECORD_FIELDS, 'postedFrom', 'steps', 'listTo', 'earlier'] as const;

type Cell = string | number | null;

export interface ReportRecord extends Readonly<Record<(typeof RECORD_FIELDS)[number], Cell>> {
  /** Every step in order, where there is more than one; the other fields are of the last. */
  readonly steps?: readonly StepRecord[];
  /** The stand-in that posted it; absent: the environment of the run did. */
  readonly postedFrom?: string;
  /** The address that the list has by now, where it is not the one that the message went to. */
  readonly listTo?: string;
  /** Messages to addresses that were corrected since, the first one first. */
  readonly earlier?: readonly EarlierMessage[];
}

export const STEP_FIELDS = [
  'channel',
  'to',
  'reference',
  'outcome',
  'reason',
  'attempts',
  'httpStatus',
  'messageId',
  'delivery',
  'parts',
  'encoding',
  'cost',
  'updatedAt',
  'inputs',
] as const;

/** One step; `rejected` with the reason `fell-back` for all but the last. */
type StepRecord = Readonly<Record<(typeof STEP_FIELDS)[number], Cell>> & Pick<ReportRecord, 'postedFrom'>;

/** handbill's own id of the message to a recipient on a channel; null where nothing was to be sent. */
export type ReferenceOf = (message: {
  readonly key: string | null;
  readonly channel: Channel;
  readonly resend?: number;
}) => string | null;

/** One row of the list as `jsonl` shows it. `delivery` is null until something comes back. */
export function recordOf(outcome: Outcome, referenceOf: ReferenceOf): ReportRecord {
  const record = {
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
  };
  const { steps, listTo, earlier } = outcome;
  return {
    ...record,
    ...posterOf(outcome),
    ...(steps === undefined ? {} : { steps: steps.map((step) => stepRecordOf(step, outcome.key, referenceOf)) }),
    ...(listTo === undefined ? {} : { listTo }),
    ...(earlier === undefined ? {} : { earlier }),
  };
}

function stepRecordOf(step: StepOutcome, key: string | null, referenceOf: ReferenceOf): StepRecord {
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
    cost: costOf(step),
    updatedAt: step.updatedAt,
    inputs: inputsText(step),
    ...posterOf(step),
  };
}

/** The environment that posted a message, where it is not that of its run. */
export function posterOf({ postedFrom }: Pick<StepOutcome, 'postedFrom'>): Pick<ReportRecord, 'postedFrom'> {
  return postedFrom === undefined ? {} : { postedFrom };
}

/**
 * The versions of the inputs that a recipient's message was made from, such as `v1`: one, unless it was sent again and an
 * earlier one of another version may have arrived too. That one is named first.
 */
export function inputsOf({ version, versionsBefore = [] }: Pick<Outcome, 'version' | 'versionsBefore'>): string[] {
  const all = [...versionsBefore, ...(version === undefined ? [] : [version])];
  return [...new Set(all)].map(versionName);
}

/** The same, separated by blanks; null where there is no message. */
export function inputsText(outcome: Parameters<typeof inputsOf>[0]): string | null {
  return inputsOf(outcome).join(' ') || null;
}

/** As it is shown and asked for. */
export function versionName(version: number): string {
  return `v${version}`;
}

/**
 * What the message costs: the price of one that was not sent is not due, so that all of them add up to the report's.
 */
function costOf({ outcome, cost }: StepOutcome): number | null {
  return cost === null || outcome === 'accepted' || outcome === 'in-doubt' ? cost : 0;
}

/** One row of the list as `csv` shows it, in the order of `CSV_FIELDS`. */
export function cellsOf(outcome: Outcome, referenceOf: ReferenceOf): readonly Cell[] {
  const record = recordOf(outcome, referenceOf);
  const steps = outcome.steps?.map(({ channel, outcome: state }) => `${channel}:${state}`).join(' ');
  const earlier = outcome.earlier?.map(({ to }) => to ?? '').join(' ');
  const more = [record.postedFrom, steps, record.listTo, earlier];
  return [...RECORD_FIELDS.map((field) => record[field]), ...more.map((cell) => cell ?? null)];
}

export interface ReportOptions {
  /** Colours and bars, for a terminal that has them; `text` only. */
  readonly colour: boolean;
  /** The end of a send: what counts, in about twelve lines; `handbill report` has the rest. `text` only. */
  readonly short?: boolean;
  /** Columns of the terminal, Infinity where none shows it and nothing is cut; `text` only. */
  readonly width: number;
  readonly referenceOf: ReferenceOf;
  /** At the end of a start that is not the only one of its run: the requests of this start. */
  readonly postedNow?: number;
  /** The campaign as the user would name it on the command line; its name when absent. */
  readonly campaignFile?: string;
  /** Where the environment takes approved plans alone: the plan, as the user would name its file. */
  readonly planPath?: string;
  /** ISO 4217 code of the costs; none is shown when absent. */
  readonly currency?: string | null;
  /** How figures and times are written, in `text`, in `brief` and on pages; `PLAIN` when absent. */
  readonly formats?: Formats;
  /** The report once all outcomes have been read, where delivery reports are counted as they go by. */
  readonly completed?: () => Report;
  /** For Excel in this locale; `csv` only. */
  readonly excelLocale?: string;
  /** The columns of the list, to print beside the outcome of each row; `jsonl` and `csv` only. */
  readonly columns?: ListColumns;
}

/** The rows of the list that a run was sent to. */
export interface ListColumns {
  readonly names: readonly string[];
  /** The delimiter of the list; a comma when the campaign does not say. */
  readonly delimiter: string;
  /** The campaign reads the list in another encoding than UTF-8, so that one in UTF-8 has to say so itself. */
  readonly needsMark: boolean;
  /**
   * Cells of the rows of these outcomes, which come in list order; null for rows that the list has not, or cannot read.
   */
  valuesOf(outcomes: readonly Outcome[]): Promise<readonly (readonly string[] | null)[]>;
}

/** Rows in list order, in batches of any size. */
export type Outcomes = AsyncIterable<readonly Outcome[]> | Iterable<readonly Outcome[]>;

export type Formatter = (report: Report, outcomes: Outcomes, options: ReportOptions) => AsyncGenerator<string>;
