import { loadCampaign } from '../campaign/load.ts';
import { problem, refuse } from '../errors.ts';
import type { Campaign, ListSpec } from '../model.ts';
import { checkList } from '../plan/check.ts';
import { duplicatesIn } from '../plan/decide.ts';
import { loadPrices } from '../plan/estimate.ts';
import { UNGUARDED } from '../plan/list-guard.ts';
import { createPlan, environmentOf, textFaults } from '../plan/plan.ts';
import { createStandingPlan } from '../plan/plan-file.ts';
import { commitIn, readProvenance } from '../plan/provenance.ts';
import { pastValidity } from '../plan/provider-check.ts';
import { guardFacts, standingInputsOf, timeFaults } from '../plan/standing-inputs.ts';
import { countOf } from '../report/words.ts';
import { dayMs, iso } from '../util/time.ts';
import type { ProjectOptions, ResolvedOptions } from './options.ts';

/** The environment and the last day of a standing plan. */
export interface StandingOptions extends ProjectOptions {
  /** Environment of handbill.yaml, which has `approvers` and `standingApprovals`. */
  readonly environment: string;
  /** The last day on which a run may start, in UTC: `2026-12-31`. */
  readonly until: string;
}

/** Shown to the person who signs. */
export type Fact = readonly [name: string, value: string];

/** Checks templates against the list, else against its sample; both may be missing. Throws exit 2 with all errors. */
export async function compileStanding(target: string, options: StandingOptions & ResolvedOptions) {
  const { cwd, env, now, until } = options;
  const nowMs = now();
  const loading = { cwd, env, withSample: true, ledger: options.ledger };
  const { campaign, warnings } = await loadCampaign(target, loading);
  const environment = environmentOf(campaign, options.environment);
  if (dayMs(until) === null) {
    throw refuse(problem('usage', `"${until}" is not a day.`, { hint: 'Write the last day: --until 2026-12-31' }));
  }
  const asked = readProvenance(campaign, env);
  const planFile = createStandingPlan({
    standing: { until },
    campaign: { name: campaign.name, file: campaign.file },
    environment: environment.name,
    plannedAt: iso(nowMs),
    commit: commitIn(await asked),
    inputs: await standingInputsOf(campaign, environment),
  });
  const times = timeFaults(planFile, environment.approval?.standing ?? null, nowMs);
  const faults = [...pastValidity(campaign, nowMs), ...times];
  if (faults.length > 0) throw refuse(...faults);
  const hasList = campaign.recipients.missing === undefined;
  const made = { environment: environment.name, occurrence: 'once', nowMs };
  // Checks templates against the columns, as far as there are any.
  const ofTexts = hasList ? (await createPlan(campaign, made)).warnings : await textFaults(campaign);
  if (!hasList && ofTexts.length > 0) throw refuse(...ofTexts);
  const sample = await sampleFacts(campaign, environment.name, nowMs);
  return {
    planFile,
    campaign,
    environment,
    provenance: await asked,
    warnings: [...warnings, ...ofTexts],
    facts: [...guardFacts(campaign, environment), ...sample],
  };
}

/** Figures of the sample and its first message; empty where the campaign has no sample. */
async function sampleFacts(campaign: Campaign, environment: string, nowMs: number): Promise<readonly Fact[]> {
  const recipients = sampleOf(campaign.recipients);
  if (recipients === null) return [];
  const plan = await createPlan({ ...campaign, recipients }, { environment, occurrence: 'once', nowMs });
  const reading = { prices: loadPrices(campaign.project), guard: UNGUARDED };
  const texts: string[] = [];
  const view = { duplicates: duplicatesIn(plan), skipsInvalid: false };
  const { estimate } = await checkList(plan, view, reading, (batch) => {
    for (const one of batch) if (one.decision === 'send' && one.text !== null) texts.push(one.text);
  });
  const figures = `${recipients.file}, ${countOf(estimate.rows, 'recipient')}, ${countOf(estimate.parts, 'part')}`;
  return [['sample', figures], ...(texts[0] === undefined ? [] : [['message', texts[0]] as const])];
}

/** The sample in place of the list, even if that is there. */
function sampleOf({ missing: _, ...list }: ListSpec): ListSpec | null {
  if (list.sampled !== undefined) return list;
  return list.sample === undefined ? null : { ...list, ...list.sample };
}
