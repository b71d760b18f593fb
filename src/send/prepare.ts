import type { PriceList } from '../content/price.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LoadRow, RunIdentity, RunRecord } from '../ledger/records.ts';
import {
  ALLOWABLE,
  type Allowable,
  type Campaign,
  type ChangedRecipient,
  type Decision,
  type InputFile,
  type OutcomeState,
  REPAIRABLE,
  type Retry,
  type WinnerState,
} from '../model.ts';
import { budgetNotice, budgetState, checkOpen } from '../plan/budget.ts';
import { formerNameProblem, knownCampaign } from '../plan/campaign-id.ts';
import { checkList, listInput } from '../plan/check.ts';
import { openReachToSend, type Reached } from '../plan/contact-history.ts';
import { duplicatesIn, skipsInvalid } from '../plan/decide.ts';
import { type Elsewhere, openElsewhere, otherProvider } from '../plan/elsewhere.ts';
import { addAt, type Estimate, type Estimator, sumOf } from '../plan/estimate.ts';
import { createForecaster } from '../plan/forecast.ts';
import { lateAt, lateAtOf } from '../plan/gate.ts';
import { openListGuard } from '../plan/list-guard.ts';
import type { Plan } from '../plan/plan.ts';
import { changedInputs } from '../plan/plan-file.ts';
import { pastValidity } from '../plan/provider-check.ts';
import { identityHash } from '../plan/settings.ts';
import { openRules } from '../plan/skip-rules.ts';
import { leaveHint } from '../plan/standing-inputs.ts';
import { checkHashKey, type Suppressions } from '../plan/suppression.ts';
import { beginOf, createWindowGate, lastOpeningAfter } from '../plan/window.ts';
import { hashList, type ListDigest } from '../recipients/read.ts';
import { countOf } from '../report/words.ts';
import { longestWaitMs } from '../schedule/choose.ts';
import { overRefusal as occurrenceOver } from '../schedule/occurrence.ts';
import { timeInKey } from '../util/address-form.ts';
import type { Meter } from '../util/long-work.ts';
import { nextCommand } from '../util/next-command.ts';
import { isTest } from '../util/occurrence-name.ts';
import { createRowSet, type RowSet } from '../util/row-set.ts';
import { iso } from '../util/time.ts';
import { microsOf } from '../util/units.ts';
import { STAYS_MS } from './canary.ts';
import { countUnreached, joinReplies, resolveByReports } from './deliveries.ts';
import { staleReports } from './fetched.ts';
import { openRunKeys } from './run-keys.ts';
import { findWinner, joinEvidence, rememberWinner, winnerIn, winnerOfRun } from './winner.ts';

interface PrepareOptions {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly prices: PriceList | null;
  readonly suppressions: Suppressions;
  readonly allow: readonly Allowable[];
  /** Recipients with a final outcome that this start sends to again. Default: none. */
  readonly retry?: Retry | undefined;
  readonly isDue?: boolean | undefined;
  /** Recipients of this start; those beyond it stay rejected. Default: all. */
  readonly limit?: number | undefined;
  /** Requests a second of this start. Default: that of environment and campaign. */
  readonly ratePerSecond?: number | undefined;
  /** The variant for all recipients outside the test. Default: that of the run or the campaign. */
  readonly winner?: string | undefined;
  readonly nowMs: number;
  /** Ends the preparation without a trace. */
  readonly interrupt: AbortSignal;
  readonly meter?: Meter | undefined;
}

export interface Prepared {
  /** Digest of the bytes that were checked: the send pass reads no others. */
  readonly list: ListDigest;
  /** Result of the check of the whole list; null where a run continues with what the ledger holds. */
  readonly estimate: Estimate | null;
  readonly toDo: number;
  /** Those among them that a report makes due for a fallback. */
  readonly unreached: number;
  readonly continues: boolean;
  /** The rows of a run that begins, without skipped ones. Null: the ledger has to be read. */
  readonly loaded: RowSet | null;
  readonly reached: Reached | null;
  /**
   * Unusual facts about the list, accepted guards, histories that the campaign may have lost, the rest of the budget.
   */
  readonly accepted: readonly Diagnostic[];
  /** Recipients of this start who get a second message, at a corrected address. */
  readonly resends: readonly ChangedRecipient[];
  /** Need permission or an answer: recipients have this occurrence from another environment, or that sent this run. */
  readonly questions: readonly Diagnostic[];
  /** How far the search for the winner of a test is. */
  readonly winner: WinnerState;
  /** Makes the rows count. Until then everything can be deleted without a trace. */
  finishLoad(): RunRecord;
  discard(): void;
}

