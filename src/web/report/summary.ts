import { type LegTotals, OUTCOMES, type Outcome, type OutcomeState, type Report, type RunState } from '../../model.ts';
import type { VariantDeliveries } from '../../report/deliveries.ts';
import { nextSteps } from '../../report/next-steps.ts';
import { reasonAdvice, reasonWords } from '../../report/reason-words.ts';
import { totalsKey } from '../../report/tally.ts';
import { intervalOf, othersOf, rateOf, shareOf, significanceWords, winnerWords } from '../../report/variants-text.ts';
import {
  countOf,
  duration,
  milliseconds,
  money,
  number,
  OUTCOME_WORDS,
  percent,
  purgedWords,
  STATE_WORDS,
} from '../../report/words.ts';
import { type Html, html } from '../../util/html.ts';
import { formatMoney } from '../../util/money.ts';
import { stackedBar } from '../charts/bars.ts';
import { inlineMark, toneClass } from '../charts/chart.ts';
import { intervalChart } from '../charts/lines.ts';
import type { ReportPageOptions } from './options.ts';
import { type Column, coded, row, section, table, timeOf } from './parts.ts';

/** The run, its state, and its figures at a glance. */
export function headerOf(report: Report, options: ReportPageOptions): Html {
  const { campaign, environment, occurrence, state, startedAt, finishedAt } = report;
  const tookMs = finishedAt === null ? Number.NaN : Date.parse(finishedAt) - Date.parse(startedAt);
  const took = tookMs >= 0 ? `, took ${duration(tookMs)}` : '';
  return html`<header>
<h1>${campaign}</h1>
<p class="run">${environment} · ${ISO_DAY.test(occurrence) ? timeOf(occurrence) : occurrence} <span class="state ${toneClass(STATE_TONES[state])}">${STATE_WORDS[state].replace(/^(?:is|was) /, '')}</span></p>
<p class="soft">Run ${report.run}. Started ${timeOf(startedAt)}${took}. ${purgedWords(report.purgedAt).join(' ')}</p>
</header>
${tiles(report, options)}`;
}

const ISO_DAY = /^\d{4}-\d\d-\d\dT/;

function tiles({ totals, requests, sms, deliveries }: Report, { currency }: ReportPageOptions): Html {
  const arrived = ARRIVED.reduce((sum, word) => sum + (deliveries[word] ?? 0), 0);
  const all: [name: string, value: string, more: string][] = [
    ['Recipients', number(totals.recipients), ''],
    ['Accepted', number(totals.accepted), percent(totals.accepted, totals.recipients)],
  ];
  if (arrived > 0)
    all.push(['Arrived', number(arrived), `${percent(arrived, Math.max(arrived, totals.accepted))} of accepted`]);
  if (requests.posted > 0) {
    all.push(['Requests', number(requests.posted), `${number(Math.round(requests.perSecond * 10) / 10)} a second`]);
    all.push(['Answered within', milliseconds(requests.latencyMs.p95), '95 % of requests']);
  }
  if (sms.cost !== null) all.push(['Cost', money(sms.cost, currency), sms.parts > 0 ? countOf(sms.parts, 'part') : '']);
  const shown = all.map(
    ([
      name,
      value,
      more,
    ]) => html`<div><dt>${name}</dt><dd>${value}</dd>${more === '' ? null : html`<dd class="soft">${more}</dd>`}</div>
`,
  );
  return html`<dl class="tiles">
${shown}</dl>
`;
}

const ARRIVED = ['delivered', 'read', 'replied', 'opted-out'];

