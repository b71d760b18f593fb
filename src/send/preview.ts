import type { Diagnostic } from '../errors.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { Allowable, Decision, SendDecision, SendRequest } from '../model.ts';
import { budgetNotice, budgetState, checkBudget } from '../plan/budget.ts';
import { createCellCheck } from '../plan/cell-check.ts';
import { badRows } from '../plan/check.ts';
import { channelStepsOf } from '../plan/compile.ts';
import { openReach } from '../plan/contact-history.ts';
import { decisions } from '../plan/decide.ts';
import { openElsewhere, otherProvider } from '../plan/elsewhere.ts';
import { createEstimator, loadPrices } from '../plan/estimate.ts';
import type { Expander } from '../plan/expand.ts';
import { createForecaster } from '../plan/forecast.ts';
import { adviseEstimate, checkLimits } from '../plan/limits.ts';
import { openListGuard } from '../plan/list-guard.ts';
import type { Plan } from '../plan/plan.ts';
import type { Previewed, PreviewedStart, PreviewRows } from '../plan/previewed.ts';
import { commitFaults, readProvenance } from '../plan/provenance.ts';
import { loadSuppressions } from '../plan/suppression.ts';
import { createComparisonCheck, createWarner } from '../plan/warnings.ts';
import { joinFaults, NAMED_PROBLEMS } from '../recipients/faults.ts';
import { hashList } from '../recipients/read.ts';
import { createFormats } from '../report/locale.ts';
import type { Meter } from '../util/long-work.ts';
import { iso } from '../util/time.ts';
import { requireApproval } from './approved.ts';
import { type KnownSources, openKnown } from './known.ts';
import { pausedWarning } from './pause.ts';
import { beginRefusals, continueRefusals, identityOf, olderRuns } from './prepare.ts';
import { createPacker } from './producer.ts';
import { planInForce } from './standing.ts';
import { checkWinner } from './winner.ts';

interface PreviewPlanOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly meter?: Meter | undefined;
  readonly allow?: readonly Allowable[];
  readonly winner?: string;
  readonly at?: number;
  readonly start?: PreviewedStart;
}

/**
 * A start's work, row by row, from the same stream of decisions. Opens no connection, not even DNS; only reads
 * the ledger.
 * @throws HandbillError exit 2: anything wrong with the campaign as a whole
 */