/** Waiting rows become old for V8, and stay until a full collection; each batch is synced. */
const LOAD_BATCH = 2000;

/**
 * Prepares a run to be started, under its lock: a new run is checked row by row and loaded in the same pass; an
 * unfinished one continues with what the ledger holds, provided that no input changed; if `input-changed` is allowed,
 * the new inputs are checked, loaded beside the old list and merged with it.
 *
 * Throws `HandbillError` (exit 2): invalid rows, limits, changed inputs, too late; (exit 130): interrupted.
 */
export async function prepareRun(given: PrepareOptions): Promise<Prepared> {
  const { ledger, plan, nowMs } = given;
  checkHashKey(given.suppressions, ledger);
  // An opt-out may come from another address: joining the reply to its message suppresses the recipient (failures.md,
  // K3). For a follow-up, and where a report makes a fallback due, every reply counts.
  const isAnyAsked =
    plan.campaign.after?.unless.some((one) => one !== 'delivered-not') === true ||
    (plan.campaign.fallbacks.length > 0 && ledger.events.hasUnreached());
  if (isAnyAsked || ledger.events.hasUnjoinedOptOut()) {
    const { startLifts, stopEnds } = plan.campaign.project.webhook.replies;
    joinReplies(ledger, { startLifts, stopEnds, now: () => nowMs });
  }
  const former = formerNameProblem(ledger.campaigns(), plan.campaign);
  if (former !== null) throw refuse(former);
  const existing = ledger.findRun(identityOf(plan));
  if (existing === null) return load(given, null);
  // Where it is too late, a final outcome would only become `expired`.
  const options = isOver(plan, existing, nowMs) ? { ...given, retry: undefined } : given;
  refuseOtherRecipients(existing, plan);
  const late = await overRefusal(options, existing);
  if (late !== null) throw refuse(late);
  const list = await hashList(plan.campaign.recipients);
  const changes = changesSince(existing, plan, list);
  if (changes.length === 0) {
    const decidesAgain = options.retry === 'skipped' && hasRepairable(ledger, existing);
    return decidesAgain ? load(options, existing) : continued(options, existing, list);
  }
  if (needsLeave(options, existing)) throw refuse(...changes);
  refuseErased(options, existing);
  return load(options, existing);
}

/**
 * The run has no key any more of a person who was erased. The suppression list knows the address; under another address
 * a row with that key would count as a new recipient, and the person would get the message twice.
 * @throws HandbillError exit 2
 */
function refuseErased({ ledger, plan }: { readonly ledger: Ledger; readonly plan: Plan }, existing: RunRecord): void {
  if (plan.campaign.recipients.key.length === 0 || !ledger.hasErased(existing)) return;
  const message =
    'A person was erased from this run, and recipients have a key beside their address: a changed list may name that person under another address.';
  const hint =
    'Put the list back as it was; or send the new rows as another `--occurrence`, with ' +
    `\`exclude: [${existing.campaign}@${existing.occurrence}]\`.`;
  throw refuse(problem('identity-changed', message, { at: { file: plan.campaign.file }, hint }));
}

/**
 * Records the name by which the campaign is sent. Another process may have sent it under another id while the list was
 * read or the question waited, so the same transaction checks again.
 * @throws HandbillError exit 2
 */
function rememberName({ ledger, plan }: Pick<PrepareOptions, 'ledger' | 'plan'>): void {
  const { campaign } = plan;
  const refused = ledger.rememberCampaign(knownCampaign(campaign), (known) => formerNameProblem(known, campaign));
  if (refused !== null) throw refuse(refused);
}

