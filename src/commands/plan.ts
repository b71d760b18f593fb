import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { SignOptions } from '../approval/sign.ts';
import { loadCampaign } from '../campaign/load.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { Environment } from '../model.ts';
import { checkList } from '../plan/check.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import { openReach, type Reached } from '../plan/reach.ts';
import { type SealedPlan, sealPlan } from '../plan/seal.ts';
import { loadSuppressions, suppressionView } from '../plan/suppression.ts';
import { createSeen } from '../recipients/duplicates.ts';
import { number } from '../report/words.ts';
import { judgePlan } from '../run/approved.ts';
import { occurrenceToShow } from '../schedule/occurrence.ts';
import { writeOutput } from '../util/output-file.ts';
import { safeLine } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import { costText, partsText } from './estimate-text.ts';
import { addExamples, addLedger, ledgerOption } from './options.ts';
import { signPlan } from './sign-plan.ts';

export interface PlanCommandOptions {
  readonly cwd: string;
  readonly now: () => number;
  /** The process's variables: the key of suppression lists may be among them. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly environment?: string;
  readonly occurrence?: string;
  readonly recipients?: string;
  /** The ledger that `exclude` and `frequency` ask; default: that of the project. */
  readonly ledger?: string;
  readonly skipInvalid?: boolean;
  /** Signs the plan, as whoever made it. Default: not signed. */
  readonly sign?: PlanSigning;
}

/** With which key (default: HANDBILL_SIGNING_KEY), and how it may be asked for. */
export interface PlanSigning extends Omit<SignOptions, 'cwd'> {
  readonly key?: string;
}

/**
 * Checks every row and seals what was looked at: counts, parts, cost and the hashes of all inputs.
 *
 * @throws HandbillError exit 2 with everything that is wrong
 */
export async function plan(target: string, options: PlanCommandOptions): Promise<SealedPlan> {
  const { sealed } = await makePlan(target, options);
  const { sign, cwd } = options;
  return sign === undefined ? sealed : (await signPlan(sealed, sign.key, { ...sign, cwd })).plan;
}

/** The plan before it is signed, with what it was made from. */
export async function makePlan(
  target: string,
  options: Omit<PlanCommandOptions, 'sign'>,
): Promise<{ readonly sealed: SealedPlan; readonly made: Plan }> {
  const { cwd, now } = options;
  const recipients = options.recipients === undefined ? {} : { recipients: options.recipients };
  const ledger = options.ledger === undefined ? {} : { ledger: options.ledger };
  const { campaign } = await loadCampaign(target, { cwd, now: now(), ...recipients, ...ledger });
  const made = await createPlan(campaign, {
    environment: options.environment ?? 'sandbox',
    occurrence: await occurrenceToShow(campaign, options.occurrence, now()),
  });
  const seen = createSeen();
  const skipInvalid = options.skipInvalid === true || campaign.recipients.onInvalid === 'skip';
  const suppressions = await loadSuppressions(campaign, options.env ?? {});
  const prices = await loadPrices(campaign.project);
  // Whom other campaigns reached may be half of a list; who is suppressed, only by the files: that is a few.
  using before = await reachedBefore(made, now());
  const view = {
    isNew: (key: string) => seen.add(key),
    ...suppressionView(suppressions, null, now),
    ...before.reached?.view(now),
    skipInvalid,
  };
  const { estimate, inputs } = await checkList(made, view, prices, () => undefined);
  const sealed = sealPlan({
    campaign: { name: campaign.name, file: campaign.file },
    environment: made.environment.name,
    occurrence: made.occurrence,
    recipients: options.recipients ?? null,
    skipInvalid,
    sealedAt: new Date(now()).toISOString(),
    inputs,
    estimate,
  });
  return { sealed, made };
}

/** What the ledger says to `exclude` and `frequency`, if there is one; it is not opened where neither asks. */
async function reachedBefore(made: Plan, nowMs: number): Promise<Disposable & { readonly reached: Reached | null }> {
  const { exclude, frequency, project } = made.campaign;
  const isAsked = exclude.length > 0 || frequency.length > 0;
  const ledger = isAsked ? openExistingLedger(project.ledger, { nowMs }) : null;
  try {
    return { reached: await openReach(made, ledger, nowMs), [Symbol.dispose]: () => ledger?.close() };
  } catch (error) {
    ledger?.close();
    throw error;
  }
}

