import type { Outcome, Report } from '../../model.ts';
import type { SavedLatency } from '../../report/latency.ts';
import { type Formats, PLAIN } from '../../report/locale.ts';
import type { Outcomes, ReportOptions } from '../../report/record.ts';
import { keptWords, STATE_WORDS } from '../../report/words.ts';
import { Html, html } from '../../util/escape.ts';
import { documentFrame } from '../document.ts';
import { section, stateMark } from '../kit.ts';
import {
  causesSection,
  channelsSection,
  deliveriesSection,
  endsSection,
  figuresOf,
  nextSection,
  outcomesSection,
  type ShownRun,
  unmatchedSection,
  variantsSection,
  verdictSection,
} from '../sections.ts';
import { createChoice, recipientsOf } from './recipients.ts';
import { latencyOf, overTimeOf, type ReplyCounts, type ReturnTimes, repliesOf, watchTimes } from './returned.ts';

export interface ReportPageOptions
  extends Pick<ReportOptions, 'campaignFile' | 'completed' | 'currency' | 'formats' | 'planPath'> {
  /** In ms since 1970. */
  readonly nowMs: number;
  /** Outcomes in the table of recipients; all of them when absent. */
  readonly isListed?: (outcome: Outcome) => boolean;
  /** Times of the reports and replies about a recipient; absent if there are none. */
  readonly timesOf?: (outcome: Outcome) => ReturnTimes;
  readonly latency?: SavedLatency | null;
  readonly replies?: ReplyCounts | null;
  /** `masked` by default, because people share the page. */
  readonly addresses?: 'masked' | 'whole';
}

/**
 * The report of a run as a single page, to attach to an email: no script, nothing loaded, no links, and a content
 * security policy that forbids all three. Escapes everything from a file, the API or the ledger. Takes one pass over
 * the outcomes, and keeps counts and the rows that it shows.
 */
export async function* reportPage(
  summary: Report,
  outcomes: Outcomes,
  options: ReportPageOptions,
): AsyncGenerator<string> {
  const times = watchTimes(options.timesOf, Date.parse(summary.startedAt) || 0, options.nowMs);
  const choice = createChoice();
  for await (const batch of outcomes) {
    for (const outcome of batch) {
      times.add(outcome);
      if (options.isListed?.(outcome) !== false) choice.add(outcome);
    }
  }
  const report = options.completed?.() ?? summary;
  const { formats = PLAIN, campaignFile = report.campaign, planPath = null, currency = null } = options;
  const shown: ShownRun = { report, formats, currency, campaignFile, planPath, link: null };
  const title = `${report.campaign} - ${report.occurrence} - handbill report`;
  const { head, foot } = documentFrame({ title, style: REPORT_STYLE });
  yield head;
  yield html`<main>
${headerOf(report, formats)}${verdictSection(shown)}${endsSection(shown)}${causesSection(shown)}${nextSection(shown)}${outcomesSection(shown)}<div class="pair">${deliveriesSection(shown)}${repliesOf(report, options.replies ?? null, formats)}</div>${unmatchedSection(shown)}${overTimeOf(times.slots(), formats)}<div class="pair">${variantsSection(shown)}${channelsSection(shown, times.returned())}</div>`
    .markup;
  const figures = section('Figures', [figuresOf(shown), latencyOf(report, options.latency ?? null, formats)]);
  yield html`${recipientsOf(choice.chosen(), report, options.addresses ?? 'masked', formats)}${figures}</main>
`.markup;
  yield foot;
}

function headerOf(report: Report, formats: Formats): Html {
  const { campaign, environment, occurrence, state, startedAt, finishedAt } = report;
  const tookMs = finishedAt === null ? Number.NaN : Date.parse(finishedAt) - Date.parse(startedAt);
  const took = tookMs >= 0 ? `, took ${formats.duration(tookMs)}` : '';
  const timeOf = (iso: string) =>
    ISO.test(iso) ? html`<time datetime="${iso}">${formats.instant(iso)}</time>` : html`${iso}`;
  return html`<header>
<h1>${campaign}</h1>
<p class="run">${environment} · ${timeOf(occurrence)} ${stateMark(state, STATE_WORDS[state].replace(/^(?:is|was) /, ''))}</p>
<p class="soft">Run ${report.run}. Started ${timeOf(startedAt)}${took}. ${keptWords(report, formats).join(' ')}</p>
</header>
`;
}

/** A time that is only text from outside stays text. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

const REPORT_STYLE: Html = new Html(`
body{font-size:.9375rem;padding-top:1.5rem}
h2{margin-top:1.75rem}
.run{font-size:1.0625rem;margin:.2rem 0}
.step{margin:.5rem 0;padding:.5rem .9rem}.step p{margin:0}.step pre{margin:0}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 2rem}.pair>*{min-width:0}
.nowrap,time{white-space:nowrap}
.chart+.scroll,.scroll+.chart,p+.scroll,p+.chart{margin-top:1rem}
.n+:not(.n){padding-left:1rem}
td:not(.n){min-width:5.5rem}
section{break-inside:auto}
h2,figcaption,caption,thead{break-after:avoid}
.recipients summary{margin:.4rem 0}
tr{break-inside:avoid}
@media print{
@page{size:A4;margin:10mm}
body{zoom:.66}
h2{margin:1rem 0 .3rem}
.step{margin:.25rem 0;padding:.25rem .75rem}
th,td{padding:.15rem .75rem .15rem 0}
details,.recipients{display:none}
.scroll+.chart{display:none}
.pair{grid-template-columns:1fr 1fr}
dl{gap:.1rem 1rem}
.chart+.scroll,p+.scroll,p+.chart{margin-top:.4rem}
}
`);
