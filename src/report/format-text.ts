import { styleText } from 'node:util';
import { OUTCOMES, type Report, type StepTotals } from '../model.ts';
import { safeLine } from '../util/escape.ts';
import { nextCommand } from '../util/next-command.ts';
import { displayWidth, indentedLines, proseWidth, table, wrap } from '../util/table.ts';
import { figures, type ReportColumn, reportTable } from './columns.ts';
import { END_TABLE, ENDS, type End, endOf, endsOf } from './ends.ts';
import { type Formats, PLAIN } from './locale.ts';
import { type NextStep, nextSteps } from './next-steps.ts';
import type { Outcomes, ReportOptions } from './record.ts';
import { significanceWords, variantsTable, winnerWords } from './variants-text.ts';
import { type Verdict, verdictOf } from './verdict.ts';
import {
  causeLines,
  commitFacts,
  keptWords,
  period,
  postedWords,
  reasonCounts,
  repliesText,
  returnedWords,
  uncountedWords,
  unmatchedLines,
  versionFacts,
} from './words.ts';

type Style = Parameters<typeof styleText>[0];

/** A report on a terminal of so many columns. */
interface Page extends ReportOptions {
  readonly report: Report;
  readonly formats: Formats;
  readonly verdict: Verdict;
  readonly paint: (style: Style, text: string) => string;
}

/** Tables and sentences fit the terminal's width; names, paths and commands are never cut. */
export async function* formatText(report: Report, _outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  const { formats = PLAIN, colour } = options;
  const paint: Page['paint'] = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text);
  const page: Page = { ...options, report, formats, verdict: verdictOf(report, formats), paint };
  if (options.short === true) {
    yield [header, said, fallen, shortFacts, shortNext].map((section) => section(page)).join('');
    return;
  }
  const rows = [...commitFacts(report), ...versionFacts(report, formats)];
  const widest = Math.max(...rows.map(([name]) => displayWidth(name)));
  const facts = rows.map(([name, value]) => `  ${paint('bold', name.padEnd(widest))}  ${safeLine(value)}\n`).join('');
  const sections = [
    header(page) + about(page),
    ends(page) + fallen(page),
    steps(page),
    variants(page),
    unmatched(page),
    shortFacts(page) + facts,
    next(page),
  ];
  yield sections.filter((section) => section !== '').join('\n');
}

function header({ report, width, formats, verdict, postedNow, paint }: Page): string {
  const now = postedNow === undefined ? '' : `${paint('bold', postedWords(postedNow, formats))}. The whole run:\n`;
  const names = [report.campaign, report.environment, report.occurrence].map(safeLine).join(' · ');
  const lines = wrap(safeLine(verdict.headline), proseWidth(width));
  return `${now}${paint('bold', names)}\n${lines.map((line) => `${paint(TONES[verdict.tone], line)}\n`).join('')}`;
}

const TONES: Readonly<Record<Verdict['tone'], Style>> = { good: 'green', going: 'cyan', open: 'yellow', bad: 'red' };

function about({ report, width, formats, paint }: Page): string {
  const words = [`Run ${report.run}. ${period(report, formats)}`, ...keptWords(report, formats)];
  const lines = words.flatMap((line) => wrap(safeLine(line), proseWidth(width)));
  return lines.map((line) => `${paint('dim', line)}\n`).join('');
}

function said({ report, width, formats, verdict }: Page): string {
  const lines = causeLines(report.causes ?? [], SHORT_CAUSES, formats);
  const causes = lines.length === 0 ? '' : paragraph(`Causes: ${lines.join('; ')}`, width);
  return paragraph(verdict.counts, width) + causes;
}

const SHORT_CAUSES = 2;

function fallen({ width, verdict: { fall }, paint }: Page): string {
  return fall === null ? '' : paint('yellow', paragraph(fall, width));
}

