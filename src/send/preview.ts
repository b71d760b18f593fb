import type { Diagnostic } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { EarlierRow, RowState, RunRecord } from '../ledger/records.ts';
import type { Campaign, Channel, Decision, SendDecision, WinnerState } from '../model.ts';
import { budgetNotice, budgetState, checkBudget } from '../plan/budget.ts';
import { openReach, type Reached } from '../plan/contact-history.ts';
import { decisions, duplicatesIn, type View } from '../plan/decide.ts';
import { createEstimator } from '../plan/estimate.ts';
import type { Expander } from '../plan/expand.ts';
import { openAbandoned, pauseOfCampaign } from '../plan/former-names.ts';
import { adviseEstimate, checkLimits } from '../plan/limits.ts';
import { openListGuard } from '../plan/list-guard.ts';
import type { Plan } from '../plan/plan.ts';
import { type AnyPlanFile, isStanding } from '../plan/plan-file.ts';
import type { Previewed, PreviewedStart, PreviewRows } from '../plan/previewed.ts';
import { loadPrices } from '../plan/prices.ts';
import { commitFaults, readProvenance } from '../plan/provenance.ts';
import { type OpenRules, openClaimRules, openRules } from '../plan/rules.ts';
import { channelStepsOf } from '../plan/step-of.ts';
import { loadSuppressions, type Suppressions } from '../plan/suppression.ts';
import { createComparisonCheck, createWarner } from '../plan/warnings.ts';
import { createWindowGate } from '../plan/window.ts';
import { joinFaults, NAMED_PROBLEMS } from '../recipients/faults.ts';
import { createFormats } from '../report/formats.ts';
import { overRefusal } from '../schedule/occurrence.ts';
import type { Meter } from '../util/long-work.ts';
import { requireApproval } from './approved.ts';
import { createPacker } from './batch.ts';
import { unreachedRows } from './deliveries.ts';
import { pausedWarning } from './pause.ts';
import { continueRefusals, identityOf, isTooLate } from './prepare.ts';
import { planInForce } from './standing.ts';
import { checkWinner, findWinner, winnerIn, winnerOfRun } from './winner.ts';

/** How a preview is made. */
interface PreviewPlanOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly meter?: Meter;
  readonly skipInvalid?: boolean;
  readonly acceptList?: boolean;
  readonly winner?: string;
  readonly at?: number;
  readonly start?: PreviewedStart;
}

/**
 * What a start would do, row by row, from the same stream of decisions. Opens no connection, not even DNS; a ledger is
 * read and never created.
 *
 * @throws HandbillError exit 2: whatever is wrong with the campaign as a whole
 */
