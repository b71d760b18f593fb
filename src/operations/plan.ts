import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkApprovers } from '../approval/approver-faults.ts';
import { type Judgement, judge } from '../approval/judge.ts';
import { signBytes } from '../approval/sign.ts';
import { MAX_SIGNATURES, readSignature } from '../approval/signature.ts';
import { describeContent } from '../content/describe.ts';
import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunIdentity } from '../ledger/records.ts';
import { type Environment, type InputFile, LEDGER_CODES, PLAN_CODES } from '../model.ts';
import { budgetNotice, budgetState } from '../plan/budget.ts';
import { checkList } from '../plan/check.ts';
import { openReachToSend } from '../plan/contact-history.ts';
import { openElsewhere, otherProvider } from '../plan/elsewhere.ts';
import { loadPrices } from '../plan/estimate.ts';
import { createForecaster } from '../plan/forecast.ts';
import { adviseEstimate } from '../plan/limits.ts';
import { openListGuard } from '../plan/list-guard.ts';
import type { Plan } from '../plan/plan.ts';
import {
  type AnyPlanFile,
  createPlanFile,
  isStanding,
  type PlanFile,
  parsePlanFile,
  type StandingPlan,
  signedBytes,
} from '../plan/plan-file.ts';
import { commitIn, readProvenance, refuseOtherCommit } from '../plan/provenance.ts';
import { canonical, suppressionsInput } from '../plan/settings.ts';
import { timeFaults } from '../plan/standing-inputs.ts';
import { loadSuppressions } from '../plan/suppression.ts';
import { hashList } from '../recipients/read.ts';
import { countOf, number } from '../report/words.ts';
import {
  judgePlan,
  MAX_PLAN_BYTES,
  refuseOtherInputs,
  refuseOtherProject,
  refuseOtherSeal,
  requireApproval,
} from '../send/approved.ts';
import { openKnown } from '../send/known.ts';
import { pausedWarning } from '../send/pause.ts';
import { beginRefusals, identityOf, refuseUnsendable } from '../send/prepare.ts';
import { jsonText } from '../util/escape.ts';
import { writeOutput } from '../util/files.ts';
import { isTest } from '../util/occurrence-name.ts';
import { displayPath, readNamedFile, readSmallFile } from '../util/paths.ts';
import { iso } from '../util/time.ts';
import {
  allowOption,
  type Confirm,
  checkAllow,
  OPTIONS,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  present,
  type ResolvedOptions,
  requireYes,
  withDefaults,
} from './options.ts';
import { planOf, projectHere } from './project.ts';
import { compileStanding, type Fact, type StandingOptions } from './standing.ts';
import type { Metered } from './validate.ts';

/** The plan does not record codes about the ledger, which is that of this machine. */
export const PLANNABLE = [...PLAN_CODES, ...LEDGER_CODES];

export const PLAN = {
  environment: OPTIONS.environment,
  occurrence: OPTIONS.occurrence,
  recipients: OPTIONS.recipients,
  allow: { ...allowOption(PLANNABLE), more: 'The plan says so, and a start with it does not refuse either.' },
} as const satisfies OptionTable;

/** The environment and the occurrence of a plan, and the key that signs it. */
export interface PlanOptions extends ProjectOptions, OptionsOf<typeof PLAN> {
  /** Signs the plan as its planner. Default: it is not signed. */
  readonly sign?: SigningKey;
}

/** The key that signs a plan. */
export interface SigningKey {
  /** A private SSH key, or a public one whose private half is in ssh-agent. Default: HANDBILL_SIGNING_KEY in `env`. */
  readonly key?: string;
  /** A person at the terminal of this process can be asked for a passphrase. Default: false. */
  readonly interactive?: boolean;
  /** Called with the output of ssh-keygen. */
  readonly onSaid?: (text: string) => void;
}

/**
 * `handbill plan`: checks every row and makes a plan: counts, parts, cost and the hashes of all inputs.
 * Written to a file as JSON, it is what `send --plan` takes.
 *
 * @param target - a campaign file, its folder, or its name
 * @throws HandbillError exit 2 with everything that is wrong; 7 (ledger)
 */
export async function plan(target: string, options: PlanOptions = {}): Promise<PlanFile> {
  return await signAsAsked(await makePlan(target, options), options);
}

