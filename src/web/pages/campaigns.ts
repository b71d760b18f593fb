import { realpath } from 'node:fs/promises';
import { findCampaigns } from '../../campaign/find.ts';
import { readCampaign } from '../../campaign/load.ts';
import { type Diagnostic, HandbillError } from '../../errors.ts';
import type { RunRecord } from '../../ledger/records.ts';
import type { Campaign, ListSpec } from '../../model.ts';
import { missedOccurrences } from '../../operations/due-memory.ts';
import { newestFirst, withoutTests } from '../../operations/report.ts';
import { type ListFacts, openListGuard } from '../../plan/list-guard.ts';
import { readListFacts } from '../../recipients/read.ts';
import { followUpText } from '../../schedule/occurrence.ts';
import { scheduleWords } from '../../schedule/words.ts';
import { html } from '../../util/escape.ts';
import { fileStamp } from '../../util/files.ts';
import { displayPath } from '../../util/paths.ts';
import { campaignLink } from '../judged.ts';
import { address, type Cells, empty, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type MakePage, type Site, whole } from '../site.ts';
import { fixed, type View } from './layout.ts';

/** `/campaigns`: those of the project, from their current files. Needs no ledger. */
export const makeCampaigns: MakePage = async (site, open, { view }) => {
  const { count, instant, number } = view.formats;
  const runs = newestFirst(withoutTests(open?.ledger.runs() ?? []));
  const rows: Cells[] = [];
  for (const { path, file } of await campaignFiles(site)) {
    const { cwd, env } = site.context;
    const { campaign, diagnostics } = await readCampaign(path, { cwd, env });
    const last = campaign === null ? undefined : runs.find((run) => run.campaign === campaign.id);
    const refused = campaign && (await listRefusal(site, open, campaign, last?.environment ?? ''));
    rows.push(cells(view, file, campaign, diagnostics, refused, last));
  }
  const missed = missedOccurrences(site.reading.project, site.context.now());
  const items = missed.slice(0, MOST_MISSED).map(({ campaign, environment, occurrence }) => {
    return html`<li>${campaign} (${environment}): ${instant(occurrence)}</li>`;
  });
  const late = html`<section aria-labelledby="missed"><h2 id="missed">Not sent in time, in the last 31 days: ${number(missed.length)}</h2><ul>${items}</ul></section>`;
  const hint = html`Campaigns lie in <code>campaigns/NAME/campaign.yaml</code>; <code>handbill init</code> makes one.`;
  const list = rows.length === 0 ? empty('There is no campaign here.', hint) : null;
  const content = html`<h1>Campaigns</h1>
<p>A preview reads the campaign and its list at that moment, for the environment of the last run, and sends nothing.</p>
${missed.length > 0 && late}${list ?? table(`${count(rows.length, 'campaign')}.`, COLUMNS, rows)}`;
  return whole({ title: 'Campaigns', parts: [fixed('campaigns', content)] });
};

/**
 * Why `due` or `send` would refuse the list now. A campaign without a schedule and without guards has nothing to fail.
 * @param environment - that of the newest run, for comparison with earlier lists
 */
async function listRefusal(site: Site, open: OpenLedger | null, campaign: Campaign, environment: string) {
  const { id, guards, schedule, recipients } = campaign;
  const isDue = schedule !== null;
  if (!isDue && Object.values(guards).every((guard) => guard === null)) return null;
  // A future occurrence: no run has it yet.
  const next = { environment, campaign: id, occurrence: '' };
  const guard = openListGuard(campaign, open?.ledger ?? null, next, { nowMs: site.context.now(), isDue });
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
  const { files } = findCampaigns(site.campaigns, cwd);
  return files.map((path) => ({ path, file: displayPath(path, cwd) }));
}

const MOST_MISSED = 20;

const COLUMNS = [
  { title: 'Campaign' },
  { title: 'Channel', isLow: true },
  { title: 'List', isLow: true },
  { title: 'Schedule', isOptional: true, isRoomy: true },
  { title: 'Last run', isLow: true },
  { title: 'Check' },
];

function cells(
  { formats, nowMs }: View,
  file: string,
  campaign: Campaign | null,
  diagnostics: readonly Diagnostic[],
  refused: string | null,
  last: RunRecord | undefined,
): Cells {
  const counted = (['error', 'warning'] as const).flatMap((kind) => {
    const count = diagnostics.filter(({ severity }) => severity === kind).length;
    return count > 0 ? [formats.count(count, kind)] : [];
  });
  const faults = counted.join(', ');
  const name = campaign === null ? html`<span class="name">${file}</span>` : campaignLink(campaign.name);
  const schedule = campaign?.schedule
    ? `${scheduleWords(campaign.schedule)} (${campaign.schedule.timeZone})`
    : campaign && followUpText(campaign.after);
  const preview = address(['campaigns', 'preview'], { file, env: last?.environment ?? null });
  return [
    html`<span>${name}<br><span class="soft">${file}</span></span>`,
    campaign?.channel,
    campaign?.recipients.file,
    refused === null
      ? schedule
      : html`<span>${schedule}<br><strong>The list would be refused:</strong> ${refused}</span>`,
    last &&
      html`<a href="${address(['runs', last.id])}">${formats.when(last.lastStartAtMs ?? last.createdAtMs, nowMs)}</a>`,
    campaign === null
      ? html`<span>${faults}: <code>handbill validate</code> says which</span>`
      : html`<span><a href="${preview}">Preview<span class="hidden"> ${campaign.name}</span></a>${faults !== '' && html`<br><span class="soft">${faults}</span>`}</span>`,
  ];
}