export async function previewPlan(plan: Plan, given: PreviewPlanOptions): Promise<PreviewRows> {
  const { campaign } = plan;
  if (given.winner !== undefined) checkWinner(plan, given.winner);
  const approved = given.start === undefined ? null : await refuseUnapproved(plan, given.start, given);
  const isSkipSigned = approved !== null && isStanding(approved) && approved.skipInvalid;
  const options = isSkipSigned ? { ...given, skipInvalid: true } : given;
  const prices = await loadPrices(campaign.project);
  const estimator = createEstimator(campaign, prices);
  const suppressions = await loadSuppressions(campaign, options.env);
  const { sampled } = campaign.recipients;
  // Of the people of a sample the ledger knows nothing.
  const ledger =
    sampled === undefined
      ? openExistingLedger(campaign.project.ledger, {
          nowMs: options.now(),
          newLedger: options.start?.newLedger === true,
        })
      : null;
  const closing = (error: unknown): never => {
    ledger?.close();
    throw error;
  };
  const reached = await openReach(plan, ledger, options.at ?? options.now()).catch(closing);
  const known = await viewOf(plan, ledger, suppressions, reached, options).catch(closing);
  const { startedAtMs, usedBy, insteadOf } = known;
  const refusals = [...known.refusals, ...(reached?.refusals ?? [])];
  const { meter } = options;
  const view = { ...known.view, ...(meter === undefined ? {} : { meter }) };
  const expand = plan.expander(options.at ?? startedAtMs ?? options.now());
  const problems: Diagnostic[] = [];
  let invalid = 0;
  let changed = 0;
  let judged: readonly Diagnostic[] = [];
  const { acceptList = false } = options;
  const isBegun = ledger !== null && ledger.findRun(identityOf(plan)) !== null;
  const abandoned = isBegun ? null : openAbandoned(plan, ledger, plan.environment.name);
  const guard = openListGuard(campaign, ledger, identityOf(plan), { nowMs: options.now(), acceptList });

  const budget = budgetState(plan, prices, options.now(), sampled === undefined ? ledger : undefined);
  const comparisons = createComparisonCheck(plan);
  const paused = pausedWarning(ledger && pauseOfCampaign(ledger, campaign, plan.environment.name));
  const sample = sampled === undefined ? [] : [sampled];
  const said = [...sample, ...plan.warnings, ...suppressions.warnings, ...paused, ...(reached?.warnings ?? [])];
  const previewer = createPreviewer(plan.recipientsPerRequest, expand);
  async function* batches(): AsyncGenerator<readonly Previewed[]> {
    const stream = decisions(plan, view);
    try {
      for await (const batch of stream) {
        for (const decided of batch) {
          const decision = known.numbered(insteadOf(onStep(decided, usedBy(decided.row), known.claimRules)));
          if (decision.decision === 'done' && decision.sentTo !== undefined) changed += 1;
          estimator.add(decision);
          comparisons.add(decision);
          abandoned?.add(decision);
          if (decision.decision === 'invalid') {
            invalid += 1;
            if (problems.length < NAMED_PROBLEMS) problems.push(decision.problem);
          }
          previewer.add(decision);
        }
        yield previewer.ready();
      }
    } catch (error) {
      throw joinFaults(problems, invalid, error);
    }
    yield previewer.rest();
    said.push(...stream.notes(), ...comparisons.unmet());
    // Of a run that has begun, the rules are not asked about all rows.
    if (startedAtMs === null) said.push(...(reached?.unfollowed() ?? []));
    said.push(...(abandoned?.warnings() ?? []));
    judged = guard.judge(stream.facts());
    said.push(...judged.filter(({ severity }) => severity === 'warning'));
  }
  return {
    plan,
    formats: createFormats(campaign.project.locale, campaign.project.timeZone),
    warn: createWarner(plan),
    stepOf: channelStepsOf(campaign),
    warnings: said,
    batches: batches(),
    winner: known.winner,
    result() {
      const estimate = estimator.result();
      const failed = judged.filter(({ severity }) => severity === 'error');
      const worst = estimator.worst();
      const limits = [
        ...checkLimits(campaign, estimate, worst),
        ...checkBudget(campaign, estimate, worst, budget),
        ...failed,
      ];
      return {
        estimate,
        problems: [...refusals, ...problems, ...limits],
        problemCount: refusals.length + invalid + limits.length,
        changed,
        mostExpensive: worst.mostExpensive?.line ?? null,
        warnings: [...adviseEstimate(campaign, estimate), ...budgetNotice(budget)],
      };
    },
    close: () => ledger?.close(),
  };
}

/** What `send` checks before it reads the list: that the plan is the one in the plan file, and approved. Returns it. */
async function refuseUnapproved(
  plan: Plan,
  start: PreviewedStart,
  options: PreviewPlanOptions,
): Promise<AnyPlanFile | null> {
  const { planFile } = await planInForce(plan, { ...options, ...start });
  await requireApproval(plan.environment, planFile, { env: options.env, nowMs: options.now() });
  return planFile;
}

