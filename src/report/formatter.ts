import type { Outcome, Report } from '../model.ts';
import type { ReferenceOf } from './record.ts';

/** How a report is shown. */
export interface ReportOptions {
  /** Colours and bars, for a terminal that has them; `text` only. */
  readonly colour: boolean;
  /** Columns of the terminal; `text` only. */
  readonly width: number;
  readonly referenceOf: ReferenceOf;
  /** The campaign as the user would name it on the command line; its name when absent. */
  readonly campaignFile?: string;
  /** Where the environment takes approved plans alone: the plan, as the user would name its file. */
  readonly planFile?: string;
  /** ISO 4217 code of the costs; none is shown when absent. */
  readonly currency?: string | null;
}

/** Rows in list order, in batches of any size. */
export type Outcomes = AsyncIterable<readonly Outcome[]> | Iterable<readonly Outcome[]>;

export type Formatter = (report: Report, outcomes: Outcomes, options: ReportOptions) => AsyncGenerator<string>;
