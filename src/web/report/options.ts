import type { Outcome } from '../../model.ts';
import type { SavedLatency } from '../../report/latency.ts';
import type { ReportOptions } from '../../report/record.ts';
import type { ReplyCounts, ReturnTimes } from './returned.ts';

/** What the page shows beside the report. */
export interface ReportPageOptions extends Pick<ReportOptions, 'campaignFile' | 'completed' | 'currency' | 'planFile'> {
  /** In ms since 1970. */
  readonly nowMs: number;
  /** Who may stand in the table of recipients; all of them when absent. */
  readonly isListed?: (outcome: Outcome) => boolean;
  /** When something came back about somebody; absent where nothing did. */
  readonly timesOf?: (outcome: Outcome) => ReturnTimes;
  readonly latency?: SavedLatency | null;
  readonly replies?: ReplyCounts | null;
  /** `masked` by default: a page is made for passing on. */
  readonly addresses?: 'masked' | 'whole';
}
