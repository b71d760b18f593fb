import type { Report } from '../../model.ts';
import { PLAIN } from '../../report/formats.ts';
import type { Outcomes } from '../../report/record.ts';
import { commitFacts, inputFacts, repliesText, uncountedWords, versionFacts } from '../../report/words.ts';
import { Html, html } from '../../util/escape.ts';
import { FUNNEL_STYLE } from '../charts/funnel.ts';
import { documentFrame } from '../document.ts';
import type { ReportPageOptions } from './options.ts';
import { section } from './parts.ts';
import { createChoice, recipientsOf } from './recipients.ts';
import { deliveriesOf, latencyOf, overTimeOf, repliesOf, unmatchedOf, watchTimes } from './returned.ts';
import { channelStepsOf, headerOf, outcomesOf, reasonsOf, stepsOf, variantsOf } from './summary.ts';

/**
 * The report of a run as a page of its own, to attach to an email: no script, nothing loaded, no links, and a content
 * security policy that forbids all three. Everything from a file, the API or the ledger is escaped. It takes one pass
 * over the outcomes, of which it keeps counts and the rows that it shows.
 */
export async function* reportPage(
  summary: Report,
  outcomes: Outcomes,
  options: ReportPageOptions,
): AsyncGenerator<string> {
  const startMs = Date.parse(summary.startedAt) || 0;
  const times = watchTimes(options.timesOf, startMs, options.nowMs);
  const choice = createChoice();
  for await (const batch of outcomes) {
    for (const outcome of batch) {
      times.add(outcome);
      if (options.isListed?.(outcome) !== false) choice.add(outcome);
    }
  }
  const report = options.completed?.() ?? summary;
  const { formats = PLAIN } = options;
  const title = `${report.campaign} - ${report.occurrence} - handbill report`;
  const { head, foot } = documentFrame({ title, style: REPORT_STYLE });
  yield head;
  yield html`<main>
${headerOf(report, options)}${stepsOf(report, options)}${outcomesOf(report, formats)}${reasonsOf(report, formats)}${overTimeOf(times.slots(), formats)}${variantsOf(report, formats)}<div class="pair">${deliveriesOf(report, formats)}${repliesOf(report, options.replies ?? null, formats)}</div>${unmatchedOf(report, formats)}${channelStepsOf(report, times.returned(), options.currency, formats)}`
    .markup;
  yield html`${recipientsOf(choice.chosen(), report, options.addresses ?? 'masked', formats)}${figuresOf(report, options)}</main>
`.markup;
  yield foot;
}

function figuresOf(report: Report, options: ReportPageOptions): Html {
  const { formats = PLAIN } = options;
  const { number, count: countOf, milliseconds, money } = formats;
  const { posted, retried, perSecond, latencyMs } = report.requests;
  const { parts, encodings, cost } = report.sms;
  const pairs: [string, string][] = [
    [
      'Requests',
      [
        `${number(posted)}, ${number(retried)} ${retried === 1 ? 'retry' : 'retries'}, ${number(Math.round(perSecond * 10) / 10)}/s`,
        ...uncountedWords(report.requests, formats),
      ].join(', '),
    ],
    [
      'Latency',
      `p50 ${milliseconds(latencyMs.p50)}, p95 ${milliseconds(latencyMs.p95)}, p99 ${milliseconds(latencyMs.p99)}`,
    ],
  ];
  const messages = Object.entries(encodings).map(([encoding, count]) => `${countOf(count, 'message')} in ${encoding}`);
  if (parts > 0) pairs.push(['SMS', [countOf(parts, 'part'), ...messages].join(', ')]);
  if (cost !== null) pairs.push(['Cost', money(cost, options.currency)]);
  if (report.replies !== undefined) pairs.push(['Replies', repliesText(report.replies, formats)]);
  const sources = [...commitFacts(report), ...inputFacts(report), ...versionFacts(report, formats)];
  for (const [name, value] of sources) pairs.push([name, value]);
  const shown = pairs.map(
    ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>
`,
  );
  return section(
    'Figures',
    html`<dl>
${shown}</dl>
${latencyOf(report, options.latency ?? null, formats)}`,
  );
}

/** What the page of a report adds to the look of all pages. */
const REPORT_STYLE: Html = new Html(`
body{font-size:.9375rem;padding-top:1.5rem}
h2{margin-top:1.75rem}
.run{font-size:1.0625rem;margin:.2rem 0}
${FUNNEL_STYLE}
td .level{min-width:3rem}
.step{margin:.5rem 0;padding:.5rem .9rem}.step p{margin:0}.step pre{margin:0}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 2rem}.pair>*{min-width:0}
.on-paper{display:none}
.nowrap,time{white-space:nowrap}
.chart+.scroll,.scroll+.chart,p+.scroll,p+.chart{margin-top:1rem}
.n+:not(.n){padding-left:1rem}
.stacked th[scope=row]{white-space:nowrap}
th,td{overflow-wrap:break-word}
td:not(.n){min-width:5.5rem}
td code{overflow-wrap:anywhere}
@media (max-width:40rem){
.funnel{grid-template-columns:repeat(3,1fr)}.funnel .level{height:1.5rem}
.stacked thead{display:none}
.stacked tr{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 .9rem;padding:.45rem 0;border-bottom:1px solid var(--line)}
.stacked th,.stacked td.n,.stacked td{border:0;padding:0;min-width:0}
.stacked th[scope=row]{flex:1 1 auto;white-space:normal;overflow-wrap:anywhere}
.stacked td:last-child{flex:1 0 100%;color:var(--soft)}}
section{break-inside:auto}
h2{break-after:avoid}
tr{break-inside:avoid}
@media print{
@page{size:A4;margin:10mm}
body{zoom:.66}
h2{margin:1rem 0 .3rem}
.funnel{margin:.6rem 0 .3rem;grid-template-columns:repeat(8,1fr)}
.step{margin:.25rem 0;padding:.25rem .75rem}
th,td{padding:.15rem .75rem .15rem 0}
details,tr.none,.recipients tbody tr:nth-child(n+9){display:none}
.recipients td:last-child{width:40%}.recipients td{min-width:0}
.scroll+.chart{display:none}
.pair{grid-template-columns:1fr 1fr}
.on-paper{display:block}
dl{gap:.1rem 1rem}
.chart+.scroll,p+.scroll,p+.chart{margin-top:.4rem}
}
`);
