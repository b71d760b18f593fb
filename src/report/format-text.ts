import { styleText } from 'node:util';
import { OUTCOMES, type OutcomeState, type Report, type RunState, type StepTotals } from '../model.ts';
import { safeLine } from '../util/escape.ts';
import { type Column, displayWidth, proseWidth, table, wrap } from '../util/table.ts';
import { type Formats, PLAIN } from './locale.ts';
import { type NextStep, nextSteps } from './next-steps.ts';
import { pauseText } from './pause-words.ts';
import { reasonWords } from './reason-words.ts';
import type { Outcomes, ReportOptions } from './record.ts';
import { totalsKey } from './tally.ts';
import { significanceWords, variantsTable, winnerWords } from './variants-text.ts';
import {
  acceptedWords,
  causeLines,
  commitFacts,
  deliveryLines,
  OUTCOME_WORDS,
  overWords,
  period,
  postedWords,
  reasonCounts,
  repliesText,
  returnedWords,
  STATE_WORDS,
  uncountedWords,
  unmatchedLines,
  versionFacts,
} from './words.ts';

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

/** Tables and sentences fit the terminal's width; names, paths and commands are never cut. */
export async function* formatText(report: Report, _outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  const paint: Paint = (style, text) => (options.colour ? styleText(style, text, { validateStream: false }) : text);
  if (options.short === true) {
    yield [header, shortTotals, shortCauses, shortFacts, shortNext]
      .map((section) => section(report, options, paint))
      .join('');
    return;
  }
  const sections = [
    header(report, options, paint),
    totals(report, options, paint),
    reasons(report, options, paint),
    causes(report, options, paint),
    steps(report, options, paint),
    variants(report, options, paint),
    deliveries(report, options, paint),
    unmatched(report, options, paint),
    facts(report, options, paint),
    next(report, options, paint),
  ];
  yield sections.filter((section) => section !== '').join('\n');
}

function header(report: Report, { short = false, formats = PLAIN, postedNow }: ReportOptions, paint: Paint): string {
  const now = postedNow === undefined ? '' : `${paint('bold', postedWords(postedNow, formats))}. The whole run:\n`;
  const size = short ? [formats.count(report.totals.recipients, 'recipient')] : [];
  const what = [report.campaign, report.environment, report.occurrence, ...size].map(safeLine).join(' · ');
  const purged = [...overWords(report, formats), ...acceptedWords(report.acceptedList)]
    .map((words) => `${safeLine(words)}\n`)
    .join('');
  const state = paint(STATE_STYLES[report.state], STATE_WORDS[report.state]);
  const paused = report.paused === undefined ? '' : `${paint('red', safeLine(pauseText(report.paused)))}\n`;
  return `${now}${paint('bold', what)}\nRun ${safeLine(report.run)} ${state}. ${safeLine(period(report.startedAt, report.finishedAt, formats))}\n${paused}${purged}`;
}

function totals(report: Report, options: ReportOptions, paint: Paint): string {
  return outcomes(report, OUTCOMES, (outcome) => OUTCOME_WORDS[outcome], options, paint);
}

/** Only outcomes that occurred, with reasons instead of explanations. */
function shortTotals(report: Report, options: ReportOptions, paint: Paint): string {
  const wordsOf = (outcome: OutcomeState): string =>
    reasonCounts(report, outcome, options.formats) || OUTCOME_WORDS[outcome];
  const of = OUTCOMES.filter((outcome) => report.totals[totalsKey(outcome)] > 0);
  return outcomes(report, of, wordsOf, options, paint);
}

function outcomes(
  report: Report,
  of: readonly OutcomeState[],
  wordsOf: (outcome: OutcomeState) => string,
  options: ReportOptions,
  paint: Paint,
): string {
  const { recipients } = report.totals;
  const { number, percent } = options.formats ?? PLAIN;
  const countOfOutcome = (outcome: OutcomeState) => report.totals[totalsKey(outcome)];
  const rows = of.map((outcome) => {
    const count = countOfOutcome(outcome);
    return [outcome, number(count), percent(count, recipients), count === 0 ? '' : wordsOf(outcome)];
  });
  const style = (cell: string, row: number): string => {
    const outcome = of[row];
    if (outcome === undefined) return paint('bold', cell);
    return countOfOutcome(outcome) === 0 ? paint('dim', cell) : paint(OUTCOME_STYLES[outcome], cell);
  };
  return table(
    options.short === true ? rows : [...rows, ['recipients', number(recipients), '', '']],
    [{ style }, { align: 'right', style }, { align: 'right' }, { shrink: true, style: (cell) => paint('dim', cell) }],
    { width: options.width, indent: 2 },
  );
}

function reasons(report: Report, options: ReportOptions, paint: Paint): string {
  const { number } = options.formats ?? PLAIN;
  const rows = OUTCOMES.flatMap((outcome) =>
    Object.entries(report.reasons[totalsKey(outcome)] ?? {}).map(([reason, count]) => [
      outcome,
      reason,
      number(count),
      reasonWords(reason),
    ]),
  );
  if (rows.length === 0) return '';
  const words = { shrink: true, style: (cell: string) => paint('dim', cell) };
  const columns = [{}, { shrink: true }, { align: 'right' as const }, words];
  return `${paint('bold', 'Reasons')}\n${table(rows, columns, { width: options.width, indent: 2 })}`;
}

