import type { RunRecord } from '../../ledger/records.ts';
import type { Report, RunState, Totals } from '../../model.ts';
import { newestFirst, PLAN_FILE, sentCampaign, takesPlans } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { deliveriesOf, returnedOf } from '../../report/deliveries.ts';
import { totalsOf } from '../../report/variants.ts';
import { progressOf, verdictText } from '../../report/verdict.ts';
import { deliveryBase, keptWords } from '../../report/words.ts';
import { stateOf, summarise } from '../../send/summary.ts';
import { type Html, html } from '../../util/escape.ts';
import { round, type Tone } from '../charts/chart.ts';
import { lineChart } from '../charts/plot.ts';
import type { RunFigures } from '../counts.ts';
import { address, crumbs, empty, pager, section, stateMark, table, totalsBar } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import {
  causesSection,
  channelsSection,
  deliveriesSection,
  figuresOf,
  funnelSection,
  nextSection,
  outcomesSection,
  type ShownRun,
  unmatchedSection,
  variantsSection,
  verdictSection,
} from '../sections.ts';
import { type Asked, type Made, type MakePage, noRun, runOf, type Site, wholeOf } from '../site.ts';
import type { Slot } from '../time-counts.ts';
import { type Content, fixed, live, type View } from './layout.ts';

const RUNS_ON_A_PAGE = 25;

/** `/`: all runs, last active first. */
export const makeRuns: MakePage = async (site, { ledger }, { view, query, patienceMs }) => {
  const all = newestFirst(ledger.runs());
  const from = Math.min(wholeOf(query, 'from') ?? 0, Math.max(0, all.length - 1));
  const until = performance.now() + patienceMs;
  const lines: RunLine[] = [];
  let isOld = false;
  for (const run of all.slice(from, from + RUNS_ON_A_PAGE)) {
    const { value, isOld: isOldRun } = await site.stats.of(run, Math.max(0, until - performance.now()));
    isOld ||= isOldRun;
    lines.push(lineOf(value?.run ?? run, value?.isHeld ?? site.stats.isHeld(run), value));
  }
  const at = (place: number) => address([], place <= 0 ? {} : { from: place });
  const data = {
    runs: lines,
    total: all.length,
    newer: from > 0 ? at(from - RUNS_ON_A_PAGE) : null,
    older: from + RUNS_ON_A_PAGE < all.length ? at(from + RUNS_ON_A_PAGE) : null,
  };
  return { content: runsPage(view, data), isOld };
};

function lineOf(run: RunRecord, isHeld: boolean, figures: RunFigures | null): RunLine {
  const { finishedAtMs, lastStartAtMs } = run;
  const state = stateOf({ isHeld: () => isHeld }, run);
  // A run that continued since has not ended.
  const hasEnded = finishedAtMs !== null && state !== 'running' && finishedAtMs >= (lastStartAtMs ?? 0);
  return {
    run,
    state,
    startedMs: run.startedAtMs ?? run.createdAtMs,
    finishedMs: hasEnded ? finishedAtMs : null,
    // A step that fell back is followed by another one.
    totals: figures === null ? null : totalsOf(figures.steps.filter(({ fellBack }) => !fellBack)),
    figures,
  };
}

/** `/runs/ID`: one run. */
export async function makeRun(site: Site, open: OpenLedger, asked: Asked, id: string): Promise<Made> {
  const found = runOf(open, id);
  if (found === null) return noRun(id);
  const { project } = site.reading;
  const { value, isOld } = await site.stats.of(found, asked.patienceMs);
  const { run, isHeld } = value ?? { run: found, isHeld: site.stats.isHeld(found) };
  const { file, campaign } = await sentCampaign(run, project, site.context);
  const report = summarise(
    {
      path: site.keeper.path,
      isHeld: () => isHeld,
      steps: () => [...(value?.steps ?? [])],
      changed: () => value?.changed ?? [],
      pauseOf: (of) => open.ledger.pauseOf(of),
    },
    run,
    null,
    campaign,
    value?.cameBack ?? null,
  );
  const sinceStartMs = Math.max(1_000, asked.view.nowMs - (run.lastStartAtMs ?? asked.view.nowMs));
  // The time left of a run in progress changes with the clock only.
  const perSecond = ((value?.lastMinute ?? 0) * 1_000) / Math.min(60_000, sinceStartMs);
  const content = runPage(asked.view, {
    report,
    formats: asked.view.formats,
    link: (text, query) => html`<a href="${address(['runs', run.id, 'recipients'], query)}">${text}</a>`,
    perSecond,
    figures: value,
    campaignFile: file ?? run.name,
    planPath: takesPlans(run, project) ? PLAN_FILE : null,
    currency: (await readPriceList(project)).prices?.currency ?? null,
  });
  return { content, isOld };
}

interface RunLine {
  readonly run: RunRecord;
  readonly state: RunState;
  /** Since 1970. */
  readonly startedMs: number;
  readonly finishedMs: number | null;
  /** Null while counting. */
  readonly totals: Totals | null;
  readonly figures: RunFigures | null;
}

