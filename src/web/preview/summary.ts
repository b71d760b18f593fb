import { CHANNEL_TABLE } from '../../content/channels.ts';
import type { Diagnostic } from '../../errors.ts';
import type { Estimate } from '../../plan/estimate.ts';
import { money, number } from '../../report/words.ts';
import { type Html, html } from '../../util/html.ts';
import { unitsOf } from '../../util/money.ts';
import { barChart, stackedBar } from '../charts/bars.ts';
import type { PreviewSource } from './source.ts';

/** The totals of the whole list, also if the page has only a part of it. */
export function summarySection(source: PreviewSource, facts: readonly (readonly [string, string])[]): Html {
  const { campaign, environment, occurrence } = source.plan;
  const { estimate, problems, problemCount } = source.result();
  const small = facts.filter(([name]) => !LARGE.has(name));
  return html`<header>
<p class="soft kicker">Preview: nothing has been sent</p>
<h1>${campaign.name}</h1>
<p>${CHANNEL_TABLE[campaign.channel].label}, occurrence ${occurrence}, environment ${environment.name}</p>
<p class="soft">POST ${environment.url}</p>
</header>
${problemsPanel(problems, problemCount)}
<section aria-labelledby="figures-title">
<h2 id="figures-title">Figures</h2>
<dl class="tiles">${facts.filter(([name]) => LARGE.has(name)).map(fact)}</dl>
${small.length === 0 ? null : html`<dl class="small">${small.map(fact)}</dl>`}
<div class="charts">
${charts(estimate)}
</div>
${countryTable(estimate)}
${warningsPanel(source.warnings)}
</section>`;
}

const LARGE: ReadonlySet<string> = new Set(['rows', 'to send', 'cost', 'invalid']);

function fact([name, value]: readonly [string, string]): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** What would stop a send. */
function problemsPanel(problems: readonly Diagnostic[], count: number): Html | null {
  if (count === 0) return null;
  const shown = problems.slice(0, MOST_PROBLEMS);
  const rest = count - shown.length;
  return html`<section class="stop" aria-labelledby="stop-title">
<h2 id="stop-title">A send would refuse: ${count === 1 ? 'one problem' : `${number(count)} problems`}</h2>
<ul>${shown.map(diagnosticItem)}</ul>
${rest > 0 ? html`<p class="soft">and ${number(rest)} more</p>` : null}
</section>`;
}

const MOST_PROBLEMS = 20;

function warningsPanel(warnings: readonly Diagnostic[]): Html | null {
  if (warnings.length === 0) return null;
  return html`<h3>Worth knowing</h3>
<ul class="notes">${warnings.slice(0, MOST_PROBLEMS).map(diagnosticItem)}</ul>`;
}

function diagnosticItem({ code, message, at, hint }: Diagnostic): Html {
  const place = at === undefined ? null : [at.file, at.line, at.column].filter((part) => part !== undefined).join(':');
  return html`<li>${message} <code>${code}</code>${place === null ? null : html` <span class="soft">${place}</span>`}${hint === undefined ? null : html`<br><span class="soft">${hint}</span>`}</li>`;
}

function charts(estimate: Estimate): readonly Html[] {
  const { rows, send, skipped, deferred, done, invalid, encodings, variants } = estimate;
  const decisions = stackedBar({
    title: 'What becomes of the rows',
    description: `Of ${number(rows)} rows, ${number(send)} would be sent to now.`,
    unit: 'Rows',
    parts: [
      { label: 'to send', value: send, tone: 'accepted' },
      { label: 'later', value: sumOf(deferred), tone: 'deferred' },
      { label: 'skipped', value: sumOf(skipped), tone: 'skipped' },
      { label: 'done before', value: sumOf(done), tone: 'pending' },
      { label: 'invalid', value: invalid, tone: 'rejected' },
    ],
  });
  const reasons = [
    ...Object.entries(skipped).map(([label, value]) => ({ label, value, tone: 'skipped' as const })),
    ...Object.entries(deferred).map(([label, value]) => ({ label, value, tone: 'deferred' as const })),
    ...Object.entries(done).map(([label, value]) => ({ label: `done: ${label}`, value, tone: 'pending' as const })),
  ];
  return [
    decisions,
    ...(reasons.length === 0
      ? []
      : [barChart({ title: 'Why rows are not sent now', description: 'Rows by reason.', bars: reasons, unit: 'row' })]),
    ...countryCharts(estimate),
    ...(Object.keys(encodings).length < 2 ? [] : [encodingChart(encodings)]),
    ...(Object.keys(variants).length === 0 ? [] : [variantChart(variants)]),
  ];
}