/** A line for each end that occurred, with the causes, or with the ledger's outcomes and reasons. */
function ends({ report, formats, width, causes, paint }: Page): string {
  const { totals, ends: counts = endsOf(report) } = report;
  const isAll = causes === true;
  const of: End[] = [];
  const rows = ENDS.filter((end) => counts[end] > 0).flatMap((end) => {
    const lines = endLines(report, end, isAll ? Number.POSITIVE_INFINITY : SHORT_CAUSES, formats);
    of.push(...lines.map(() => end));
    const share = formats.percent(counts[end], totals.recipients);
    const bar = '█'.repeat(Math.round((BAR * counts[end]) / totals.recipients));
    return lines.map((line, i) =>
      i > 0 ? ['', '', '', '', line] : [END_TABLE[end].words, formats.number(counts[end]), share, bar, line],
    );
  });
  if (rows.length === 0) return `  ${formats.count(totals.recipients, 'recipient')}\n`;
  const style = (cell: string, row: number): string => paint(END_STYLES[of[row] ?? 'sent'], cell);
  const words = { shrink: !isAll, style: (cell: string) => paint('dim', cell) };
  const columns = [{ style }, { ...RIGHT, style }, RIGHT, { style, drop: 1 }, words];
  const command = paint('cyan', safeLine(nextCommand('report', report.run, '--causes')));
  const all = isAll || report.causes === undefined ? '' : `  All causes, whole: ${command}\n`;
  return `${table(rows, columns, { width, indent: 2 })}${all}`;
}

const BAR = 10;

function endLines(report: Report, end: End, most: number, formats: Formats): readonly string[] {
  const own = (report.causes ?? []).filter((cause) => endOf(cause) === end);
  const lines = causeLines(own, most, formats);
  if (lines.length > 0) return lines;
  // Those of accepted messages are of delivered ones too.
  const outcomes = OUTCOMES.filter((outcome) => outcome !== 'accepted');
  const codes = outcomes.map((outcome) =>
    reasonCounts(report, outcome, formats, (reason) => endOf({ outcome, reason }) === end),
  );
  return [codes.filter((code) => code !== '').join(', ') || END_TABLE[end].means];
}

function steps(page: Page): string {
  const { steps: totals } = page.report;
  return totals === undefined ? '' : `${page.paint('bold', 'Channels')}\n${stepsTable(totals, page)}`;
}

function variants({ report, width, formats, paint }: Page): string {
  const { variants: results, significance = null } = report;
  if (results === undefined) return '';
  const words = [significanceWords({ variants: results, significance }), winnerWords(report, formats)];
  const said = words.map((text) => (text === '' ? '' : paragraph(text, width))).join('');
  return `${paint('bold', 'Variants')}\n${variantsTable(results, width, formats)}${said}`;
}

function unmatched({ report, width, formats, paint }: Page): string {
  const rows = unmatchedLines(report).map(([why, count, meaning]) => [why, formats.number(count), meaning]);
  if (rows.length === 0) return '';
  const columns = [{ shrink: true }, RIGHT, { shrink: true, style: (cell: string) => paint('dim', cell) }];
  const title = paint('bold', 'Unmatched delivery reports');
  const said = 'They name ids of messages of this run and are not about them. They count nowhere.';
  return `${title}\n${table(rows, columns, { width, indent: 2 })}${paragraph(said, width)}`;
}

const RIGHT = { align: 'right' as const };

function paragraph(words: string, width: number): string {
  return indentedLines(safeLine(words), Math.max(20, proseWidth(width) - 2), 2);
}

