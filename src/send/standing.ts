import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { Allowable, Campaign, Environment, InputFile, Retry } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import { type AnyPlanFile, changedInputs, isStanding, parsePlanFile, type StandingPlan } from '../plan/plan-file.ts';
import { leaveHint, standingInputs, timeFaults } from '../plan/standing-inputs.ts';
import { nextCommand } from '../util/next-command.ts';
import { displayPath, findFileAnywhere, readSmallFile } from '../util/paths.ts';
import { type ApprovedOptions, judgePlan, MAX_PLAN_BYTES, needsPlan, refuseOtherInputs } from './approved.ts';

/**
 * The first standing plan in the environment's folder that matches the campaign, has not ended, and has enough
 * signatures.
 * @param sealed - the campaign's inputs now: see `standingInputs`
 * @returns null where the environment requires no approval, or takes no standing plans; with `isGivenByThen`, also where
 * none counts and none of the campaign as it is ends before
 * @throws HandbillError exit 2 (`not-approved`) saying why none counts
 */
async function findStanding(
  campaign: Pick<Campaign, 'name'>,
  environment: Environment,
  sealed: readonly InputFile[],
  options: ApprovedOptions & { readonly cwd: string; readonly isGivenByThen: boolean },
): Promise<{ readonly plan: StandingPlan; readonly file: string } | null> {
  const rule = environment.approval?.standing ?? null;
  if (rule === null) return null;
  const reasons: Diagnostic[] = [];
  for (const name of await plansIn(rule.folder)) {
    const file = displayPath(join(rule.folder, name), options.cwd);
    // It may be a link, as in a mounted ConfigMap.
    const found = findFileAnywhere(rule.folder, name);
    const read = 'fault' in found ? found : readSmallFile(found.path, MAX_PLAN_BYTES, file);
    const plan =
      'fault' in read
        ? problem(read.fault.code, read.fault.message, { at: { file } })
        : parsePlanFile(new TextDecoder().decode(read.bytes), file);
    if ('code' in plan) {
      reasons.push(plan);
      continue;
    }
    if (!isStanding(plan) || plan.campaign.name !== campaign.name || plan.environment !== environment.name) continue;
    const faults = await faultsOf(plan, environment, sealed, options);
    if (faults.length === 0) return { plan, file };
    reasons.push(...faults.map((fault) => ({ ...fault, message: `${file}: ${fault.message}` })));
  }
  if (options.isGivenByThen && !reasons.some(({ code }) => code === 'approval-ends')) return null;
  const { message, ...rest } = needsPlan(environment, campaign.name);
  throw refuse({ ...rest, message: `${message} No standing approval of ${campaign.name} counts.` }, ...reasons);
}

async function faultsOf(
  plan: StandingPlan,
  environment: Environment,
  sealed: readonly InputFile[],
  options: ApprovedOptions,
): Promise<readonly Diagnostic[]> {
  // It approved another state of the campaign, so its last day does not matter.
  const changed = changedInputs(plan.inputs, sealed, 'it was approved');
  if (changed.length > 0) return changed;
  const early = timeFaults(plan, environment.approval?.standing ?? null, options.nowMs);
  if (early.length > 0) return early;
  const judgement = await judgePlan(environment, plan, options);
  if (judgement === null || judgement.approved) return [];
  return [judgement.missing, ...judgement.refused].map((sentence) => problem('not-approved', sentence));
}

/** Names of files that may be plans; none if the folder does not exist. */
async function plansIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw refuse(problem('not-approved', `The folder of standing approvals ${folder} cannot be read: ${error.code}.`));
  });
  return names.filter((name) => name.endsWith('.json')).sort();
}

/**
 * The plan under which a start sends: the given one, compared with what is sent; else a standing one of the
 * environment's
 * folder; null: none, which an environment that requires one refuses.
 * @throws HandbillError exit 2 naming all that differs, is missing, or that a standing plan does not cover
 */
export async function planInForce(
  plan: Plan,
  options: UncoveredOptions & {
    readonly planFile?: AnyPlanFile | undefined;
    readonly cwd: string;
    readonly env: ApprovedOptions['env'];
    readonly now: () => number;
    /** A rehearsal: by then, an approval that is missing is given. */
    readonly isGivenByThen?: boolean;
  },
): Promise<{ readonly planFile: AnyPlanFile | null; readonly file: string | null }> {
  const { cwd, env, isGivenByThen = false } = options;
  const { campaign, environment } = plan;
  const given = options.planFile ?? null;
  const found =
    given === null
      ? await findStanding(campaign, environment, standingInputs(plan), {
          cwd,
          env,
          nowMs: options.now(),
          isGivenByThen,
        })
      : null;
  const planFile = given ?? found?.plan ?? null;
  const isUnderStanding = planFile === null ? (environment.approval?.standing ?? null) !== null : isStanding(planFile);
  if (isUnderStanding) refuseUncovered(plan, options);
  if (given !== null) await refuseOtherInputs(plan, given, { cwd, allow: options.allow ?? [] });
  return { planFile, file: found?.file ?? null };
}

interface UncoveredOptions {
  readonly allow?: readonly Allowable[] | undefined;
  readonly retry?: Retry | undefined;
  readonly recipients?: string | null | undefined;
}

/**
 * Refuses to remove a guard: under a standing plan no person has seen the list, and only the guards bound it. A plan of
 * one occurrence can still be made, where its approvers see such an option.
 * @throws HandbillError exit 2 (`not-approved`)
 */
function refuseUncovered(
  { campaign, environment, occurrence }: Plan,
  { allow = [], retry, recipients = null }: UncoveredOptions,
): void {
  const given = [
    ...(allow.length === 0 ? [] : [`--allow ${allow.join(',')}`]),
    ...(retry === 'corrected' ? ['--retry corrected'] : []),
    ...(recipients === null ? [] : ['--recipients']),
  ];
  if (given.length === 0) return;
  const hint = allow.includes('input-changed')
    ? `Leave it out, and undo what changed. Or leave this occurrence as it is: ${leaveHint({ campaign, environment, occurrence })}`
    : `Leave it out, or have this occurrence approved by itself: ` +
      nextCommand(
        'plan',
        campaign.name,
        '--env',
        environment.name,
        '--occurrence',
        occurrence,
        '-o',
        'FILE',
        '--sign',
        'KEY',
      );
  throw refuse(problem('not-approved', `A standing approval does not cover ${given.join(', ')}.`, { hint }));
}
