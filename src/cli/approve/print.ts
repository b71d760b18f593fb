import type { ApproveQuestion } from '../../operations/approve.ts';
import { costText, fallbackText } from '../../plan/estimate-text.ts';
import { countOf, number } from '../../report/words.ts';
import { safe, safeLine } from '../../util/safe.ts';
import { shellWord } from '../../util/shell.ts';

/** What a plan is, for whoever signs it: one fact a line, and each input with its hash. */
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
    ['sealed', plan.sealedAt],
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
