import { OUTCOMES, type Outcome, type OutcomeState, type Report, type RunState } from '../model.ts';
import { Html, html } from '../util/html.ts';
import type { Outcomes, ReportOptions } from './formatter.ts';
import { STYLE } from './html-style.ts';
import { legsSection, variantsSection } from './html-tables.ts';
import { nextSteps } from './next-steps.ts';
import { reasonWords } from './reason-words.ts';
import { totalsKey } from './tally.ts';
import {
  countOf,
  milliseconds,
  money,
  number,
  OUTCOME_WORDS,
  percent,
  period,
  purgedWords,
  STATE_WORDS,
} from './words.ts';

/** Rows of the table of recipients; the page stays small enough for any browser. */
export const LISTED_RECIPIENTS = 1000;

/**
 * A page of its own: no scripts, nothing loaded, no link to anywhere, and a content security policy that forbids all
 * three. Everything that came from a file, the API or the ledger is escaped.
 */
export async function* formatHtml(report: Report, outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${report.campaign} - ${report.occurrence} - handbill report</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${header(report)}
${bar(report)}
${totalsTable(report)}
${steps(report, options)}
${reasonsTable(report)}
${legsSection(report, options.currency ?? null)}
${variantsSection(report)}
`.markup;
  yield html`${recipientsTable(await choose(outcomes), report)}
${facts(report, options)}
</main>
</body>
</html>
`.markup;
}

function header(report: Report): Html {
  return html`<header>
<h1>${report.campaign}</h1>
<p>${report.environment} · ${report.occurrence} · <span class="state" style="color:var(--${tone(STATE_TONES[report.state])})">${STATE_WORDS[report.state]}</span></p>
<p class="soft">Run ${report.run}. ${[period(report.startedAt, report.finishedAt), ...purgedWords(report.purgedAt)].join(' ')}</p>
</header>`;
}

/** The totals as one bar. Widths are shares that the browser works out, so that they always add up. */
function bar(report: Report): Html {
  const shown = OUTCOMES.filter((outcome) => report.totals[totalsKey(outcome)] > 0);
  const words = shown.map((outcome) => `${outcome} ${number(report.totals[totalsKey(outcome)])}`).join(', ');
  const spans = shown.map(
    (outcome) => html`<span style="flex:${report.totals[totalsKey(outcome)]};--tone:var(--${tone(outcome)})"></span>`,
  );
  return html`<div class="bar" role="img" aria-label="${words === '' ? 'no recipients' : words}">${spans}</div>`;
}

function totalsTable(report: Report): Html {
  const { recipients } = report.totals;
  const rows = OUTCOMES.map((outcome) => {
    const count = report.totals[totalsKey(outcome)];
    return html`<tr${count === 0 ? new Html(' class="none"') : null}><th scope="row"><span class="key" style="--tone:var(--${tone(outcome)})"></span>${outcome}</th><td class="n">${number(count)}</td><td class="n">${percent(count, recipients)}</td><td>${OUTCOME_WORDS[outcome]}</td></tr>
`;
  });
  return html`<div class="scroll"><table>
<caption>${countOf(recipients, 'recipient')}</caption>
<thead><tr><th scope="col">Outcome</th><th scope="col" class="n">Recipients</th><th scope="col" class="n">Share</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}

function steps(report: Report, options: ReportOptions): Html | null {
  const all = nextSteps(report, options.campaignFile ?? report.campaign, options.planFile);
  if (all.length === 0) return null;
  const shown = all.map(
    ({ text, command }) =>
      html`<div class="step"><p>${text}</p>${command === null ? null : html`<pre><code>${command}</code></pre>`}</div>
`,
  );
  return html`<section>
<h2>What to do next</h2>
${shown}</section>`;
}

function reasonsTable(report: Report): Html | null {
  const rows = OUTCOMES.flatMap((outcome) =>
    Object.entries(report.reasons[totalsKey(outcome)] ?? {}).map(
      ([
        reason,
        count,
      ]) => html`<tr><td>${outcome}</td><td>${reason}</td><td class="n">${number(count)}</td><td>${reasonWords(reason)}</td></tr>
`,
    ),
  );
  if (rows.length === 0) return null;
  return html`<section>
<h2>Reasons</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">Outcome</th><th scope="col">Reason</th><th scope="col" class="n">Recipients</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>
</section>`;
}

