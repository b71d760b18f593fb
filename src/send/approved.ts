import { type Judgement, judge } from '../approval/judge.ts';
import { findProject } from '../campaign/place.ts';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { type Allowable, type Campaign, type Environment, type InputFile, PLAN_CODES } from '../model.ts';
import { listInput } from '../plan/check.ts';
import type { Plan } from '../plan/plan.ts';
import {
  type AnyPlanFile,
  changedInputs,
  isStanding,
  isWhole,
  type StandingPlan,
  signedBytes,
} from '../plan/plan-file.ts';
import { suppressionsInput } from '../plan/settings.ts';
import { againHint, leaveHint, standingInputs, timeFaults } from '../plan/standing-inputs.ts';
import { hashList } from '../recipients/read.ts';
import { sendCommand } from '../report/next-steps.ts';
import { nextCommand } from '../util/next-command.ts';
import { isInside } from '../util/paths.ts';
import type { Prepared } from './prepare.ts';

export interface ApprovedOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
}

/** Plans are small: a larger file is no plan. */
export const MAX_PLAN_BYTES = 1024 * 1024;

/**
 * Refuses to send to an environment with approvers anything that they have not approved. Environments without approvers,
 * such as the sandbox, need nothing. `refuseOtherInputs` checks that the plan matches the send.
 * @param planFile - the plan to apply; null where a campaign is sent without one
 * @throws HandbillError exit 2 saying what is missing
 */
export async function requireApproval(
  environment: Environment,
  planFile: AnyPlanFile | null,
  options: ApprovedOptions,
): Promise<void> {
  if (planFile !== null && isStanding(planFile)) {
    const faults = timeFaults(planFile, environment.approval?.standing ?? null, options.nowMs);
    if (faults.length > 0) throw refuse(...faults);
  }
  if (environment.approval === null) return;
  if (planFile === null) throw refuse(needsPlan(environment));
  if (planFile.environment !== environment.name || !isWhole(planFile)) {
    throw refuse(problem('plan-invalid', `This is not a plan for ${environment.name}, as it was made.`));
  }
  const judgement = await judgePlan(environment, planFile, options);
  if (judgement === null || judgement.approved) return;
  const message = `The plan of ${planFile.campaign.name} is not approved for ${environment.name}. ${judgement.missing}`;
  const hint = '`handbill approve FILE --sign KEY` adds a signature, also that of the planner.';
  const refused = judgement.refused.map((sentence) => problem('not-approved', sentence));
  throw refuse(problem('not-approved', message, { hint }), ...refused);
}

/** Judges the signatures of a plan in its environment; null where that needs none. */
export async function judgePlan(
  environment: Environment,
  planFile: AnyPlanFile,
  options: ApprovedOptions,
): Promise<Judgement | null> {
  if (environment.approval === null) return null;
  return judge(signedBytes(planFile), planFile.signatures ?? [], environment.approval, options);
}

export function needsPlan({ name, approval }: Environment, campaign = 'CAMPAIGN'): Diagnostic {
  const standing =
    (approval?.standing ?? null) === null
      ? ''
      : ` For every occurrence until a day: \`${nextCommand('approve', campaign, '--env', name, '--standing', '--until', 'DATE', '--sign', 'KEY')}\`.`;
  const hint =
    `Make one with \`${nextCommand('plan', campaign, '--env', name, '-o', 'FILE', '--sign', 'KEY')}\`, have it approved with ` +
    `\`${nextCommand('approve', 'FILE', '--sign', 'KEY')}\` by an approver, and send it with \`${nextCommand('send', '--plan', 'FILE')}\`.${standing}`;
  return problem('not-approved', `${name} accepts approved plans only.`, { hint });
}

/**
 * Compares a plan with the plan file: it must be of the same campaign, environment and occurrence, with unchanged
 * inputs.
 * A standing plan covers every occurrence and any list.
 * @param options.cwd - a plan names its campaign, but not the project: it is the one around this folder, or else one
 * below
 * @param options.allow - codes of the plan, and codes that the user added, which no approver saw
 * @throws HandbillError exit 2 naming all that differs
 */
