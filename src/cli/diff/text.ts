import type { CampaignDiff, Diff, Finding, RuleChange } from '../../diff/result.ts';
import { countOf, number } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { displayWidth, table } from '../../util/table.ts';
import { type DaysWords, daysWords } from './days.ts';
import {
  arrow,
  decisionWords,
  figureLines,
  findingWords,
  groupWords,
  headline,
  isEmpty,
  NOTHING,
  recipientsWords,
  ruleWords,
  titleOf,
  withoutRepeats,
} from './words.ts';

/** A label in front of its first line; the lines below hang under it. */
type Block = readonly [label: string, lines: readonly string[]];

export function diffText(diff: Diff): string {
  const parts = [`${safeLine(headline(diff))}\n`];
  if (isEmpty(diff)) parts.push(`${NOTHING}\n`);
  if (diff.rehearsal !== undefined) parts.push(...daysParts(daysWords(diff, diff.rehearsal, '->')));
  for (const campaign of withoutRepeats(diff).campaigns)
    parts.push(section(titleOf(campaign), campaignBlocks(campaign, diff)));
  if (diff.project.length > 0) parts.push(section('handbill.yaml', [['rules', diff.project.map(ruleLine)]]));
  if (diff.unchanged.length > 0) parts.push(`${safeLine(`Unchanged: ${diff.unchanged.join(', ')}`)}\n`);
  parts.push(...diff.notes.map((note) => `${safeLine(note)}\n`));
  return parts.join('\n');
}

function daysParts({ answer, lines, rows: [titles = [], ...rows], foot }: DaysWords): readonly string[] {
  const columns = titles.map((title) => ({ title }));
  const shown = table(rows, columns, { width: Number.POSITIVE_INFINITY, indent: 2 });
  const parts = [`${safeLine(answer)}\n`, lines.map((line) => `  ${safeLine(line)}\n`).join(''), shown];
  return [...parts.filter((part) => part !== ''), `${safeLine(foot)}\n`];
}

function campaignBlocks(campaign: CampaignDiff, { before, after }: Diff): readonly Block[] {
  const { recipients, decisions, texts, rules, notes } = campaign;
  const blocks: Block[] = [];
  if (recipients !== null) {
    const count = arrow(number(recipients.before), number(recipients.after), '->');
    blocks.push(['recipients', [[count, ...recipientsWords(recipients)].join(', ')]]);
  }
  for (const line of figureLines(campaign)) blocks.push([line.label, [arrow(line.before, line.after, '->')]]);
  blocks.push(['decisions', decisions.map((one) => decisionWords(one, '->'))]);
  blocks.push(['texts', textLines(texts)]);
  blocks.push(['rules', rules.map(ruleLine)]);
  blocks.push(['note', notes]);
  blocks.push(...faultBlocks(`errors in ${before.name}`, campaign.before?.errors));
  blocks.push(...faultBlocks(`errors in ${after.name}`, campaign.after?.errors));
  return blocks;
}

function textLines({ compared, changed, groups, more }: CampaignDiff['texts']): readonly string[] {
  if (groups.length === 0) return [];
  const lines = compared === 0 ? [] : [`${number(changed)} of ${number(compared)} change`];
  for (const group of groups) {
    lines.push(groupWords(group));
    for (const { what, shape } of group.templates) lines.push(`  ${what}: ${shape}`);
  }
  if (more !== null) lines.push(`${countOf(more.recipients, 'recipient')} in ${countOf(more.groups, 'more group')}`);
  return lines;
}

function ruleLine(rule: RuleChange): string {
  const [before, after] = ruleWords(rule);
  return `${rule.key}: ${before} -> ${after}`;
}

function faultBlocks(label: string, findings: readonly Finding[] = []): readonly Block[] {
  return findings.length === 0 ? [] : [[label, findings.map(findingWords)]];
}

function section(title: string, blocks: readonly Block[]): string {
  const filled = blocks.filter(([, lines]) => lines.length > 0);
  const width = Math.max(...filled.map(([label]) => displayWidth(safeLine(label))), 0);
  const lines = filled.flatMap(([label, texts]) =>
    texts.map((text, index) => {
      const head = index === 0 ? safeLine(label) : '';
      return `  ${head}${' '.repeat(width - displayWidth(head))}  ${safeLine(text)}\n`;
    }),
  );
  return `${safeLine(title)}\n${lines.join('')}`;
}
