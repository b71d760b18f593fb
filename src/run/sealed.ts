import { refuse } from '../errors.ts';
import { listInput } from '../plan/check.ts';
import type { Plan } from '../plan/plan.ts';
import { changedInputs, type SealedPlan } from '../plan/seal.ts';
import { hashList } from '../recipients/read.ts';

/**
 * Compares a plan with the one that was sealed.
 *
 * @throws HandbillError exit 2 naming every input that changed
 */
export async function refuseUnlessSealed(plan: Plan, sealed: SealedPlan): Promise<void> {
  const list = await hashList(plan.campaign.recipients);
  const changes = changedInputs(sealed.inputs, [...plan.inputs, listInput(plan, list)], 'the plan was sealed');
  if (changes.length === 0) return;
  const hint = 'Undo the change, or make and review a new plan.';
  throw refuse(...changes.map((change) => ({ ...change, hint })));
}