function encodingChart(encodings: Readonly<Record<string, number>>): Html {
  return stackedBar({
    title: 'Encoding',
    description: 'Messages by encoding: Unicode fits 70 characters into one part, GSM-7 160.',
    unit: 'Messages',
    parts: Object.entries(encodings).map(([label, value]) => ({ label, value })),
  });
}

function variantChart(variants: Readonly<Record<string, number>>): Html {
  return barChart({
    title: 'Variants',
    description: 'Recipients of each variant.',
    bars: Object.entries(variants).map(([label, value]) => ({ label, value })),
    unit: 'recipient',
    order: 'given',
  });
}

function countryCharts(estimate: Estimate): readonly Html[] {
  const countries = countriesOf(estimate);
  if (countries.length === 0) return [];
  const { currency } = estimate;
  const messages = barChart({
    title: 'Messages by country',
    description: 'Messages by the country of the number.',
    bars: countries.map(({ name, messages: value }) => ({ label: name, value })),
    unit: 'message',
    most: 6,
  });
  if (estimate.costMicros === null || estimate.costMicros === 0) return [messages];
  const cost = barChart({
    title: 'Cost by country',
    description: 'What the messages of each country cost.',
    bars: countries.map(({ name, costMicros }) => ({ label: name, value: unitsOf(costMicros ?? 0), tone: 'five' })),
    format: (value) => `${value > 0 && value < 0.005 ? '< 0.01' : value.toFixed(2)} ${currency ?? ''}`.trim(),
    unit: 'cost',
    most: 6,
  });
  return [messages, cost];
}

/** Every country with its totals; nothing for addresses without a country, such as those of emails. */
function countriesOf({ countries }: Estimate) {
  const entries = Object.entries(countries);
  if (entries.every(([code]) => code === 'other')) return [];
  return entries.map(([code, figures]) => ({ name: countryName(code), ...figures }));
}

function countryTable(estimate: Estimate): Html | null {
  const countries = countriesOf(estimate);
  if (countries.length === 0) return null;
  const priced = estimate.costMicros !== null;
  const shown = countries.map(
    ({ name, messages, parts, costMicros }) =>
      html`<tr><th scope="row">${name}</th><td class="n">${number(messages)}</td><td class="n">${number(parts)}</td>${priced ? html`<td class="n">${costMicros === null ? 'no price' : money(unitsOf(costMicros), estimate.currency)}</td>` : null}</tr>
`,
  );
  return html`<details class="fold"><summary>Messages, parts${priced ? ' and cost' : null} by country</summary>
<div class="scroll" tabindex="0" role="group" aria-label="By country"><table>
<thead><tr><th scope="col">country</th><th scope="col" class="n">messages</th><th scope="col" class="n">parts</th>${priced ? html`<th scope="col" class="n">cost</th>` : null}</tr></thead>
<tbody>
${shown}</tbody>
</table></div></details>`;
}

const NAMES = new Intl.DisplayNames(['en-GB'], { type: 'region' });

function countryName(code: string): string {
  if (code === 'other') return 'No country';
  try {
    return NAMES.of(code) ?? code;
  } catch {
    return code;
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
