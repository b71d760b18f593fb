import type { RunState, Totals } from '../model.ts';
import { type Html, html } from '../util/html.ts';
import { address, type Content, type View } from './serve-layout.ts';
import { pager, stateMark, table, totalsBar } from './serve-parts.ts';

/** A run in the list. */
export interface RunLine {
  readonly id: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  readonly state: RunState;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly finishedMs: number | null;
  readonly isPurged: boolean;
  readonly recipients: number;
  /** Null while it is being counted. */
  readonly totals: Totals | null;
  /** Recipients to whom a report proves that the message was delivered; null where nothing came back, or nobody knows yet. */
  readonly delivered: number | null;
}

export interface RunsData {
  readonly runs: readonly RunLine[];
  /** All of them, on whatever page. */
  readonly total: number;
  /** Of the page before and behind; null where there is none. */
  readonly newer: string | null;
  readonly older: string | null;
}

/** All runs, newest first. */
export function runsPage(view: View, data: RunsData): Content {
  const running = data.runs.filter(({ state }) => state === 'running').length;
  const title = 'Runs';
  const said = running === 0 ? '' : `${view.formats.count(running, 'run')} going on.`;
  return {
    title,
    said,
    parts: [
      { id: 'head', content: html`<h1>${title}</h1>`, isLive: false },
      { id: 'runs', content: runsTable(view, data), isLive: true },
    ],
  };
}

function runsTable({ formats }: View, { runs, total, newer, older }: RunsData): Html {
  if (runs.length === 0) {
    return html`<div class="empty"><p>No run yet.</p>
<p class="soft">This page shows runs as soon as something is sent: <code>handbill send CAMPAIGN</code></p></div>`;
  }
  const rows = runs.map((run) => ({
    cells: [
      html`<span><a class="name" href="${address(['runs', run.id])}">${run.campaign}</a><br><span class="soft">${run.environment} · ${run.occurrence}</span></span>`,
      stateMark(run.state),
      html`<span>${formats.time(run.startedMs)}</span>`,
      run.finishedMs === null ? '' : html`<span>${formats.time(run.finishedMs)}</span>`,
      formats.number(run.recipients),
      outcomes(run, formats),
      run.delivered === null || run.totals === null
        ? ''
        : html`<span>${formats.number(run.delivered)} <span class="soft">(${formats.percent(run.delivered, Math.max(run.delivered, run.totals.accepted + run.totals.inDoubt))})</span></span>`,
    ],
  }));
  return html`${table(`${formats.count(total, 'run')}, newest first.`, COLUMNS, rows)}
${pager('More runs', [
  ['Newer runs', newer],
  ['Older runs', older],
])}`;
}

function outcomes({ totals, isPurged }: RunLine, formats: View['formats']): Html {
  if (totals === null) return html`<span class="soft">being counted</span>`;
  const { accepted, rejected, inDoubt, failed } = totals;
  const pressing = [
    ...(inDoubt > 0 ? [`${formats.number(inDoubt)} in doubt`] : []),
    ...(rejected > 0 ? [`${formats.number(rejected)} rejected`] : []),
    ...(failed > 0 ? [`${formats.number(failed)} failed`] : []),
  ];
  const words = [`${formats.number(accepted)} accepted`, ...pressing, ...(isPurged ? ['purged'] : [])].join(', ');
  return html`<div>${totalsBar(totals, formats)}<span class="soft">${words}</span></div>`;
}

const COLUMNS = [
  { title: 'Run' },
  { title: 'State' },
  { title: 'Started' },
  { title: 'Ended', isOptional: true },
  { title: 'Recipients', isFigure: true },
  { title: 'Outcomes' },
  { title: 'Delivered', isFigure: true, isOptional: true },
];
