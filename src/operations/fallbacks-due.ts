import type { Ledger } from '../ledger/ledger.ts';
import type { Project } from '../model.ts';
import { sendCommand } from '../report/next-steps.ts';
import { countUnreached } from '../run/unreached.ts';
import { isTest } from '../util/occurrence-name.ts';
import { sentCampaign } from './sent-campaign.ts';
import { PLAN_FILE, takesPlans } from './takes-plans.ts';

/** A run in which reports made fallbacks due. */
export interface DueFallbacks {
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  readonly recipients: number;
  /** Sends them. */
  readonly command: string;
}

/** Reports come within days; older runs would only be continued with `--late`. */
const RECENT_MS = 7 * 24 * 3_600_000;

/** The runs of the last week whose fallbacks wait, oldest first: a pass over the list of each that has a fallback. */
export async function dueFallbacks(
  ledger: Pick<Ledger, 'events' | 'runs'>,
  project: Project,
  { cwd, nowMs }: { readonly cwd: string; readonly nowMs: number },
): Promise<readonly DueFallbacks[]> {
  if (!ledger.events.hasUnreached()) return [];
  const due: DueFallbacks[] = [];
  for (const run of ledger.runs()) {
    const { id, environment, occurrence, purgedAtMs } = run;
    if (isTest(occurrence) || purgedAtMs !== null || (run.lastStartAtMs ?? 0) < nowMs - RECENT_MS) continue;
    const { campaign, file } = await sentCampaign(run, project, { cwd });
    const recipients = campaign === null ? 0 : countUnreached(ledger, run, campaign);
    if (recipients === 0) continue;
    const command = sendCommand(run, file ?? run.campaign, takesPlans(run, project) ? PLAN_FILE : null);
    due.push({ run: id, campaign: run.campaign, environment, occurrence, recipients, command });
  }
  return due;
}