function causes(report: Report, { width, formats = PLAIN }: ReportOptions, paint: Paint): string {
  const lines = causeLines(report, MOST_CAUSES, formats);
  if (lines.length === 0) return '';
  return `${paint('bold', 'Causes')}\n${lines.map((line) => paragraph(line, width)).join('')}`;
}

const MOST_CAUSES = 5;

function shortCauses(report: Report, { width, formats = PLAIN }: ReportOptions): string {
  const lines = causeLines(report, 2, formats);
  return lines.length === 0 ? '' : paragraph(`Causes: ${lines.join('; ')}`, width);
}

function steps(report: Report, { width, currency = null, formats = PLAIN }: ReportOptions, paint: Paint): string {
  if (report.steps === undefined) return '';
  return `${paint('bold', 'Channels')}\n${stepsTable(report.steps, { width, currency, formats })}`;
}

function variants(report: Report, { width, formats = PLAIN }: ReportOptions, paint: Paint): string {
  const { variants: results, significance = null } = report;
  if (results === undefined) return '';
  const words = [significanceWords({ variants: results, significance }), winnerWords(report, formats)];
  const said = words.map((text) => (text === '' ? '' : paragraph(text, width))).join('');
  return `${paint('bold', 'Variants')}\n${variantsTable(results, width, formats)}${said}`;
}

function deliveries(report: Report, { width, formats = PLAIN }: ReportOptions, paint: Paint): string {
  const lines = deliveryLines(report, formats);
  const rows = lines.map(([word, count, share, meaning]) => [word, formats.number(count), share, meaning]);
  if (rows.length === 0) return '';
  const columns = [{ shrink: true }, RIGHT, RIGHT, { shrink: true, style: (cell: string) => paint('dim', cell) }];
  const figures = paragraph(returnedWords(report, formats).join(' · '), width);
  const latest = table(rows, columns, { width, indent: 2 });
  return `${paint('bold', 'Deliveries')}\n${figures}${paint('bold', 'Latest reports')}\n${latest}`;
}

function unmatched(report: Report, { width, formats = PLAIN }: ReportOptions, paint: Paint): string {
  const rows = unmatchedLines(report).map(([why, count, meaning]) => [why, formats.number(count), meaning]);
  if (rows.length === 0) return '';
  const columns = [{ shrink: true }, RIGHT, { shrink: true, style: (cell: string) => paint('dim', cell) }];
  const title = paint('bold', 'Unmatched delivery reports');
  const said = 'They name ids of messages of this run and are not about them. They count nowhere.';
  return `${title}\n${table(rows, columns, { width, indent: 2 })}${paragraph(said, width)}`;
}

const RIGHT = { align: 'right' as const };

function paragraph(words: string, width: number): string {
  return wrap(safeLine(words), Math.max(20, proseWidth(width) - 2))
    .map((line) => `  ${line}\n`)
    .join('');
}

function facts(report: Report, options: ReportOptions, paint: Paint): string {
  const { formats = PLAIN } = options;
  const { number, count: countOf, milliseconds, money } = formats;
  const { posted, retried, perSecond, latencyMs } = report.requests;
  const requests = [number(posted)];
  if (retried > 0) requests.push(`${number(retried)} ${retried === 1 ? 'retry' : 'retries'}`);
  if (perSecond > 0) requests.push(`${number(Math.round(perSecond * 10) / 10)}/s`);
  requests.push(...uncountedWords(report.requests, formats));
  const rows: [string, string][] = [['Requests', requests.join(', ')]];
  if (posted > 0) {
    const { p50, p95, p99 } = latencyMs;
    rows.push(['Latency', `p50 ${milliseconds(p50)}, p95 ${milliseconds(p95)}, p99 ${milliseconds(p99)}`]);
  }
  const { parts, encodings, cost } = report.sms;
  const messages = Object.entries(encodings).map(([encoding, count]) => `${countOf(count, 'message')} in ${encoding}`);
  if (parts > 0) messages.unshift(countOf(parts, 'part'));
  if (messages.length > 0) rows.push(['SMS', messages.join(', ')]);
  if (cost !== null) rows.push(['Cost', money(cost, options.currency)]);
  if (report.replies !== undefined) rows.push(['Replies', repliesText(report.replies, formats)]);
  for (const [name, value] of [...commitFacts(report), ...versionFacts(report, formats)]) rows.push([name, value]);
  rows.push(['Ledger', report.ledger]);
  const widest = Math.max(...rows.map(([name]) => displayWidth(name)));
  return rows.map(([name, value]) => `${paint('bold', name.padEnd(widest))}  ${safeLine(value)}\n`).join('');
}