/**
 * `handbill plan --standing`: makes a plan of every occurrence until a day. It seals the campaign, its templates, its
 * settings and the guards of its list, but not the list. The list need not be there.
 *
 * @param target - a campaign file, its folder, or its name
 * @throws HandbillError exit 2 with everything that is wrong, and where the environment takes no standing approvals
 */
export async function planStanding(
  target: string,
  options: StandingOptions & Pick<PlanOptions, 'sign'>,
): Promise<StandingPlan> {
  return await signAsAsked(await makeStanding(target, options), options);
}

async function signAsAsked<P extends AnyPlanFile>(
  { planFile, campaign, environment }: Pick<Plan, 'campaign' | 'environment'> & { readonly planFile: P },
  options: ProjectOptions & Pick<PlanOptions, 'sign'>,
): Promise<P> {
  if (options.sign === undefined) return planFile;
  await checkApprovers(campaign.project, environment);
  return (await signPlan(planFile, options.sign, withDefaults(options))).plan;
}

/** As `planStanding`, before it is signed. */
export async function makeStanding(target: string, options: StandingOptions) {
  const compiled = await compileStanding(target, withDefaults(options));
  refuseOtherCommit(compiled.environment, compiled.provenance);
  return compiled;
}

/** As `plan`, before it is signed; `meter` is called with how far the list was read. */
export async function makePlan(target: string, given: Omit<PlanOptions, 'sign'> & Metered) {
  const { made, provenance, ...rest } = await compilePlan(target, given);
  refuseOtherCommit(made.environment, provenance);
  return { ...rest, campaign: made.campaign, environment: made.environment };
}

async function compilePlan(target: string, given: Omit<PlanOptions, 'sign'> & Metered) {
  const options = withDefaults(given);
  const { now, recipients, allow = [] } = options;
  checkAllow(options, PLANNABLE);
  const { plan: made, nameWarnings } = await planOf(target, options, { nowMs: now(), toShow: true });
  const { campaign } = made;
  const asked = readProvenance(campaign, options.env);
  const suppressions = await loadSuppressions(campaign, options.env);
  const prices = loadPrices(campaign.project);
  using ledger = openExistingLedger(campaign.project.ledger, { nowMs: now(), allow });
  const reached = await openReachToSend(made, ledger, now());
  const identity = identityOf(made);
  const accepting = { nowMs: now(), allow };
  const begun = ledger?.findRun(identity) ?? null;
  // A plan that is compared counts as it did when it was made: its own run came later.
  const run = begun !== null && begun.createdAtMs <= now() ? begun : null;
  const known = await openKnown(made, {
    ledger,
    reached,
    run,
    list: run === null ? null : await hashList(made.campaign.recipients),
    suppressions,
    nowMs: now(),
    allow,
  });
  const guard = openListGuard(campaign, ledger, identity, accepting);
  const budget = budgetState(made, prices, now(), ledger);
  const forecaster = await createForecaster(made, { nowMs: now() });
  const elsewhere = openElsewhere(made, ledger);
  let first: string | null = null;
  const { list, estimate, inputs, accepted, notes } = await checkList(
    made,
    { ...known.view, meter: options.meter },
    { prices, guard, budget, join: known.join, forecaster, allow },
    (batch) => {
      for (const decision of batch) {
        elsewhere?.add(decision);
        if (first !== null || decision.decision !== 'send') continue;
        first = describeContent(decision.channel, decision.text, decision.rendered).join('\n');
      }
    },
  );
  refuseUnsendable(begun, made, list);
  const again = [elsewhere?.found(), run === null ? null : otherProvider(run, made)].filter((one) => one != null);
  const refused = again.filter(({ code }) => !allow.some((one) => one === code));
  if (refused.length > 0) throw refuse(...refused);
  // A plan is sent later, and perhaps from another machine: only a start, or its preview, refuses for what is so now.
  const atPresent = run === null ? await beginRefusals(ledger, made, { nowMs: now(), allow }) : [];
  const expired = atPresent.filter(({ code }) => code === 'validity-past');
  if (expired.length > 0) throw refuse(...expired);
  const provenance = await asked;
  const planFile = createPlanFile({
    campaign: { name: campaign.name, file: campaign.file },
    environment: made.environment.name,
    occurrence: made.occurrence,
    recipients: recipients ?? null,
    allow: PLAN_CODES.filter(
      (code) => allow.includes(code) || (code === 'invalid-rows' && campaign.recipients.onInvalid === 'skip'),
    ),
    plannedAt: iso(now()),
    commit: commitIn(provenance),
    inputs: [...inputs, suppressionsInput(campaign)],
    estimate,
  });
  const paused = pausedWarning(ledger?.pauseOf(identity));
  const last = ledger === null ? null : lastTime(ledger, identity, planFile.inputs);
  const facts: readonly (readonly [string, string | null])[] = [
    ['last time', last],
    ['message', first],
  ];
  return {
    planFile,
    made,
    provenance,
    facts: facts.flatMap(([name, value]): readonly Fact[] => (value === null || value === '' ? [] : [[name, value]])),
    warnings: [
      ...nameWarnings,
      ...suppressions.warnings,
      ...paused,
      ...notes,
      ...accepted,
      ...adviseEstimate(campaign, estimate),
      ...budgetNotice(budget),
      ...[...again, ...atPresent].map((one) => ({ ...one, severity: 'warning' as const })),
    ],
  };
}