/**
 * Refuses a run whose recipients cannot be compared with those of the list: no option continues it.
 * @throws HandbillError exit 2
 */
function refuseOtherRecipients(existing: RunRecord, plan: Plan): void {
  refusePurged(existing);
  if (existing.identityHash === identityHash(plan.campaign)) return;
  throw refuse(
    problem('identity-changed', '`key`, `to` or `defaultCountry` changed since this run began.', {
      at: { file: plan.campaign.file },
      hint: 'All recipients would look new, and earlier ones would be sent to twice. Undo it, or use another --occurrence.',
    }),
  );
}

/** A change needs permission. An empty list has no records that a change could affect. */
function needsLeave({ allow }: Pick<PrepareOptions, 'allow'>, { rows }: RunRecord): boolean {
  return !allow.includes('input-changed') && rows > 0;
}

/**
 * Inputs that changed since a run began: it continues only with `--allow input-changed` (failures.md, J1), and never
 * where the environment accepts approved plans only.
 */
function changesSince(existing: RunRecord, plan: Plan, list: ListDigest): readonly Diagnostic[] {
  const hint =
    plan.environment.approval === null
      ? `Undo the change. Or: ${ALLOWABLE['input-changed']}`
      : `Undo the change, and send again. Or leave this occurrence as it is: ${leaveHint(plan)}`;
  const now = [...plan.inputs, listInput(plan, list)];
  const changes = changedInputs(ofSame(existing.inputs, now), ofSame(now, existing.inputs), 'this run began');
  const isOver = existing.state === 'finished' && plan.environment.approval === null;
  return changes.map((change) => ({ ...change, hint: isOver ? `${ANOTHER_OCCURRENCE} ${hint}` : hint }));
}

/**
 * Without the inputs of a stand-in and of a provider that the other side lacks: a stand-in that takes a run over changes no
 * message, and another file with the same words neither.
 */
function ofSame(inputs: readonly InputFile[], others: readonly InputFile[]): readonly InputFile[] {
  return inputs.filter(
    ({ role, file }) =>
      (role !== 'stand-in' && role !== 'provider') ||
      others.some((other) => other.role === role && other.file === file),
  );
}

/** For a sender of every month: to continue a finished run reaches hardly any recipient. */
const ANOTHER_OCCURRENCE =
  'This occurrence is finished: send the changed campaign as another one, with --occurrence NAME. Otherwise:';

export function hasRepairable(ledger: Ledger, run: RunRecord): boolean {
  return ledger.counts(run).some(({ outcome, reason }) => outcome === 'skipped' && REPAIRABLE.has(reason ?? ''));
}

/** Which inputs of the next start differ from the run's: the list, or anything else. */
export function changedSince(
  run: RunRecord,
  plan: Plan,
  digest: ListDigest,
): { readonly list: boolean; readonly other: boolean } {
  const list = run.inputs.some(({ role, sha256 }) => role === 'recipients' && sha256 !== digest.sha256);
  return { list, other: changesSince(run, plan, digest).length > Number(list) };
}

/**
 * Refuses a plan of an occurrence that began with other inputs, which no approval could make sendable: people would
 * sign it in vain.
 * @throws HandbillError exit 2
 */
export function refuseUnsendable(existing: RunRecord | null, plan: Plan, list: ListDigest): void {
  if (existing === null || plan.environment.approval === null) return;
  const changes = changesSince(existing, plan, list);
  if (changes.length > 0 && needsLeave({ allow: [] }, existing)) throw refuse(...changes);
}

/**
 * Why `send` would not continue a run, for a preview, which shows the rows nevertheless; empty: it would.
 * @throws HandbillError exit 2: the run cannot be compared with the list
 */
export async function continueRefusals(
  options: LateOptions,
  existing: RunRecord,
  list: ListDigest,
): Promise<readonly Diagnostic[]> {
  const { plan } = options;
  refuseOtherRecipients(existing, plan);
  const late = await overRefusal(options, existing);
  if (late !== null) return [late];
  const changes = changesSince(existing, plan, list);
  if (needsLeave(options, existing)) return changes;
  if (changes.length > 0) refuseErased(options, existing);
  return [];
}

