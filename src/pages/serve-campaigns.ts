import { type Html, html } from '../util/html.ts';
import { address, type Content, type View } from './serve-layout.ts';
import { table } from './serve-parts.ts';

export interface CampaignLine {
  /** As its owner would name it on the command line. */
  readonly file: string;
  /** Null where it cannot be read. */
  readonly campaign: {
    readonly name: string;
    readonly channel: string;
    readonly recipients: string;
    /** Cron expression and zone; null: it goes out when it is sent. */
    readonly schedule: string | null;
  } | null;
  readonly errors: number;
  readonly warnings: number;
  /** Of the newest run. */
  readonly lastRun: { readonly id: string; readonly atMs: number } | null;
}

/** The campaigns of the project. */
export function campaignsPage(view: View, campaigns: readonly CampaignLine[]): Content {
  return {
    title: 'Campaigns',
    parts: [
      {
        id: 'campaigns',
        isLive: false,
        content: html`<h1>Campaigns</h1>
<p>A preview reads the campaign and its list at that moment, and sends nothing.</p>
${list(view, campaigns)}`,
      },
    ],
  };
}

function list(view: View, campaigns: readonly CampaignLine[]): Html {
  if (campaigns.length === 0) {
    return html`<div class="empty"><p>There is no campaign here.</p><p class="soft">Campaigns lie in <code>campaigns/NAME/campaign.yaml</code>; <code>handbill init</code> makes one.</p></div>`;
  }
  const rows = campaigns.map((one) => ({ cells: cells(view, one) }));
  return table(`${view.formats.count(campaigns.length, 'campaign')}.`, COLUMNS, rows);
}

const COLUMNS = [
  { title: 'Campaign' },
  { title: 'Channel' },
  { title: 'List' },
  { title: 'Schedule' },
  { title: 'Last run' },
  { title: 'Preview' },
];

function cells(
  { formats }: View,
  { file, campaign, errors, warnings, lastRun }: CampaignLine,
): readonly (Html | string)[] {
  const faults = [
    ...(errors > 0 ? [formats.count(errors, 'error')] : []),
    ...(warnings > 0 ? [formats.count(warnings, 'warning')] : []),
  ].join(', ');
  return [
    html`<span><span class="name">${campaign?.name ?? file}</span><br><span class="soft">${file}</span></span>`,
    campaign?.channel ?? '',
    campaign?.recipients ?? '',
    campaign?.schedule ?? '',
    lastRun === null ? '' : html`<a href="${address(['runs', lastRun.id])}">${formats.time(lastRun.atMs)}</a>`,
    campaign === null
      ? html`<span>${faults}: <code>handbill validate</code> says which</span>`
      : html`<span><a href="${address(['campaigns', 'preview'], { file })}">Preview<span class="hidden"> ${campaign.name}</span></a>${faults === '' ? null : html`<br><span class="soft">${faults}</span>`}</span>`,
  ];
}
