import { realpath } from 'node:fs/promises';
import { findCampaigns } from '../../campaign/find.ts';
import { readCampaign } from '../../campaign/load.ts';
import { HandbillError } from '../../errors.ts';
import type { Campaign, ListSpec } from '../../model.ts';
import { type MissedOccurrence, missedOccurrences } from '../../operations/due-memory.ts';
import { newestFirst, withoutTests } from '../../operations/report.ts';
import { type ListFacts, openListGuard } from '../../plan/list-guard.ts';
import { readListFacts } from '../../recipients/read.ts';
import { followUpText } from '../../schedule/occurrence.ts';
import { scheduleWords } from '../../schedule/words.ts';
import { type Html, html } from '../../util/escape.ts';
import { fileStamp } from '../../util/files.ts';
import { displayPath } from '../../util/paths.ts';
import { campaignLink } from '../judged.ts';
import { address, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Made, type Site, whole } from '../site.ts';
import { type Content, fixed, type View } from './layout.ts';

/** `/campaigns`: those of the project, from their current files. Needs no ledger. */
export async function makeCampaigns(site: Site, open: OpenLedger | null, view: View): Promise<Made> {
  const runs = open === null ? [] : newestFirst(withoutTests(open.ledger.runs()));
  const lines: CampaignLine[] = [];
  for (const { path, file } of await campaignFiles(site)) {
    const { cwd, env, now } = site.context;
    const { campaign, diagnostics } = await readCampaign(path, { cwd, env, now: now() });
    const last = campaign === null ? undefined : runs.find((run) => run.campaign === campaign.id);
    lines.push({
      file,
      campaign:
        campaign === null
          ? null
          : {
              name: campaign.name,
              channel: campaign.channel,
              recipients: campaign.recipients.file,
              refused: await listRefusal(site, open, campaign, last?.environment ?? ''),
              schedule:
                campaign.schedule === null
                  ? followUpText(campaign.after)
                  : `${scheduleWords(campaign.schedule)} (${campaign.schedule.timeZone})`,
            },
      errors: diagnostics.filter(({ severity }) => severity === 'error').length,
      warnings: diagnostics.filter(({ severity }) => severity === 'warning').length,
      lastRun:
        last === undefined
          ? null
          : { id: last.id, env: last.environment, atMs: last.lastStartAtMs ?? last.createdAtMs },
    });
  }
  const missed = await missedOccurrences(site.reading.project, site.context.now());
  return whole(campaignsPage(view, lines, missed));
}

/**
 * Why `due` or `send` would refuse the list now. A campaign without a schedule and without guards has nothing to fail.
 * @param environment - that of the newest run, for comparison with earlier lists
 */
async function listRefusal(site: Site, open: OpenLedger | null, campaign: Campaign, environment: string) {
  const { id, guards, schedule, recipients } = campaign;
  const isDue = schedule !== null;
  if (!isDue && Object.values(guards).every((guard) => guard === null)) return null;
  // A future occurrence: no run has it yet.
  const guard = openListGuard(
    campaign,
    open?.ledger ?? null,
    { environment, campaign: id, occurrence: '' },
    { nowMs: site.context.now(), isDue },
  );
  try {
    const found = guard.judge(await factsOf(site, recipients));
    return found.length === 0 ? null : found.map(({ message }) => message).join(' ');
  } catch (error) {
    if (error instanceof HandbillError) return error.message;
    throw error;
  }
}

async function factsOf({ lists }: Site, recipients: ListSpec): Promise<ListFacts> {
  const stamp = await fileStamp([recipients.path]);
  const seen = lists.get(recipients.path);
  if (seen?.stamp === stamp) return seen.facts;
  const facts = await readListFacts(recipients);
  lists.set(recipients.path, { stamp, facts });
  return facts;
}