export function identityOf(plan: Plan): RunIdentity {
  return { environment: plan.environment.identity, campaign: plan.campaign.id, occurrence: plan.occurrence };
}

async function continued(options: PrepareOptions, run: RunRecord, list: ListDigest): Promise<Prepared> {
  const { ledger, plan, nowMs } = options;
  // Reports may have come in since the last start: they resolve recipients in doubt (failures.md, K2).
  resolveByReports(ledger, nowMs);
  const found = findWinnerOf(options, run);
  // When it is too late nothing is sent, so recipients that wait for a winner do not wait any longer.
  const over = isOver(plan, run, nowMs);
  const waits = winnerOf(options, run, found) === null && !over;
  const open = ledger.countOpen(run, { rejected: options.retry === 'rejected' });
  const resends = options.retry === 'corrected' ? resendsOf(ledger, run, null) : [];
  const toDo = (waits ? open.rows - open.undecided : open.rows) + resends.length;
  const isStale =
    !options.allow.includes('too-late') && (await isTooLate({ ledger, campaign: plan.campaign, nowMs }, run));
  const unreached = isStale ? 0 : countUnreached(ledger, run, plan.campaign, nowMs);
  const budget = toDo + unreached === 0 ? null : budgetState(plan, options.prices, nowMs, ledger);
  const tooMuch = budget === null ? [] : checkOpen(plan.campaign, costsIn(options, run, OPEN_OUTCOMES), budget);
  if (tooMuch.length > 0) throw refuse(...tooMuch);
  const elsewhere = openElsewhere(plan, ledger);
  const outcomes = options.retry === 'rejected' ? [...OPEN_OUTCOMES, 'rejected' as const] : OPEN_OUTCOMES;
  if (elsewhere !== null) {
    for (const batch of ledger.outcomes(run, { outcomes })) {
      for (const { to, key } of batch) elsewhere.add({ decision: 'send', to, key });
    }
  }
  const judged = judgeElsewhere(options, elsewhere, run);
  return {
    list,
    estimate: null,
    toDo: toDo + unreached,
    unreached,
    continues: true,
    loaded: null,
    accepted: [...budgetNotice(budget), ...judged.allowed],
    reached: toDo + unreached === 0 ? null : await openReachToSend(plan, ledger, nowMs),
    resends,
    questions: judged.questions,
    winner: found,
    finishLoad: () => {
      rememberName(options);
      judged.refuseMeanwhile();
      askAgain(options, run);
      return withWinner(options, run, found);
    },
    discard: () => undefined,
  };
}

/** Checks the whole list and loads it in the same pass; if refused or not confirmed, it leaves nothing behind. */
async function load(options: PrepareOptions, existing: RunRecord | null): Promise<Prepared> {
  const { ledger, plan, nowMs } = options;
  // As where the run continues with the same inputs.
  if (existing !== null) resolveByReports(ledger, nowMs);
  const reached = await openReachToSend(plan, ledger, nowMs);
  const { channel, isCounted, topic } = plan.campaign;
  const draft = ledger.beginLoad(identityOf(plan), { channel, nowMs, isCounted, topic });
  const found = findWinnerOf(options, existing);
  // For an amended run the ledger holds more than the list.
  const loaded = existing === null ? createRowSet() : null;
  const elsewhere = openElsewhere(plan, ledger);
  const discard = (): void => ledger.discardLoad(draft);
  const checked = await checkAndLoad(options, draft, existing, loaded, elsewhere, reached, found).catch((error) => {
    discard();
    throw error;
  });
  const { inputs, list, estimate, accepted, toDo } = checked;
  const facts = { inputs, nowMs, takesOver: plan.campaign.recipients.each !== null };
  const resends = options.retry === 'corrected' && existing !== null ? resendsOf(ledger, existing, draft) : [];
  const judged = judgeElsewhere(options, elsewhere, existing);
  // A stale run stays as it is.
  const isStale =
    existing === null ||
    (!options.allow.includes('too-late') && (await isTooLate({ ledger, campaign: plan.campaign, nowMs }, existing)));
  const unreached = isStale ? 0 : countUnreached(ledger, existing, plan.campaign, nowMs);
  return {
    list,
    estimate,
    toDo: toDo + resends.length + unreached,
    unreached,
    continues: existing !== null,
    loaded,
    reached,
    accepted: [...accepted, ...judged.allowed],
    resends,
    questions: judged.questions,
    winner: found,
    finishLoad: () => {
      try {
        rememberName(options);
      } catch (error) {
        discard();
        throw error;
      }
      const run =
        existing === null
          ? ledger.finishLoad(draft, { ...facts, identityHash: identityHash(plan.campaign) })
          : ledger.amend(existing, draft, facts);
      judged.refuseMeanwhile();
      if (existing !== null) askAgain(options, run);
      return withWinner(options, run, found);
    },
    discard,
  };
}

