import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, Project, Report } from '../model.ts';
import { readPriceList } from '../plan/prices.ts';
import { createReferences } from '../plan/reference.ts';
import type { DeliveryCount } from '../report/deliveries.ts';
import type { ReportOptions } from '../report/formatter.ts';
import type { ReferenceOf } from '../report/record.ts';
import { cameBack } from '../run/deliveries.ts';
import { summarise } from '../run/summary.ts';
import type { CommandContext } from './context.ts';
import { sentCampaign } from './sent-campaign.ts';
import { PLAN_FILE, takesPlans } from './takes-plans.ts';

/** What the summary of a run is made of, beside its counts. */
export interface Summary {
  /** The campaign as it was sent; null where that is not known any more. */
  readonly campaign: Campaign | null;
  /** The report as it is now, with these deliveries. */
  readonly reportOf: (deliveries: readonly DeliveryCount[]) => Report;
  /** Without what came back. */
  readonly plain: () => Report;
  readonly options: ReportOptions;
}

export async function openSummary(
  ledger: Ledger,
  run: RunRecord,
  context: CommandContext,
  project: Project,
): Promise<Summary> {
  const { file, campaign } = await sentCampaign(run, project, context);
  return {
    campaign,
    plain: () => summarise(ledger, run, null, campaign),
    reportOf(deliveries) {
      // It may be another one than it was when the command began.
      const now = ledger.findRun(run) ?? run;
      return summarise(ledger, now, null, campaign, cameBack(ledger, now, deliveries, campaign));
    },
    options: {
      colour: context.colour.out,
      width: context.tableWidth ?? context.width,
      referenceOf: referencesOf(run),
      currency: (await readPriceList(project)).prices?.currency ?? null,
      ...(file === null ? {} : { campaignFile: file }),
      ...(takesPlans(run, project) ? { planFile: PLAN_FILE } : {}),
    },
  };
}

function referencesOf(run: RunRecord): ReferenceOf {
  const referenceOf = createReferences(run);
  return ({ key, channel, resend }) => (key === null ? null : referenceOf(key, channel, resend));
}
