import { findProject } from '../campaign/place.ts';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { listInput } from '../plan/check.ts';
import type { Plan } from '../plan/plan.ts';
import { changedInputs, type SealedPlan } from '../plan/seal.ts';
import { hashList } from '../recipients/read.ts';
import { occurrenceRules } from '../schedule/occurrence.ts';
import { canonicalName } from '../util/occurrence-name.ts';
import { isInside } from '../util/paths.ts';
import type { Prepared } from './prepare.ts';

/**
 * Compares a plan with the plan file: it must be of the same campaign, environment and occurrence, with unchanged inputs.
 *
 * @param options.cwd - a plan names its campaign, but not the project: it is that in which this folder lies, or else one
 *   below this folder
 * @param options.amend - asked for beside the plan, which would put what was not looked at in the place of a run
 * @throws HandbillError exit 2 naming all that differs
 */
export async function refuseUnlessSealed(
  plan: Plan,
  sealed: SealedPlan,
  options: { readonly cwd: string; readonly amend: boolean },
): Promise<void> {
  await refuseOtherProject(plan, options.cwd);
  const others = differences(plan, sealed);
  if (options.amend) others.push(problem('usage', 'A plan file cannot be amended.', { hint: 'Make a new plan.' }));
  if (others.length > 0) throw refuse(...others);
  const list = await hashList(plan.campaign.recipients);
  const changes = changedInputs(sealed.inputs, [...plan.inputs, listInput(plan, list)], 'the plan was made');
  if (changes.length === 0) return;
  throw refuse(...changes.map((change) => ({ ...change, hint: HINT })));
}

/**
 * Compares the bytes that were looked at and loaded with those of the plan: the list may have been replaced since it was
 * compared.
 *
 * @throws HandbillError exit 2
 */
export function refuseOtherList(plan: Plan, sealed: SealedPlan, prepared: Pick<Prepared, 'list' | 'discard'>): void {
  const wanted = sealed.inputs.filter(({ role }) => role === 'recipients');
  const changes = changedInputs(wanted, [listInput(plan, prepared.list)], 'the plan was made');
  if (changes.length === 0) return;
  prepared.discard();
  throw refuse(...changes.map((change) => ({ ...change, hint: HINT })));
}

const HINT = 'Undo the change, or make and review a new plan.';

/**
 * Any person may have written a plan file. One that leads to another handbill.yaml would bring its own environments and
 * approvers with it.
 */
async function refuseOtherProject(plan: Plan, cwd: string): Promise<void> {
  const { root, isMarked } = await findProject(cwd);
  const { root: planned } = plan.campaign.project;
  // A folder outside of any project may contain projects. A project elsewhere was chosen by the plan, not by the user.
  if (root === planned || (!isMarked && isInside(root, planned))) return;
  throw refuse(
    problem(
      'plan-invalid',
      'The plan is of a campaign of another project than the one of this folder, or those below it.',
      {
        at: { file: plan.campaign.file },
        hint: 'Go to that project, if it is the one you mean.',
      },
    ),
  );
}

/** What one plan may not be taken for another in: the same inputs may go out at another time, or to another API. */
function differences(plan: Plan, sealed: SealedPlan): Diagnostic[] {
  const pairs = [
    ['campaign', sealed.campaign.name, plan.campaign.name],
    ['environment', sealed.environment, plan.environment.name],
    ['occurrence', sealed.occurrence, plan.occurrence],
  ] as const;
  const rules = occurrenceRules(plan.campaign);
  const same = (planned: string, said: string): boolean => canonicalName(planned, rules) === canonicalName(said, rules);
  return pairs
    .filter(([what, planned, said]) => planned !== said && !(what === 'occurrence' && same(planned, said)))
    .map(([what, planned, said]) =>
      problem(
        what === 'occurrence' ? 'usage' : 'plan-invalid',
        `The plan was made for ${what} "${planned}", not "${said}".`,
      ),
    );
}
