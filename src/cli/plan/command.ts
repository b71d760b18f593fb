import type { Command } from 'commander';
import type { Environment } from '../../model.ts';
import { checkApprovers } from '../../operations/approver-faults.ts';
import type { CommandContext } from '../../operations/context.ts';
import { makePlan, signPlan, toText } from '../../operations/plan.ts';
import { ledgerOption } from '../../operations/project-ledger.ts';
import { costText, partsText } from '../../plan/estimate.ts';
import type { Plan } from '../../plan/plan.ts';
import type { SealedPlan } from '../../plan/seal.ts';
import { countOf } from '../../report/words.ts';
import { judgePlan } from '../../run/approved.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { safeLine } from '../../util/safe.ts';
import { shellWord } from '../../util/shell.ts';
import { addExamples, addLedger } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { withProgress } from '../shared/progress.ts';

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
    .option('-o, --output <file>', 'write the plan here; without it, to stdout')
    .option('--quiet', 'print nothing when all is well');
  addExamples(addLedger(command), [
    ['handbill plan hello --env production -o hello.plan.json', 'counts, parts, cost'],
    ['handbill send --plan hello.plan.json --yes', 'sends exactly that'],
    ['handbill plan hello --env production -o hello.plan.json --sign ~/.ssh/id_ed25519', 'for an approver'],
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

/** Signatures that will not count where the plan is sent to. */
async function uncounted(plan: SealedPlan, { environment }: Plan, context: CommandContext): Promise<readonly string[]> {
  const judgement = await judgePlan(environment, plan, { env: context.env, nowMs: context.now() });
  return (judgement?.refused ?? []).map((sentence) => safeLine(`Beware: ${sentence}`));
}

function summary(sealed: SealedPlan, environment: Environment, file: string): string {
  const { estimate } = sealed;
  const facts = [countOf(estimate.send, 'recipient'), partsText(estimate.parts), costText(estimate)];
  const said = facts.filter((fact) => fact !== null).join(', ');
  return safeLine(`Planned: ${said}. ${nextStep(sealed, environment, file)}`);
}

function nextStep({ signatures }: SealedPlan, { approval }: Environment, file: string): string {
  if (approval === null) return `Send it with: handbill send --plan ${shellWord(file)}`;
  const command = `handbill approve ${shellWord(file)} --sign KEY`;
  return signatures === undefined
    ? `It counts when you and an approver have signed it: ${command}`
    : `Have an approver sign it with: ${command}`;
}
