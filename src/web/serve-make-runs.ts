import type { LegCount, RunRecord } from '../ledger/records.ts';
import type { Report } from '../model.ts';
import { newestFirst, PLAN_FILE, sentCampaign, takesPlans } from '../operations/runs.ts';
import { address } from '../pages/serve-layout.ts';
import { runPage } from '../pages/serve-run.ts';
import type { RunDetail } from '../pages/serve-run-detail.ts';
import { type RunLine, runsPage } from '../pages/serve-runs.ts';
import { readPriceList } from '../plan/prices.ts';
import { totalsOf } from '../report/tally.ts';
import { cameBack } from '../run/deliveries.ts';
import { stateOf, summarise } from '../run/summary.ts';
import type { OpenLedger } from './serve-ledger.ts';
import { type Asked, type Made, type MakePage, noRun, runOf, type Site, wholeOf } from './serve-site.ts';

const RUNS_ON_A_PAGE = 25;

const ARRIVED: ReadonlySet<string> = new Set(['delivered', 'read', 'replied', 'opted-out']);

/** `/`: all runs, newest first. */
export const makeRuns: MakePage = async (site, { ledger }, { view, query, patienceMs }) => {
  const all = newestFirst(ledger.runs());
  const from = Math.min(wholeOf(query, 'from') ?? 0, Math.max(0, all.length - 1));
  const until = performance.now() + patienceMs;
  const lines: RunLine[] = [];
  let isOld = false;
  for (const run of all.slice(from, from + RUNS_ON_A_PAGE)) {
    const counts = await site.looks.counts(run, Math.max(0, until - performance.now()));
    // Deliveries need a pass of their own: shown when they are known.
    const detail = await site.looks.detail(run, Math.max(0, until - performance.now()));
    isOld ||= counts.isOld || detail.isOld;
    const totals = counts.value === null ? null : totalsOf(own(counts.value.legs));
    lines.push({ ...lineOf(site, run), totals, delivered: deliveredOf(detail.value) });
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

function lineOf(site: Site, run: RunRecord): Omit<RunLine, 'totals' | 'delivered'> {
  const { id, campaign, environment, occurrence, rows, createdAtMs, startedAtMs, lastStartAtMs, finishedAtMs } = run;
  const held = { isHeld: () => site.looks.isHeld(run) };
  const state = stateOf(held, run);
  // Continued since it ended: it has not ended.
  const hasEnded = finishedAtMs !== null && state !== 'running' && finishedAtMs >= (lastStartAtMs ?? 0);
  return {
    id,
    campaign,
    environment,
    occurrence,
    state,
    startedMs: startedAtMs ?? createdAtMs,
    finishedMs: hasEnded ? finishedAtMs : null,
    isPurged: run.purgedAtMs !== null,
    recipients: rows,
  };
}

/** Recipients: a leg that fell back is followed by another one. */
function own(legs: readonly LegCount[]): readonly LegCount[] {
  return legs.filter(({ fellBack }) => !fellBack);
}

function deliveredOf(detail: RunDetail | null): number | null {
  if (detail === null || detail.deliveries.length === 0) return null;
  return detail.deliveries.reduce(
    (sum, { delivery, count }) => (delivery !== null && ARRIVED.has(delivery) ? sum + count : sum),
    0,
  );
}

/** `/runs/ID`: one run. */
export async function makeRun(site: Site, open: OpenLedger, asked: Asked, id: string): Promise<Made> {
  const run = runOf(open, id);
  if (run === null) return noRun(id);
  const { project } = site.reading;
  const until = performance.now() + asked.patienceMs;
  const counts = await site.looks.counts(run, asked.patienceMs);
  const detail = await site.looks.detail(run, Math.max(0, until - performance.now()));
  const { file, campaign } = await sentCampaign(run, project, site.context);
  const legs = counts.value?.legs ?? [];
  const back = detail.value === null ? null : cameBack(open.ledger, run, detail.value.deliveries, campaign);
  const summary = summarise(
    {
      path: site.keeper.path,
      isHeld: () => site.looks.isHeld(run),
      legs: () => [...legs],
      changed: (of) => open.ledger.changed(of),
    },
    run,
    null,
    campaign,
    back,
  );
  const report = withDetail(summary, detail.value);
  const lastMinute = counts.value?.lastMinute ?? 0;
  const sinceStartMs = Math.max(1_000, asked.view.nowMs - (run.lastStartAtMs ?? asked.view.nowMs));
  const perSecond = report.state === 'running' ? (lastMinute * 1_000) / Math.min(60_000, sinceStartMs) : null;
  const content = runPage(asked.view, {
    report,
    perSecond,
    detail: detail.value,
    campaignFile: file ?? run.campaign,
    planFile: takesPlans(run, project) ? PLAN_FILE : null,
    currency: (await readPriceList(project)).prices?.currency ?? null,
  });
  // The clock alone changes what is left of a run that goes on.
  return { content, isOld: counts.isOld || detail.isOld };
}

/** What the counts leave out is known from the pass over everybody; variants have a table of their own. */
function withDetail({ variants: _, significance: __, ...report }: Report, detail: RunDetail | null): Report {
  const { parts, cost } = detail ?? { parts: 0, cost: null };
  return { ...report, sms: { ...report.sms, parts, cost } };
}
