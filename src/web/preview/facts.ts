import type { WinnerState } from '../../model.ts';
import { canaryText, costText, doneText, fallbackText, listPartsText } from '../../plan/estimate.ts';
import { forecastText } from '../../plan/forecast.ts';
import type { PreviewRows } from '../../plan/previewed.ts';
import type { Formats } from '../../report/formats.ts';
import { winnerWords } from '../../report/variants-text.ts';
import { safeLine } from '../../util/escape.ts';
import { iso } from '../../util/time.ts';

/** What the whole list comes to, as names and figures for people; once all rows were read. */
export function previewFacts(preview: PreviewRows): readonly (readonly [name: string, value: string])[] {
  const { estimate } = preview.result();
  const { formats } = preview;
  const { number } = formats;
  const { sampled } = preview.plan.campaign.recipients;
  const { day } = preview.plan;
  const skipped = Object.entries(estimate.skipped).map(([reason, count]) => `${number(count)} ${reason}`);
  const rows: readonly (readonly [string, string | null])[] = [
    ['topic', preview.plan.campaign.topic],
    ['rows', number(estimate.rows)],
    ['list', sampled === undefined ? null : sampled.message],
    ['as of', day === null ? null : `${day.text} (${day.timeZone})`],
    ['to send', [number(estimate.send), listPartsText(estimate, formats)].filter((fact) => fact !== null).join(', ')],
    ['requests', requestsText(preview)],
    ['cost', costText(estimate, formats)],
    ['fallback', fallbackText(estimate, formats)],
    ['in steps', canaryText(preview.plan.campaign.send.canary, formats)],
    ['variants', Object.keys(estimate.variants).length === 0 ? null : counted(estimate.variants, formats)],
    ['winner', winnerText(preview.winner, formats)],
    ['deferred', Object.keys(estimate.deferred).length === 0 ? null : counted(estimate.deferred, formats)],
    ['at', preview.plan.campaign.send.window === null ? null : formats.instant(preview.at)],
    ['opens', estimate.opensAt === undefined ? null : formats.instant(estimate.opensAt)],
    ['finished', forecastText(estimate, formats)],
    ['skipped', skipped.length === 0 ? null : skipped.join(', ')],
    ['done', doneText(estimate, formats)],
    ['invalid', estimate.invalid === 0 ? null : number(estimate.invalid)],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

function counted(counts: Readonly<Record<string, number>>, { number }: Formats): string {
  return Object.entries(counts)
    .map(([name, count]) => `${number(count)} ${safeLine(name)}`)
    .join(', ');
}

/** Only where the campaign asks for more than one recipient in a request. */
function requestsText({ plan, formats }: PreviewRows): string | null {
  const { recipientsPerRequest: most } = plan.campaign.send;
  if (most === 1) return null;
  if (plan.recipientsPerRequest > 1) return `with up to ${formats.number(most)} recipients each`;
  return plan.campaign.recipients.kind === 'contact'
    ? 'with one recipient each: contacts have no metadata of their own'
    : 'with one recipient each: the message differs from row to row';
}

function winnerText(state: WinnerState, formats: Formats): string | null {
  if (state.kind === 'testing') return 'found after the test';
  if (state.kind === 'waits') return `found at ${formats.instant(iso(state.untilMs))}`;
  return state.kind === 'none' ? null : winnerWords({ winner: state.decision }, formats);
}