export async function previewPlan(plan: Plan, options: PreviewPlanOptions): Promise<PreviewRows> {
  const { campaign } = plan;
  if (options.winner !== undefined) checkWinner(plan, options.winner);
  if (options.start !== undefined) await refuseUnapproved(plan, options.start, options);
  const { allow = [], start = {} } = options;
  const prices = loadPrices(campaign.project);
  const suppressions = await loadSuppressions(campaign, options.env);
  const { sampled } = campaign.recipients;
  const nowMs = options.at ?? options.now();
  const forecaster = sampled === undefined ? await createForecaster(plan, { nowMs }) : null;
  const estimator = createEstimator(campaign, prices, forecaster);
  // The ledger knows nothing of the people of a sample.
  const ledger =
    sampled === undefined ? openExistingLedger(campaign.project.ledger, { nowMs: options.now(), allow }) : null;
  const closing = (error: unknown): never => {
    ledger?.close();
    throw error;
  };
  const reached = await openReach(plan, ledger, nowMs).catch(closing);
  const run = ledger?.findRun(identityOf(plan)) ?? null;
  const list = run === null ? null : await hashList(campaign.recipients).catch(closing);
  const startedAtMs = run?.startedAtMs ?? null;
  const { retry } = start;
  const { winner } = options;
  const sources = { ledger, run, list, suppressions, reached, nowMs, allow, retry, winner };
  const refused = await refusalsOf(plan, sources, options).catch(closing);
  const refusals = [...refused, ...(reached?.refusals ?? [])];
  const known = await openKnown(plan, sources).catch(closing);
  const view = { ...known.view, meter: options.meter };
  const expand = plan.expander(options.at ?? startedAtMs ?? options.now());
  const problems: Diagnostic[] = [];
  let invalid = 0;
  let changed = 0;
  let judged: readonly Diagnostic[] = [];
  const guard = openListGuard(campaign, ledger, identityOf(plan), { nowMs: options.now(), allow, isDue: start.isDue });

  const budget = budgetState(plan, prices, nowMs, sampled === undefined ? ledger : undefined);
  const comparisons = createComparisonCheck(plan);
  const cells = createCellCheck(plan);
  const elsewhere = openElsewhere(plan, ledger);
  const paused = pausedWarning(ledger?.pauseOf(identityOf(plan)));
  const sample = sampled === undefined ? [] : [sampled];
  const older = ledger === null ? [] : olderRuns(ledger, plan);
  const said = [
    ...sample,
    ...plan.warnings,
    ...older,
    ...suppressions.warnings,
    ...paused,
    ...(reached?.warnings ?? []),
  ];
  const previewer = createPreviewer(plan.recipientsPerRequest, expand);
  async function* batches(): AsyncGenerator<readonly Previewed[]> {
    const stream = decisions(plan, view);
    try {
      for await (const batch of stream) {
        for (const decided of batch) {
          const decision = known.join(decided);
          if (decision.decision === 'done' && decision.sentTo !== undefined) changed += 1;
          estimator.add(decision);
          comparisons.add(decision);
          cells.add(decision);
          elsewhere?.add(decision);
          reached?.count?.(decision);
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
    said.push(...stream.notes(), ...cells.warnings(), ...comparisons.unmet(), ...known.changes());
    // Once a run has begun, the rules do not apply to all rows.
    if (startedAtMs === null) said.push(...(reached?.unfollowed() ?? []));
    for (const one of [elsewhere?.found() ?? null, run === null ? null : otherProvider(run, plan)]) {
      if (one !== null) said.push({ ...one, severity: 'warning' });
    }
    judged = guard.judge(stream.facts());
    said.push(...judged.filter(({ severity }) => severity === 'warning'));
  }
  return {
    plan,
    formats: createFormats(campaign.project.locale, campaign.project.timeZone),
    warn: await createWarner(plan),
    stepOf: channelStepsOf(campaign),
    warnings: said,
    batches: batches(),
    winner: known.winner,
    at: iso(nowMs),
    result() {
      const estimate = estimator.result();
      const failed = judged.filter(({ severity }) => severity === 'error');
      const worst = estimator.worst();
      const limited = checkLimits(campaign, estimate, worst, allow);
      const limits = [
        ...limited.filter(({ severity }) => severity === 'error'),
        ...checkBudget(campaign, estimate, worst, budget),
        ...failed,
      ];
      return {
        estimate,
        problems: [...refusals, ...problems, ...limits, ...badRows(plan, invalid, estimate.rows)],
        problemCount: refusals.length + invalid + limits.length,
        changed,
        mostExpensive: worst.mostExpensive?.line ?? null,
        warnings: [
          ...limited.filter(({ severity }) => severity === 'warning'),
          ...adviseEstimate(campaign, estimate),
          ...budgetNotice(budget),
        ],
      };
    },
    close: () => ledger?.close(),
  };
}

/** The checks that `send` makes before it reads the list: that the plan is the one in the plan file, and approved. */
async function refuseUnapproved(plan: Plan, start: PreviewedStart, options: PreviewPlanOptions): Promise<void> {
  // It may have ended by then; one that is signed today counts for a time before it, too.
  const now = (): number => Math.max(options.now(), options.at ?? 0);
  const { planFile } = await planInForce(plan, { ...options, ...start, now });
  await requireApproval(plan.environment, planFile, { env: options.env, nowMs: now() });
}

/** Why `send` would not begin or continue the run; empty: it would. */
async function refusalsOf(
  plan: Plan,
  { ledger, run, list, nowMs, allow }: KnownSources,
  { env, now }: PreviewPlanOptions,
): Promise<readonly Diagnostic[]> {
  const { campaign, environment } = plan;
  // Runs git only for an environment that requires a commit.
  const ofCommit = environment.git === null ? [] : commitFaults(environment, await readProvenance(campaign, env));
  if (run !== null && ledger !== null && list !== null) {
    return [...ofCommit, ...(await continueRefusals({ ledger, plan, nowMs, allow }, run, list))];
  }
  return [...ofCommit, ...(await beginRefusals(ledger, plan, { nowMs, allow, clockMs: now() }))];
}

const NONE: readonly SendRequest[] = [];

/**
 * Adds the requests that send would make to decisions, in list order. Packs them as send does, so that the preview
 * shows what is posted. Holds back only rows of shared requests.
 */
function createPreviewer(most: number, expand: Expander) {
  const packer = createPacker<{ readonly at: number; readonly decision: SendDecision }>(most);
  // By position since the beginning; null while the request is not known.
  let waiting: (Previewed | null)[] = [];
  let first = 0;
  const fallbacksOf = (decision: SendDecision): readonly SendRequest[] =>
    decision.fallbacks.length === 0 ? NONE : decision.fallbacks.map((m) => expand.one(decision, m));
  const alone = (decision: SendDecision): Previewed => ({
    decision,
    request: expand.one(decision, decision),
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
    const request = expand.many(batch.map(({ decision }) => decision));
    for (const { at, decision } of batch) {
      const own = at === head.at;
      waiting[at - first] = {
        decision,
        request: own ? request : null,
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
    add(decision: Decision): void {
      if (decision.decision !== 'send') {
        waiting.push({ decision, request: null, sharedWith: null, fallbacks: NONE });
        return;
      }
      // Few campaigns share requests, and fallbacks never do: then nothing waits.
      if (most === 1 || decision.step > 0) {
        waiting.push(alone(decision));
        return;
      }
      const at = first + waiting.length;
      waiting.push(null);
      const batch = packer.add({ at, decision }, decision.variant);
      if (batch !== null) close(batch);
    },
    /** Recipients whose request is complete, up to the first one that waits for others in the same request. */
    ready,
    rest(): readonly Previewed[] {
      for (const batch of packer.rest()) close(batch);
      return ready();
    },
  };
}
