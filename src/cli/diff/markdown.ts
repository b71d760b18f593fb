import type { CampaignDiff, Diff, Figures, Finding, RuleChange } from '../../diff/result.ts';
import { countOf, number } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { type DaysWords, daysWords } from './days.ts';
import {
  arrow,
  costWords,
  decisionWords,
  figureLines,
  findingWords,
  groupWords,
  headline,
  isEmpty,
  NONE,
  NOTHING,
  recipientsWords,
  ruleWords,
  titleOf,
  withoutRepeats,
} from './words.ts';

/** GitHub accepts comments of 65,536 characters; the rest is room for the end of the text. */
const MAX_BYTES = 64_000;
/** A later comment finds the one that it replaces by this line. */
const MARKER = '<!-- handbill diff -->';

/** A diff as the comment of a pull request. Text from files is shown as written, and is never markup. */
export function diffMarkdown(diff: Diff): string {
  const fitted = createFitted();
  fitted.add(`${MARKER}\n### handbill: what this change means\n\n${plain(headline(diff))}\n`);
  if (isEmpty(diff)) fitted.add(`\n${NOTHING}\n`);
  if (diff.rehearsal !== undefined) addDays(fitted, daysWords(diff, diff.rehearsal, '→'));
  for (const note of diff.notes) fitted.add(`\n${plain(note)}\n`);
  if (!diff.valid) fitted.add('\n**This change does not validate.** The errors follow, by campaign.\n');
  if (diff.campaigns.length > 0) {
    fitted.add(`\n${row(['campaign', 'recipients', 'to send', 'parts', 'cost', 'texts', 'rules'])}`);
    fitted.add(row(['---', '--:', '--:', '--:', '--:', '--:', '--:']));
    for (const campaign of diff.campaigns) fitted.add(overviewRow(campaign));
  }
  for (const campaign of withoutRepeats(diff).campaigns)
    details(fitted, titleOf(campaign), campaignPieces(campaign, diff));
  if (diff.project.length > 0) details(fitted, 'handbill.yaml', ruleTable(diff.project));
  if (diff.unchanged.length > 0) fitted.add(`\nUnchanged: ${diff.unchanged.map(code).join(', ')}\n`);
  return fitted.text(
    `\nThis comment is as long as it can be. \`handbill diff\` on the command line shows all of it.\n`,
  );
}

// -------------------------------------------------------------------------------------------------------- the text

/** A long table is folded, so that the campaigns are seen. */
function addDays(fitted: Fitted, { answer, lines, rows: [titles = [], ...rows], foot }: DaysWords): void {
  fitted.add(`\n**${plain(answer)}**\n\n${lines.map((line) => `- ${plain(line)}\n`).join('')}\n`);
  const head = [row(titles), row(titles.map(() => '---'))];
  const pieces = [...head, ...rows.map((cells) => row(cells.map(plain))), '\n'];
  if (rows.length > 20) details(fitted, 'days', pieces);
  else if (rows.length > 0) fitted.add(pieces.join(''));
  fitted.add(`${plain(foot)}\n`);
}

function overviewRow(campaign: CampaignDiff): string {
  const { recipients, texts, rules, before, after } = campaign;
  const counts =
    recipients === null
      ? NONE
      : `${arrow(number(recipients.before), number(recipients.after), '→')} (+${number(recipients.added)} −${number(recipients.removed)})`;
  const figure = (of: (figures: Figures) => string | null): string => {
    const [was, is] = [before, after].map((side) => (side?.figures == null ? null : of(side.figures)));
    if (was == null && is == null) return NONE;
    return plain(arrow(was ?? NONE, is ?? NONE, '→'));
  };
  return row([
    code(titleOf(campaign)),
    counts,
    figure(({ send }) => number(send)),
    figure(({ parts, encodings }) => (Object.keys(encodings).length === 0 ? null : number(parts))),
    figure(costWords),
    texts.compared === 0 ? NONE : `${number(texts.changed)} of ${number(texts.compared)}`,
    number(rules.length),
  ]);
}