/** Campaign files, as paths and as their owner would name them: only these can be requested. */
export async function campaignFiles(site: Site): Promise<readonly { readonly path: string; readonly file: string }[]> {
  const cwd = await realpath(site.context.cwd);
  const { files } = await findCampaigns(site.campaigns, cwd);
  return files.map((path) => ({ path, file: displayPath(path, cwd) }));
}

interface CampaignLine {
  /** As its owner would name it on the command line. */
  readonly file: string;
  /** Null: unreadable. */
  readonly campaign: {
    readonly name: string;
    readonly channel: string;
    readonly recipients: string;
    /** In words, with its zone; null: sent by hand. */
    readonly schedule: string | null;
    /** Why a start would refuse the list now; null: it would not. */
    readonly refused: string | null;
  } | null;
  readonly errors: number;
  readonly warnings: number;
  readonly lastRun: { readonly id: string; readonly env: string; readonly atMs: number } | null;
}

function campaignsPage(view: View, campaigns: readonly CampaignLine[], missed: readonly MissedOccurrence[]): Content {
  return {
    title: 'Campaigns',
    parts: [
      fixed(
        'campaigns',
        html`<h1>Campaigns</h1>
<p>A preview reads the campaign and its list at that moment, for the environment of the last run, and sends nothing.</p>
${missedNotice(view, missed)}${list(view, campaigns)}`,
      ),
    ],
  };
}

function missedNotice({ formats }: View, missed: readonly MissedOccurrence[]): Html | null {
  if (missed.length === 0) return null;
  const items = missed.slice(0, MOST_MISSED).map(({ campaign, environment, occurrence }) => {
    return html`<li>${campaign} (${environment}): ${formats.instant(occurrence)}</li>`;
  });
  return html`<section aria-labelledby="missed"><h2 id="missed">Not sent in time, in the last 31 days: ${formats.number(missed.length)}</h2><ul>${items}</ul></section>`;
}

const MOST_MISSED = 20;

function list(view: View, campaigns: readonly CampaignLine[]): Html {
  if (campaigns.length === 0) {
    return html`<div class="empty"><p>There is no campaign here.</p><p class="soft">Campaigns lie in <code>campaigns/NAME/campaign.yaml</code>; <code>handbill init</code> makes one.</p></div>`;
  }
  const rows = campaigns.map((one) => ({ cells: cells(view, one) }));
  return table(`${view.formats.count(campaigns.length, 'campaign')}.`, COLUMNS, rows);
}

const COLUMNS = [
  { title: 'Campaign' },
  { title: 'Channel', isLow: true },
  { title: 'List', isLow: true },
  { title: 'Schedule', isOptional: true, isRoomy: true },
  { title: 'Last run', isLow: true },
  { title: 'Check' },
];

function cells({ formats }: View, { file, campaign, errors, warnings, lastRun }: CampaignLine) {
  const faults = [
    ...(errors > 0 ? [formats.count(errors, 'error')] : []),
    ...(warnings > 0 ? [formats.count(warnings, 'warning')] : []),
  ].join(', ');
  return [
    html`<span>${campaign === null ? html`<span class="name">${file}</span>` : campaignLink(campaign.name)}<br><span class="soft">${file}</span></span>`,
    campaign?.channel ?? '',
    campaign?.recipients ?? '',
    campaign?.refused == null
      ? (campaign?.schedule ?? '')
      : html`<span>${campaign.schedule ?? ''}<br><strong>The list would be refused:</strong> ${campaign.refused}</span>`,
    lastRun === null ? '' : html`<a href="${address(['runs', lastRun.id])}">${formats.time(lastRun.atMs)}</a>`,
    campaign === null
      ? html`<span>${faults}: <code>handbill validate</code> says which</span>`
      : html`<span><a href="${address(['campaigns', 'preview'], { file, env: lastRun?.env ?? '' })}">Preview<span class="hidden"> ${campaign.name}</span></a>${faults === '' ? null : html`<br><span class="soft">${faults}</span>`}</span>`,
  ];
}