/** `60.99 EUR · 1,435 parts · 12 replied · 3 opted out · 1,240 requests, 6 retries, 19.4/s`, without zeros. */
function shortFacts({ report, currency, width, formats }: Page): string {
  const { count: countOf, money } = formats;
  const { posted, retried, perSecond } = report.requests;
  const uncounted = uncountedWords(report.requests, formats);
  const requests = [posted === 0 && uncounted.length > 0 ? 'requests' : countOf(posted, 'request')];
  if (retried > 0) requests.push(countOf(retried, 'retry', 'retries'));
  if (perSecond > 0) requests.push(`${formats.rate(perSecond)}/s`);
  requests.push(...uncounted);
  const { parts, cost } = report.sms;
  const all = [
    ...(cost === null ? [] : [money(cost, currency)]),
    ...(parts > 0 ? [countOf(parts, 'part')] : []),
    ...returnedWords(report, formats),
    ...(report.replies === undefined ? [] : [`replies: ${repliesText(report.replies, formats)}`]),
    ...(posted + uncounted.length > 0 ? [requests.join(posted === 0 ? ' ' : ', ')] : []),
  ];
  return all.length === 0 ? '' : paragraph(all.join(' · '), width);
}

/** The most urgent step, up to the first command; the report has the rest. */
function shortNext(page: Page): string {
  const { report, formats, paint } = page;
  const steps = stepsOf(page);
  const shown = steps.slice(0, steps[0]?.command === null ? 2 : 1);
  const said = shown.map((step, i) => stepText(i > 0 ? step : { ...step, text: `Next: ${step.text}` }, page));
  const left = steps.length - shown.length;
  const rest = left === 0 ? 'Details' : `${formats.count(left, 'more step')}, and details`;
  return `${said.join('')}${paint('dim', safeLine(`${rest}: ${nextCommand('report', report.run)}`))}\n`;
}

function next(page: Page): string {
  const steps = stepsOf(page).map((step) => stepText(step, page));
  return steps.length === 0 ? '' : `${page.paint('bold', 'What to do next')}\n${steps.join('')}`;
}

function stepsOf({ report, campaignFile = report.campaign, planPath, formats }: Page): readonly NextStep[] {
  return nextSteps(report, campaignFile, planPath, formats);
}

function stepText({ text, command }: NextStep, { width, paint }: Page): string {
  return paragraph(text, width) + (command === null ? '' : `    ${paint('cyan', safeLine(command))}\n`);
}

const END_STYLES: Readonly<Record<End, Style>> = {
  delivered: 'green',
  sent: 'green',
  notDelivered: 'red',
  unclear: 'yellow',
  notSent: 'cyan',
  waits: 'cyan',
  notTried: 'yellow',
};

export function stepsTable(
  steps: readonly StepTotals[],
  { width, currency = null, formats = PLAIN }: Pick<ReportOptions, 'width' | 'currency' | 'formats'>,
): string {
  const columns = COLUMNS.map((column) =>
    column === COST && currency !== null ? { ...column, title: `cost ${safeLine(currency)}` } : column,
  );
  return reportTable(steps, columns, width, formats);
}

const COST: ReportColumn<StepTotals> = {
  title: 'cost',
  align: 'right',
  least: 60,
  cell: ({ cost }, { money }) => (cost === null ? '-' : money(cost, null)),
  wanted: ({ cost }) => cost !== null,
};

const COLUMNS: readonly ReportColumn<StepTotals>[] = [
  { title: 'channel', shrink: true, least: 0, cell: ({ channel }) => channel },
  figures('attempted', 0, ({ attempted }) => attempted),
  figures('accepted', 0, ({ accepted }) => accepted),
  figures('fell back', 0, ({ fellBack }) => fellBack),
  figures('rejected', 70, ({ rejected }) => rejected),
  some('in doubt', 80, ({ inDoubt }) => inDoubt),
  some('failed', 120, ({ failed }) => failed),
  some('pending', 120, ({ pending }) => pending),
  some('parts', 100, ({ parts }) => parts),
  COST,
];

/** Omitted where all are 0. */
function some(title: string, least: number, of: (step: StepTotals) => number): ReportColumn<StepTotals> {
  return { ...figures(title, least, of), wanted: (step) => of(step) > 0 };
}