interface Chosen {
  readonly rows: readonly Outcome[];
  readonly total: number;
}

/** The rows to show: those in doubt, rejected or failed come before those that wait or were left out by a rule. */
async function choose(outcomes: Outcomes): Promise<Chosen> {
  const pressing: Outcome[] = [];
  const others: Outcome[] = [];
  let total = 0;
  for await (const batch of outcomes) {
    for (const outcome of batch) {
      if (outcome.outcome === 'accepted') continue;
      total++;
      const kept = PRESSING.has(outcome.outcome) ? pressing : others;
      if (kept.length < LISTED_RECIPIENTS) kept.push(outcome);
    }
  }
  return { rows: [...pressing, ...others].slice(0, LISTED_RECIPIENTS), total };
}

function recipientsTable({ rows, total }: Chosen, report: Report): Html | null {
  if (total === 0) return null;
  const more = total - rows.length;
  const several = report.legs !== undefined;
  const shown = rows.map(
    (row) =>
      html`<tr><td class="n">${row.line}</td><td>${row.to ?? row.key ?? '-'}</td>${several ? html`<td>${row.channel}</td>` : null}<td>${row.outcome}</td><td>${row.reason ?? '-'}</td><td class="n">${row.httpStatus ?? '-'}</td><td class="n">${row.attempts}</td><td>${row.error ?? ''}</td></tr>
`,
  );
  return html`<section>
<h2>Recipients that were not accepted</h2>
<div class="scroll"><table>
<caption>${countOf(total, 'recipient')}, by line of the list${more > 0 ? `; the first ${number(rows.length)} are shown, ${number(more)} more are in handbill report ${report.run} --format csv` : ''}.</caption>
<thead><tr><th scope="col" class="n">Line</th><th scope="col">Recipient</th>${several ? html`<th scope="col">Channel</th>` : null}<th scope="col">Outcome</th><th scope="col">Reason</th><th scope="col" class="n">Status</th><th scope="col" class="n">Attempts</th><th scope="col">What the API said</th></tr></thead>
<tbody>
${shown}</tbody>
</table></div>
</section>`;
}

function facts(report: Report, options: ReportOptions): Html {
  const { posted, retried, perSecond, latencyMs } = report.requests;
  const { parts, encodings, cost } = report.sms;
  const pairs: [string, string][] = [
    [
      'Requests',
      `${number(posted)} posted, ${number(retried)} of them again, ${number(Math.round(perSecond * 10) / 10)}/s`,
    ],
    [
      'Latency',
      `half ${milliseconds(latencyMs.p50)}, 95 % ${milliseconds(latencyMs.p95)}, 99 % ${milliseconds(latencyMs.p99)}`,
    ],
  ];
  const messages = Object.entries(encodings).map(([encoding, count]) => `${countOf(count, 'message')} in ${encoding}`);
  if (parts > 0) pairs.push(['SMS', [countOf(parts, 'part'), ...messages].join(', ')]);
  if (cost !== null) pairs.push(['Cost', money(cost, options.currency)]);
  for (const [state, count] of Object.entries(report.deliveries)) pairs.push([`Delivery: ${state}`, number(count)]);
  pairs.push(['Ledger', report.ledger]);
  return html`<section>
<h2>Figures</h2>
<dl>
${pairs.map(
  ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>
`,
)}</dl>
</section>`;
}

/** A colour by the name of an outcome: never text from outside, because it stands in a style. */
function tone(outcome: OutcomeState): Html {
  return new Html(outcome);
}

const PRESSING: ReadonlySet<OutcomeState> = new Set(['in-doubt', 'rejected', 'failed']);

const STATE_TONES: Readonly<Record<RunState, OutcomeState>> = {
  running: 'deferred',
  finished: 'accepted',
  partial: 'in-doubt',
  halted: 'rejected',
  interrupted: 'in-doubt',
};
