import { OUTCOMES, type Outcome, type Report, type RunState } from '../../model.ts';
import { returnedOf } from '../../report/deliveries.ts';
import { type Formats, PLAIN } from '../../report/formats.ts';
import { nextSteps } from '../../report/next-steps.ts';
import { reasonAdvice, reasonWords } from '../../report/reason-words.ts';
import { totalsKey } from '../../report/tally.ts';
import { acceptedBase } from '../../report/variants.ts';
import {
  acceptedWords,
  OUTCOME_WORDS,
  overWords,
  STATE_WORDS,
  uncountedWords,
  WORST_FIRST,
} from '../../report/words.ts';
import { type Html, html } from '../../util/escape.ts';
import { stackedBar } from '../charts/bars.ts';
import { inlineMark, toneClass } from '../charts/chart.ts';
import { funnelCells, funnelFigures, funnelOf } from '../charts/funnel.ts';
import { comparisonOf } from '../charts/variants.ts';
import type { ReportPageOptions } from './options.ts';
import { type Column, coded, row, section, table, timeOf } from './parts.ts';
import type { ChannelReturns } from './returned.ts';

/** The run, its state, and its figures at a glance. */
export function headerOf(report: Report, options: ReportPageOptions): Html {
  const { campaign, environment, occurrence, state, startedAt, finishedAt } = report;
  const { formats = PLAIN } = options;
  const tookMs = finishedAt === null ? Number.NaN : Date.parse(finishedAt) - Date.parse(startedAt);
  const took = tookMs >= 0 ? `, took ${formats.duration(tookMs)}` : '';
  return html`<header>
<h1>${campaign}</h1>
<p class="run">${environment} · ${ISO_DAY.test(occurrence) ? timeOf(occurrence, formats) : occurrence} <span class="state ${toneClass(STATE_TONES[state])}">${STATE_WORDS[state].replace(/^(?:is|was) /, '')}</span></p>
<p class="soft">Run ${report.run}. Started ${timeOf(startedAt, formats)}${took}. ${[...overWords(report, formats), ...acceptedWords(report.acceptedList)].join(' ')}</p>
</header>
${glance(report, options)}`;
}

const ISO_DAY = /^\d{4}-\d\d-\d\dT/;

/** How far the messages came, and what they cost: the first thing that a reader asks. */
function glance(report: Report, { currency, formats = PLAIN }: ReportPageOptions): Html {
  const { number, count: countOf, milliseconds, money } = formats;
  const { requests, sms } = report;
  const cost =
    sms.cost === null
      ? null
      : html`<div><dt>Cost</dt><dd>${money(rounded(sms.cost), currency)}</dd><dd class="soft">${sms.parts > 0 ? countOf(sms.parts, 'part') : html`&nbsp;`}</dd></div>
`;
  const sent =
    requests.posted === 0
      ? null
      : html`<p class="soft">${countOf(requests.posted, 'request')}, ${number(Math.round(requests.perSecond * 10) / 10)} a second; 95% were answered within ${milliseconds(requests.latencyMs.p95)}${uncountedWords(requests, formats).map((words) => html`; ${words}`)}.</p>
`;
  return html`<dl class="funnel">
${funnelFigures(funnelOf(report), formats)}${cost}</dl>
${sent}`;
}

/** Cents are enough at a glance; the section with the figures has all of it. */
function rounded(cost: number): number {
  return cost >= 1 ? Math.round(cost * 100) / 100 : cost;
}

/** What is left to do, the most pressing first; null when nothing is. */
export function stepsOf(report: Report, options: ReportPageOptions): Html | null {
  const all = nextSteps(report, options.campaignFile ?? report.campaign, options.planPath, options.formats);
  if (all.length === 0) return null;
  const shown = all.map(
    ({
      text,
      command,
    }) => html`<div class="step"><p>${coded(text)}</p>${command === null ? null : html`<pre><code>${command}</code></pre>`}</div>
`,
  );
  return section('What to do next', shown);
}

