import type { Diagnostic } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { EarlierRow, RowState, RunRecord } from '../ledger/records.ts';
import type { Campaign, Channel, Decision, SkipReason } from '../model.ts';
import type { View } from '../plan/decide.ts';
import type { Plan } from '../plan/plan.ts';
import type { Reached } from '../plan/reach.ts';
import type { SealedPlan } from '../plan/seal.ts';
import { duplicatesIn } from '../plan/second-look.ts';
import { type Suppressions, suppressionView } from '../plan/suppression.ts';
import { findWinner, type WinnerState, winnerIn } from '../run/decide-winner.ts';
import { isTooLate } from '../run/late.ts';
import { continueRefusals } from '../run/prepare.ts';
import { unreachedRows } from '../run/unreached.ts';
import { winnerOfRun } from '../run/winner.ts';
import { overRefusal } from '../schedule/occurrence.ts';

/** Who fell back in the run gets the fallback next; where the campaign has it no more, nothing. */
export function onLeg(decision: Decision, used: readonly Channel[] | null, view: View): Decision {
  if (used === null || decision.decision !== 'send') return decision;
  const { row, line, key, to, fallbacks } = decision;
  const [message, ...rest] = fallbacks.filter(({ channel }) => !used.includes(channel));
  if (message === undefined) return { decision: 'skip', row, line, key, to, reason: 'removed' };
  const skip = (reason: SkipReason, detail: string): Decision => ({
    decision: 'skip',
    row,
    line,
    key,
    to,
    reason,
    detail,
  });
  const listed = view.suppressed?.(message.to, key) ?? null;
  if (listed !== null) return skip('suppressed', listed);
  const reached = view.excluded?.(message.to, key) ?? null;
  if (reached !== null) return skip('excluded', reached);
  const capped = view.capped?.({ ...decision.recipient, to: message.to }) ?? null;
  if (capped !== null) return skip('frequency-cap', capped);
  return { ...decision, ...message, fallbacks: rest };
}

/** What `send --dry-run` is told beside the options of a preview; each as in `SendOptions`. */
export interface PreviewedStart {
  readonly amend?: boolean;
  readonly late?: boolean;
  readonly retryRejected?: boolean;
  readonly resendChanged?: boolean;
  readonly newLedger?: boolean;
  readonly limit?: number;
  readonly sealed?: SealedPlan;
}

interface ViewOptions {
  readonly now: () => number;
  readonly skipInvalid?: boolean;
  readonly winner?: string;
  readonly at?: number;
  readonly start?: PreviewedStart;
}

interface Known {
  readonly view: View;
  readonly winner: WinnerState;
  readonly startedAtMs: number | null;
  /** Channels that somebody could not be reached on before; null: none. */
  readonly usedBy: (row: number) => readonly Channel[] | null;
  /** A fallback that a report asks for and a rule forbids does not take place: the message before stays accepted. */
  readonly insteadOf: (decision: Decision) => Decision;
  /** A message to a corrected address, which has a reference of its own. */
  readonly numbered: (decision: Decision) => Decision;
  /** Why `send` would not begin or continue the run; empty: it would. */
  readonly refusals: readonly Diagnostic[];
}

