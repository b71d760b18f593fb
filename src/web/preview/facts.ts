import type { Decision, Variables, WinnerState } from '../../model.ts';
import { canaryText, costText, doneText, type Estimate, fallbackText, listPartsText } from '../../plan/estimate.ts';
import { forecastText } from '../../plan/forecast.ts';
import type { PreviewRows } from '../../plan/previewed.ts';
import type { Formats } from '../../report/locale.ts';
import { winnerWords } from '../../report/variants-text.ts';
import { safeLine } from '../../util/escape.ts';
import { iso } from '../../util/time.ts';

/** The totals of the whole list, as names and figures for people; call it after all rows were read. */
export function previewFacts(preview: PreviewRows): ReturnType<typeof estimateFacts> {
  return estimateFacts(preview.result().estimate, preview.formats, preview);
}

/**
 * The totals of a list, as names and figures for people.
 * @param preview - where they come from; null: from a plan file, which has the totals alone
 */
export function estimateFacts(
  estimate: Estimate,
  formats: Formats,
  preview: PreviewRows | null = null,
): readonly (readonly [name: string, value: string])[] {
  const { number } = formats;
  const { campaign = null, day = null } = preview?.plan ?? {};
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['topic', campaign?.topic],
    ['rows', number(estimate.rows)],
    ['list', campaign?.recipients.sampled?.message],
    ['as of', day && `${day.text} (${day.timeZone})`],
    ['to send', [number(estimate.send), listPartsText(estimate, formats)].filter((fact) => fact !== null).join(', ')],
    ['requests', preview && requestsText(preview)],
    ['cost', costText(estimate, formats)],
    ['fallback', fallbackText(estimate, formats)],
    ['in steps', campaign && canaryText(campaign.send.canary, formats)],
    ['variants', counted(estimate.variants, formats)],
    ['winner', preview && winnerText(preview.winner, formats)],
    ['deferred', counted(estimate.deferred, formats)],
    ['at', preview && campaign?.send.window && formats.instant(preview.at)],
    ['opens', estimate.opensAt === undefined ? null : formats.instant(estimate.opensAt)],
    ['finished', forecastText(estimate, formats)],
    ['skipped', counted(estimate.skipped, formats)],
    ['done', doneText(estimate, formats)],
    ['invalid', estimate.invalid === 0 ? null : number(estimate.invalid)],
  ];
  return rows.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, value] as const]));
}

export function factLines(facts: ReturnType<typeof estimateFacts>): string {
  return facts.map(([name, value]) => `${name.padEnd(10)}${value}\n`).join('');
}

function counted(counts: Readonly<Record<string, number>>, { number }: Formats): string | null {
  const said = Object.entries(counts).map(([name, count]) => `${number(count)} ${safeLine(name)}`);
  return said.length === 0 ? null : said.join(', ');
}

/** Why a recipient gets no message; null: gets one. */
export function reasonOf(decision: Decision): string | null {
  if (decision.decision === 'send') return null;
  return decision.decision === 'done' ? (decision.reason ?? decision.outcome) : decision.reason;
}

/** The values of a provider's template by name; those of a group as `group.name`. */
export function namedValues(variables: Variables<string>, group = ''): readonly (readonly [string, string])[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    typeof value === 'string' ? [[`${group}${name}`, value] as const] : namedValues(value, `${group}${name}.`),
  );
}

/** Only if the campaign sets more than one recipient per request. */
function requestsText({ plan, formats }: PreviewRows): string | null {
  if (plan.campaign.send.recipientsPerRequest === 1) return null;
  if (plan.recipientsPerRequest > 1) return `with up to ${formats.number(plan.recipientsPerRequest)} recipients each`;
  const { title, limits } = plan.environment.provider;
  if (limits.recipients === 1) return `with one recipient each: ${safeLine(title)} takes one in a request`;
  return plan.campaign.recipients.kind === 'contact'
    ? 'with one recipient each: a contact has no metadata'
    : 'with one recipient each: the message differs from row to row';
}

function winnerText(state: WinnerState, formats: Formats): string | null {
  if (state.kind === 'testing') return 'found after the test';
  if (state.kind === 'waits') return `found at ${formats.instant(iso(state.untilMs))}`;
  return state.kind === 'none' ? null : winnerWords({ winner: state.decision }, formats);
}