/** All recipients by outcome. */
export function outcomesOf({ totals }: Report, formats: Formats = PLAIN): Html {
  const { number, percent, count: countOf } = formats;
  const counts = OUTCOMES.map((outcome) => ({ outcome, count: totals[totalsKey(outcome)] }));
  const parts = counts.map(({ outcome, count }) => ({ label: outcome, value: count, tone: outcome }));
  const words = counts.filter(({ count }) => count > 0).map(({ outcome, count }) => `${outcome} ${number(count)}`);
  const rows = counts.map(({ outcome, count }) => {
    const cells = [number(count), percent(count, totals.recipients), OUTCOME_WORDS[outcome]];
    return row(OUTCOME_COLUMNS, html`${inlineMark(outcome)}${outcome}`, cells, count === 0);
  });
  const bar = stackedBar({
    title: countOf(totals.recipients, 'recipient'),
    description: words.join(', '),
    figures: 'elsewhere',
    parts,
    formats,
  });
  return section('Outcomes', [
    totals.recipients === 0 ? null : bar,
    table('Outcomes', OUTCOME_COLUMNS, rows, 'stacked'),
  ]);
}

const OUTCOME_COLUMNS: readonly Column[] = [
  { title: 'Outcome' },
  { title: 'Recipients', kind: 'figure' },
  { title: 'Share', kind: 'figure' },
  { title: 'Meaning' },
];

/** Why recipients were not accepted, what that means and what to do about it; null if all were accepted. */
export function reasonsOf({ reasons }: Report, { number }: Formats = PLAIN): Html | null {
  const rows = WORST_FIRST.flatMap((outcome) =>
    Object.entries(reasons[totalsKey(outcome)] ?? {}).map(([reason, count]) => {
      const advice = reasonAdvice(reason, outcome);
      const words = html`${coded(reasonWords(reason))}${advice === '' ? null : html`<br><span class="soft">${coded(advice)}</span>`}`;
      return row(REASON_COLUMNS, html`${inlineMark(outcome)}${reason}`, [outcome, number(count), words]);
    }),
  );
  return rows.length === 0 ? null : section('Reasons', table('Reasons', REASON_COLUMNS, rows, 'stacked'));
}

const REASON_COLUMNS: readonly Column[] = [
  { title: 'Reason' },
  { title: 'Outcome' },
  { title: 'Recipients', kind: 'figure' },
  { title: 'What it means, and what to do' },
];

const STATE_TONES: Readonly<Record<RunState, Outcome['outcome']>> = {
  running: 'deferred',
  finished: 'accepted',
  partial: 'in-doubt',
  halted: 'rejected',
  interrupted: 'in-doubt',
};

/**
 * How far the messages on each channel came; null if the campaign has only one channel.
 *
 * @param returned - delivery reports and replies, by channel
 */
export function channelStepsOf(
  { steps }: Report,
  returned: ChannelReturns,
  currency: string | null | undefined,
  formats: Formats = PLAIN,
): Html | null {
  if (steps === undefined) return null;
  const funnels = steps.map(({ channel, attempted, accepted }) => {
    const back = returned.size === 0 ? null : returnedOf(returned.get(channel) ?? {});
    const base = acceptedBase({ accepted, delivered: back?.delivered ?? 0 });
    return { list: null, sent: attempted, accepted, base, returned: back };
  });
  const { titles, cells } = funnelCells(funnels, formats);
  const columns = columnsOf('Channel', [...titles, 'Fell back', currency ? `Cost (${currency})` : 'Cost']);
  const rows = steps.map(({ channel, fellBack, cost }, i) => {
    const more = [formats.number(fellBack), cost === null ? '-' : formats.money(cost, null)];
    return row(columns, channel, [...(cells[i] ?? []), ...more]);
  });
  return section('Channels', table('Channels', columns, rows));
}

/** The outcomes of each variant, and the result of the comparison; null without variants. */
export function variantsOf(report: Report, formats: Formats = PLAIN): Html | null {
  const comparison = comparisonOf(report, formats);
  if (comparison === null) return null;
  const { said, titles, rows, chart } = comparison;
  const columns = columnsOf('Variant', titles);
  const words =
    said === ''
      ? null
      : html`<p>${said}</p>
`;
  const lines = rows.map(({ name, cells }) => row(columns, name, cells));
  return section('Variants', [words, table('Variants', columns, lines), chart]);
}

function columnsOf(name: string, figures: readonly string[]): readonly Column[] {
  return [{ title: name }, ...figures.map((title) => ({ title, kind: 'figure' as const }))];
}
