import type { Command } from 'commander';
import type { SignOptions } from '../approval/sign.ts';
import { loadCampaign } from '../campaign/load.ts';
import type { Diagnostic } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { Environment } from '../model.ts';
import { checkList } from '../plan/check.ts';
import { adviseLength } from '../plan/limits.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import { openReach, type Reached } from '../plan/reach.ts';
import { type SealedPlan, sealPlan } from '../plan/seal.ts';
import { duplicatesIn } from '../plan/second-look.ts';
import { loadSuppressions, suppressionView } from '../plan/suppression.ts';
import { shellWord } from '../report/next-steps.ts';
import { countOf } from '../report/words.ts';
import { judgePlan } from '../run/approved.ts';
import { formatDiagnostics } from '../util/diagnostic-text.ts';
import type { Meter } from '../util/meter.ts';
import { jsonText, safeLine } from '../util/safe.ts';
import { checkApprovers } from './approver-faults.ts';
import type { CommandContext } from './context.ts';
import { costText, partsText } from './estimate-text.ts';
import { meantOccurrence } from './occurrence.ts';
import { addExamples, addLedger, ledgerOption } from './options.ts';
import { writeResult } from './output-sink.ts';
import { withProgress } from './progress.ts';
import { signPlan } from './sign-plan.ts';

export interface PlanCommandOptions {
  readonly cwd: string;
  readonly now: () => number;
  /** The process's variables: the key of suppression lists may be among them. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly environment?: string;
  readonly occurrence?: string;
  readonly recipients?: string;
  /** The ledger that suppression, `exclude` and `frequency` ask; default: that of the project. */
  readonly ledger?: string;
  readonly skipInvalid?: boolean;
  /** Told how far the list was read. */
  readonly meter?: Meter;
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
 * @throws HandbillError exit 2 with everything that is wrong; 7 where the ledger cannot be read
 */
export async function plan(target: string, options: PlanCommandOptions): Promise<SealedPlan> {
  const { sealed, made } = await makePlan(target, options);
  const { sign, cwd } = options;
  if (sign === undefined) return sealed;
  await checkApprovers(made.campaign.project, made.environment);
  return (await signPlan(sealed, sign.key, { ...sign, cwd })).plan;
}

/** The plan before it is signed, with what it was made from. */
export async function makePlan(
  target: string,
  options: Omit<PlanCommandOptions, 'sign'>,
): Promise<{ readonly sealed: SealedPlan; readonly made: Plan; readonly warnings: readonly Diagnostic[] }> {
  const { cwd, now } = options;
  const recipients = options.recipients === undefined ? {} : { recipients: options.recipients };
  const ledger = options.ledger === undefined ? {} : { ledger: options.ledger };
  const { campaign } = await loadCampaign(target, { cwd, now: now(), ...recipients, ...ledger });
  const { environment = 'sandbox' } = options;
  const meant = await meantOccurrence(campaign, {
    environment,
    named: options.occurrence,
    nowMs: now(),
    toShow: true,
  });
  const made = await createPlan(campaign, { environment, occurrence: meant.occurrence });
  const skipInvalid = options.skipInvalid === true || campaign.recipients.onInvalid === 'skip';
  const suppressions = await loadSuppressions(campaign, options.env ?? {});
  const prices = await loadPrices(campaign.project);
  using before = await ledgerBefore(made, now());
  const view = {
    duplicates: duplicatesIn(made),
    ...suppressionView(suppressions, before.ledger, now),
    ...before.reached?.view(now),
    skipInvalid,
    ...(options.meter === undefined ? {} : { meter: options.meter }),
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
  return { sealed, made, warnings: [...meant.warnings, ...adviseLength(campaign, estimate)] };
}

interface Before extends Disposable {
  /** Null: nothing was ever sent from here, and nobody suppressed. */
  readonly ledger: Ledger | null;
  readonly reached: Reached | null;
}

/** What the ledger says to suppression, `exclude` and `frequency`. It is read, and never made. */
async function ledgerBefore(made: Plan, nowMs: number): Promise<Before> {
  const ledger = openExistingLedger(made.campaign.project.ledger, { nowMs });
  try {
    return { ledger, reached: await openReach(made, ledger, nowMs), [Symbol.dispose]: () => ledger?.close() };
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
  const work = {
    label: 'Checking',
    unit: 'bytes',
    quiet: flags.quiet === true,
    toFile: flags.output !== undefined,
  } as const;
  const asked = {
    cwd,
    now,
    env,
    ...ledgerOption(flags.ledger, context),
    environment: flags.env,
    ...(flags.occurrence === undefined ? {} : { occurrence: flags.occurrence }),
    skipInvalid: flags.skipInvalid === true,
    ...(flags.recipients === undefined ? {} : { recipients: flags.recipients }),
  };
  const { sealed, made, warnings } = await withProgress(context, work, (meter) =>
    makePlan(target, { ...asked, meter }),
  );
  const key = flags.sign === true ? undefined : flags.sign;
  const signing = { cwd, env, interactive, onSaid: context.err };
  const unknown = flags.sign === undefined ? [] : await checkApprovers(made.campaign.project, made.environment);
  const plan = flags.sign === undefined ? sealed : (await signPlan(sealed, key, signing)).plan;
  await writeResult([toText(plan)], flags, context);
  if (warnings.length > 0 && flags.quiet !== true) {
    context.err(formatDiagnostics(warnings, { colour: context.colour.err }));
  }
  // Said also by --quiet: the plan would be refused.
  if (unknown.length > 0) context.err(formatDiagnostics(unknown, { colour: context.colour.err }));
  else if (plan.signatures !== undefined) {
    for (const one of await uncounted(plan, made, context)) context.err(`${one}\n`);
  }
  if (flags.output === undefined || flags.quiet === true) return;
  context.err(`${summary(plan, made.environment, flags.output)}\n`);
}

/** A plan as the text of its file. */
export function toText(plan: SealedPlan): string {
  return `${jsonText(plan, 2)}\n`;
}

/** Signatures that will not count where the plan is sent to. */
async function uncounted(plan: SealedPlan, { environment }: Plan, context: CommandContext): Promise<readonly string[]> {
  const judgement = await judgePlan(environment, plan, { env: context.env, nowMs: context.now() });
  return (judgement?.refused ?? []).map((sentence) => safeLine(`Beware: ${sentence}`));
}

function summary(sealed: SealedPlan, environment: Environment, file: string): string {
  const { estimate } = sealed;
  const facts = [countOf(estimate.send, 'recipient'), partsText(estimate.parts), costText(estimate)];
  const said = facts.filter((fact) => fact !== null).join(', ');
  return safeLine(`Sealed: ${said}. ${nextStep(sealed, environment, file)}`);
}

function nextStep({ signatures }: SealedPlan, { approval }: Environment, file: string): string {
  if (approval === null) return `Send it with: handbill send --plan ${shellWord(file)}`;
  const command = `handbill approve ${shellWord(file)} --sign KEY`;
  return signatures === undefined
    ? `It counts when you and an approver have signed it: ${command}`
    : `Have somebody else approve it with: ${command}`;
}
