import type { Diagnostic } from '../errors.ts';
import { openExistingLedger, openToWriteLater } from '../ledger/open.ts';
import type { Campaign } from '../model.ts';
import { occurrenceFor } from '../schedule/occurrence.ts';

interface OccurrenceOptions {
  readonly environment: string;
  readonly named: string | undefined;
  readonly nowMs: number;
  /** For commands that send nothing: the ledger is only read, and see `occurrenceFor`. */
  readonly toShow?: boolean;
  /** With `toShow`: all the same the occurrence that `send` would mean. */
  readonly asSend?: boolean;
  readonly newLedger?: boolean;
}

/**
 * The occurrence that a command means, with warnings about its name. The ledger is opened to find names that were used
 * before, and closed again: a process may open it only once at a time. `once` needs no ledger.
 *
 * @throws HandbillError exit 2: the name cannot be read; 7: the ledger cannot be read
 */
export async function meantOccurrence(
  campaign: Campaign,
  { environment, named, nowMs, toShow = false, asSend = false, newLedger = false }: OccurrenceOptions,
): Promise<{ readonly occurrence: string; readonly warnings: readonly Diagnostic[] }> {
  const used = named === undefined && campaign.schedule === null ? [] : usedNames();
  return await occurrenceFor(campaign, { named, nowMs, used, toShow: toShow && !asSend });

  function usedNames(): readonly string[] {
    const open = toShow ? openExistingLedger : openToWriteLater;
    const ledger = open(campaign.project.ledger, { nowMs, newLedger });
    if (ledger === null) return [];
    try {
      return ledger.runsOf({ environment, campaign: campaign.name }).map(({ occurrence }) => occurrence);
    } finally {
      ledger.close();
    }
  }
}
