import type { Outcome } from '../../model.ts';
import type { SavedLatency } from '../../report/latency.ts';
import type { ReportOptions } from '../../report/record.ts';
import type { ReplyCounts, ReturnTimes } from './returned.ts';

/** What the page shows beside the report. */
export interface ReportPageOptions
  extends Pick<ReportOptions, 'campaignFile' | 'completed' | 'currency' | 'formats' | 'planPath'> {
  /** In ms since 1970. */
  readonly nowMs: number;
  /** Which outcomes are in the table of recipients; all of them when absent. */
  readonly isListed?: (outcome: Outcome) => boolean;
  /** When a report or reply came about a recipient; absent if there are none. */
  readonly timesOf?: (outcome: Outcome) => ReturnTimes;
  readonly latency?: SavedLatency | null;
  readonly replies?: ReplyCounts | null;
  /** `masked` by default: a page is made for passing on. */
  readonly addresses?: 'masked' | 'whole';
}