/** Who fell back in the run gets the fallback next; where the campaign has it no more, nothing. */
function onStep(decision: Decision, used: readonly Channel[] | null, claimRules: () => OpenRules): Decision {
  if (used === null || decision.decision !== 'send') return decision;
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

interface Known {
  readonly view: View;
  /** The rules for a fallback, at its own address. */
  readonly claimRules: () => OpenRules;
  readonly winner: WinnerState;
  readonly startedAtMs: number | null;
  /** Channels on which the recipient could not be reached before; null: none. */
  readonly usedBy: (row: number) => readonly Channel[] | null;
  /** A fallback that a report asks for and a rule forbids does not take place: the message before stays accepted. */
  readonly insteadOf: (decision: Decision) => Decision;
  /** A message to a corrected address, which has a reference of its own. */
  readonly numbered: (decision: Decision) => Decision;
  /** Why `send` would not begin or continue the run; empty: it would. */
  readonly refusals: readonly Diagnostic[];
}

/** What the ledger knows: final outcomes of this run, and suppressions. */
async function viewOf(
  plan: Plan,
  ledger: Ledger | null,
  suppressions: Suppressions,
  reached: Reached | null,
  options: PreviewPlanOptions,
): Promise<Known> {
  const { campaign } = plan;
  const begun = new Map<number, readonly Channel[]>();
  const accepted = new Map<number, RowState>();
  const resent = new Map<number, number>();
  const nowMs = options.at ?? options.now();
  const run = ledger?.findRun(identityOf(plan));
  const { start = {} } = options;
  const refusals = [
    ...(await commitRefusals(plan, options)),
    ...(await refusalsOf({ plan, ledger, nowMs, start }, run ?? null)),
  ];
  const asksAgain = again(start, run && ledger ? () => ledger.earlier(run) : () => new Map());
  const stateOf = run && ledger ? ledger.stateOf(run) : null;
  // As `send` would do it: what is stale is left as it is.
  const isStale = run && ledger ? start.late !== true && (await isTooLate({ ledger, campaign, nowMs }, run)) : true;
  const fallsBack = run && ledger && !isStale ? reportedIn(ledger, run, campaign) : null;
  const winner: WinnerState =
    ledger === null || options.winner !== undefined ? { kind: 'none' } : findWinner(ledger, plan, run ?? null, nowMs);
  const now = () => nowMs;
  const window = await createWindowGate(plan, { now, startMs: run?.startedAtMs ?? nowMs });
  const sources = { suppressions, ledger, reached, now, window };
  let claimRules: OpenRules | null = null;
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
    rules: openRules(plan, sources),
    skipInvalid: options.skipInvalid === true || campaign.recipients.onInvalid === 'skip',
    winner: options.winner ?? winnerOfRun(plan, run ?? null) ?? winnerIn(winner),
  };
  return {
    view,
    claimRules() {
      claimRules ??= openClaimRules(plan, sources);
      return claimRules;
    },
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

/** Only an environment that asks for a commit has git asked. */
async function commitRefusals(
  { campaign, environment }: Plan,
  { env }: Pick<PreviewPlanOptions, 'env'>,
): Promise<readonly Diagnostic[]> {
  return environment.git === null ? [] : commitFaults(environment, await readProvenance(campaign, env));
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

/** Adds to decisions the requests that send would make of them, in list order. */
interface Previewer {
  add(decision: Decision): void;
  /** Recipients whose request is complete, up to the first one that waits for others in the same request. */
  ready(): readonly Previewed[];
  /** What is left at the end of the list. */
  rest(): readonly Previewed[];
}

const NONE: readonly string[] = [];

/**
 * Packs requests as send does, so that what is shown is what is posted. Only a request that several recipients share
 * holds the rows back: as many as it takes, and no more.
 */
function createPreviewer(most: number, expand: Expander): Previewer {
  const packer = createPacker<{ readonly at: number; readonly decision: SendDecision }>(most);
  // By position since the beginning; null while the request is not known.
  let waiting: (Previewed | null)[] = [];
  let first = 0;
  const fallbacksOf = (decision: SendDecision): readonly string[] =>
    decision.fallbacks.length === 0 ? NONE : decision.fallbacks.map((m) => expand.one(decision, m).body);
  const alone = (decision: SendDecision): Previewed => ({
    decision,
    body: expand.one(decision, decision).body,
    sharedWith: null,
    fallbacks: fallbacksOf(decision),
  });
  const close = (batch: readonly { readonly at: number; readonly decision: SendDecision }[]): void => {
    const [head] = batch;
    if (head === undefined) return;
    if (batch.length === 1) {
      waiting[head.at - first] = alone(head.decision);
      return;
    }
    const body = expand.many(batch.map(({ decision }) => decision)).body;
    for (const { at, decision } of batch) {
      const own = at === head.at;
      waiting[at - first] = {
        decision,
        body: own ? body : null,
        sharedWith: own ? null : head.decision.line,
        fallbacks: fallbacksOf(decision),
      };
    }
  };
  const ready = (): readonly Previewed[] => {
    const end = waiting.indexOf(null);
    const shown = (end === -1 ? waiting : waiting.slice(0, end)).filter((row) => row !== null);
    waiting = end === -1 ? [] : waiting.slice(end);
    first += shown.length;
    return shown;
  };
  return {
    add(decision) {
      if (decision.decision !== 'send') {
        waiting.push({ decision, body: null, sharedWith: null, fallbacks: NONE });
        return;
      }
      // Hardly any campaign shares requests, and fallbacks never do: then nothing waits, and nothing need be packed.
      if (most === 1 || decision.step > 0) {
        waiting.push(alone(decision));
        return;
      }
      const at = first + waiting.length;
      waiting.push(null);
      const batch = packer.add({ at, decision }, decision.variant);
      if (batch !== null) close(batch);
    },
    ready,
    rest() {
      for (const batch of packer.rest()) close(batch);
      return ready();
    },
  };
}
