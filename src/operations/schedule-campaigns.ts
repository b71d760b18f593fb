import { realpath } from 'node:fs/promises';
import { findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { MAX_YAML_BYTES } from '../campaign/yaml.ts';
import { type Diagnostic, EXIT, HandbillError } from '../errors.ts';
import type { Campaign, Schedule } from '../model.ts';
import { clockOf } from '../schedule/occurrence.ts';
import type { CronClock } from '../util/cron.ts';
import { displayPath, readSmallFile } from '../util/paths.ts';
import { projectsFrom } from './check-campaigns.ts';

/** Somebody who put a schedule into a campaign elsewhere has to learn that nobody looks there. */
export const NOTHING_SCHEDULED =
  'No campaign here has a schedule. Without a PATH, every campaigns/**/campaign.yaml below this folder is looked at.';

/** A campaign that goes out by itself. */
export interface Scheduled {
  readonly campaign: Campaign;
  readonly schedule: Schedule;
  readonly clock: CronClock;
  /** The campaign file, as it was found. */
  readonly path: string;
  /** Why the ledger must not be used. */
  readonly ledgerFault: Diagnostic | null;
}

/** A campaign file with a schedule that cannot be sent as it is. */
export interface Unscheduled {
  readonly file: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ScheduledCampaigns {
  readonly campaigns: readonly Scheduled[];
  readonly refused: readonly Unscheduled[];
}

export interface ScheduledOptions {
  readonly cwd: string;
  /** Ms since 1970. */
  readonly now: number;
  readonly ledger?: string;
}

/**
 * The campaigns with a schedule among those that paths mean (as for `validate`), by path. A campaign that is invalid is
 * of interest only if it speaks of a schedule: a draft of something else must not trouble what goes out by itself.
 *
 * @throws HandbillError exit 2 where a path means nothing
 */
export async function readScheduled(paths: readonly string[], options: ScheduledOptions): Promise<ScheduledCampaigns> {
  const cwd = await realpath(options.cwd);
  const found = await findCampaigns(paths, cwd);
  if (found.diagnostics.length > 0) throw new HandbillError(EXIT.refused, found.diagnostics);
  const projects = await projectsFrom(cwd);
  const campaigns: Scheduled[] = [];
  const refused: Unscheduled[] = [];
  for (const path of found.files) {
    if (!(await mentionsSchedule(path))) continue;
    const { campaign, diagnostics, ledgerFault } = await readCampaign(path, {
      ...options,
      cwd,
      ...(await projects(path)),
    });
    if (campaign === null) refused.push({ file: displayPath(path, cwd), diagnostics });
    else if (campaign.schedule !== null) {
      const clock = await clockOf(campaign.schedule);
      campaigns.push({ campaign, schedule: campaign.schedule, clock, path, ledgerFault });
    }
  }
  return { campaigns, refused };
}

/** Looked for without reading all of it: most campaigns of a large project have none, and `due` comes every few minutes. */
async function mentionsSchedule(path: string): Promise<boolean> {
  const read = await readSmallFile(path, MAX_YAML_BYTES);
  return 'fault' in read || /\bschedule["']?\s*:/.test(Buffer.from(read.bytes).toString('utf8'));
}
