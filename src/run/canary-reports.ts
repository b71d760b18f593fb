import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Canary, CanaryGate } from '../model.ts';
import { partAtMost, wholePart } from '../util/units.ts';
import { type Returned, returnedIn } from './returned.ts';
import { percentDown, percentUp } from './share-text.ts';

/**
 * What reports and replies say at a gate: it is open, it is not known yet, or the figure that shuts it, as a sentence.
 */
export type ReportVerdict = 'open' | 'waits' | { readonly shut: string };

/** Whether a gate looks at what came back. */
export function asksReports({ delivered, optedOut }: Pick<CanaryGate, 'delivered' | 'optedOut'>): boolean {
  return delivered !== null || optedOut !== null;
}

/**
 * Decides as soon as what is still to come cannot change it: enough messages have arrived, or too many have ended
 * otherwise. Who opted out is counted as it stands.
 *
 * @param isOver - nothing is waited for any more: what was not reported by now was not delivered
 */
export function judgeReports(gate: CanaryGate, counts: Returned, isOver: boolean): ReportVerdict {
  const { accepted, arrived, ended, optedOut } = counts;
  if (gate.optedOut !== null && optedOut > partAtMost(gate.optedOut, accepted)) {
    const who = `${percentUp(optedOut / accepted)} of the first ${messages(accepted)} opted out (${optedOut})`;
    return { shut: `${who}; send.canary.gate.optedOut allows ${percentDown(gate.optedOut)}.` };
  }
  if (gate.delivered === null) return 'open';
  const least = wholePart(gate.delivered, accepted);
  if (arrived >= least) return 'open';
  const unknown = accepted - arrived - ended;
  if (arrived + unknown >= least && !isOver) return 'waits';
  const others = [
    ...(ended === 0 ? [] : [`${ended} failed`]),
    ...(unknown === 0 ? [] : [`${unknown} without a final report`]),
  ];
  const share = isOver
    ? `${percentDown(arrived / accepted)} of the first ${messages(accepted)} ${accepted === 1 ? 'was' : 'were'} delivered`
    : `at most ${percentDown((arrived + unknown) / accepted)} of the first ${messages(accepted)} can be delivered`;
  const why = `${share} (${[String(arrived), ...others].join(', ')}); send.canary.gate.delivered asks for ${percentDown(gate.delivered)}.`;
  const silent = isOver && arrived + ended === 0 ? ' Nothing was reported: is `handbill listen` running?' : '';
  return { shut: `${why}${silent}` };
}

/**
 * A start that left a gate undecided said until when it is at the latest. Whether what came back has decided it by now,
 * once its pause is over: a pass over the list.
 */
export function isDecidedEarly(
  ledger: Pick<Ledger, 'events' | 'outcomes' | 'lastClaimMs'>,
  run: RunRecord,
  canary: Canary | null,
  nowMs: number,
): boolean {
  if (canary === null || !asksReports(canary.gate)) return false;
  const lastMs = ledger.lastClaimMs(run);
  if (lastMs === null || nowMs < lastMs + canary.pauseMs) return false;
  return judgeReports(canary.gate, returnedIn(ledger, run), false) !== 'waits';
}

function messages(accepted: number): string {
  return accepted === 1 ? 'accepted message' : `${accepted} accepted messages`;
}