export async function refuseOtherInputs(
  plan: Plan,
  planFile: AnyPlanFile,
  options: { readonly cwd: string; readonly allow: readonly Allowable[] },
): Promise<void> {
  refuseOtherProject(plan.campaign, options.cwd);
  const others = differences(plan, planFile);
  const beyond = isStanding(planFile)
    ? []
    : options.allow.filter((code) => OF_PLANS.includes(code) && !planFile.allow.includes(code));
  if (beyond.length > 0) others.push(notSealed(plan, beyond));
  if (others.length > 0) throw refuse(...others);
  if (isStanding(planFile)) return refuseOtherSeal(planFile, standingInputs(plan));
  const list = await hashList(plan.campaign.recipients);
  const changes = changedInputs(
    planFile.inputs,
    [...plan.inputs, suppressionsInput(plan.campaign), listInput(plan, list)],
    'the plan was made',
  );
  refuseChanges(changes, HINT);
}

function refuseChanges(changes: readonly Diagnostic[], hint: string): void {
  if (changes.length > 0) throw refuse(...changes.map((change) => ({ ...change, hint })));
}

/** Codes that a plan decides, not the start that uses it. */
const OF_PLANS: readonly Allowable[] = ['input-changed', ...PLAN_CODES];

/** Codes beside a plan were not seen when it was made. Other inputs need another plan. */
function notSealed(plan: Plan, beyond: readonly Allowable[]): Diagnostic {
  const { environment, occurrence, campaign } = plan;
  const message = `The plan does not allow ${beyond.join(', ')}.`;
  const where = { environment: environment.name, occurrence };
  if (!beyond.includes('input-changed')) {
    const again = `${sendCommand(where, campaign.name, null).replace(' send ', ' plan ')} --allow ${beyond.join(',')} -o FILE`;
    return problem('usage', message, { hint: `Make a plan that does: ${again}` });
  }
  const hint =
    environment.approval === null
      ? `Send the campaign instead of the plan: ${sendCommand(where, campaign.name, null)} --allow ${beyond.join(',')}`
      : `Undo what changed. Or leave this occurrence as it is: ${leaveHint(plan)}`;
  return problem('usage', message, { hint });
}

/**
 * Compares the inputs of a standing plan with those of the campaign now.
 * @throws HandbillError exit 2 naming all that differs
 */
export function refuseOtherSeal({ campaign, environment, inputs }: StandingPlan, sealed: readonly InputFile[]): void {
  const hint = `Undo the change. ${againHint(campaign.name, environment)}`;
  refuseChanges(changedInputs(inputs, sealed, 'it was approved'), hint);
}

/**
 * Compares the bytes that were checked and loaded with those of the plan: the list may have been replaced in between.
 * @throws HandbillError exit 2
 */
export function refuseOtherList(plan: Plan, planFile: AnyPlanFile, prepared: Pick<Prepared, 'list' | 'discard'>): void {
  if (isStanding(planFile)) return;
  const wanted = planFile.inputs.filter(({ role }) => role === 'recipients');
  const changes = changedInputs(wanted, [listInput(plan, prepared.list)], 'the plan was made');
  if (changes.length > 0) prepared.discard();
  refuseChanges(changes, HINT);
}

const HINT = 'Undo the change, or make and review a new plan.';

/** Anyone may have written a plan file that leads to another handbill.yaml, with other environments and approvers. */
export function refuseOtherProject({ project, file }: Pick<Campaign, 'project' | 'file'>, cwd: string): void {
  const { root, isMarked } = findProject(cwd);
  const { root: planned } = project;
  // A folder outside of any project may contain projects. A project elsewhere was chosen by the plan, not by the user.
  if (root === planned || (!isMarked && isInside(root, planned))) return;
  throw refuse(
    problem(
      'plan-invalid',
      'The plan is of a campaign of another project than the one of this folder, or those below it.',
      {
        at: { file },
        hint: 'Go to that project, if it is the one you mean.',
      },
    ),
  );
}

/** Differences for which one plan may not replace another: the same inputs at another time, or to another API. */
function differences(plan: Plan, planFile: AnyPlanFile): Diagnostic[] {
  const pairs = [
    ['campaign', planFile.campaign.name, plan.campaign.name],
    ['environment', planFile.environment, plan.environment.name],
    ...(isStanding(planFile) ? [] : [['occurrence', planFile.occurrence, plan.occurrence] as const]),
  ] as const;
  return pairs
    .filter(([, planned, said]) => planned !== said)
    .map(([what, planned, said]) =>
      problem(
        what === 'occurrence' ? 'usage' : 'plan-invalid',
        `The plan was made for ${what} "${planned}", not "${said}".`,
      ),
    );
}
