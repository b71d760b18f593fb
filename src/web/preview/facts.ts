import type { WinnerState } from '../../model.ts';
import { canaryText, costText, fallbackText, partsText } from '../../plan/estimate.ts';
import type { PreviewRows } from '../../plan/previewed.ts';
import { winnerWords } from '../../report/variants-text.ts';
import { number } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';

/** What the whole list comes to, as names and figures for people; once all rows were read. */
export function previewFacts(preview: PreviewRows): readonly (readonly [name: string, value: string])[] {
  const { estimate } = preview.result();
  const { sampled } = preview.plan.campaign.recipients;
  const { day } = preview.plan;
  const skipped = Object.entries(estimate.skipped).map(([reason, count]) => `${number(count)} ${reason}`);
  const done = Object.entries(estimate.done).map(([outcome, count]) => `${number(count)} ${outcome}`);
  const rows: readonly (readonly [string, string | null])[] = [
    ['topic', preview.plan.campaign.topic],
    ['rows', number(estimate.rows)],
    ['list', sampled === undefined ? null : sampled.message],
    ['as of', day === null ? null : `${day.text} (${day.timeZone})`],
    ['to send', [number(estimate.send), partsText(estimate.parts)].filter((fact) => fact !== null).join(', ')],
    ['requests', requestsText(preview)],
    ['cost', costText(estimate)],
    ['fallback', fallbackText(estimate)],
    ['in steps', canaryText(preview.plan.campaign.send.canary)],
    ['variants', Object.keys(estimate.variants).length === 0 ? null : counted(estimate.variants)],
    ['winner', winnerText(preview.winner)],
    ['deferred', Object.keys(estimate.deferred).length === 0 ? null : counted(estimate.deferred)],
    ['opens', estimate.opensAt === undefined ? null : `${estimate.opensAt.slice(0, 16).replace('T', ' ')} UTC`],
    ['skipped', skipped.length === 0 ? null : skipped.join(', ')],
    ['done', done.length === 0 ? null : done.join(', ')],
    ['invalid', estimate.invalid === 0 ? null : number(estimate.invalid)],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

function counted(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${number(count)} ${safeLine(name)}`)
    .join(', ');
}

/** Only where the campaign asks for more than one recipient in a request. */
function requestsText({ plan }: PreviewRows): string | null {
  const { recipientsPerRequest: most } = plan.campaign.send;
  if (most === 1) return null;
  if (plan.recipientsPerRequest > 1) return `with up to ${number(most)} recipients each`;
  return plan.campaign.recipients.kind === 'contact'
    ? 'with one recipient each: contacts have no metadata of their own'
    : 'with one recipient each: the message differs from row to row';
}

function winnerText(state: WinnerState): string | null {
  if (state.kind === 'testing') return 'found after the test';
  if (state.kind === 'waits')
    return `found at ${new Date(state.untilMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return state.kind === 'none' ? null : winnerWords({ winner: state.decision });
}