const OPEN_OUTCOMES = ['pending', 'failed', 'deferred'] as const;

export const UNDECIDED: ReadonlySet<string> = new Set(OPEN_OUTCOMES);

/**
 * Whether recipients who have this occurrence from another environment are sent to again, and whether this environment
 * takes the run over from its original or a stand-in. The user answers what is not allowed. Two environments may begin
 * at once: both runs can be seen before either claims, so the second check of one of them finds the other.
 */
function judgeElsewhere(
  { allow, plan }: Pick<PrepareOptions, 'allow' | 'plan'>,
  elsewhere: Elsewhere | null,
  existing: RunRecord | null,
) {
  const found = elsewhere?.found() ?? null;
  const taken = existing === null ? null : otherProvider(existing, plan);
  const asked = [found, taken].filter((one) => one !== null);
  const isAllowed = ({ code }: Pick<Diagnostic, 'code'>): boolean => allow.some((one) => one === code);
  return {
    questions: asked.filter((one) => !isAllowed(one)),
    allowed: asked.filter(isAllowed).map((one) => ({ ...one, severity: 'warning' as const })),
    /** @throws HandbillError exit 2 */
    refuseMeanwhile(): void {
      const isAsked = found !== null || isAllowed({ code: 'sent-elsewhere' });
      const begun = isAsked ? null : (elsewhere?.begunMeanwhile() ?? null);
      if (begun !== null) throw refuse(begun);
    },
  };
}

/** Makes recipients pending again that the user wants to send to once more. */
function askAgain({ ledger, retry, limit, nowMs }: PrepareOptions, run: RunRecord): void {
  if (retry === 'rejected') ledger.reopenRejected(run, limit ?? null);
  if (retry === 'corrected') ledger.reopenCorrected(run, nowMs);
}

/** Recipients accepted at another address than the list's, and never sent to at that one. */
function resendsOf(ledger: Ledger, run: RunRecord, draft: RunRecord | null): readonly ChangedRecipient[] {
  return ledger.changed(run, draft).filter(({ outcome, sentBefore }) => outcome === 'accepted' && !sentBefore);
}

/** The winner that the user named last: now, at an earlier start, or in the campaign; else the one that was found. */
function winnerOf({ plan, winner }: PrepareOptions, run: RunRecord | null, found: WinnerState): string | null {
  return winner ?? winnerOfRun(plan, run) ?? plan.campaign.split.winner ?? winnerIn(found);
}

/** If the user names a winner, none is searched for. */
function findWinnerOf({ ledger, plan, winner, nowMs }: PrepareOptions, run: RunRecord | null): WinnerState {
  if (winner !== undefined || run === null || run.winner !== null || plan.campaign.split.decides === null) {
    return { kind: 'none' };
  }
  joinEvidence(ledger, plan, () => nowMs);
  return findWinner(ledger, plan, run, nowMs);
}

function withWinner({ ledger, winner }: PrepareOptions, run: RunRecord, found: WinnerState): RunRecord {
  if (winner === undefined) return rememberWinner(ledger, run, found);
  return winner === run.winner ? run : ledger.setWinner(run, winner);
}

