import type { Report } from '../../model.ts';
import type { Outcomes } from '../../report/record.ts';
import { countOf, milliseconds, money, number, repliesText } from '../../report/words.ts';
import { Html, html } from '../../util/html.ts';
import { documentFrame } from '../document.ts';
import { createTimeCounts } from '../time-counts.ts';
import type { ReportPageOptions } from './options.ts';
import { section } from './parts.ts';
import { createChoice, recipientsOf } from './recipients.ts';
import { deliveriesOf, paceOf, repliesOf, unmatchedOf, watchReturned } from './returned.ts';
import { headerOf, legsOf, outcomesOf, reasonsOf, stepsOf, variantsOf } from './summary.ts';

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
  const accepted = createTimeCounts(['accepted'], startMs);
  const returned = options.timesOf === undefined ? null : watchReturned(options.timesOf, startMs, options.nowMs);
  const choice = createChoice();
  for await (const batch of outcomes) {
    for (const outcome of batch) {
      const { outcome: state, updatedAt } = outcome;
      if (state === 'accepted' && updatedAt !== null) accepted.add('accepted', Date.parse(updatedAt));
      returned?.add(outcome);
      if (options.isListed?.(outcome) !== false) choice.add(outcome);
    }
  }
  const report = options.completed?.() ?? summary;
  const title = `${report.campaign} - ${report.occurrence} - handbill report`;
  const { head, foot } = documentFrame({ title, style: REPORT_STYLE });
  yield head;
  yield html`<main>
${headerOf(report, options)}${stepsOf(report, options)}${outcomesOf(report)}${reasonsOf(report)}${paceOf(report, accepted.slots(), options.latency ?? null)}${variantsOf(report)}${deliveriesOf(report, returned?.slots() ?? [])}${unmatchedOf(report)}${repliesOf(report, options.replies ?? null)}${legsOf(report, options.currency)}`
    .markup;
  yield html`${recipientsOf(choice.chosen(), report, options.addresses ?? 'masked')}${figuresOf(report, options)}</main>
`.markup;
  yield foot;
}

function figuresOf(report: Report, options: ReportPageOptions): Html {
  const { posted, retried, perSecond, latencyMs } = report.requests;
  const { parts, encodings, cost } = report.sms;
  const pairs: [string, string][] = [
    [
      'Requests',
      `${number(posted)}, ${number(retried)} ${retried === 1 ? 'retry' : 'retries'}, ${number(Math.round(perSecond * 10) / 10)}/s`,
    ],
    [
      'Latency',
      `p50 ${milliseconds(latencyMs.p50)}, p95 ${milliseconds(latencyMs.p95)}, p99 ${milliseconds(latencyMs.p99)}`,
    ],
  ];
  const messages = Object.entries(encodings).map(([encoding, count]) => `${countOf(count, 'message')} in ${encoding}`);
  if (parts > 0) pairs.push(['SMS', [countOf(parts, 'part'), ...messages].join(', ')]);
  if (cost !== null) pairs.push(['Cost', money(cost, options.currency)]);
  if (report.replies !== undefined) pairs.push(['Replies', repliesText(report.replies)]);
  pairs.push(['Ledger', report.ledger]);
  const shown = pairs.map(
    ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>
`,
  );
  return section(
    'Figures',
    html`<dl>
${shown}</dl>
`,
  );
}

/** What the page of a report adds to the look of all pages. */
const REPORT_STYLE: Html = new Html(`
.run{font-size:1.0625rem}
.tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0 0}
.tiles>div{padding:.75rem 1rem;background:var(--panel);border-radius:.6rem;flex:1 1 auto;min-width:7rem}
.tiles dt{font-size:.8125rem}
.tiles dd{font-size:1.375rem;font-weight:600;line-height:1.3;white-space:nowrap;font-variant-numeric:tabular-nums}
.tiles dd.soft{font-size:.8125rem;font-weight:400}
.nowrap,time{white-space:nowrap}
.chart+.scroll,p+.scroll,p+.chart{margin-top:1rem}
.n+:not(.n){padding-left:1rem}
.stacked th[scope=row]{white-space:nowrap}
th,td{overflow-wrap:break-word}
td:not(.n){min-width:5.5rem}
td code{overflow-wrap:anywhere}
@media (max-width:40rem){
.stacked thead{display:none}
.stacked tr{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 .9rem;padding:.45rem 0;border-bottom:1px solid var(--line)}
.stacked th,.stacked td.n,.stacked td{border:0;padding:0;min-width:0}
.stacked th[scope=row]{flex:1 1 auto;white-space:normal;overflow-wrap:anywhere}
.stacked td:last-child{flex:1 0 100%;color:var(--soft)}}
section{break-inside:auto}
h2{break-after:avoid}
tr{break-inside:avoid}
@media print{.tiles>div{border:1px solid var(--line)}}
`);