/** The newest occurrence before this one, without tests, and which inputs differ now. Null: there was none. */
function lastTime(ledger: Ledger, identity: RunIdentity, inputs: readonly InputFile[]): string | null {
  const runs = ledger.runsOf(identity).filter(({ occurrence }) => occurrence !== identity.occurrence);
  const last = runs.findLast(({ occurrence }) => !isTest(occurrence));
  if (last === undefined) return null;
  const accepted = ledger
    .counts(last)
    .reduce((sum, { outcome, count }) => sum + (outcome === 'accepted' ? count : 0), 0);
  const before = new Set(last.inputs.map(({ role, sha256 }) => `${role} ${sha256}`));
  const others = new Set(inputs.flatMap(({ role, sha256 }) => (before.has(`${role} ${sha256}`) ? [] : [role])));
  const changed = others.size === 0 ? 'the same inputs' : `changed since: ${[...others].join(', ')}`;
  return `${last.occurrence}: ${number(accepted)} of ${countOf(last.rows, 'recipient')} accepted; ${changed}`;
}

export function toText(plan: AnyPlanFile): string {
  return `${jsonText(plan, 2)}\n`;
}

/** Replaces an earlier signature of the same key. Throws exit 2 if there is no key, or it cannot be used. */
export async function signPlan<P extends AnyPlanFile>(
  planFile: P,
  { key, interactive = false, onSaid }: SigningKey,
  { cwd, env }: ResolvedOptions,
): Promise<{ readonly plan: P; readonly signature: string }> {
  const chosen = key ?? env['HANDBILL_SIGNING_KEY'] ?? '';
  if (chosen === '') {
    const hint =
      'Name it, or set HANDBILL_SIGNING_KEY: a private key such as ~/.ssh/id_ed25519, or its .pub file where ssh-agent has it.';
    throw refuse(problem('usage', 'The key to sign with is missing.', { hint }));
  }
  const made = await signBytes(signedBytes(planFile), chosen, { cwd, env, interactive, ...present({ onSaid }) });
  const others = (planFile.signatures ?? []).filter((one) => keyOf(one) === null || keyOf(one) !== keyOf(made));
  if (others.length >= MAX_SIGNATURES) {
    const hint = 'Make the plan again, and have it signed by those whose signatures count.';
    throw refuse(problem('plan-invalid', `The plan has ${others.length} signatures, and cannot have more.`, { hint }));
  }
  return { plan: { ...planFile, signatures: [...others, made] }, signature: made };
}

function keyOf(signature: string): string | null {
  const read = readSignature(signature);
  return 'problem' in read ? null : read.key.text;
}

/** Reads a plan file. @throws HandbillError exit 2 if it is not a plan, or was changed after it was made */
export function readPlan(file: string, options: Pick<ProjectOptions, 'cwd'> = {}): AnyPlanFile {
  const { cwd } = withDefaults(options);
  const plan = parsePlanFile(new TextDecoder().decode(readNamedFile(cwd, file, MAX_PLAN_BYTES)), file);
  if ('code' in plan) throw refuse(plan);
  return plan;
}

