import type { Command } from 'commander';
import { loadCampaign } from '../campaign/load.ts';
import { checkList } from '../plan/check.ts';
import { createPlan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import { type SealedPlan, sealPlan } from '../plan/seal.ts';
import { createSeen } from '../recipients/duplicates.ts';
import { number } from '../report/words.ts';
import { occurrenceToShow } from '../schedule/occurrence.ts';
import { writeOutput } from '../util/output-file.ts';
import { safeLine } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import { costText, partsText } from './estimate-text.ts';
import { addExamples } from './options.ts';

export interface PlanCommandOptions {
  readonly cwd: string;
  readonly now: () => number;
  readonly environment?: string;
  readonly occurrence?: string;
  readonly recipients?: string;
  readonly skipInvalid?: boolean;
}

/**
 * Checks every row and seals what was looked at: counts, parts, cost and the hashes of all inputs.
 *
 * @throws HandbillError exit 2 with everything that is wrong
 */
export async function plan(target: string, options: PlanCommandOptions): Promise<SealedPlan> {
  const { cwd, now } = options;
  const recipients = options.recipients === undefined ? {} : { recipients: options.recipients };
  const { campaign } = await loadCampaign(target, { cwd, now: now(), ...recipients });
  const made = await createPlan(campaign, {
    environment: options.environment ?? 'sandbox',
    occurrence: await occurrenceToShow(campaign, options.occurrence, now()),
  });
  const seen = createSeen();
  const skipInvalid = options.skipInvalid === true || campaign.recipients.onInvalid === 'skip';
  const view = { isNew: (key: string) => seen.add(key), skipInvalid };
  const { estimate, inputs } = await checkList(made, view, await loadPrices(campaign.project), () => undefined);
  return sealPlan({
    campaign: { name: campaign.name, file: campaign.file },
    environment: made.environment.name,
    occurrence: made.occurrence,
    recipients: options.recipients ?? null,
    skipInvalid,
    sealedAt: new Date(now()).toISOString(),
    inputs,
    estimate,
  });
}

interface PlanFlags {
  readonly env: string;
  readonly occurrence?: string;
  readonly recipients?: string;
  readonly skipInvalid?: boolean;
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
    .option('-o, --output <file>', 'write the sealed plan here; without it, to stdout')
    .option('--quiet', 'print nothing when all is well');
  addExamples(command, [
    ['handbill plan hello --env production -o hello.plan.json', 'counts, parts, cost, sealed'],
    ['handbill send --plan hello.plan.json --yes', 'sends exactly that'],
  ]).action(async (target: string, flags: PlanFlags) => {
    const sealed = await plan(target, {
      cwd: context.cwd,
      now: context.now,
      environment: flags.env,
      ...(flags.occurrence === undefined ? {} : { occurrence: flags.occurrence }),
      skipInvalid: flags.skipInvalid === true,
      ...(flags.recipients === undefined ? {} : { recipients: flags.recipients }),
    });
    const text = `${JSON.stringify(sealed, null, 2)}\n`;
    if (flags.output === undefined) return void (await context.out(text));
    await writeOutput(flags.output, [text]);
    if (flags.quiet !== true) context.err(`${summary(sealed, flags.output)}\n`);
  });
}

function summary(sealed: SealedPlan, file: string): string {
  const { estimate } = sealed;
  const facts = [`${number(estimate.send)} recipients`, partsText(estimate.parts), costText(estimate)];
  const said = facts.filter((fact) => fact !== null).join(', ');
  return safeLine(`Sealed: ${said}. Send it with: handbill send --plan ${file}`);
}
