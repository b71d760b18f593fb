import type { Outcome, Report } from '../../model.ts';
import { PLAIN } from '../../report/locale.ts';
import type { Outcomes, ReportOptions } from '../../report/record.ts';
import { html } from '../../util/escape.ts';
import { documentFrame } from '../document.ts';
import { runHead, runSections, type ShownRun } from '../sections.ts';
import { createChoice, recipientsOf } from './recipients.ts';
import { type ReplyCounts, type ReturnTimes, watchTimes } from './returned.ts';

export interface ReportPageOptions
  extends Pick<ReportOptions, 'campaignFile' | 'completed' | 'currency' | 'formats' | 'planPath'> {
  /** In ms since 1970. */
  readonly nowMs: number;
  /** Awaited after each batch, so that other requests can run. */
  readonly turn?: () => Promise<void> | undefined;
  /** Outcomes in the table of recipients; all of them when absent. */
  readonly isListed?: (outcome: Outcome) => boolean;
  /** Times of the reports and replies about a recipient; absent if there are none. */
  readonly timesOf?: (outcome: Outcome) => ReturnTimes;
  readonly replies?: ReplyCounts | null;
  /** `masked` by default, because people share the page. */
  readonly addresses?: 'masked' | 'whole';
}

/**
 * The report of a run as a single page, to attach to an email: no script, nothing loaded, no links, and a content
 * security policy that forbids all three. Escapes everything from a file, the API or the ledger. Takes one pass over
 * the outcomes, and keeps counts and the rows that it shows.
 */
export async function* reportPage(summary: Report, outcomes: Outcomes, options: ReportPageOptions) {
  const times = watchTimes(options.timesOf, Date.parse(summary.startedAt) || 0, options.nowMs);
  const choice = createChoice();
  for await (const batch of outcomes) {
    for (const outcome of batch) {
      times.add(outcome);
      if (options.isListed?.(outcome) !== false) choice.add(outcome);
    }
    await options.turn?.();
  }
  const report = options.completed?.() ?? summary;
  const { formats = PLAIN, campaignFile = report.campaign, planPath = null, currency = null } = options;
  const shown: ShownRun = { report, formats, currency, campaignFile, planPath, link: null };
  const title = `${report.campaign} - ${report.occurrence} - handbill report`;
  const { head, foot } = documentFrame({ title });
  yield head;
  const sections = runSections(shown, null, {
    replies: options.replies ?? null,
    slots: times.slots(),
    returned: times.returned(),
    recipients: recipientsOf(choice.chosen(), report, options.addresses ?? 'masked', formats),
  });
  yield html`<main>
${runHead(shown)}${sections.map(([, content]) => html`${content}`)}</main>
`.markup;
  yield foot;
}