interface RunsData {
  readonly runs: readonly RunLine[];
  readonly total: number;
  /** Addresses of the pages before and after; null if there is none. */
  readonly newer: string | null;
  readonly older: string | null;
}

export function runsPage(view: View, data: RunsData): Content {
  const running = data.runs.filter(({ state }) => state === 'running').length;
  const title = 'Runs';
  const said = running === 0 ? '' : `${view.formats.count(running, 'run')} going on.`;
  return {
    title,
    said,
    parts: [fixed('head', html`<h1>${title}</h1>`), live('runs', runsTable(view, data))],
  };
}

/** Delivered messages; empty where that is unknown, or there are no reports. */
function arrived({ totals, figures }: RunLine, formats: View['formats']): Html | string {
  const deliveries = deliveriesOf(figures?.cameBack?.deliveries ?? []);
  if (totals === null || Object.keys(deliveries).length === 0) return '';
  const { delivered } = returnedOf(deliveries);
  const share = `(${formats.percent(delivered, deliveryBase(totals, Object.values(deliveries)))} of accepted)`;
  return html`<span>${formats.number(delivered)} <span class="soft">${share}</span></span>`;
}

function runsTable({ formats }: View, { runs, total, newer, older }: RunsData): Html {
  if (runs.length === 0) {
    return empty(
      'No run yet.',
      html`This page shows runs as soon as something is sent: <code>handbill send CAMPAIGN</code>`,
    );
  }
  const rows = runs.map((line) => {
    const { run, state, startedMs, finishedMs, totals, figures } = line;
    return {
      cells: [
        html`<span><a class="name" href="${address(['runs', run.id])}">${run.name}</a><br><span class="soft">${run.environment} · ${run.occurrence}</span></span>`,
        stateMark(state),
        html`<span>${formats.time(startedMs)}${finishedMs === null ? null : html`<br><span class="soft">took ${formats.duration(Math.max(0, finishedMs - startedMs))}</span>`}</span>`,
        formats.number(run.rows),
        outcomes(line, formats),
        totals === null || totals.skipped === 0 ? '' : formats.number(totals.skipped),
        arrived(line, formats),
        figures === null || figures.times.length < 2 ? '' : sparkline(formats, figures.times),
      ],
    };
  });
  return html`${table(`${formats.count(total, 'run')}, last active first.`, COLUMNS, rows)}
${pager('More runs', [
  ['Newer runs', newer],
  ['Older runs', older],
])}`;
}

function outcomes({ totals, run }: RunLine, formats: View['formats']): Html {
  if (totals === null) return html`<span class="soft">being counted</span>`;
  const { accepted, rejected, inDoubt, failed } = totals;
  const pressing = [
    ...(inDoubt > 0 ? [`${formats.number(inDoubt)} in doubt`] : []),
    ...(rejected > 0 ? [`${formats.number(rejected)} rejected`] : []),
    ...(failed > 0 ? [`${formats.number(failed)} failed`] : []),
  ];
  const words = [
    `${formats.number(accepted)} accepted`,
    ...pressing,
    ...(run.purgedAtMs === null ? [] : ['purged']),
  ].join(', ');
  return html`<div>${totalsBar(totals, formats)}<span class="soft">${words}</span></div>`;
}

const COLUMNS = [
  { title: 'Run' },
  { title: 'State' },
  { title: 'Started' },
  { title: 'Recipients', isFigure: true },
  { title: 'Outcomes' },
  { title: 'Skipped', isFigure: true, isOptional: true },
  { title: 'Delivered', isFigure: true, isOptional: true },
  { title: 'Pace', isOptional: true },
];

interface RunData extends ShownRun {
  /** Over the last minute. */
  readonly perSecond: number;
  /** Null while all recipients are scanned. */
  readonly figures: RunFigures | null;
}

function runPage({ formats }: View, data: RunData): Content {
  const { report, figures } = data;
  const title = titleOf(formats, report);
  const none = html``;
  const top = live('head', head(formats, data));
  if (figures === null) {
    const counting = live('totals', html`<p class="soft">Counting: this scans all recipients.</p>`);
    const later = ['steps', 'causes', 'why', 'charts', 'variants', 'figures'].map((id) => live(id, none));
    return { title, said: '', parts: [top, counting, ...later] };
  }
  const nothing = html`<section><h2>Deliveries</h2><p class="soft">Nothing came back yet. <code>handbill listen</code> receives delivery reports.</p></section>`;
  const funnel = report.totals.recipients === 0 ? html`<p>The list has no recipients.</p>` : funnelSection(data);
  const counting = html`<p class="soft">Counting deliveries and times: this scans all recipients.</p>`;
  const returned =
    figures.cameBack === null
      ? counting
      : html`<div>${deliveriesSection(data) ?? nothing}${unmatchedSection(data)}</div>`;
  return {
    title,
    said: saidOf(formats, report),
    parts: [
      top,
      live('totals', funnel),
      live('steps', nextSection(data) ?? none),
      live('causes', causesSection(data) ?? none),
      live('why', html`<div class="two">${outcomesSection(data)}${returned}</div>`),
      live('charts', overTime(formats, figures.times) ?? none),
      live('variants', variantsSection(data) ?? none),
      live('figures', html`${section('Figures', figuresOf(data))}${channelsSection(data, null)}`),
    ],
  };
}

