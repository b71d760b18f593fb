import type { Report } from '../model.ts';
import type { Outcomes } from '../report/record.ts';
import { countOf, milliseconds, money, number, repliesText } from '../report/words.ts';
import { type Html, html } from '../util/html.ts';
import { documentFrame } from './document.ts';
import type { ReportPageOptions } from './report-options.ts';
import { paceOf } from './report-pace.ts';
import { section } from './report-parts.ts';
import { createChoice, recipientsOf } from './report-recipients.ts';
import { deliveriesOf, repliesOf, unmatchedOf, watchReturned } from './report-returned.ts';
import { REPORT_STYLE } from './report-style.ts';
import { headerOf, outcomesOf, reasonsOf, stepsOf } from './report-summary.ts';
import { legsOf, variantsOf } from './report-tables.ts';
import { createTimeCounts } from './time-counts.ts';

/**
 * The report of a run as a page of its own, to attach to an email: no script, nothing loaded, no link to anywhere, and a
 * content security policy that forbids all three. Everything that came from a file, the API or the ledger is escaped.
 * It takes one pass over the outcomes, of which it keeps counts and the rows that it shows.
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