/** What is left to do, the most pressing first; null when nothing is. */
export function stepsOf(report: Report, options: ReportPageOptions): Html | null {
  const all = nextSteps(report, options.campaignFile ?? report.campaign, options.planFile);
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
export function outcomesOf({ totals }: Report): Html {
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
export function reasonsOf({ reasons }: Report): Html | null {
  const rows = WORST_FIRST.flatMap((outcome) =>
    Object.entries(reasons[totalsKey(outcome)] ?? {}).map(([reason, count]) => {
      const advice = reasonAdvice(reason);
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

/** Outcomes that need attention come before those that a rule left out. */
const WORST_FIRST: readonly OutcomeState[] = [
  'in-doubt',
  'rejected',
  'failed',
  'pending',
  'deferred',
  'skipped',
  'accepted',
];

const STATE_TONES: Readonly<Record<RunState, Outcome['outcome']>> = {
  running: 'deferred',
  finished: 'accepted',
  partial: 'in-doubt',
  halted: 'rejected',
  interrupted: 'in-doubt',
};

/** The outcomes of the messages on each channel; null if the campaign has only one channel. */
export function legsOf({ legs }: Report, currency: string | null | undefined): Html | null {
  if (legs === undefined) return null;
  const cost = currency ? `Cost (${currency})` : 'Cost';
  const columns = columnsOf('Channel', [...LEG_COUNTS.map(([title]) => title), cost]);
  const rows = legs.map((leg) => {
    const counts = LEG_COUNTS.map(([, key]) => number(leg[key]));
    return row(columns, leg.channel, [...counts, leg.cost === null ? '-' : formatMoney(leg.cost)]);
  });
  return section('Channels', table('Channels', columns, rows));
}

const LEG_COUNTS: readonly (readonly [title: string, key: Exclude<keyof LegTotals, 'channel' | 'cost'>])[] = [
  ['Attempted', 'attempted'],
  ['Accepted', 'accepted'],
  ['Rejected', 'rejected'],
  ['In doubt', 'inDoubt'],
  ['Failed', 'failed'],
  ['Fell back', 'fellBack'],
  ['Pending', 'pending'],
  ['Parts', 'parts'],
];

/** The outcomes of each variant, and the result of the comparison; null without variants. */
export function variantsOf({ variants, significance = null, ...report }: Report): Html | null {
  if (variants === undefined) return null;
  const came = variants.some(({ delivered }) => delivered !== undefined);
  const columns = columnsOf('Variant', came ? [...PLAIN, ...CAME_BACK.map(([title]) => title)] : PLAIN);
  const rows = variants.map((variant) => {
    const { name, recipients, accepted, rejected } = variant;
    const counts = [recipients, accepted, rejected, othersOf(variant)].map(number);
    const shares = came ? CAME_BACK.map(([, key]) => shareOf(variant, key)) : [];
    return row(columns, name, [...counts, rateOf(variant), intervalOf(variant), ...shares]);
  });
  const intervals = variants.flatMap(({ name, rate, low, high }) =>
    rate === null || low === null || high === null ? [] : [{ label: name, value: rate, low, high }],
  );
  const said = [significanceWords({ variants, significance }), winnerWords(report)].filter((text) => text !== '');
  const chart = intervalChart({
    title: 'Accepted, with 95 % intervals',
    description: said.length === 0 ? 'The share of each variant that was accepted.' : said.join(' '),
    format: (share) => `${Number((share * 100).toFixed(1))} %`,
    bounds: [0, 1],
    figures: 'elsewhere',
    intervals,
  });
  const words =
    said.length === 0
      ? null
      : html`<p>${said.join(' ')}</p>
`;
  return section('Variants', [words, intervals.length > 1 ? chart : null, table('Variants', columns, rows)]);
}

const PLAIN = ['Recipients', 'Accepted', 'Rejected', 'Other', 'Rate', '95 % interval'];

const CAME_BACK: readonly (readonly [title: string, key: keyof VariantDeliveries])[] = [
  ['Delivered', 'delivered'],
  ['Read', 'read'],
  ['Replied', 'replied'],
  ['Opted out', 'optedOut'],
];

function columnsOf(name: string, figures: readonly string[]): readonly Column[] {
  return [{ title: name }, ...figures.map((title) => ({ title, kind: 'figure' as const }))];
}
