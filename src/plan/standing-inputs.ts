import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Campaign, Environment, InputFile, StandingRule } from '../model.ts';
import { anotherOccurrence } from '../report/next-steps.ts';
import { countOf, duration, number } from '../report/words.ts';
import { followUpText, whenText } from '../schedule/occurrence.ts';
import { nextCommand } from '../util/next-command.ts';
import { DAY_MS, dayMs, iso } from '../util/time.ts';
import { unitsOf } from '../util/units.ts';
import { openFence } from './fence.ts';
import type { Plan } from './plan.ts';
import type { StandingPlan } from './plan-file.ts';
import { type BoundSetting, boundsInput, inputsOf, suppressionsInput } from './settings.ts';

/** All inputs of a plan except the list and the day; and the guards, which here are all that bounds the list. */
export function standingInputs({
  campaign,
  environment,
  inputs,
}: Pick<Plan, 'campaign' | 'environment' | 'inputs'>): readonly InputFile[] {
  const kept = inputs.filter(({ role }) => role !== 'day' && role !== 'recipients');
  return [...kept, boundsInput(campaign, environment), suppressionsInput(campaign)];
}

/** Does not read the list. Throws HandbillError (exit 2): the addresses of `only` or `redirect` cannot be read. */
export async function standingInputsOf(campaign: Campaign, environment: Environment): Promise<readonly InputFile[]> {
  const fence = await openFence(environment, campaign.project);
  const inputs = [...inputsOf(campaign, environment), ...(fence?.inputs ?? [])];
  return standingInputs({ campaign, environment, inputs });
}

/** Why a standing plan does not count at a time, whatever its signatures; empty: it counts. */
export function timeFaults(
  { standing: { until }, plannedAt, campaign, environment }: StandingPlan,
  rule: StandingRule | null,
  nowMs: number,
): readonly Diagnostic[] {
  if (rule === null) {
    const hint = 'It does with `standingApprovals: { longest: 90d }` beside its `approvers` in handbill.yaml.';
    return [problem('not-approved', `${environment} takes no standing approvals.`, { hint })];
  }
  const lastMs = dayMs(until) ?? Number.NEGATIVE_INFINITY;
  if (nowMs >= lastMs + DAY_MS) {
    const message = `The standing approval of ${campaign.name} for ${environment} ended with ${until} (UTC).`;
    return [problem('approval-ends', message, { hint: againHint(campaign.name, environment) })];
  }
  // A plan that claims to be made later does not last longer by it.
  if (lastMs - Math.min(nowMs, Date.parse(plannedAt)) <= rule.longestMs) return [];
  const message = `The standing approval of ${campaign.name} lasts until ${until}; ${environment} takes ${rule.longest} at most.`;
  return [problem('not-approved', message, { hint: againHint(campaign.name, environment) })];
}

/** Days before its last one on which each start says when an approval ends: people who sign may be away for a week. */
const WARN_DAYS = 7;

/** A warning where a standing plan that counts ends within a week, so that a schedule does not stop unnoticed. */
export function endsSoon(
  { standing: { until }, campaign, environment }: StandingPlan,
  nowMs: number,
): readonly Diagnostic[] {
  if ((dayMs(until) ?? 0) - nowMs >= WARN_DAYS * DAY_MS) return [];
  const message = `The standing approval of ${campaign.name} for ${environment} ends with ${until} (UTC).`;
  return [warning('approval-ends', message, { hint: againHint(campaign.name, environment) })];
}

export function againHint(campaign: string, environment: string): string {
  return `Approve it again: ${nextCommand('approve', campaign, '--env', environment, '--standing', '--until', 'DATE', '--sign', 'KEY')}`;
}

/** How the recipients that an occurrence left are sent to, where its inputs changed and cannot be allowed. */
export function leaveHint({
  campaign,
  environment,
  occurrence,
}: Pick<Plan, 'campaign' | 'environment' | 'occurrence'>): string {
  const excluded = campaign.exclude.map((one) =>
    one.occurrence === null ? one.campaign : `${one.campaign}@${one.occurrence}`,
  );
  const run = { campaign: campaign.name, environment: environment.name, occurrence };
  const again = anotherOccurrence(run, excluded);
  if ((environment.approval?.standing ?? null) === null) return again;
  return `${again} Then undo the change of \`exclude\`: a standing approval is of the campaign as it was.`;
}