interface PlanFlags {
  readonly env: string;
  readonly occurrence?: string;
  readonly recipients?: string;
  readonly ledger?: string;
  readonly skipInvalid?: boolean;
  readonly sign?: string | true;
  readonly output?: string;
  readonly quiet?: boolean;
}

/** `handbill plan CAMPAIGN -o FILE`. */
export function configure(command: Command, context: CommandContext): void {
  command
    .argument('<campaign>', 'campaign file, its folder, or its name')
    .option('--env <name>', 'environment of handbill.yaml', 'sandbox')
    .option('--occurrence <name>', 'which time this campaign goes out (default: the instant that is due, else once)')
    .option('--recipients <file>', 'take the list from here, inside or outside the project')
    .option('--skip-invalid', 'skip bad rows instead of refusing the plan')
    .option('--sign [key]', 'sign it with this SSH key, private or in ssh-agent (default: HANDBILL_SIGNING_KEY)')
    .option('-o, --output <file>', 'write the sealed plan here; without it, to stdout')
    .option('--quiet', 'print nothing when all is well');
  addExamples(addLedger(command), [
    ['handbill plan hello --env production -o hello.plan.json', 'counts, parts, cost, sealed'],
    ['handbill send --plan hello.plan.json --yes', 'sends exactly that'],
    [
      'handbill plan hello --env production -o hello.plan.json --sign ~/.ssh/id_ed25519',
      'for somebody else to approve',
    ],
  ]).action(async (target: string, flags: PlanFlags) => run(target, flags, context));
}

async function run(target: string, flags: PlanFlags, context: CommandContext): Promise<void> {
  const { cwd, now, env, interactive } = context;
  const { sealed, made } = await makePlan(target, {
    cwd,
    now,
    env,
    ...ledgerOption(flags.ledger, context),
    environment: flags.env,
    ...(flags.occurrence === undefined ? {} : { occurrence: flags.occurrence }),
    skipInvalid: flags.skipInvalid === true,
    ...(flags.recipients === undefined ? {} : { recipients: flags.recipients }),
  });
  const key = flags.sign === true ? undefined : flags.sign;
  const signing = { cwd, env, interactive, onSaid: context.err };
  const plan = flags.sign === undefined ? sealed : (await signPlan(sealed, key, signing)).plan;
  const text = toText(plan);
  if (flags.output === undefined) await context.out(text);
  else await writeOutput(resolve(context.cwd, flags.output), [text]);
  // Said also by --quiet: the plan would be refused.
  if (plan.signatures !== undefined) for (const one of await uncounted(plan, made, context)) context.err(`${one}\n`);
  if (flags.output === undefined || flags.quiet === true) return;
  context.err(`${summary(plan, made.environment, flags.output)}\n`);
}

/** A plan as the text of its file. */
export function toText(plan: SealedPlan): string {
  return `${JSON.stringify(plan, null, 2)}\n`;
}

/** Signatures that will not count where the plan is sent to. */
async function uncounted(plan: SealedPlan, { environment }: Plan, context: CommandContext): Promise<readonly string[]> {
  const judgement = await judgePlan(environment, plan, { env: context.env, nowMs: context.now() });
  return (judgement?.refused ?? []).map((sentence) => safeLine(`Beware: ${sentence}`));
}

function summary(sealed: SealedPlan, environment: Environment, file: string): string {
  const { estimate } = sealed;
  const facts = [`${number(estimate.send)} recipients`, partsText(estimate.parts), costText(estimate)];
  const said = facts.filter((fact) => fact !== null).join(', ');
  const next =
    environment.approval === null
      ? `Send it with: handbill send --plan ${file}`
      : `Have somebody else approve it with: handbill approve ${file} --sign KEY`;
  return safeLine(`Sealed: ${said}. ${next}`);
}
