import { type Diagnostic, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { EarlierRow, RowState, RunRecord } from '../ledger/records.ts';
import { type Allowable, type Channel, type Decision, REPAIRABLE, type Retry, type WinnerState } from '../model.ts';
import type { Reached } from '../plan/contact-history.ts';
import { duplicatesIn, skipsInvalid, type View } from '../plan/decide.ts';
import { lateAt } from '../plan/gate.ts';
import type { Plan } from '../plan/plan.ts';
import { type OpenRules, openClaimRules, openRules } from '../plan/skip-rules.ts';
import type { Suppressions } from '../plan/suppression.ts';
import { beginOf, createWindowGate } from '../plan/window.ts';
import type { ListDigest } from '../recipients/read.ts';
import { number } from '../report/words.ts';
import { mask } from '../util/redact.ts';
import { unreachedRows } from './deliveries.ts';
import { changedSince, hasRepairable, isTooLate, UNDECIDED } from './prepare.ts';
import { openRunKeys, type RunKeys } from './run-keys.ts';
import { findWinner, winnerIn, winnerOfRun } from './winner.ts';

export interface KnownSources {
  readonly ledger: Ledger | null;
  readonly run: RunRecord | null;
  /** The list as it is now; null where there is no run to compare it with. */
  readonly list: ListDigest | null;
  readonly suppressions: Suppressions;
  readonly reached: Reached | null;
  /** The instant of the decisions, in ms since 1970. */
  readonly nowMs: number;
  readonly allow: readonly Allowable[];
  readonly retry?: Retry | undefined;
  /** As if this variant had won its test. */
  readonly winner?: string | undefined;
}

/**
 * The next start's decisions about a list, with earlier outcomes, suppressions, window and winner. Only reads the
 * ledger.
 */
export async function openKnown(plan: Plan, given: KnownSources) {
  const { ledger, run, list, suppressions, reached, nowMs, allow } = given;
  const { campaign } = plan;
  const lateAtMs = lateAt(plan, run?.startedAtMs ?? beginOf(plan, nowMs));
  const retry = nowMs < lateAtMs ? (given.retry ?? null) : null;
  /** Rows of the run that are decided again, until their decisions are joined. */
  const begun = new Map<number, Begun>();
  const asksAgain = again(retry, run && ledger ? () => ledger.earlier(run) : () => new Map());
  const stateOf = run && ledger ? ledger.stateOf(run) : null;
  const changed = run && ledger && list ? changedSince(run, plan, list) : UNCHANGED;
  // In another list, a recipient may be in another row.
  const keys = run && ledger && changed.list ? openRunKeys(ledger, run) : null;
  const changes = createChanges(changed.other, keys);
  const decidesAgain =
    run && ledger && hasRepairable(ledger, run) ? retry === 'skipped' || changed.list || changed.other : false;
  // As in `send`: a stale run stays as it is.
  const isStale =
    run && ledger ? !allow.includes('too-late') && (await isTooLate({ ledger, campaign, nowMs }, run)) : true;
  const fallsBack =
    run && ledger && !isStale ? reportedIn(unreachedRows(ledger, run, campaign, nowMs), keys !== null) : null;
  const winner: WinnerState =
    ledger === null || given.winner !== undefined ? { kind: 'none' } : findWinner(ledger, plan, run, nowMs);
  const now = () => nowMs;
  const window = await createWindowGate(plan, { now, lateAtMs });
  const sources = { suppressions, ledger, reached, now, window, lateAtMs };
  let openedClaimRules: OpenRules | null = null;
  const claimRules = (): OpenRules => {
    openedClaimRules ??= openClaimRules(plan, sources);
    return openedClaimRules;
  };
  const view: View = {
    duplicates: duplicatesIn(plan),
    known: (row, key, to) => {
      const at = keys === null ? row : keys.rowOf(key);
      const state = at === null ? null : (stateOf?.(at, key) ?? null);
      if (state === null) return null;
      const { variant = null } = state;
      const resend = asksAgain(state, key, to);
      // A corrected address gets the first channel again.
      const mayFallBack = at !== null && state.outcome === 'accepted' && resend === null;
      const used = mayFallBack ? (fallsBack?.(at) ?? null) : null;
      if (used !== null) {
        begun.set(row, { used, variant, resend: 0, accepted: state });
        return null;
      }
      // A fallback that was skipped is no longer due: the ledger decides about the first message only.
      const isRepairable = state.step === 0 && state.outcome === 'skipped' && REPAIRABLE.has(state.reason ?? '');
      if (resend === null && !UNDECIDED.has(state.outcome) && !(isRepairable && decidesAgain)) return state;
      begun.set(row, { used: state.used ?? null, variant, resend: resend ?? state.resend ?? 0, accepted: null });
      return null;
    },
    rules: openRules(plan, sources),
    skipsInvalid: skipsInvalid(campaign, allow),
    winner: given.winner ?? winnerOfRun(plan, run) ?? winnerIn(winner),
    variantOf(row) {
      const before = begun.get(row);
      return before === undefined || before.used === null ? undefined : before.variant;
    },
  };
  return {
    view,
    winner,
    /** The decision with which the run continues: the next fallback, a corrected address, or what was done already. */
    join(decision: Decision): Decision {
      const before = begun.get(decision.row);
      begun.delete(decision.row);
      const joined = before === undefined ? decision : continuing(decision, before, claimRules);
      changes.add(joined);
      return joined;
    },
    /** After the last decision: which recipients changed inputs concern, as a warning; empty where no input changed. */
    changes: (): readonly Diagnostic[] => (run && ledger ? changes.warnings(ledger.stateOf(run)) : []),
  };
}

const UNCHANGED = { list: false, other: false };

interface Begun {
  /** Channels on which the recipient could not be reached; null: no fallback was begun, and none is due. */
  readonly used: readonly Channel[] | null;
  /** That of the message before. */
  readonly variant: string | null;
  /** Messages to earlier addresses. */
  readonly resend: number;
  /** The message that a report says did not arrive. */
  readonly accepted: RowState | null;
}

function continuing(decision: Decision, { used, resend, accepted }: Begun, claimRules: () => OpenRules): Decision {
  const next = used === null ? decision : onStep(decision, used, claimRules);
  // A message to a corrected address has another reference.
  if (next.decision === 'send') return resend === 0 ? next : { ...next, resend };
  const { row, line, key, to } = next;
  if (accepted === null || key === null || to === null) return next;
  // A rule may forbid the fallback that a report causes: the message before stays accepted.
  return { decision: 'done', row, line, key, to, outcome: accepted.outcome, reason: accepted.reason };
}

/**
 * Which recipients a start with changed inputs concerns: new ones, removed ones, and those who get another text than
 * the recipients before.
 * @param keys - null: the list is unchanged
 */
function createChanges(isOtherText: boolean, keys: RunKeys | null) {
  const [added, rewritten, removed] = [createNamed(), createNamed(), createNamed()];
  return {
    add(decided: Decision): void {
      const { decision, key, line } = decided;
      if (key === null || (!isOtherText && keys === null)) return;
      if ('reason' in decided && decided.reason === 'duplicate') return;
      const isNew = keys !== null && !keys.take(key);
      if (decision !== 'send' && decision !== 'defer') return;
      if (isNew) added.add(`line ${line}`);
      else if (isOtherText) rewritten.add(`line ${line}`);
    },
    warnings(stateOf: ReturnType<Ledger['stateOf']>): readonly Diagnostic[] {
      if (!isOtherText && keys === null) return [];
      for (const [key, row] of keys?.rest() ?? []) {
        const { outcome = '', to = key } = stateOf(row, key) ?? {};
        if (UNDECIDED.has(outcome)) removed.add(mask(to ?? key));
      }
      const text = isOtherText ? `; with another text than those who were sent to: ${rewritten.text()}` : '';
      const said = `new: ${added.text()}; removed, and not sent to: ${removed.text()}${text}`;
      return [warning('input-changed', `Inputs changed since this run began. Recipients who are ${said}.`)];
    },
  };
}

/** Counts, and names the first few: `5 (line 2, line 7, line 8 and more)`. */
function createNamed() {
  let count = 0;
  const first: string[] = [];
  return {
    add(name: string): void {
      count += 1;
      if (first.length < 3) first.push(name);
    },
    text: () => (count === 0 ? '0' : `${number(count)} (${first.join(', ')}${count > 3 ? ' and more' : ''})`),
  };
}

/** A recipient who fell back gets the next fallback; nothing where the campaign no longer has it. */
function onStep(decision: Decision, used: readonly Channel[], claimRules: () => OpenRules): Decision {
  if (decision.decision !== 'send') return decision;
  const { row, line, key, to, fallbacks } = decision;
  const [message, ...rest] = fallbacks.filter(({ channel }) => !used.includes(channel));
  if (message === undefined) return { decision: 'skip', row, line, key, to, reason: 'removed' };
  const recipient = { ...decision.recipient, to: message.to };
  for (const { reason, check } of claimRules()) {
    const detail = check(recipient);
    if (typeof detail === 'string') return { decision: 'skip', row, line, key, to, reason, detail };
  }
  return { ...decision, ...message, fallbacks: rest };
}

/** Messages to earlier addresses, if this start sends again to a final outcome (`askAgain`); null: it does not. */
function again(retry: Retry | null, earlierOf: () => ReadonlyMap<string, readonly EarlierRow[]>) {
  let earlier: ReadonlyMap<string, readonly EarlierRow[]> | null = null;
  const wasSentTo = (key: string, to: string): boolean => {
    earlier ??= earlierOf();
    return (earlier.get(key) ?? []).some((row) => row.to === to);
  };
  return ({ outcome, to: sentTo = null, resend = 0 }: RowState, key: string, to: string): number | null => {
    const isCorrected = sentTo !== null && sentTo !== to;
    if (outcome === 'rejected' && retry === 'rejected') {
      return resend > 0 && isCorrected && wasSentTo(key, to) ? null : resend;
    }
    const resends = outcome === 'accepted' && retry === 'corrected' && isCorrected && !wasSentTo(key, to);
    return resends ? resend + 1 : null;
  };
}

/**
 * Channels that a report shows not to have reached a recipient, so that a fallback is due. Called in list order, unless the
 * list is another one.
 */
function reportedIn(rows: ReturnType<typeof unreachedRows>, isOther: boolean) {
  if (isOther) {
    const all = new Map([...rows].map(({ row, used }) => [row, used]));
    return (row: number): readonly Channel[] | null => all.get(row) ?? null;
  }
  let head = rows.next();
  return (row: number): readonly Channel[] | null => {
    while (head.done !== true && head.value.row < row) head = rows.next();
    return head.done !== true && head.value.row === row ? head.value.used : null;
  };
}