export const APPROVE = {
  recipients: {
    flag: '--recipients <file>',
    says: 'take the list from here, if it is not where the planner had it',
    without: 'that of the plan',
  },
  unchecked: { flag: '--unchecked', says: 'sign without comparing the plan with this checkout' },
} as const satisfies OptionTable;

/** The checkout that a plan is compared with, and the key that signs it. */
export interface ApproveOptions extends ProjectOptions, SigningKey, OptionsOf<typeof APPROVE> {
  /** Asked before anything is signed; refused (exit 2, `not-confirmed`) where the answer is no. Default: no. */
  readonly confirm?: Confirm<ApproveQuestion>;
}

/** The checkout that a plan is compared with. */
export type CheckApprovalOptions = Omit<ApproveOptions, 'confirm' | keyof SigningKey>;

/** The plan that the user is about to sign, and the result of `approve`. */
export interface ApproveQuestion {
  readonly plan: AnyPlanFile;
  /** The URL that a send of the plan posts to. */
  readonly url: string;
  /** Its inputs and figures are those of this checkout; false if they were not compared. */
  readonly compared: boolean;
  /**
   * Where the plan was compared, beside its figures: the last occurrence, and the first message; of a standing plan the
   * limits of each run, and its sample. A name and a value each.
   */
  readonly facts: readonly Fact[];
  /** How its signatures count; null where the environment asks for none. */
  readonly judgement: Judgement | null;
}

/**
 * `handbill approve`: compares a plan with this checkout and adds a signature to its file.
 *
 * @returns the plan with the new signature, as it is in the file then
 * @throws HandbillError exit 2 where the plan is not of this checkout, the key does not count there, or it was not confirmed
 */
export async function approve(file: string, options: ApproveOptions = {}): Promise<ApproveQuestion> {
  const resolved = withDefaults(options);
  return await askAndSign(await examine(file, resolved), file, resolved);
}

/** The campaign and last day of a standing plan, and the key that signs it. */
export interface ApproveStandingOptions extends StandingOptions, SigningKey, Pick<ApproveOptions, 'confirm'> {
  /** File to write. Default: one of its name and last day, in the folder that `standingApprovals` of the environment names. */
  readonly output?: string;
}

/**
 * `handbill approve --standing`: makes a standing plan and signs it. A file that holds the same plan already gets one more
 * signature.
 *
 * @returns the plan with the new signature, and its file as the user would name it
 * @throws HandbillError exit 2 as `planStanding` and `approve`
 */
export async function approveStanding(
  target: string,
  options: ApproveStandingOptions,
): Promise<ApproveQuestion & { readonly file: string }> {
  const resolved = withDefaults(options);
  const { planFile: made, environment, facts } = await makeStanding(target, resolved);
  const { folder = '' } = environment.approval?.standing ?? {};
  const name = `${made.campaign.name}-${made.environment}-${made.standing.until}.json`;
  const path = resolved.output === undefined ? join(folder, name) : resolve(resolved.cwd, resolved.output);
  const plan = samePlanIn(path, made);
  const judgement = await judgePlan(environment, plan, { env: resolved.env, nowMs: resolved.now() });
  const question = { plan, url: environment.url, compared: true, facts, judgement };
  const examined = { question, environment };
  const signed = await askAndSign(examined, path, resolved, options.output === undefined ? folder : null);
  return { ...signed, file: resolved.output ?? displayPath(path, resolved.cwd) };
}

/** The plan in the file, which gets one more signature, if its content is that of `made`; else `made`. */
function samePlanIn(path: string, made: StandingPlan): StandingPlan {
  const read = readSmallFile(path, MAX_PLAN_BYTES);
  const there = 'fault' in read ? null : parsePlanFile(new TextDecoder().decode(read.bytes), path);
  if (there === null || 'code' in there || !isStanding(there)) return made;
  const contentOf = ({ standing, campaign, environment, inputs }: StandingPlan): string =>
    canonical([standing, campaign.name, environment, inputs]);
  return contentOf(there) === contentOf(made) ? there : made;
}

