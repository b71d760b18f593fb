import type { RunRecord } from '../../ledger/records.ts';
import type { RunState, Totals } from '../../model.ts';
import { newestFirst } from '../../operations/report.ts';
import { deliveriesOf, returnedOf } from '../../report/deliveries.ts';
import { totalsOf } from '../../report/variants.ts';
import { deliveryBase } from '../../report/words.ts';
import { stateOf } from '../../send/summary.ts';
import { type Html, html } from '../../util/escape.ts';
import { round } from '../charts/chart.ts';
import type { RunFigures } from '../counts.ts';
import { address, empty, pager, stateMark, table, totalsBar } from '../kit.ts';
import { type MakePage, wholeOf } from '../site.ts';
import { perSecondOf } from '../time-counts.ts';
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
