import { realpath } from 'node:fs/promises';
import { findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { newestFirst, withoutTests } from '../operations/runs.ts';
import { type CampaignLine, campaignsPage } from '../pages/serve-campaigns.ts';
import type { View } from '../pages/serve-layout.ts';
import { displayPath } from '../util/paths.ts';
import type { OpenLedger } from './serve-ledger.ts';
import { type Made, type Site, whole } from './serve-site.ts';

/** `/campaigns`: those of the project, as their files are at this moment. A ledger need not be there. */
export async function makeCampaigns(site: Site, open: OpenLedger | null, view: View): Promise<Made> {
  const runs = open === null ? [] : newestFirst(withoutTests(open.ledger.runs()));
  const lines: CampaignLine[] = [];
  for (const { path, file } of await campaignFiles(site)) {
    const { cwd, now } = site.context;
    const { campaign, diagnostics } = await readCampaign(path, { cwd, now: now() });
    const last = campaign === null ? undefined : runs.find((run) => run.campaign === campaign.name);
    lines.push({
      file,
      campaign:
        campaign === null
          ? null
          : {
              name: campaign.name,
              channel: campaign.channel,
              recipients: campaign.recipients.file,
              schedule: campaign.schedule === null ? null : `${campaign.schedule.cron} (${campaign.schedule.timeZone})`,
            },
      errors: diagnostics.filter(({ severity }) => severity === 'error').length,
      warnings: diagnostics.filter(({ severity }) => severity === 'warning').length,
      lastRun: last === undefined ? null : { id: last.id, atMs: last.lastStartAtMs ?? last.createdAtMs },
    });
  }
  return whole(campaignsPage(view, lines));
}

/** Campaign files, and how their owner would name them: nothing else can be asked for. */
export async function campaignFiles(site: Site): Promise<readonly { readonly path: string; readonly file: string }[]> {
  const cwd = await realpath(site.context.cwd);
  const { files } = await findCampaigns(site.campaigns, cwd);
  return files.map((path) => ({ path, file: displayPath(path, cwd) }));
}
