import type { Outcome, Report } from '../model.ts';
import type { ReferenceOf } from './record.ts';

/** How a report is shown. */
export interface ReportOptions {
  /** Colours and bars, for a terminal that has them; `text` only. */
  readonly colour: boolean;
  /** Columns of the terminal, Infinity where none shows it and nothing is cut; `text` only. */
  readonly width: number;
  readonly referenceOf: ReferenceOf;
  /** The campaign as the user would name it on the command line; its name when absent. */
  readonly campaignFile?: string;
  /** Where the environment takes approved plans alone: the plan, as the user would name its file. */
  readonly planFile?: string;
  /** ISO 4217 code of the costs; none is shown when absent. */
  readonly currency?: string | null;
  /** The report once all outcomes have been read, where what came back is counted as they go by. */
  readonly completed?: () => Report;
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
