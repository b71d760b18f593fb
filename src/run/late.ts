import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Plan } from '../plan/plan.ts';
import { lastOpeningAfter } from '../plan/window.ts';
import { STAYS_MS } from './canary-gate.ts';

export interface LateOptions {
  readonly ledger: Ledger;
  readonly plan: Plan;
  /** It was told to: nothing is too late. */
  readonly late: boolean;
  readonly nowMs: number;
}

/** H5: a run is continued without being told for this long after its start; an older one may be a restored backup. */
const LATE_MS = 24 * 3_600_000;

/** A run without `notAfter` that began this long ago is continued only with `--late`. */
export function isLate(run: Pick<RunRecord, 'startedAtMs'>, nowMs: number): boolean {
  return run.startedAtMs !== null && nowMs - run.startedAtMs > LATE_MS;
}

/**
 * Refuses to continue a run of which something is left, when it began too long ago.
 *
 * @throws HandbillError exit 2
 */
export async function refuseLate(options: LateOptions, run: RunRecord): Promise<void> {
  const { plan, nowMs } = options;
  const began = run.startedAtMs;
  if (options.late || began === null || plan.campaign.send.notAfterMs !== null || !isLate(run, nowMs)) return;
  const open = options.ledger.counts(run).some((c) => ['pending', 'failed', 'deferred'].includes(c.outcome));
  if (!open) return;
  // Whoever was put off to an opening, or to the end of a pause, is sent to within the same time after it.
  const opened = await lastOpeningAfter(plan, run.lastStartAtMs ?? began);
  if (opened !== null && nowMs - opened <= LATE_MS) return;
  const paused = pauseEnd(options, run);
  if (paused !== null && nowMs - paused <= LATE_MS) return;
  const hours = Math.floor((nowMs - began) / 3_600_000);
  throw refuse(
    problem('too-late', `This run began ${hours} hours ago; what is left may be stale by now.`, {
      at: { file: plan.campaign.file },
      hint: 'Add --late to send it all the same, or leave it: everyone is accounted for in `handbill report`.',
    }),
  );
}

/** When the pause of a canary is over, which starts leave to those after them; null without such a one. */
function pauseEnd({ ledger, plan }: LateOptions, run: RunRecord): number | null {
  const { canary } = plan.campaign.send;
  const lastMs = ledger.lastClaimMs(run);
  return canary === null || canary.pauseMs <= STAYS_MS || lastMs === null ? null : lastMs + canary.pauseMs;
}
