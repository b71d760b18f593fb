import { styleText } from 'node:util';
import { type LegTotals, OUTCOMES, type OutcomeState, type Report, type RunState } from '../model.ts';
import { formatMoney } from '../util/money.ts';
import { safeLine } from '../util/safe.ts';
import { type Column, displayWidth, proseWidth, table, wrap } from '../util/table.ts';
import { nextSteps } from './next-steps.ts';
import { reasonWords } from './reason-words.ts';
import type { Outcomes, ReportOptions } from './record.ts';
import { totalsKey } from './tally.ts';
import { significanceWords, variantsTable, winnerWords } from './variants-text.ts';
import {
  countOf,
  deliveryLines,
  milliseconds,
  money,
  number,
  OUTCOME_WORDS,
  percent,
  period,
  purgedWords,
  repliesText,
  STATE_WORDS,
  unmatchedLines,
} from './words.ts';

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

/** The summary for a terminal: tables and sentences fit its width; names, paths and commands are never cut. */
export async function* formatText(report: Report, _outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  const paint: Paint = (style, text) => (options.colour ? styleText(style, text, { validateStream: false }) : text);
  const sections = [
    header(report, paint),
    totals(report, options, paint),
    reasons(report, options, paint),
    legs(report, options, paint),
    variants(report, options, paint),
    deliveries(report, options, paint),
    unmatched(report, options, paint),
    facts(report, options, paint),
    next(report, options, paint),
  ];
  yield sections.filter((section) => section !== '').join('\n');
}

function header(report: Report, paint: Paint): string {
  const what = [report.campaign, report.environment, report.occurrence].map(safeLine).join(' · ');
  const purged = purgedWords(report.purgedAt)
    .map((words) => `${safeLine(words)}\n`)
    .join('');
  const state = paint(STATE_STYLES[report.state], STATE_WORDS[report.state]);
  return `${paint('bold', what)}\nRun ${safeLine(report.run)} ${state}. ${safeLine(period(report.startedAt, report.finishedAt))}\n${purged}`;
}

function totals(report: Report, options: ReportOptions, paint: Paint): string {
  const { recipients } = report.totals;
  const countOfOutcome = (outcome: OutcomeState) => report.totals[totalsKey(outcome)];
  const rows = OUTCOMES.map((outcome) => {
    const count = countOfOutcome(outcome);
    return [outcome, number(count), percent(count, recipients), count === 0 ? '' : OUTCOME_WORDS[outcome]];
  });
  const style = (cell: string, row: number): string => {
    const outcome = OUTCOMES[row];
    if (outcome === undefined) return paint('bold', cell);
    return countOfOutcome(outcome) === 0 ? paint('dim', cell) : paint(OUTCOME_STYLES[outcome], cell);
  };
  return table(
    [...rows, ['recipients', number(recipients), '', '']],
    [{ style }, { align: 'right', style }, { align: 'right' }, { shrink: true, style: (cell) => paint('dim', cell) }],
    { width: options.width, indent: 2 },
  );
}

