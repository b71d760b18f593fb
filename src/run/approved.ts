import { type Judgement, judge } from '../approval/judge.ts';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { Environment } from '../model.ts';
import { isWhole, type SealedPlan, signedBytes } from '../plan/seal.ts';

export interface ApprovedOptions {
  /** The process's variables: where ssh-keygen is found. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Keys must be valid now. */
  readonly nowMs: number;
}

/**
 * Refuses to send to an environment with approvers what they have not approved. Environments without approvers, such as
 * the sandbox, need nothing. Whether the plan is of what is about to be sent is said by `refuseUnlessSealed`.
 *
 * @param sealed - the plan that is applied; null where a campaign is sent without one
 * @throws HandbillError exit 2 saying what is missing
 */
export async function requireApproval(
  environment: Environment,
  sealed: SealedPlan | null,
  options: ApprovedOptions,
): Promise<void> {
  if (environment.approval === null) return;
  if (sealed === null) throw refuse(needsPlan(environment.name));
  if (sealed.environment !== environment.name || !isWhole(sealed)) {
    throw refuse(problem('plan-invalid', `This is not a plan for ${environment.name}, as it was made.`));
  }
  const judgement = await judgePlan(environment, sealed, options);
  if (judgement === null || judgement.approved) return;
  throw refuse(notApproved(environment, sealed, judgement), ...judgement.refused.map(doesNotCount));
}

/** What the signatures of a plan come to in its environment; null where that needs none. */
export async function judgePlan(
  environment: Environment,
  sealed: SealedPlan,
  options: ApprovedOptions,
): Promise<Judgement | null> {
  if (environment.approval === null) return null;
  return judge(signedBytes(sealed), sealed.signatures ?? [], environment.approval, options);
}

function needsPlan(environment: string): Diagnostic {
  const hint =
    `Make one with \`handbill plan CAMPAIGN --env ${environment} -o FILE --sign KEY\`, have it approved with ` +
    '`handbill approve FILE --sign KEY` by an approver, and send it with `handbill send --plan FILE`.';
  return problem('not-approved', `${environment} accepts approved plans only.`, { hint });
}

function notApproved(environment: Environment, sealed: SealedPlan, { missing }: Judgement): Diagnostic {
  const message = `The plan of ${sealed.campaign.name} is not approved for ${environment.name}. ${missing}`;
  const hint = '`handbill approve FILE --sign KEY` adds a signature, also that of the planner.';
  return problem('not-approved', message, { hint });
}

function doesNotCount(sentence: string): Diagnostic {
  return problem('not-approved', sentence);
}
