import { join } from 'node:path';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, Project } from '../model.ts';
import { isTest } from '../util/occurrence-name.ts';
import { displayPath } from '../util/paths.ts';

/** The campaign of a run: its file as the user would name it, and what it says where that is what was sent. */
export interface SentCampaign {
  /** Null: nothing says which file it was. */
  readonly file: string | null;
  /** Null where the file says something else by now, or cannot be read any more. */
  readonly campaign: Campaign | null;
}

/** @param cwd the current folder, which messages are relative to */
export async function sentCampaign(
  run: RunRecord,
  { root }: Pick<Project, 'root'>,
  { cwd }: { readonly cwd: string },
): Promise<SentCampaign> {
  const input = run.inputs.find(({ role }) => role === 'campaign');
  if (input === undefined) return { file: null, campaign: null };
  const path = join(root, input.file);
  // Most who use this module need no campaign.
  const { readCampaign } = await import('../campaign/load.ts');
  // Of the time at which it was sent: since then a validity may have passed, which would be an error now.
  const { campaign } = await readCampaign(path, { cwd, now: run.createdAtMs });
  const isSame = campaign?.inputs.some(({ role, sha256 }) => role === 'campaign' && sha256 === input.sha256) === true;
  // A test has neither the variants nor the fallbacks of its campaign.
  return { file: displayPath(path, cwd), campaign: isSame && !isTest(run.occurrence) ? campaign : null };
}
