import type { Outcome, Report } from '../../model.ts';
import type { SavedLatency } from '../../report/latency.ts';
import { type Formats, PLAIN } from '../../report/locale.ts';
import type { Outcomes, ReportOptions } from '../../report/record.ts';
import { keptWords, period, STATE_WORDS } from '../../report/words.ts';
import { type Html, html } from '../../util/escape.ts';
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
  const { head, foot } = documentFrame({ title });
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
  const { campaign, environment, occurrence, state } = report;
  const timeOf = (iso: string) =>
    ISO.test(iso) ? html`<time datetime="${iso}">${formats.instant(iso)}</time>` : html`${iso}`;
  return html`<header>
<h1>${campaign}</h1>
<p class="run">${environment} · ${timeOf(occurrence)} ${stateMark(state, STATE_WORDS[state].replace(/^(?:is|was) /, ''))}</p>
<p class="soft">Run ${report.run}. ${period(report, formats)} ${keptWords(report, formats).join(' ')}</p>
</header>
`;
}

/** A time that is only text from outside stays text. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
