import { checkApprovers } from '../../approval/approver-faults.ts';
import { problem, refuse } from '../../errors.ts';
import type { Environment, Project } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { OPTIONS, type OptionTable } from '../../operations/options.ts';
import { makePlan, makeStanding, PLAN, signPlan, toText } from '../../operations/plan.ts';
import type { Fact } from '../../operations/standing.ts';
import { costText, doneText, laterText, listPartsText } from '../../plan/estimate.ts';
import { forecastText } from '../../plan/forecast.ts';
import { type AnyPlanFile, isStanding } from '../../plan/plan-file.ts';
import { createFormats } from '../../report/locale.ts';
import { countOf } from '../../report/words.ts';
import { judgePlan } from '../../send/approved.ts';
import { safeLine } from '../../util/escape.ts';
import { nextCommand } from '../../util/next-command.ts';
import { utcText } from '../../util/time.ts';
import { estimateFacts, factLines } from '../../web/preview/facts.ts';
import { complain } from '../shared/complain.ts';
import { type Flags, SIGN, STANDING, untilMissing } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { withProgress } from '../shared/progress.ts';

export const FLAGS = {
  ...PLAN,
  standing: STANDING.standing,
  until: STANDING.until,
  sign: SIGN,
  output: {
    flag: '-o, --output <file>',
    says: 'write the plan here (without it, to a pipe; a terminal shows its figures)',
  },
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

type PlanFlags = Flags<typeof FLAGS> & { readonly pipedList?: string };

export async function run(context: CommandContext, flags: PlanFlags, target: string): Promise<void> {
  await withPipedList(flags.recipients, (piped) => plan(target, { ...flags, ...piped }, context));
}

async function plan(target: string, flags: PlanFlags, context: CommandContext): Promise<void> {
  const { cwd, now, env, interactive } = context;
  const { sign, ...asked } = flags;
  const { planFile, campaign, environment, warnings, facts } = isOfEach(flags)
    ? await makeStanding(target, { ...asked, until: flags.until })
    : await withProgress(context, { label: 'Checking', ...flags }, (meter) => makePlan(target, { ...asked, meter }));
  const signing = { interactive, onSaid: context.err, ...(typeof sign === 'string' ? { key: sign } : {}) };
  const unknown = sign === undefined ? [] : await checkApprovers(campaign.project, environment);
  const plan = sign === undefined ? planFile : (await signPlan(planFile, signing, { cwd, env, now })).plan;
  // A terminal gets what a person reads of a plan; only a file or a program can use the plan itself.
  const isShown = flags.output === undefined && context.outIsTerminal === true;
  await writeResult([isShown ? shown(plan, campaign.project, facts) : toText(plan)], flags, context);
  if (flags.quiet !== true) complain(context, warnings);
  // Printed with --quiet too: the plan would be refused.
  complain(context, unknown);
  if (unknown.length === 0 && plan.signatures !== undefined) {
    // Signatures that will not count where the plan is sent to.
    const judgement = await judgePlan(environment, plan, { env, nowMs: now() });
    for (const one of judgement?.refused ?? []) context.err(`${safeLine(`Beware: ${one}`)}\n`);
  }
  if (flags.output === undefined || flags.quiet === true) return;
  context.err(`${summary(plan, environment, flags.output)}\n`);
}

function shown(planFile: AnyPlanFile, { locale, timeZone }: Project, more: readonly Fact[]): string {
  const { campaign, environment } = planFile;
  const of = isStanding(planFile) ? `every occurrence until ${planFile.standing.until} (UTC)` : planFile.occurrence;
  const figures = isStanding(planFile) ? [] : estimateFacts(planFile.estimate, createFormats(locale, timeZone));
  const facts = factLines([...figures, ...more.map(([name, value]) => [name, safeLine(value)] as const)]);
  const head = safeLine(`Plan of ${campaign.name} (${of}), environment ${environment}`);
  return `${head}\n\n${facts}\nNothing was written: add -o FILE to approve it or to send it.\n`;
}

/** A standing plan is of no list and no occurrence: what says something about them is refused. */
function isOfEach(flags: PlanFlags): flags is PlanFlags & { readonly standing: true; readonly until: string } {
  if (flags.standing !== true) {
    if (flags.until === undefined) return false;
    throw refuse(problem('usage', '--until is for --standing.', { hint: 'Add --standing, or leave it out.' }));
  }
  const others = (['occurrence', 'recipients', 'allow'] as const).flatMap((name) =>
    flags[name] === undefined ? [] : [`--${name}`],
  );
  if (others.length > 0) {
    const hint = 'A standing plan is of every occurrence, and of whatever the list holds then.';
    throw refuse(problem('usage', `${others.join(', ')} cannot be used with --standing.`, { hint }));
  }
  if (flags.until === undefined) throw refuse(untilMissing());
  return true;
}

function summary(planFile: AnyPlanFile, environment: Environment, file: string): string {
  if (isStanding(planFile)) {
    const { until } = planFile.standing;
    return safeLine(`Planned: every occurrence until ${until} (UTC). ${nextStep(planFile, environment, file)}`);
  }
  const { estimate } = planFile;
  const skipped = Object.entries(estimate.skipped).map(([reason, count]) => `${count} ${reason}`);
  const later = laterText(estimate);
  const recipients = `${countOf(estimate.send, 'recipient')}${later}`;
  const facts = [recipients, listPartsText(estimate), costText(estimate)].filter((fact) => fact !== null);
  const said = facts.join(later === '' ? ', ' : '; ');
  const next = nextStep(planFile, environment, file);
  const done = doneText(estimate);
  const end = forecastText(estimate);
  const finished = end === null ? '' : ` Finished: ${end}.`;
  // Some recipients wait for a window: at another time, others would.
  const { 'outside-window': outside, 'too-early': early } = estimate.deferred;
  const isOfHour = outside !== undefined || early !== undefined;
  const at = isOfHour ? ` at ${utcText(Date.parse(planFile.plannedAt), 'minute')}` : '';
  return safeLine(
    `Planned${at}: ${said}${done === null ? '' : `; done before: ${done}`}${skipped.length === 0 ? '' : `; skipped: ${skipped.join(', ')}`}.${finished} ${next}`,
  );
}

function nextStep(planFile: AnyPlanFile, { approval }: Environment, file: string): string {
  const { signatures } = planFile;
  // The content of a pipe is gone when the plan is sent.
  const again = !isStanding(planFile) && planFile.recipients === '-' ? ['--recipients', '-'] : [];
  if (approval === null) return `Send it with: ${nextCommand('send', '--plan', file, ...again)}`;
  const command = nextCommand('approve', file, '--sign', 'KEY');
  return signatures === undefined
    ? `It counts when you and an approver have signed it: ${command}`
    : `Have an approver sign it with: ${command}`;
}
