import { type Diagnostic, problem } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import { lastOpeningAfter } from '../plan/window.ts';
import { longestWaitMs } from '../schedule/choose.ts';
import { STAYS_MS } from './canary-gate.ts';

export interface LateOptions {
  readonly ledger: Pick<Ledger, 'counts' | 'lastClaimMs'>;
  readonly plan: Plan;
  /** It was told to: nothing is too late. */
  readonly late: boolean;
  readonly nowMs: number;
}

/** H5: a run is continued without being told for this long after its start; an older one may be a restored backup. */
const LATE_MS = 24 * 3_600_000;

/** The run began so long ago. What else makes it late, `isTooLate` says, which needs the campaign. */
export function isLate(run: Pick<RunRecord, 'startedAtMs'>, nowMs: number): boolean {
  return run.startedAtMs !== null && nowMs - run.startedAtMs > LATE_MS;
}

/**
 * Is a run continued only with `--late`? It began long ago, has no `notAfter` to say when it expires, and whoever was
 * put off to an opening, or to the end of a pause, could have been sent to as long ago as that.
 */
export async function isTooLate(
  {
    ledger,
    campaign,
    nowMs,
  }: { readonly ledger: Pick<Ledger, 'lastClaimMs'>; readonly campaign: Campaign; readonly nowMs: number },
  run: RunRecord,
): Promise<boolean> {
  const { notAfterMs } = campaign.send;
  if (run.startedAtMs === null || notAfterMs !== null || !isLate(run, nowMs)) return false;
  const opened = await lastOpeningAfter({ campaign }, run.lastStartAtMs ?? run.startedAtMs);
  if (opened !== null && nowMs - opened <= LATE_MS) return false;
  const waited = waitEnd(ledger, campaign, run);
  return waited === null || nowMs - waited > LATE_MS;
}

/** Why a run is not continued of which something is left: it began too long ago. Null: it is continued. */
export async function lateRefusal(options: LateOptions, run: RunRecord): Promise<Diagnostic | null> {
  const { plan, nowMs } = options;
  const { campaign } = plan;
  const began = run.startedAtMs;
  if (options.late || began === null || campaign.send.notAfterMs !== null || !isLate(run, nowMs)) return null;
  const open = options.ledger.counts(run).some((c) => ['pending', 'failed', 'deferred'].includes(c.outcome));
  if (!open || !(await isTooLate({ ledger: options.ledger, campaign, nowMs }, run))) return null;
  const hours = Math.floor((nowMs - began) / 3_600_000);
  return problem('too-late', `This run began ${hours} hours ago; what is left may be stale by now.`, {
    at: { file: campaign.file },
    hint: 'Add --late to send it all the same, or leave it: everyone is accounted for in `handbill report`.',
  });
}

/**
 * When a wait is over that starts leave to those after them: at a gate of a canary, for a winner; null without such a
 * one.
 */
function waitEnd(ledger: Pick<Ledger, 'lastClaimMs'>, { send, split }: Campaign, run: RunRecord): number | null {
  const gateMs = longestWaitMs(send.canary);
  const testMs = run.winner === null ? (split.decides?.waitMs ?? 0) : 0;
  const isLong = gateMs > STAYS_MS || split.decides !== null;
  const lastMs = isLong ? ledger.lastClaimMs(run) : null;
  return lastMs === null ? null : lastMs + Math.max(gateMs, testMs);
}