function titleOf(formats: View['formats'], report: Report): string {
  const { campaign, occurrence, state } = report;
  const first =
    state === 'running' ? `${formats.percent(...progressOf(report))} ` : state === 'finished' ? '' : `${state}: `;
  return `${first}${campaign} · ${occurrence}`;
}

/** Changes with the state and each tenth, so that listeners are not updated with every message. */
function saidOf(formats: View['formats'], report: Report): string {
  const [done, of] = progressOf(report);
  const tenth = of === 0 ? 1 : Math.floor((10 * done) / of) / 10;
  return `${report.campaign}: ${report.state === 'running' ? `${formats.percent(tenth, 1)} done.` : verdictText(report, formats)}`;
}

function head(formats: View['formats'], data: RunData): Html {
  const { report, perSecond, figures } = data;
  const { run, environment, state, startedAt, finishedAt } = report;
  const tookMs = Math.max(0, Date.parse(finishedAt ?? '') - Date.parse(startedAt));
  return html`${crumbs([['Runs', '/']], run)}
<div class="head"><h1>${report.campaign}</h1>${stateMark(state)}<form class="actions" method="get" action="${address(['runs', run, 'recipients'])}" role="search" aria-label="Recipients"><input name="q" type="search" aria-label="Find by line, key, address or message id" placeholder="Find a recipient" maxlength="300" autocomplete="off" spellcheck="false"></form><p class="actions"><a class="button main" href="${address(['runs', run, 'recipients'])}">Recipients</a><a class="button" href="${address(['runs', run, 'report'])}">Shareable report</a></p></div>
<p class="soft">${environment} · ${report.occurrence} · started ${formats.time(startedAt)}${finishedAt === null ? null : html`, ended ${formats.time(finishedAt)} (${formats.duration(tookMs)})`}</p>
${verdictSection(data)}
${state === 'running' && figures?.cameBack ? progress(formats, report, perSecond) : null}
${keptWords(report, formats).map((words) => html`<p>${words}</p>`)}`;
}

function progress(formats: View['formats'], report: Report, rate: number): Html {
  const [done, of] = progressOf(report);
  const left = rate > 0 && of > done ? `, about ${formats.duration(((of - done) / rate) * 1000)} left` : '';
  const pace =
    rate > 0
      ? `${formats.number(Math.round(rate * 10) / 10)} a second over the last minute${left}`
      : 'nothing in the last minute';
  return html`<p><progress max="${of}" value="${done}" aria-label="Recipients done"></progress><strong>${formats.number(done)} of ${formats.number(of)}</strong> (${formats.percent(done, of)}), ${pace}.</p>`;
}

/** How quickly a run went; null where it took no time worth a chart. */
function overTime(formats: View['formats'], times: RunFigures['times']): Html | null {
  if (times.length < 2) return null;
  const line = (of: 'accepted' | 'others', name: string, tone: Tone) => ({
    name,
    tone,
    points: times.map((slot) => ({ x: slot.fromMs, y: perSecondOf(slot, slot.counts[of]) })),
  });
  const hasOthers = times.some(({ counts }) => counts.others > 0);
  const others = hasOthers ? [line('others', 'rejected, failed or in doubt', 'rejected')] : [];
  const most = Math.max(...times.map((slot) => perSecondOf(slot, slot.counts.accepted + slot.counts.others)));
  const chart = lineChart({
    title: `Outcomes a second (times in ${formats.timeZone})`,
    description: `Messages that came to an outcome, from the first start to the last outcome; at most ${formats.number(most)} a second.`,
    series: [line('accepted', 'accepted', 'accepted'), ...others],
    yUnit: 'a second',
    area: true,
    formats,
  });
  return section('Over time', chart);
}

const MOST_BARS = 32;
const SPARK_PX = 20;

function sparkline({ number }: View['formats'], times: RunFigures['times']): Html {
  const each = Math.ceil(times.length / MOST_BARS);
  const sums = Array.from({ length: Math.ceil(times.length / each) }, (_, i) =>
    times.slice(i * each, (i + 1) * each).reduce((sum, { counts }) => sum + counts.accepted, 0),
  );
  const most = Math.max(1, ...sums);
  const width = 100 / sums.length;
  const bars = sums.map((sum, i) => {
    const height = sum === 0 ? 0 : Math.max(1, Math.round((sum / most) * SPARK_PX));
    return html`<rect x="${round(i * width)}%" y="${SPARK_PX - height}" width="${round(width * 0.8)}%" height="${height}"/>`;
  });
  const fastest = Math.max(...times.map((slot) => perSecondOf(slot, slot.counts.accepted)));
  return html`<svg class="spark" role="img" width="96" height="${SPARK_PX}"><title>Accepted over time, at most ${number(fastest)} a second</title>${bars}</svg>`;
}

function perSecondOf({ widthMs }: Slot<string>, count: number): number {
  return Math.round((count * 10_000) / widthMs) / 10;
}
