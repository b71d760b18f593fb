import type { PriceList } from '../content/price.ts';
import { type Diagnostic, EXIT, HandbillError } from '../errors.ts';
import type { Decision, InputFile } from '../model.ts';
import { joinFaults, NAMED_PROBLEMS } from '../recipients/faults.ts';
import type { ListDigest } from '../recipients/read.ts';
import { decisions, type View } from './decide.ts';
import { createEstimator, type Estimate, type Estimator } from './estimate.ts';
import { checkLimits } from './limits.ts';
import type { Plan } from './plan.ts';

/** What a whole list came to. */
export interface Checked {
  readonly list: ListDigest;
  readonly estimate: Estimate;
  /** Everything that went into the messages, the list included. */
  readonly inputs: readonly InputFile[];
}

/**
 * Looks at every row before anything is sent (failures.md, A3): hands each batch of decisions to `take`, and throws `HandbillError`
 * (exit 2) with every invalid row and every limit that is exceeded. Nothing may be sent unless this returns.
 */
export async function checkList(
  plan: Plan,
  view: View,
  prices: PriceList | null,
  take: (batch: readonly Decision[], estimator: Estimator) => void,
): Promise<Checked> {
  const estimator = createEstimator(plan.campaign, prices);
  const problems: Diagnostic[] = [];
  let invalid = 0;
  const stream = decisions(plan, view);
  try {
    for await (const batch of stream) {
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
  const limits = checkLimits(plan.campaign, estimate, estimator.worst());
  if (invalid + limits.length > 0) {
    throw new HandbillError(EXIT.refused, [...problems, ...limits], invalid + limits.length);
  }
  const list = stream.digest();
  return { list, estimate, inputs: [...plan.inputs, listInput(plan, list)] };
}

/** The list as an input of a plan. */
export function listInput(plan: Plan, list: ListDigest): InputFile {
  const { file, delimiter, encoding, escaped } = plan.campaign.recipients;
  return { role: 'recipients', file, sha256: list.sha256, reading: { delimiter, encoding, escaped } };
}
