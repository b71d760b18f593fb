import type { Command } from 'commander';
import { type ApproveQuestion, approve, checkApproval } from '../../operations/approve.ts';
import type { CommandContext } from '../../operations/context.ts';
import { ledgerOption } from '../../operations/project-ledger.ts';
import { costText, fallbackText } from '../../plan/estimate.ts';
import { countOf, number } from '../../report/words.ts';
import { safe, safeLine } from '../../util/safe.ts';
import { shellWord } from '../../util/shell.ts';
import { addExamples, addLedger } from '../shared/options.ts';
import { askYes } from '../shared/prompt.ts';

interface ApproveFlags {
  readonly sign?: string | true;
  readonly check?: boolean;
  readonly recipients?: string;
  readonly ledger?: string;
  readonly unchecked?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
}

/** `handbill approve FILE`. */
export function configure(command: Command, context: CommandContext): void {
  command
    .argument('<plan>', 'plan file')
    .option('--sign [key]', 'the SSH key to sign with, private or in ssh-agent (default: HANDBILL_SIGNING_KEY)')
    .option('--check', 'sign nothing; exit 2 unless the plan is approved')
    .option('--recipients <file>', 'take the list from here, if it is not where the planner had it')
    .option('--unchecked', 'sign without comparing the plan with this checkout')
    .option('--yes', 'sign without asking')
    .option('--quiet', 'print nothing when all is well');
  addExamples(addLedger(command), [
    ['handbill approve hello.plan.json --sign ~/.ssh/id_ed25519', 'shows the plan, asks, and signs it'],
    ['handbill approve hello.plan.json --check', 'may it be sent?'],
  ]).action(async (file: string, flags: ApproveFlags) => run(file, flags, context));
}

async function run(file: string, flags: ApproveFlags, context: CommandContext): Promise<void> {
  const { cwd, env, now, interactive } = context;
  const show = (question: ApproveQuestion): void => {
    if (flags.quiet !== true) context.err(planFacts(question));
  };
  const options = {
    cwd,
    env,
    now,
    interactive,
    onSaid: context.err,
    ...ledgerOption(flags.ledger, context),
    unchecked: flags.unchecked === true,
    ...(typeof flags.sign === 'string' ? { key: flags.sign } : {}),
    ...(flags.recipients === undefined ? {} : { recipients: flags.recipients }),
  };
  if (flags.check === true) {
    const question = await checkApproval(file, options);
    show(question);
    if (flags.quiet !== true) context.err(`${standing(question, file)}\n`);
    return;
  }
  const result = await approve(file, {
    ...options,
    confirm: async (question) => {
      if (flags.yes === true) show(question);
      // A person who is asked must see the question, even with `--quiet`.
      else context.err(planFacts(question));
      return flags.yes === true || askYes('Type "yes" to sign this plan', context);
    },
  });
  if (flags.quiet !== true) context.err(`Signed. ${standing(result, file)}\n`);
}

/** The facts of a plan, for the person who signs it: one a line, and each input with its hash. */
export function planFacts({ plan, environment, compared, judgement }: ApproveQuestion): string {
  const { estimate } = plan;
  const list = plan.recipients === null ? '' : ` of ${safeLine(plan.recipients)}`;
  const bad = plan.skipInvalid ? ', bad rows are skipped' : '';
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ['campaign', plan.campaign.name],
    ['occurrence', plan.occurrence],
    ['environment', `${environment.name}, ${environment.url}`],
    ['recipients', `${number(estimate.send)}${list} (${countOf(estimate.rows, 'row')}${bad})`],
    ['parts', estimate.parts === 0 ? null : number(estimate.parts)],
    ['cost', costText(estimate)],
    ['fallbacks', fallbackText(estimate)],
    ['made', plan.sealedAt],
    ...plan.inputs.map(({ role, file, sha256 }) => ['input', `${role} ${file}, sha256 ${sha256}`] as const),
    ...(judgement?.signed ?? []).map(
      ({ name, role, fingerprint }) => ['signed by', `${name}, ${role}, ${fingerprint}`] as const,
    ),
    ...(judgement?.refused ?? []).map((sentence) => ['beware', sentence] as const),
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(12)} ${safeLine(value)}`]));
  const origin = compared
    ? 'Inputs and figures are those of this checkout.'
    : 'Inputs and figures were NOT compared with this checkout: they are what the file claims.';
  return safe(`${lines.join('\n')}\n${origin}\n`);
}

/** What is still missing, or what to do with the plan. */
export function standing({ plan, environment, judgement }: ApproveQuestion, file: string): string {
  const { name } = environment;
  if (judgement === null) return safeLine(`${name} asks for no approval.`);
  if (!judgement.approved) return safeLine(`Not approved for ${name} yet. ${judgement.missing}`);
  return safeLine(
    `${plan.campaign.name} is approved for ${name}. Send it with: handbill send --plan ${shellWord(file)}`,
  );
}