/** What the ledger knows: final outcomes of this run, and suppressions. */
export async function viewOf(
  plan: Plan,
  ledger: Ledger | null,
  suppressions: Suppressions,
  reached: Reached | null,
  options: ViewOptions,
): Promise<Known> {
  const { campaign } = plan;
  const begun = new Map<number, readonly Channel[]>();
  const accepted = new Map<number, RowState>();
  const resent = new Map<number, number>();
  const nowMs = options.at ?? options.now();
  const run = ledger?.findRun({
    environment: plan.environment.name,
    campaign: campaign.name,
    occurrence: plan.occurrence,
  });
  const { start = {} } = options;
  const refusals = await refusalsOf({ plan, ledger, nowMs, start }, run ?? null);
  const asksAgain = again(start, run && ledger ? () => ledger.earlier(run) : () => new Map());
  const stateOf = run && ledger ? ledger.stateOf(run) : null;
  // As `send` would do it: what is stale is left as it is.
  const isStale = run && ledger ? start.late !== true && (await isTooLate({ ledger, campaign, nowMs }, run)) : true;
  const fallsBack = run && ledger && !isStale ? reportedIn(ledger, run, campaign) : null;
  const winner: WinnerState =
    ledger === null || options.winner !== undefined ? { kind: 'none' } : findWinner(ledger, plan, run ?? null, nowMs);
  const view: View = {
    duplicates: duplicatesIn(plan),
    known: (row, key, to) => {
      const state = stateOf?.(row, key) ?? null;
      const used = state?.outcome === 'accepted' ? (fallsBack?.(row) ?? null) : null;
      if (state !== null && used !== null) {
        begun.set(row, used);
        accepted.set(row, state);
        return null;
      }
      if (state === null) return null;
      const resend = asksAgain(state, key, to);
      if (resend === null && !UNDECIDED.has(state.outcome)) return state;
      if (state.used !== undefined) begun.set(row, state.used);
      const number = resend ?? state.resend ?? 0;
      if (number > 0) resent.set(row, number);
      return null;
    },
    ...suppressionView(suppressions, ledger, () => nowMs),
    ...reached?.view(() => nowMs),
    skipInvalid: options.skipInvalid === true || campaign.recipients.onInvalid === 'skip',
    winner: options.winner ?? winnerOfRun(plan, run ?? null) ?? winnerIn(winner),
  };
  return {
    view,
    winner,
    startedAtMs: run?.startedAtMs ?? null,
    refusals,
    usedBy(row) {
      const used = begun.get(row) ?? null;
      if (used !== null) begun.delete(row);
      return used;
    },
    numbered(decision) {
      const resend = resent.get(decision.row);
      if (resend === undefined) return decision;
      resent.delete(decision.row);
      return decision.decision === 'send' ? { ...decision, resend } : decision;
    },
    insteadOf(decision) {
      const { row, line, key, to } = decision;
      const state = accepted.get(row);
      if (state !== undefined) accepted.delete(row);
      if (state === undefined || decision.decision === 'send' || key === null || to === null) return decision;
      return { decision: 'done', row, line, key, to, outcome: state.outcome, reason: state.reason };
    },
  };
}

async function refusalsOf(
  {
    plan,
    ledger,
    nowMs,
    start,
  }: {
    readonly plan: Plan;
    readonly ledger: Ledger | null;
    readonly nowMs: number;
    readonly start: PreviewedStart;
  },
  run: RunRecord | null,
): Promise<readonly Diagnostic[]> {
  const { amend = false, late = false } = start;
  if (run !== null && ledger !== null) return await continueRefusals({ ledger, plan, nowMs, amend, late }, run);
  const over = late ? null : await overRefusal(plan.campaign, plan.occurrence, nowMs);
  return over === null ? [] : [over];
}

/**
 * Says of a final outcome whether a start that asks for it sends to the recipient again, as `askAgain` in prepare.ts makes
 * the ledger do it: how many messages went to earlier addresses; null: it does not.
 */
function again(start: PreviewedStart, earlierOf: () => ReadonlyMap<string, readonly EarlierRow[]>) {
  let earlier: ReadonlyMap<string, readonly EarlierRow[]> | null = null;
  const wasSentTo = (key: string, to: string): boolean => {
    earlier ??= earlierOf();
    return (earlier.get(key) ?? []).some((row) => row.to === to);
  };
  return ({ outcome, to: sentTo = null, resend = 0 }: RowState, key: string, to: string): number | null => {
    const isCorrected = sentTo !== null && sentTo !== to;
    if (outcome === 'rejected' && start.retryRejected === true) {
      return resend > 0 && isCorrected && wasSentTo(key, to) ? null : resend;
    }
    const resends = outcome === 'accepted' && start.resendChanged === true && isCorrected && !wasSentTo(key, to);
    return resends ? resend + 1 : null;
  };
}

/** Channels that a report says did not reach a recipient, so that a fallback is due; asked in list order. */
function reportedIn(ledger: Ledger, run: RunRecord, campaign: Campaign) {
  const rows = unreachedRows(ledger, run, campaign);
  let head = rows.next();
  return (row: number): readonly Channel[] | null => {
    while (head.done !== true && head.value.row < row) head = rows.next();
    return head.done !== true && head.value.row === row ? head.value.used : null;
  };
}

const UNDECIDED: ReadonlySet<string> = new Set(['pending', 'failed', 'deferred']);
