import { resolve } from 'node:path';
import { type Judgement, judge } from '../approval/judge.ts';
import type { Env } from '../approval/ssh-keygen.ts';
import { problem, refuse } from '../errors.ts';
import type { Environment } from '../model.ts';
import { type SealedPlan, signedBytes } from '../plan/seal.ts';
import { canonical } from '../plan/settings.ts';
import { judgePlan, requireApproval } from '../run/approved.ts';
import { refuseUnlessSealed } from '../run/sealed.ts';
import { writeOutput } from '../util/output-file.ts';
import { makePlan, readPlanFile, signPlan, toText } from './plan.ts';
import { projectHere } from './project-ledger.ts';

export interface ApproveOptions {
  readonly cwd: string;
  readonly env: Env;
  readonly now: () => number;
  /** A private key, or a public key whose private half is in ssh-agent. Default: HANDBILL_SIGNING_KEY. */
  readonly key?: string;
  /** The recipient list, if its path differs from the one that the plan was made with. */
  readonly recipients?: string;
  /** The ledger that suppression, `exclude` and `frequency` are looked up in; default: that of the project. */
  readonly ledger?: string;
  /** Do not compare the plan with this checkout. Default: compare. */
  readonly unchecked?: boolean;
  /** The user can be asked for a passphrase. Default: no. */
  readonly interactive?: boolean;
  readonly onSaid?: (text: string) => void;
  /** Asked before anything is signed; false refuses. Default: refuse. */
  readonly confirm?: (question: ApproveQuestion) => Promise<boolean>;
}

/** What is about to be signed, for the question to the user. */
export interface ApproveQuestion {
  readonly plan: SealedPlan;
  readonly environment: Environment;
  /** Its inputs and figures are those of this checkout; false if they were not compared. */
  readonly compared: boolean;
  /** Whether its signatures are enough so far; null if the environment needs none. */
  readonly judgement: Judgement | null;
}

export interface ApproveResult extends ApproveQuestion {
  /** The plan with the new signature, as the file holds it now. */
  readonly plan: SealedPlan;
}

/**
 * Signs a plan file: shows the plan, compares it with this checkout, and adds a signature to the file.
 *
 * @throws HandbillError exit 2 if the plan is not of this checkout, the key does not count there, or the user did not
 * confirm
 */
export async function approve(file: string, options: ApproveOptions): Promise<ApproveResult> {
  const question = await lookAt(file, options);
  const { plan, environment } = question;
  if (!((await options.confirm?.(question)) ?? false)) {
    const hint = 'Without a terminal, add --yes.';
    throw refuse(problem('not-confirmed', 'Nothing was signed: it was not confirmed.', { hint }));
  }
  const { interactive = false, cwd, env } = options;
  const said = options.onSaid === undefined ? {} : { onSaid: options.onSaid };
  const signed = await signPlan(plan, options.key, { cwd, env, interactive, ...said });
  await refuseUncounted(signed, environment, options);
  const judgement = await judgePlan(environment, signed.plan, { env, nowMs: options.now() });
  await writeOutput(resolve(cwd, file), [toText(signed.plan)]);
  return { ...question, plan: signed.plan, judgement };
}

/**
 * Checks whether a plan is approved, without signing it.
 *
 * @throws HandbillError exit 2 if it is not, or is not of this checkout
 */
export async function checkApproval(file: string, options: ApproveOptions): Promise<ApproveQuestion> {
  const question = await lookAt(file, options);
  await requireApproval(question.environment, question.plan, { env: options.env, nowMs: options.now() });
  return question;
}

async function lookAt(file: string, options: ApproveOptions): Promise<ApproveQuestion> {
  const plan = await readPlanFile(file, options.cwd);
  const compared = options.unchecked !== true;
  const environment = compared ? await compare(plan, options) : await environmentHere(plan, options);
  const judgement = await judgePlan(environment, plan, { env: options.env, nowMs: options.now() });
  return { plan, environment, compared, judgement };
}

/**
 * Makes the plan again from this checkout, as of the time of the plan file. The signer answers for inputs and figures,
 * and the file could claim any.
 */
async function compare(plan: SealedPlan, options: ApproveOptions): Promise<Environment> {
  const recipients = options.recipients ?? plan.recipients;
  const { made, sealed } = await makePlan(plan.campaign.file, {
    cwd: options.cwd,
    // Lists with hashes are read with the approver's key.
    env: options.env,
    now: () => Date.parse(plan.sealedAt),
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
    environment: plan.environment,
    occurrence: plan.occurrence,
    skipInvalid: plan.skipInvalid,
    ...(recipients === null ? {} : { recipients }),
  });
  await refuseUnlessSealed(made, plan, { cwd: options.cwd, amend: false });
  if (canonical(sealed.estimate) === canonical(plan.estimate)) return made.environment;
  const claimed: Readonly<Record<string, unknown>> = { ...plan.estimate };
  const differing = Object.entries(sealed.estimate).filter(
    ([name, figure]) => canonical(figure ?? null) !== canonical(claimed[name] ?? null),
  );
  const names = differing.map(([name]) => name).join(', ') || 'there are more of them';
  const message = `The figures of the plan are not those of this checkout: ${names}.`;
  // The figures differ although the inputs are the same: messages were sent since, or the ledger is another one.
  const hint =
    'The ledger here may hold other suppressions and runs than that of the planner (--ledger names another), prices ' +
    'may differ, or the plan was altered: make it again here and compare.';
  throw refuse(problem('input-changed', message, { at: { file: plan.campaign.file }, hint }));
}

async function environmentHere(plan: SealedPlan, options: ApproveOptions): Promise<Environment> {
  const { project } = await projectHere(options, undefined);
  const environment = project.environments.get(plan.environment);
  if (environment !== undefined) return environment;
  const hint = 'Go to the folder of the project that the plan is of.';
  throw refuse(problem('unknown-environment', `There is no environment "${plan.environment}" here.`, { hint }));
}

/** A signature that would not count is refused now, rather than when the plan is to be sent. */
async function refuseUncounted(
  signed: { readonly plan: SealedPlan; readonly signature: string },
  { name, approval }: Environment,
  options: ApproveOptions,
): Promise<void> {
  if (approval === null) return;
  const alone = await judge(signedBytes(signed.plan), [signed.signature], approval, {
    env: options.env,
    nowMs: options.now(),
  });
  const [why] = alone.refused;
  if (why === undefined) return;
  const hint = `The approvers for ${name} are in handbill.yaml, under environments.${name}.approvers.`;
  throw refuse(problem('not-approved', why, { hint }));
}