type Facts = readonly (readonly [name: string, value: string])[];
type Shown = ((campaign: Campaign, environment: Pick<Environment, 'budget'>) => Facts) | { readonly hidden: string };

/** A new setting that bounds runs does not compile until this says how a person sees it, or why not. */
const SHOWN: { readonly [Key in BoundSetting]: Shown } = {
  after({ schedule, after }) {
    const when = schedule === null ? followUpText(after) : `${whenText(schedule)} ${schedule.timeZone}`;
    const text = `${when ?? 'without a schedule'}; by hand, for any occurrence that is named, however many`;
    return [['goes out', text]];
  },
  guards({ limits: { maxRecipients }, guards: { maxAge, minRecipients, change } }) {
    const list = [
      ...(maxRecipients === null ? [] : [`at most ${countOf(maxRecipients, 'recipient')}`]),
      ...(minRecipients === null ? [] : [`at least ${countOf(minRecipients.count, 'row')}`]),
      ...(change === null ? [] : [`${change.text} more or fewer than the last`]),
      ...(maxAge === null ? [] : [`not older than ${maxAge.text}`]),
    ];
    return [['list', list.length === 0 ? 'NO GUARD: any number of recipients, of any age' : list.join(', ')]];
  },
  limits({ limits: { maxCost, maxParts } }, { budget }) {
    const per = budget === null ? '' : `in a ${budget.per}, of all campaigns together`;
    const cost = [
      ...(maxCost === null ? [] : [`at most ${number(maxCost)} each run`]),
      ...(budget === null ? [] : [`${number(unitsOf(budget.maxMicros))} ${per}`]),
      ...(maxParts === null ? [] : [`at most ${countOf(maxParts, 'part')} each message`]),
    ];
    return [['cost', cost.length === 0 ? 'no limit' : cost.join(', ')]];
  },
  budget: { hidden: 'it is beside the limits of cost' },
  frequency({ frequency }) {
    const caps = frequency.map(({ max, per, of }) => {
      const time = per.kind === 'rolling' ? duration(per.ms) : per.unit;
      return `${countOf(max, 'message')} per ${time}${of === 'topic' ? ' of the topic' : ''}`;
    });
    return [['caps', caps.length === 0 ? 'none' : caps.join(', ')]];
  },
  unreachable: ({ unreachable: rule }) =>
    rule === null ? [] : [['unreachable', `${countOf(rule.after, 'failure')} within ${duration(rule.withinMs)}`]],
  isCounted: ({ isCounted }) =>
    isCounted ? [] : [['exempt', 'messages do not count towards caps of other campaigns']],
  exclude: ({ exclude }) =>
    exclude.length === 0 ? [] : [['excludes', exclude.map(({ campaign: name }) => name).join(', ')]],
  'recipients.timeZone': { hidden: 'it is a column of the list' },
  'send.window': ({ send: { window } }) => (window === null ? [] : [['window', 'as the campaign says']]),
  'send.notAfterMs': ({ send: { notAfterMs } }) => (notAfterMs === null ? [] : [['not after', iso(notAfterMs)]]),
  'send.canary': ({ send: { canary } }) => (canary === null ? [] : [['canary', 'as the campaign says']]),
};

/** The bounds of each run of a standing approval, for a person who signs it. */
export function guardFacts(campaign: Campaign, environment: Pick<Environment, 'budget'>): Facts {
  const { inline, onInvalid, columns } = campaign.recipients;
  const names = Object.keys(columns);
  return [
    inline === null
      ? ['NOT SEALED', 'the list: each run goes to whatever it holds then']
      : ['the list', 'is in the campaign file, and sealed with it'],
    ...Object.values(SHOWN).flatMap((shown) => ('hidden' in shown ? [] : shown(campaign, environment))),
    ['bad rows', onInvalid === 'skip' ? 'are skipped' : 'refuse the run'],
    ['columns', names.length === 0 ? 'no contract' : names.join(', ')],
  ];
}
