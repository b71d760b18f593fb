import { CHANNEL_TABLE } from '../../content/channels.ts';
import type { Diagnostic } from '../../errors.ts';
import { costText, type Estimate } from '../../plan/estimate.ts';
import type { PreviewRows } from '../../plan/previewed.ts';
import type { Formats } from '../../report/locale.ts';
import { type Html, html } from '../../util/escape.ts';
import { onDemand } from '../../util/on-demand.ts';
import { unitsOf } from '../../util/units.ts';
import { barChart, shareChart, track } from '../charts/chart.ts';
import { facts, figureColumns, table } from '../kit.ts';
import { previewFacts } from './facts.ts';

/**
 * The totals of the whole list, also if the page has only a part of it.
 * @param warned - rows with a warning; null where the page has not seen all rows
 */
export function summarySection(source: PreviewRows, warned: number | null): Html {
  const { campaign, environment, occurrence } = source.plan;
  const { estimate, problems, problemCount } = source.result();
  const { formats } = source;
  return html`<header class="top">
<h1>${campaign.name}</h1>
<p class="soft">Preview: this page sends nothing · ${CHANNEL_TABLE[campaign.channel].label} · occurrence ${occurrence} · environment ${environment.name}</p>
</header>
${problemsPanel(problems, problemCount, formats)}
<details class="figures" id="figures">
<summary>${figures(estimate, source.warnings.length, warned, formats)}<span class="opens">Charts and figures</span></summary>
<div>
${facts([...previewFacts(source), ['requests to', `POST ${environment.url}`] as const])}
<div class="charts">
${charts(estimate, formats)}
</div>
${countryTable(estimate, formats)}
${source.warnings.length > 0 && html`<h3>Worth knowing</h3>\n<ul class="notes">${source.warnings.slice(0, MOST_PROBLEMS).map(diagnosticItem)}</ul>`}
</div>
</details>`;
}

function figures(estimate: Estimate, notes: number, warned: number | null, formats: Formats): readonly Html[] {
  const { number } = formats;
  const { rows, send, skipped, deferred, done, invalid, parts, fallback } = estimate;
  const [cost, mostParts] = [costText(estimate, formats), fallback?.parts ?? 0];
  const counted = (count: number, words: string, tone = '') =>
    count > 0 && html`<span${tone !== '' && html` class="${tone}"`}><b>${number(count)}</b> ${words}</span>\n`;
  const all = [
    html`<span><b>${number(send)}</b> ${send === rows ? '' : `of ${number(rows)} `}${rows === 1 ? 'recipient' : 'recipients'}</span>\n`,
    counted(invalid, 'invalid', 'bad'),
    counted(sumOf(skipped), 'skipped'),
    counted(sumOf(deferred), 'later'),
    counted(sumOf(done), 'done before'),
    counted(parts, parts === 1 ? 'part' : 'parts'),
    parts === 0 && mostParts > 0 && html`<span><b>up to ${number(mostParts)}</b> parts</span>\n`,
    cost !== null && html`<span><b>${cost}</b></span>\n`,
    counted(warned ?? 0, warned === 1 ? 'row with a warning' : 'rows with warnings', 'odd-one'),
    counted(notes, notes === 1 ? 'warning about the list' : 'warnings about the list', 'odd-one'),
  ];
  return all.filter((one) => one !== false);
}

function problemsPanel(problems: readonly Diagnostic[], count: number, { number }: Formats): Html | null {
  if (count === 0) return null;
  const shown = problems.slice(0, MOST_PROBLEMS);
  const [first, more] = [shown.slice(0, FIRST_PROBLEMS), shown.slice(FIRST_PROBLEMS)];
  const rest = count - shown.length;
  const others = html`<details class="fold"><summary>${number(count - first.length)} more</summary>
<ul>${more.map(diagnosticItem)}</ul>
${rest > 0 && html`<p class="soft">and ${number(rest)} more</p>`}</details>`;
  return html`<section class="stop" aria-labelledby="stop-title">
<h2 id="stop-title">A send would refuse: ${count === 1 ? 'one problem' : `${number(count)} problems`}</h2>
<ul>${first.map(diagnosticItem)}</ul>
${more.length > 0 && others}
</section>`;
}

const MOST_PROBLEMS = 20;
/** Shown unfolded: few, so that the message stays visible. */
const FIRST_PROBLEMS = 3;

function diagnosticItem({ code, message, at, hint }: Diagnostic): Html {
  const place = at && [at.file, at.line, at.column].filter((part) => part !== undefined).join(':');
  return html`<li>${message} <code>${code}</code>${place && html` <span class="soft">${place}</span>`}${hint && html`<br><span class="soft">${hint}</span>`}</li>`;
}

function charts(estimate: Estimate, formats: Formats): readonly Html[] {
  const { send, skipped, deferred, done, invalid, encodings, variants } = estimate;
  const decisions = [
    { label: 'to send', value: send, tone: 'accepted' },
    { label: 'later', value: sumOf(deferred), tone: 'deferred' },
    { label: 'skipped', value: sumOf(skipped), tone: 'skipped' },
    { label: 'done before', value: sumOf(done), tone: 'pending' },
    { label: 'invalid', value: invalid, tone: 'rejected' },
  ] as const;
  const bars = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([label, value]) => ({ label, value }));
  const reasons = [
    ...bars(skipped).map((bar) => ({ ...bar, tone: 'skipped' as const })),
    ...bars(deferred).map((bar) => ({ ...bar, tone: 'deferred' as const })),
    ...bars(done).map(({ label, value }) => ({ label: `done: ${label}`, value, tone: 'pending' as const })),
  ].sort((a, b) => b.value - a.value);
  return [
    shareChart('What becomes of the rows', decisions, formats),
    ...(reasons.length === 0 ? [] : [barChart('Why rows are not sent now', reasons, formats)]),
    ...(Object.keys(encodings).length < 2 ? [] : [barChart('Messages by encoding', bars(encodings), formats)]),
    ...(Object.keys(variants).length === 0 ? [] : [barChart('Recipients by variant', bars(variants), formats)]),
  ];
}

/** Messages, parts and cost of each country; null for addresses without a country, such as those of emails. */
function countryTable({ countries, costMicros, currency }: Estimate, { number, money }: Formats): Html | null {
  const all = Object.entries(countries).sort(([, a], [, b]) => b.messages - a.messages);
  if (all.every(([code]) => code === 'other')) return null;
  const most = all[0]?.[1].messages ?? 1;
  const isPriced = costMicros !== null;
  const rows = all.map(([code, one]) => [
    countryName(code),
    html`${number(one.messages)}${track((one.messages / most) * 100, 'plain')}`,
    number(one.parts),
    one.costMicros === null ? 'no price' : money(unitsOf(one.costMicros), currency),
  ]);
  const titles = ['Messages', 'Parts', ...(isPriced ? ['Cost'] : [])];
  return table('By country', [{ title: 'Country' }, ...figureColumns(...titles)], rows);
}

const NAMES = onDemand(() => new Intl.DisplayNames(['en-GB'], { type: 'region' }));

function countryName(code: string): string {
  if (code === 'other') return 'No country';
  try {
    return NAMES().of(code) ?? code;
  } catch {
    return code;
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