function campaignPieces(campaign: CampaignDiff, { before, after }: Diff): readonly string[] {
  const { recipients, decisions, texts, rules, notes, file } = campaign;
  const pieces = [`${code(file)}\n\n`];
  pieces.push(...faultPieces(after.name, campaign.after?.errors), ...faultPieces(before.name, campaign.before?.errors));
  for (const note of notes) pieces.push(`${plain(note)}\n\n`);
  const who = recipients === null ? [] : recipientsWords(recipients);
  pieces.push(...list('Recipients', who.map(plain)));
  const figures = figureLines(campaign);
  if (figures.length > 0) {
    pieces.push(`${row(['', 'before', 'after'])}${row(['---', '--:', '--:'])}`);
    pieces.push(...figures.map((line) => row([line.label, line.before, line.after].map(plain))), '\n');
  }
  pieces.push(
    ...list(
      'Decisions',
      decisions.map((one) => plain(decisionWords(one, '→'))),
    ),
  );
  pieces.push(...textPieces(texts));
  if (rules.length > 0) pieces.push(...ruleTable(rules));
  return pieces;
}

function textPieces({ groups, more }: CampaignDiff['texts']): readonly string[] {
  const items = groups.map((group) => {
    const shapes = group.templates.map(({ what, shape }) => `  - ${code(what)}: ${code(shape)}`);
    return [plain(groupWords(group)), ...shapes].join('\n');
  });
  if (more !== null) items.push(`${countOf(more.recipients, 'recipient')} in ${countOf(more.groups, 'more group')}`);
  return list('Texts', items);
}

function ruleTable(rules: readonly RuleChange[]): readonly string[] {
  return [
    `${row(['rule', 'before', 'after'])}${row(['---', '---', '---'])}`,
    ...rules.map((rule) => row([rule.key, ...ruleWords(rule)].map(code))),
    '\n',
  ];
}

function faultPieces(name: string, findings: readonly Finding[] = []): readonly string[] {
  return list(
    `Errors in ${plain(name)}`,
    findings.map((finding) => plain(findingWords(finding))),
  );
}

function list(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`**${title}**\n\n`, ...items.map((item) => `- ${item}\n`), '\n'];
}

// --------------------------------------------------------------------------------------------------- how it is written

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Text as it is, as code: GitHub looks for no names, issues or addresses in there. */
function code(text: string): string {
  return `<code>${escaped(safeLine(text))}</code>`;
}

function plain(text: string): string {
  return escaped(safeLine(text));
}

/** A character as a number is no markup or link (CommonMark 6.2). An invisible joiner stops mentions and issues. */
function escaped(text: string): string {
  return text.replace(/[!"#$&'*<>?@[\\\]^_`{|}~]|(?<=www)\.|:(?=\/)/gi, (sign) => {
    const written = `&#${sign.charCodeAt(0)};`;
    return sign === '@' || sign === '#' ? `${written}&#8288;` : written;
  });
}

type Fitted = ReturnType<typeof createFitted>;

function createFitted() {
  let gathered = '';
  let room = MAX_BYTES;
  let isFull = false;
  return {
    add(text: string): void {
      const bytes = Buffer.byteLength(text);
      isFull ||= bytes > room;
      if (isFull) return;
      gathered += text;
      room -= bytes;
    },
    room: (): number => room,
    stop(): void {
      isFull = true;
    },
    /** The gathered text; with `sentence` where something did not fit. */
    text: (sentence: string): string => (isFull ? `${gathered}${sentence}` : gathered),
  };
}

/** A collapsed part; its tag is closed even if not all of its content fits. */
function details(fitted: Fitted, title: string, pieces: readonly string[]): void {
  const head = `\n<details><summary>${code(title)}</summary>\n\n`;
  const end = '</details>\n';
  let left = fitted.room() - Buffer.byteLength(head + end);
  const kept: string[] = [];
  for (const piece of pieces) {
    left -= Buffer.byteLength(piece);
    if (left < 0) break;
    kept.push(piece);
  }
  if (kept.length > 0) fitted.add(head + kept.join('') + end);
  if (kept.length < pieces.length) fitted.stop();
}