/** Whether a recipient of the list is sent to, or was by this run before. */
function stillOpen({ ledger, retry }: PrepareOptions, run: RunRecord): (key: string) => boolean {
  const keys = openRunKeys(ledger, run);
  const stateOf = ledger.stateOf(run);
  return (key) => {
    const row = keys.rowOf(key);
    const state = row === null ? null : stateOf(row, key);
    if (state === null || UNDECIDED.has(state.outcome)) return true;
    if (state.outcome === 'rejected') return retry === 'rejected';
    return state.outcome === 'skipped' && REPAIRABLE.has(state.reason ?? '');
  };
}

async function checkAndLoad(
  options: PrepareOptions,
  draft: RunRecord,
  existing: RunRecord | null,
  loaded: RowSet | null,
  elsewhere: Elsewhere | null,
  reached: Reached | null,
  found: WinnerState,
) {
  const { ledger, plan, prices, suppressions, nowMs } = options;
  const now = () => nowMs;
  const lateAtMs = lateAt(plan, existing?.startedAtMs ?? nowMs);
  const window = await createWindowGate(plan, { now, lateAtMs });
  const duplicates = duplicatesIn(plan);
  const isOpen = existing === null ? () => true : stillOpen(options, existing);
  let toDo = 0;
  let rows: LoadRow[] = [];
  const flush = (): void => {
    if (rows.length > 0) ledger.load(draft, rows);
    rows = [];
  };
  const view = {
    duplicates,
    rules: openRules(plan, { suppressions, ledger, reached, now, window, lateAtMs }),
    skipsInvalid: skipsInvalid(plan.campaign, options.allow),
    winner: winnerOf(options, existing, found),
    meter: options.meter,
  };
  const { allow, isDue } = options;
  const guard = openListGuard(plan.campaign, ledger, identityOf(plan), { nowMs, allow, isDue });
  const state = budgetState(plan, prices, nowMs, ledger);
  // An amended run's list also holds recipients who are not sent to again.
  const ownMicros = state && existing ? sumOf(costsIn(options, existing, ['accepted', 'in-doubt'])) : 0;
  const budget = state && { ...state, ownMicros };
  const { ratePerSecond = null } = options;
  const forecaster = await createForecaster(plan, { nowMs, ratePerSecond });
  const checked = await checkList(plan, view, { prices, guard, budget, forecaster, allow }, (batch, estimator) => {
    if (options.interrupt.aborted) throw interruptedEarly();
    for (const decision of batch) {
      const row = loadRow(decision, estimator, state !== null);
      elsewhere?.add(decision);
      reached?.count?.(decision);
      if (decision.decision === 'send' && isOpen(decision.key)) toDo += 1;
      rows.push(row);
      if (row.state !== 'skipped') loaded?.add(row.row);
    }
    if (rows.length >= LOAD_BATCH) flush();
  });
  flush();
  duplicates.close();
  return { ...checked, toDo, accepted: [...checked.notes, ...checked.accepted, ...budgetNotice(budget)] };
}

/** Cost of these recipients, as far as it is known: now, or with `send.each` at their times, without those too late. */
function costsIn({ ledger, plan, nowMs }: PrepareOptions, run: RunRecord, outcomes: readonly OutcomeState[]) {
  const costs = new Map<number, number>();
  const { each } = plan.campaign.recipients;
  if (each === null) {
    for (const one of ledger.counts(run)) if (outcomes.includes(one.outcome)) addAt(costs, nowMs, one.costMicros ?? 0);
    return costs;
  }
  const lateAtMs = lateAtOf(plan, run.startedAtMs ?? nowMs);
  for (const batch of ledger.outcomes(run, { outcomes })) {
    for (const { key, cost } of batch) {
      const dueMs = (timeInKey(key ?? '') ?? nowMs) - each.before.ms;
      if (lateAtMs(key ?? '') > nowMs) addAt(costs, dueMs, microsOf(cost ?? 0));
    }
  }
  return costs;
}

/** A signal before the first request ends the start at once: nothing is in flight (failures.md, I2). */
export function interruptedEarly(): HandbillError {
  return new HandbillError(EXIT.interrupted, [
    problem('interrupted', 'Nothing was sent: the command was told to stop before it began.'),
  ]);
}

