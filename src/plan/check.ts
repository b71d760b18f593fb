import type { PriceList } from '../content/price.ts';
import { type Diagnostic, EXIT, HandbillError, problem } from '../errors.ts';
import { ALLOWABLE, type Allowable, type Decision, type InputFile } from '../model.ts';
import { joinFaults, NAMED_PROBLEMS } from '../recipients/faults.ts';
import type { ListDigest } from '../recipients/read.ts';
import { countOf, number } from '../report/words.ts';
import { type BudgetState, checkBudget } from './budget.ts';
import { decisions, type View } from './decide.ts';
import { createEstimator, type Estimator, type Forecaster } from './estimate.ts';
import { checkLimits } from './limits.ts';
import type { ListGuard } from './list-guard.ts';
import type { Plan } from './plan.ts';

interface CheckSources {
  readonly prices: PriceList | null;
  readonly guard: ListGuard;
  /** Default: the environment has no budget. */
  readonly budget?: BudgetState | null;
  /** Joins what a run did before to each decision. Default: none has begun. */
  readonly join?: (decision: Decision) => Decision;
  /** Default: the end of the run is not worked out. */
  readonly forecaster?: Forecaster | null;
  readonly allow?: readonly Allowable[];
}

/** Throws HandbillError (exit 2) with all invalid rows, exceeded limits and failed guards (failures.md, A3). */
export async function checkList(
  plan: Plan,
  view: View,
  { prices, guard, budget = null, join, forecaster = null, allow = [] }: CheckSources,
  take: (batch: readonly Decision[], estimator: Estimator) => void,
) {
  const estimator = createEstimator(plan.campaign, prices, forecaster);
  const problems: Diagnostic[] = [];
  let invalid = 0;
  const stream = decisions(plan, view);
  try {
    for await (const decided of stream) {
      const batch = join === undefined ? decided : decided.map(join);
      for (const decision of batch) {
        estimator.add(decision);
        if (decision.decision !== 'invalid') continue;
        invalid += 1;
        if (problems.length < NAMED_PROBLEMS) problems.push(decision.problem);
      }
      take(batch, estimator);
    }
  } catch (error) {
    throw joinFaults(problems, invalid, error);
  }
  const estimate = estimator.result();
  const judged = [
    ...checkLimits(plan.campaign, estimate, estimator.worst(), allow),
    ...checkBudget(plan.campaign, estimate, estimator.worst(), budget),
    ...guard.judge(stream.facts()),
  ];
  const limits = judged.filter(({ severity }) => severity === 'error');
  if (invalid + limits.length > 0) {
    const all = [...problems, ...limits, ...badRows(plan, invalid, estimate.rows)];
    throw new HandbillError(EXIT.refused, all, invalid + limits.length);
  }
  const list = stream.digest();
  const input = listInput(plan, list);
  const isOtherSize = judged.some(({ code }) => code === 'list-size-changed' || code === 'list-too-short');
  const allowed = judged.length === 0 ? {} : { accepted: judged.map(({ message }) => message) };
  const accepted: InputFile = { ...input, ...allowed, ...(isOtherSize ? { isOtherSize } : {}) };
  return {
    list,
    estimate,
    /** Everything that went into the messages, the list included. */
    inputs: [...plan.inputs, accepted],
    /** The guards that the list fails and the limits that it is above, as warnings: they were allowed. */
    accepted: judged as readonly Diagnostic[],
    notes: stream.notes(),
  };
}

/** Empty: there are none. */
export function badRows({ campaign }: Pick<Plan, 'campaign'>, invalid: number, rows: number): readonly Diagnostic[] {
  if (invalid === 0) return [];
  const message = `${number(invalid)} of ${countOf(rows, 'row')} cannot be sent to.`;
  const hint = `Correct them. Or: ${ALLOWABLE['invalid-rows']}`;
  return [problem('invalid-rows', message, { at: { file: campaign.recipients.file }, hint })];
}

export function listInput(plan: Plan, list: ListDigest): InputFile {
  const { file, given, headerRow, delimiter, encoding, escaped } = plan.campaign.recipients;
  const reading = { headerRow, delimiter, encoding, escaped };
  return { role: 'recipients', file, sha256: list.sha256, reading, ...(given === undefined ? {} : { given }) };
}