async function askAndSign(
  { question, environment }: Awaited<ReturnType<typeof examine>>,
  file: string,
  resolved: SigningKey & Pick<ApproveOptions, 'confirm'> & ResolvedOptions,
  folder: string | null = null,
): Promise<ApproveQuestion> {
  const { cwd, env, now } = resolved;
  await requireYes(resolved.confirm, question, 'Nothing was signed');
  const signed = await signPlan(question.plan, resolved, resolved);
  await refuseUncounted(signed, environment, resolved);
  const judgement = await judgePlan(environment, signed.plan, { env, nowMs: now() });
  if (folder !== null) await mkdir(folder, { recursive: true });
  await writeOutput(resolve(cwd, file), [toText(signed.plan)]);
  return { ...question, plan: signed.plan, judgement };
}

/**
 * `handbill approve --check`: checks whether a plan is approved, without signing it.
 *
 * @throws HandbillError exit 2 if it is not approved, or is not of this checkout
 */
export async function checkApproval(file: string, options: CheckApprovalOptions = {}): Promise<ApproveQuestion> {
  const resolved = withDefaults(options);
  const { question, environment } = await examine(file, resolved);
  await requireApproval(environment, question.plan, { env: resolved.env, nowMs: resolved.now() });
  return question;
}

type ExamineOptions = CheckApprovalOptions & ResolvedOptions;

async function examine(file: string, options: ExamineOptions) {
  const plan = readPlan(file, options);
  const compared = options.unchecked !== true;
  const here = compared ? await compareAny(plan, options) : null;
  const environment = here?.environment ?? environmentHere(plan, options);
  if (isStanding(plan)) {
    const faults = timeFaults(plan, environment.approval?.standing ?? null, options.now());
    if (faults.length > 0) throw refuse(...faults);
  }
  const facts = here?.facts ?? [];
  const judgement = await judgePlan(environment, plan, { env: options.env, nowMs: options.now() });
  return { question: { plan, url: environment.url, compared, facts, judgement }, environment };
}

async function compareAny(plan: AnyPlanFile, options: ExamineOptions) {
  if (!isStanding(plan)) return await compare(plan, options);
  if (options.recipients !== undefined) {
    throw refuse(problem('usage', 'A standing plan is of no list.', { hint: 'Leave --recipients out.' }));
  }
  const { cwd, env, now, ledger } = options;
  const { campaign, environment, standing } = plan;
  const made = await compileStanding(campaign.file, { cwd, env, now, ledger, environment, until: standing.until });
  refuseOtherProject(made.campaign, cwd);
  if (made.planFile.campaign.name !== campaign.name) {
    const message = `The plan was made for campaign "${campaign.name}", not "${made.planFile.campaign.name}".`;
    throw refuse(problem('plan-invalid', message));
  }
  refuseOtherSeal(plan, made.planFile.inputs);
  return made;
}

/** Makes the plan again as of its time: the signer answers for inputs and figures, and the file could claim any. */
async function compare(plan: PlanFile, options: ExamineOptions) {
  const recipients = options.recipients ?? plan.recipients;
  const { made, planFile, facts } = await compilePlan(plan.campaign.file, {
    cwd: options.cwd,
    // Lists with hashes are read with the approver's key.
    env: options.env,
    now: () => Date.parse(plan.plannedAt),
    ledger: options.ledger,
    environment: plan.environment,
    occurrence: plan.occurrence,
    allow: plan.allow,
    ...(recipients === null ? {} : { recipients }),
  });
  await refuseOtherInputs(made, plan, { cwd: options.cwd, allow: plan.allow });
  if (canonical(planFile.estimate) === canonical(plan.estimate)) return { environment: made.environment, facts };
  const claimed: Readonly<Record<string, unknown>> = { ...plan.estimate };
  const differing = Object.entries(planFile.estimate).filter(
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

function environmentHere(plan: AnyPlanFile, options: ExamineOptions): Environment {
  const { project } = projectHere(options);
  const environment = project.environments.get(plan.environment);
  if (environment !== undefined) return environment;
  const hint = 'Go to the folder of the project that the plan is of.';
  throw refuse(problem('unknown-environment', `There is no environment "${plan.environment}" here.`, { hint }));
}

/** A signature that would not count is refused now, rather than when the plan is to be sent. */
async function refuseUncounted(
  signed: { readonly plan: AnyPlanFile; readonly signature: string },
  { name, approval }: Environment,
  options: ResolvedOptions,
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