/** @param isBudgeted - compares the cost of a run that continues with the budget left, including waiting recipients */
function loadRow(decision: Decision, estimator: Estimator, isBudgeted: boolean): LoadRow {
  const { row, line, key, to } = decision;
  if (decision.decision === 'send') {
    const { sms, variant } = decision;
    const costMicros = estimator.costOf(decision);
    const facts = { parts: sms?.parts ?? null, encoding: sms?.encoding ?? null, costMicros, variant };
    return { row, line, key, to, state: 'pending', reason: null, ...facts };
  }
  const isDeferred = decision.decision === 'defer';
  const mayGet = isDeferred && isBudgeted ? decision.mayGet : [];
  const costs = mayGet.flatMap((message) => estimator.costOf(message) ?? []);
  const facts = {
    parts: null,
    encoding: null,
    costMicros: costs.length === 0 ? null : Math.max(...costs),
    variant: null,
  };
  const reason = decision.decision === 'done' ? null : decision.reason;
  return { row, line, key, to, state: isDeferred ? 'deferred' : 'skipped', reason, ...facts };
}

/**
 * Refuses a run whose personal data was purged: recipients that were sent to would look new.
 * @throws HandbillError exit 2
 */
export function refusePurged(run: RunRecord): void {
  if (run.purgedAtMs === null) return;
  const day = new Date(run.purgedAtMs).toISOString().slice(0, 10);
  throw refuse(
    problem('run-purged', `This occurrence (${run.occurrence}) was purged on ${day}: its recipients are not known.`, {
      hint: 'Its recipients could no longer be sent to at most once. Use another --occurrence for a new run.',
    }),
  );
}

export function closedProblem(run: RunRecord): Diagnostic {
  const day = iso(run.closedAtMs)?.slice(0, 10);
  return problem('run-closed', `This occurrence (${run.occurrence}) was closed on ${day}: it sends nothing more.`, {
    hint: `Its report accounts for all recipients: ${nextCommand('report', run.id)}. Use another --occurrence for a new run.`,
  });
}

/** Older runs of the campaign that could still send, each as a warning; `due` continues its own runs. */
export function olderRuns(ledger: Ledger, plan: Plan) {
  const identity = identityOf(plan);
  const own = ledger.findRun(identity)?.number ?? Number.POSITIVE_INFINITY;
  const isOpen = (run: RunRecord): boolean =>
    run.number < own && run.state !== 'finished' && run.purgedAtMs === null && !isTest(run.occurrence);
  return ledger.runsOf(identity).flatMap((run) => {
    if (!isOpen(run) || ledger.isHeld(run)) return [];
    const { rows } = ledger.countOpen(run, { rejected: false });
    if (rows === 0) return [];
    const open = `An older run of this campaign (${run.occurrence}) is open: ${countOf(rows, 'recipient')}`;
    if (plan.campaign.recipients.each !== null && own === Number.POSITIVE_INFINITY) {
      const hint = 'Each list must hold all times that are still to come (`send.each`).';
      const message = `${open}. This one takes over: those of them that its list does not have are not sent to.`;
      return [warning('run-open', message, { hint })];
    }
    const hint = `If nothing more is to be sent of it: ${nextCommand('runs', 'close', run.id)}`;
    return [warning('run-open', `${open} may still be sent to.`, { hint })];
  });
}

/**
 * Why a start would not begin the run at that time: its messages have expired, its occurrence is over, or an opt-out may
 * not have been fetched.
 * `clockMs`: reports are as old as the clock says, also for a start at another time.
 */
export async function beginRefusals(
  ledger: Ledger | null,
  { campaign, environment, occurrence }: Plan,
  { nowMs, allow, clockMs = nowMs }: Pick<LateOptions, 'allow' | 'nowMs'> & { readonly clockMs?: number },
): Promise<readonly Diagnostic[]> {
  const over = allow.includes('too-late') ? null : await occurrenceOver(campaign, occurrence, nowMs);
  const past = pastValidity(campaign, beginOf({ occurrence }, nowMs));
  const stale = isTest(occurrence)
    ? null
    : staleReports(ledger, campaign.project, environment, { nowMs: clockMs, allow });
  return [...past, ...[over, stale].filter((one) => one !== null)];
}

