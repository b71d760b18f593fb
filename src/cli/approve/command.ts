import type { Command } from 'commander';
import { problem, refuse } from '../../errors.ts';
import { ALLOWABLE, DEFER_REASONS, DEFER_WORDS } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { OPTIONS, type OptionTable } from '../../operations/options.ts';
import { APPROVE, type ApproveQuestion, approve, approveStanding, checkApproval } from '../../operations/plan.ts';
import { costText, doneText, fallbackText, laterPartsText, laterText } from '../../plan/estimate.ts';
import { forecastText } from '../../plan/forecast.ts';
import { isStanding, type PlanFile } from '../../plan/plan-file.ts';
import { commitWords, countOf, number } from '../../report/words.ts';
import { safe, safeLine } from '../../util/escape.ts';
import { nextCommand } from '../../util/next-command.ts';
import { type Flags, flagsGiven, SIGN, STANDING, untilMissing } from '../shared/options.ts';
import { askYes } from '../shared/prompt.ts';

export const FLAGS = {
  sign: SIGN,
  check: { flag: '--check', says: 'sign nothing; exit 2 unless the plan is approved' },
  ...APPROVE,
  ...STANDING,
  yes: { flag: '--yes', says: 'sign without asking' },
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

type ApproveFlags = Flags<typeof FLAGS>;

function refuseMixed(command: Command, flags: ApproveFlags): void {
  const names = flagsGiven(
    command,
    flags.standing === true ? ['check', 'recipients', 'unchecked'] : ['until', 'environment', 'output'],
  );
  const why = flags.standing === true ? 'is for a plan file, not for --standing.' : 'is for --standing.';
  if (names !== '') throw refuse(problem('usage', `${names} ${why}`, { hint: 'See `handbill approve --help`.' }));
  if (flags.standing === true && flags.until === undefined) throw refuse(untilMissing());
}

export async function run(context: CommandContext, flags: ApproveFlags, file: string, command: Command): Promise<void> {
  refuseMixed(command, flags);
  const { interactive } = context;
  const show = (question: ApproveQuestion): void => {
    if (flags.quiet !== true) context.err(planFacts(question));
  };
  const { sign, ...wanted } = flags;
  const options = {
    ...wanted,
    interactive,
    onSaid: context.err,
    ...(typeof sign === 'string' ? { key: sign } : {}),
  };
  if (flags.check === true) {
    const question = await checkApproval(file, options);
    show(question);
    if (flags.quiet !== true) context.err(`${standing(question, file)}\n`);
    return;
  }
  const confirm = async (question: ApproveQuestion): Promise<boolean> => {
    if (flags.yes === true) show(question);
    // A person who is asked must see the question, even with `--quiet`.
    else context.err(planFacts(question));
    return flags.yes === true || askYes('Type "yes" to sign this plan', context);
  };
  if (flags.standing !== true) {
    const result = await approve(file, { ...options, confirm });
    if (flags.quiet !== true) context.err(`Signed. ${standing(result, file)}\n`);
    return;
  }
  const result = await approveStanding(file, { ...options, confirm, until: flags.until ?? '' });
  if (flags.quiet !== true) context.err(`Signed: ${safeLine(result.file)}. ${standing(result, result.file)}\n`);
}

type Facts = readonly (readonly [name: string, value: string | null])[];

function onceFacts({ occurrence, estimate, recipients, allow }: PlanFile): Facts {
  const list = recipients === null ? '' : ` of ${safeLine(recipients)}`;
  const parts = `${number(estimate.parts)}${laterPartsText(estimate)}`;
  return [
    ['occurrence', occurrence],
    ...allow.map((code) => ['ALLOWS', ALLOWABLE[code]] as const),
    ['recipients', `${number(estimate.send)}${laterText(estimate)} (${countOf(estimate.rows, 'row')}${list})`],
    ...DEFER_REASONS.filter((reason) => estimate.deferred[reason] !== undefined).map(
      (reason) => ['deferred', `${reason}: ${DEFER_WORDS[reason].means}`] as const,
    ),
    ['parts', parts === '0' ? null : parts],
    ['cost', costText(estimate)],
    ['finished', forecastText(estimate)],
    ['fallbacks', fallbackText(estimate)],
    ['done before', doneText(estimate)],
  ];
}

const NOT_SEALED = ['NOT SEALED', 'the list; what bounds each run is not known here'] as const;

function planFacts({ plan, url, compared, facts: guards, judgement }: ApproveQuestion): string {
  const facts: Facts = [
    ['campaign', plan.campaign.name],
    ['environment', `${plan.environment}, ${url}`],
    // The scope of a standing plan, and the limits of each run under it.
    ...(isStanding(plan)
      ? [
          ['STANDING', `every occurrence until ${plan.standing.until} (UTC), without another approval`] as const,
          ...(guards.length === 0 ? [NOT_SEALED] : guards),
        ]
      : [...onceFacts(plan), ...guards]),
    ['made', plan.plannedAt],
    ['commit', plan.commit === undefined || plan.commit === null ? null : commitWords(plan.commit)],
    ...plan.inputs.map(({ role, file, sha256 }) => ['input', `${role} ${file}, sha256 ${sha256}`] as const),
    ...(judgement?.signed ?? []).map(
      ({ name, role, fingerprint }) => ['signed by', `${name}, ${role}, ${fingerprint}`] as const,
    ),
    ...(judgement?.refused ?? []).map((sentence) => ['beware', sentence] as const),
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(12)} ${safeLine(value)}`]));
  const what = isStanding(plan) ? 'Inputs' : 'Inputs and figures';
  const origin = compared
    ? `${what} are those of this checkout.`
    : `${what} were NOT compared with this checkout: they are what the file claims.`;
  return safe(`${lines.join('\n')}\n${origin}\n`);
}

function standing({ plan, judgement }: ApproveQuestion, file: string): string {
  const name = plan.environment;
  if (judgement === null) return safeLine(`${name} asks for no approval.`);
  if (!judgement.approved) return safeLine(`Not approved for ${name} yet. ${judgement.missing}`);
  if (isStanding(plan)) {
    const { name: campaign } = plan.campaign;
    return safeLine(
      `${campaign} is approved for ${name} until ${plan.standing.until}: commit it for \`handbill due\`.`,
    );
  }
  return safeLine(
    `${plan.campaign.name} is approved for ${name}. Send it with: ${nextCommand('send', '--plan', file)}`,
  );
}