function reasons(report: Report, options: ReportOptions, paint: Paint): string {
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

function legs(report: Report, { width, currency = null }: ReportOptions, paint: Paint): string {
  if (report.legs === undefined) return '';
  return `${paint('bold', 'Channels')}\n${legsTable(report.legs, { width, currency })}`;
}

function variants(report: Report, { width }: ReportOptions, paint: Paint): string {
  const { variants: results, significance = null } = report;
  if (results === undefined) return '';
  const words = [significanceWords({ variants: results, significance }), winnerWords(report)];
  const said = words.map((text) => (text === '' ? '' : paragraph(text, width))).join('');
  return `${paint('bold', 'Variants')}\n${variantsTable(results, width)}${said}`;
}

function deliveries(report: Report, { width }: ReportOptions, paint: Paint): string {
  const rows = deliveryLines(report).map(([word, count, share, meaning]) => [word, number(count), share, meaning]);
  if (rows.length === 0) return '';
  const columns = [{ shrink: true }, RIGHT, RIGHT, { shrink: true, style: (cell: string) => paint('dim', cell) }];
  return `${paint('bold', 'Deliveries')}\n${table(rows, columns, { width, indent: 2 })}`;
}

function unmatched(report: Report, { width }: ReportOptions, paint: Paint): string {
  const rows = unmatchedLines(report).map(([why, count, meaning]) => [why, number(count), meaning]);
  if (rows.length === 0) return '';
  const columns = [{ shrink: true }, RIGHT, { shrink: true, style: (cell: string) => paint('dim', cell) }];
  const title = paint('bold', 'Unmatched delivery reports');
  const said = 'They name ids of messages of this run and are not about them. They count nowhere.';
  return `${title}\n${table(rows, columns, { width, indent: 2 })}${paragraph(said, width)}`;
}

const RIGHT = { align: 'right' as const };

/** Sentences that may hold text from outside, within the width. */
function paragraph(words: string, width: number): string {
  return wrap(safeLine(words), Math.max(20, proseWidth(width) - 2))
    .map((line) => `  ${line}\n`)
    .join('');
}

function facts(report: Report, options: ReportOptions, paint: Paint): string {
  const { posted, retried, perSecond, latencyMs } = report.requests;
  const requests = [number(posted)];
  if (retried > 0) requests.push(`${number(retried)} ${retried === 1 ? 'retry' : 'retries'}`);
  if (perSecond > 0) requests.push(`${number(Math.round(perSecond * 10) / 10)}/s`);
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
  if (report.replies !== undefined) rows.push(['Replies', repliesText(report.replies)]);
  rows.push(['Ledger', report.ledger]);
  const widest = Math.max(...rows.map(([name]) => displayWidth(name)));
  return rows.map(([name, value]) => `${paint('bold', name.padEnd(widest))}  ${safeLine(value)}\n`).join('');
}

function next(report: Report, options: ReportOptions, paint: Paint): string {
  const campaign = options.campaignFile ?? report.campaign;
  const steps = nextSteps(report, campaign, options.planFile).map(({ text, command }) => {
    return paragraph(text, options.width) + (command === null ? '' : `    ${paint('cyan', safeLine(command))}\n`);
  });
  return steps.length === 0 ? '' : `${paint('bold', 'What to do next')}\n${steps.join('')}`;
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
  /** Columns of the terminal. */
  readonly width: number;
  /** ISO 4217 code of the costs; null: not known. */
  readonly currency: string | null;
}

/**
 * One line for each leg, as wide as the terminal at most: a narrow one does without columns, and columns in which there
 * is nothing are left out. Empty without legs.
 */
export function legsTable(legs: readonly LegTotals[], { width, currency }: Shown): string {
  if (legs.length === 0) return '';
  const columns = COLUMNS.filter(
    ({ least, wanted }) => proseWidth(width) >= least && (wanted === undefined || legs.some(wanted)),
  );
  const rows = legs.map((leg) => columns.map(({ cell }) => cell(leg)));
  const titled = columns.map((column) =>
    column === COST && currency !== null ? { ...column, title: `cost ${safeLine(currency)}` } : column,
  );
  return table(rows, titled, { width, indent: 2 });
}

interface LegColumn extends Column {
  /** Narrower terminals do without. */
  readonly least: number;
  cell(leg: LegTotals): string;
  /** The column is left out when no leg wants it. */
  wanted?(leg: LegTotals): boolean;
}

const COST: LegColumn = {
  title: 'cost',
  align: 'right',
  least: 60,
  cell: ({ cost }) => (cost === null ? '-' : formatMoney(cost)),
  wanted: ({ cost }) => cost !== null,
};

const COLUMNS: readonly LegColumn[] = [
  { title: 'channel', shrink: true, least: 0, cell: ({ channel }) => channel },
  { title: 'attempted', align: 'right', least: 0, cell: ({ attempted }) => number(attempted) },
  { title: 'accepted', align: 'right', least: 0, cell: ({ accepted }) => number(accepted) },
  { title: 'fell back', align: 'right', least: 0, cell: ({ fellBack }) => number(fellBack) },
  { title: 'rejected', align: 'right', least: 70, cell: ({ rejected }) => number(rejected) },
  column('in doubt', 80, ({ inDoubt }) => inDoubt),
  column('failed', 120, ({ failed }) => failed),
  column('pending', 120, ({ pending }) => pending),
  column('parts', 100, ({ parts }) => parts),
  COST,
];

/** A count that is left out where it is 0 in every leg. */
function column(title: string, least: number, of: (leg: LegTotals) => number): LegColumn {
  return { title, align: 'right', least, cell: (leg) => number(of(leg)), wanted: (leg) => of(leg) > 0 };
}