/** `1,240 requests, 6 retries, 19.4/s · 1,435 parts · 60.99 EUR · delivered 900`, without zeros. */
function shortFacts(report: Report, { currency, width, formats = PLAIN }: ReportOptions): string {
  const { number, count: countOf, money } = formats;
  const { posted, retried, perSecond } = report.requests;
  const requests = [countOf(posted, 'request')];
  if (retried > 0) requests.push(countOf(retried, 'retry', 'retries'));
  if (perSecond > 0) requests.push(`${number(Math.round(perSecond * 10) / 10)}/s`);
  const uncounted = uncountedWords(report.requests, formats);
  requests.push(...uncounted);
  const { parts, cost } = report.sms;
  const all = [
    ...(posted + uncounted.length > 0 ? [requests.join(', ')] : []),
    ...(parts > 0 ? [countOf(parts, 'part')] : []),
    ...(cost === null ? [] : [money(cost, currency)]),
    ...returnedWords(report, formats),
    ...(report.replies === undefined ? [] : [`replies: ${repliesText(report.replies, formats)}`]),
  ];
  return all.length === 0 ? '' : paragraph(all.join(' · '), width);
}

/** The most urgent step, up to the first command; the report has the rest. */
function shortNext(report: Report, options: ReportOptions, paint: Paint): string {
  const { formats = PLAIN } = options;
  const steps = nextSteps(report, options.campaignFile ?? report.campaign, options.planPath, formats);
  const shown = steps.slice(0, steps[0]?.command === null ? 2 : 1);
  const said = shown.map((step, i) => stepText(i > 0 ? step : { ...step, text: `Next: ${step.text}` }, options, paint));
  const left = steps.length - shown.length;
  const rest = left === 0 ? 'Details' : `${formats.count(left, 'more step')}, and details`;
  return `${said.join('')}${paint('dim', safeLine(`${rest}: handbill report ${report.run}`))}\n`;
}

function next(report: Report, options: ReportOptions, paint: Paint): string {
  const campaign = options.campaignFile ?? report.campaign;
  const all = nextSteps(report, campaign, options.planPath, options.formats);
  const steps = all.map((step) => stepText(step, options, paint));
  return steps.length === 0 ? '' : `${paint('bold', 'What to do next')}\n${steps.join('')}`;
}

function stepText({ text, command }: NextStep, { width }: ReportOptions, paint: Paint): string {
  return paragraph(text, width) + (command === null ? '' : `    ${paint('cyan', safeLine(command))}\n`);
}

const STATE_STYLES: Readonly<Record<RunState, Style>> = {
  running: 'cyan',
  finished: 'green',
  partial: 'yellow',
  halted: 'red',
  interrupted: 'yellow',
};

const OUTCOME_STYLES: Readonly<Record<OutcomeState, Style>> = {
  accepted: 'green',
  rejected: 'red',
  failed: 'red',
  skipped: 'cyan',
  deferred: 'cyan',
  'in-doubt': 'yellow',
  pending: 'yellow',
};

interface Shown {
  readonly formats?: Formats;
  readonly width: number;
  /** ISO 4217 code of the costs; null: unknown. */
  readonly currency: string | null;
}

/** One line for each step, within the width: a narrow terminal gets fewer columns. Drops empty columns. */
export function stepsTable(steps: readonly StepTotals[], { width, currency, formats = PLAIN }: Shown): string {
  if (steps.length === 0) return '';
  const columns = COLUMNS.filter(
    ({ least, wanted }) => proseWidth(width) >= least && (wanted === undefined || steps.some(wanted)),
  );
  const rows = steps.map((step) => columns.map(({ cell }) => cell(step, formats)));
  const titled = columns.map((column) =>
    column === COST && currency !== null ? { ...column, title: `cost ${safeLine(currency)}` } : column,
  );
  return table(rows, titled, { width, indent: 2 });
}

interface StepColumn extends Column {
  /** Least width of a terminal that shows it. */
  readonly least: number;
  cell(step: StepTotals, formats: Formats): string;
  /** Absent, or true for some step: the column is shown. */
  wanted?(step: StepTotals): boolean;
}

const COST: StepColumn = {
  title: 'cost',
  align: 'right',
  least: 60,
  cell: ({ cost }, { money }) => (cost === null ? '-' : money(cost, null)),
  wanted: ({ cost }) => cost !== null,
};

const COLUMNS: readonly StepColumn[] = [
  { title: 'channel', shrink: true, least: 0, cell: ({ channel }) => channel },
  { title: 'attempted', align: 'right', least: 0, cell: ({ attempted }, { number }) => number(attempted) },
  { title: 'accepted', align: 'right', least: 0, cell: ({ accepted }, { number }) => number(accepted) },
  { title: 'fell back', align: 'right', least: 0, cell: ({ fellBack }, { number }) => number(fellBack) },
  { title: 'rejected', align: 'right', least: 70, cell: ({ rejected }, { number }) => number(rejected) },
  column('in doubt', 80, ({ inDoubt }) => inDoubt),
  column('failed', 120, ({ failed }) => failed),
  column('pending', 120, ({ pending }) => pending),
  column('parts', 100, ({ parts }) => parts),
  COST,
];

function column(title: string, least: number, of: (step: StepTotals) => number): StepColumn {
  return { title, align: 'right', least, cell: (step, { number }) => number(of(step)), wanted: (step) => of(step) > 0 };
}