type LateOptions = Pick<PrepareOptions, 'ledger' | 'plan' | 'allow' | 'nowMs'>;

/** An older run is continued only with `--allow too-late`: its ledger may be a restored backup (failures.md, H5). */
const LATE_MS = 24 * 3_600_000;

/** By the start of the run alone; `isTooLate` checks the rest, which needs the campaign. */
export function isLate(run: Pick<RunRecord, 'startedAtMs'>, nowMs: number): boolean {
  return run.startedAtMs !== null && nowMs - run.startedAtMs > LATE_MS;
}

/**
 * Whether a run is continued only with `--allow too-late`: it began long ago, neither `notAfter` nor the times of its
 * rows say when it expires, and its validity has not ended. The recipients that waited for a window or for the end of a
 * pause could have been sent to just as long ago.
 */
export async function isTooLate(
  { ledger, campaign, nowMs }: { readonly ledger: Ledger; readonly campaign: Campaign; readonly nowMs: number },
  run: RunRecord,
): Promise<boolean> {
  const { send, recipients } = campaign;
  // The campaign says when a message is too late, or it is for all rows: no start needs to ask a person.
  const hasEnd = send.notAfterMs !== null || recipients.each !== null || isOver({ campaign }, run, nowMs);
  if (run.startedAtMs === null || hasEnd || !isLate(run, nowMs)) return false;
  const opened = await lastOpeningAfter({ campaign }, run.lastStartAtMs ?? run.startedAtMs);
  if (opened !== null && nowMs - opened <= LATE_MS) return false;
  const waited = waitEnd(ledger, campaign, run);
  return waited === null || nowMs - waited > LATE_MS;
}

/** Whether it is too late for all rows of the run, so that nothing more is sent. */
function isOver(plan: Pick<Plan, 'campaign'>, { startedAtMs }: RunRecord, nowMs: number): boolean {
  return nowMs >= lateAt(plan, startedAtMs ?? nowMs);
}

/** Why a run is not continued: a person closed it, or it began too long ago and something is left. */
async function overRefusal(options: LateOptions, run: RunRecord): Promise<Diagnostic | null> {
  const { plan, nowMs } = options;
  if (run.closedAtMs !== null) return closedProblem(run);
  const { campaign } = plan;
  const began = run.startedAtMs;
  if (options.allow.includes('too-late') || began === null || !isLate(run, nowMs)) return null;
  const open = options.ledger.counts(run).some(({ outcome }) => UNDECIDED.has(outcome));
  if (!open || !(await isTooLate({ ledger: options.ledger, campaign, nowMs }, run))) return null;
  const hours = Math.floor((nowMs - began) / 3_600_000);
  return problem('too-late', `This run began ${hours} hours ago; what is left may be stale by now.`, {
    at: { file: campaign.file },
    hint: `Leave it, and \`${nextCommand('report')}\` accounts for all recipients. Or: ${ALLOWABLE['too-late']}`,
  });
}

/** The end of a wait that a start leaves to later ones: for a gate, a winner, or a message before. Null: none. */
function waitEnd(ledger: Ledger, { send, split, after }: Campaign, run: RunRecord): number | null {
  const gateMs = longestWaitMs(send.canary);
  const testMs = run.winner === null ? (split.decides?.waitMs ?? 0) : 0;
  const isLong = gateMs > STAYS_MS || split.decides !== null;
  const lastMs = isLong ? ledger.lastClaimMs(run) : null;
  const before = after === null ? null : ledger.findRun({ ...run, campaign: after.id });
  const beforeMs = before === null ? null : ledger.lastClaimMs(before);
  const ends = [
    ...(lastMs === null ? [] : [lastMs + Math.max(gateMs, testMs)]),
    ...(beforeMs === null || after === null ? [] : [beforeMs + after.wait.ms]),
  ];
  return ends.length === 0 ? null : Math.max(...ends);
}
