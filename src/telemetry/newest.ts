import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Report } from '../model.ts';
import { newestFirst, withoutTests } from '../operations/runs.ts';
import { cameBack, countDeliveries } from '../run/deliveries.ts';
import { summarise } from '../run/summary.ts';

/** A run and what became of it, as the ledger has it. */
export interface KnownReport {
  readonly run: RunRecord;
  readonly report: Report;
}

/** The run of a campaign that was started last; null where there is none, or the ledger cannot be read. */
export function newestReport(
  path: string,
  named: { readonly environment: string; readonly campaign: string },
  nowMs: number,
): KnownReport | null {
  let ledger: Ledger | null = null;
  try {
    ledger = openExistingLedger(path, { nowMs });
    if (ledger === null) return null;
    const [run] = newestFirst(withoutTests(ledger.runsOf(named)));
    return run === undefined ? null : reportOf(ledger, run);
  } catch {
    // Figures are not worth an error: the command that needs the ledger says what is wrong with it.
    return null;
  } finally {
    ledger?.close();
  }
}

export function reportOf(ledger: Ledger, run: RunRecord): KnownReport {
  const deliveries = countDeliveries(ledger, run);
  return { run, report: summarise(ledger, run, null, null, cameBack(ledger, run, deliveries, null)) };
}
