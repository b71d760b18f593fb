import { readCampaign } from '../campaign/load.ts';
import { CODES, type Diagnostic, HandbillError } from '../errors.ts';
import type { Campaign } from '../model.ts';
import { decisions, duplicatesIn, type View } from '../plan/decide.ts';
import { type CostRange, createEstimator, type Estimate, listCost, loadPrices } from '../plan/estimate.ts';
import { checkLimits } from '../plan/limits.ts';
import { createPlan, type Plan, textFaults } from '../plan/plan.ts';
import { type OpenRules, openRules } from '../plan/skip-rules.ts';
import { readSuppressions } from '../plan/suppression.ts';
import { given } from '../util/given.ts';
import { unitsOf } from '../util/units.ts';
import type { Gatherer } from './compare-rows.ts';
import type { Figures, Finding } from './result.ts';
import { hidePersonal } from './rules.ts';
import type { CampaignFile, ListOptions, Side } from './side.ts';

export interface CampaignOnSide {
  readonly campaign: Campaign | null;
  /** Null if there is a fault, or the list is missing. */
  readonly plan: Plan | null;
  readonly prices: Awaited<ReturnType<typeof loadPrices>>;
  readonly rules: OpenRules;
  readonly skipsInvalid: boolean;
  readonly findings: ReturnType<typeof createFindings>;
}

export interface ReadOptions extends Pick<ListOptions, 'env' | 'recipients'> {
  readonly now: number;
  readonly environment: string;
  readonly skipsInvalid: boolean;
  readonly hasList: boolean;
}

/** Reads a campaign on one side and, if its list exists, makes its plan. Returns faults, and throws none. */
export async function readOnSide(side: Side, file: CampaignFile, options: ReadOptions): Promise<CampaignOnSide> {
  const { now, recipients } = options;
  const findings = createFindings(side);
  const override = recipients === null ? {} : { recipients };
  const { campaign, diagnostics } = await readCampaign(file.path, {
    cwd: side.cwd,
    env: options.env,
    place: side.place,
    withoutList: !options.hasList,
    ...override,
  });
  findings.add(diagnostics, null);
  const read = { campaign, findings, skipsInvalid: options.skipsInvalid || campaign?.recipients.onInvalid === 'skip' };
  if (campaign === null) return { ...read, ...NOTHING };
  if (!options.hasList) {
    findings.add(await textFaults(campaign), null);
    return { ...read, ...NOTHING };
  }
  try {
    const plan = await createPlan(campaign, { environment: options.environment, occurrence: 'once', nowMs: now });
    const { suppressions, faults } = await readSuppressions(campaign, options.env);
    // A job that checks a change has no secrets, and should not need one.
    findings.addRows(faults.diagnostics.filter(({ code }) => code !== 'missing-suppression-key'));
    const rules = openRules(plan, { suppressions, now: () => now });
    return { ...read, plan, prices: loadPrices(campaign.project), rules };
  } catch (error) {
    findings.addThrown(error, campaign);
    return { ...read, ...NOTHING };
  }
}

const NOTHING = { plan: null, prices: null, rules: [] } as const;

/**
 * Takes every decision of a side from its files only, without a ledger and without a time.
 * @returns null if the list cannot be read to its end; the findings have the reason
 */
export async function gatherSide(
  side: 0 | 1,
  { plan, prices, rules, skipsInvalid, findings }: CampaignOnSide,
  gatherer: Gatherer,
  signal: AbortSignal,
): Promise<Figures | null> {
  if (plan === null) return null;
  const estimator = createEstimator(plan.campaign, prices);
  const view: View = { duplicates: duplicatesIn(plan), rules, skipsInvalid };
  try {
    for await (const batch of decisions(plan, view)) {
      signal.throwIfAborted();
      for (const decision of batch) {
        estimator.add(decision);
        gatherer.add(side, decision);
        if (decision.decision === 'invalid') findings.addRows([decision.problem]);
      }
    }
  } catch (error) {
    if (signal.aborted) throw error;
    findings.addThrown(error, plan.campaign);
    return null;
  }
  const estimate = estimator.result();
  findings.add(checkLimits(plan.campaign, estimate, estimator.worst()), null);
  return figuresOf(estimate);
}

function figuresOf(estimate: Estimate): Figures {
  const { now, waiting } = listCost(estimate);
  const inUnits = (range: CostRange | null): CostRange | null =>
    range === null ? null : { low: unitsOf(range.low), high: unitsOf(range.high) };
  const countries = Object.fromEntries(
    Object.entries(estimate.countries).map(([country, { messages, parts, costMicros }]) => {
      return [country, { messages, parts, cost: costMicros === null ? null : unitsOf(costMicros) }];
    }),
  );
  return {
    ...given(estimate, 'rows', 'send', 'skipped', 'deferred', 'invalid', 'parts', 'encodings'),
    cost: inUnits(now),
    waiting: inUnits(waiting),
    ...given(estimate, 'currency', 'unpriced'),
    countries,
  };
}

/** Listed faults; each sums up all rows that have it. */
const MAX_FINDINGS = 20;

/** The faults of one side, without personal data. */
export function createFindings({ root }: Pick<Side, 'root'>) {
  const found = new Map<string, Finding & { count: number }>();
  const put = ({ code, at }: Diagnostic, message: string, isRow: boolean): void => {
    const place = isRow ? [code, at?.file] : [code, at?.file, at?.line, at?.column, message];
    const key = JSON.stringify(place);
    const known = found.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const { file = null, line = null, column = null } = at ?? {};
    found.set(key, { code, message, file, line, column, count: 1 });
  };
  const add = (diagnostics: readonly Diagnostic[], campaign: Campaign | null): void => {
    const list = campaign === null || campaign.recipients.inline !== null ? null : campaign.recipients.file;
    for (const one of diagnostics) {
      if (one.severity !== 'error') continue;
      const isInList = list !== null && one.at?.file === list && (one.at.line ?? 0) > 1;
      const message = hidePersonal(one.message).replaceAll(`${root}/`, '').replaceAll(root, '.');
      put(one, isInList ? CODES[one.code] : message, false);
    }
  };
  return {
    add,
    /** About rows: replaces the message, which may contain cells, by the code's sentence. */
    addRows(diagnostics: readonly Diagnostic[]): void {
      for (const one of diagnostics) if (one.severity === 'error') put(one, CODES[one.code], true);
    },
    /** Adds the diagnostics of a HandbillError; throws any other error. */
    addThrown(error: unknown, campaign: Campaign): void {
      if (!(error instanceof HandbillError)) throw error;
      add(error.diagnostics, campaign);
    },
    list: (): readonly Finding[] => [...found.values()].slice(0, MAX_FINDINGS),
  };
}
