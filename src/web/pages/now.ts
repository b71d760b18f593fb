import type { RunRecord } from '../../ledger/records.ts';
import { newestFirst, withoutTests } from '../../operations/report.ts';
import { budgetsNow, budgetText } from '../../plan/budget.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { periodAt } from '../../plan/period.ts';
import { leftOf, progressOf, verdictOf } from '../../report/verdict.ts';
import { scheduleWords } from '../../schedule/words.ts';
import { stateOf, summarise } from '../../send/summary.ts';
import { type Html, html } from '../../util/escape.ts';
import { createDayOf } from '../../util/time.ts';
import { track } from '../charts/chart.ts';
import { campaignLink, type Judged, judging, notDelivered } from '../judged.ts';
import { address, type Cells, empty, pageOf, searchForm, section, stateMark, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { endsBar } from '../sections.ts';
import { DAYS_AHEAD, type MakePage, MOST_COMING, type Site, textOf, wholeOf } from '../site.ts';
import { doubtCounts } from './doubt.ts';
import { live, type View } from './layout.ts';
import { toReview } from './replies.ts';

const CAMPAIGNS_ON_A_PAGE = 25;
const MOST_PRESSING = 10;

/** `/`: what is being sent, what needs a person, what goes out next, and the runs by campaign. */
export const makeNow: MakePage = async (site, open, { view, query, patienceMs }) => {
  const all = newestFirst(open?.ledger.runs() ?? []);
  const judges = judging(site, open, patienceMs);
  const q = textOf(query, 'q').toLowerCase();
  const groups = [...Map.groupBy(all, ({ campaign }) => campaign).values()];
  const found = groups.filter((runs) => `${runs[0]?.name} ${runs[0]?.environment}`.toLowerCase().includes(q));
  const at = (from: number | null) => address([], { q, from });
  const { shown, links } = pageOf(found, wholeOf(query, 'from'), CAMPAIGNS_ON_A_PAGE, 'campaigns', at);
  const going = await judges.of(all.filter((run) => stateOf(site.stats, run) === 'running'));
  const real = withoutTests(all);
  // A later run of the same campaign and environment replaces what was to be done about an ended one before.
  const byBoth = Map.groupBy(real, ({ campaign, environment }) => JSON.stringify([campaign, environment]));
  const latest = new Set([...byBoth.values()].flatMap(([first]) => first ?? []));
  const older = real.filter((run) => !latest.has(run) && isUnfinished(site, run));
  const unfinished = await judges.of(older.slice(0, MOST_PRESSING));
  const left = unfinished.filter(({ report: { totals } }) => totals.pending + totals.deferred + totals.failed > 0);
  const isPressing = (run: RunRecord) => stateOf(site.stats, run) !== 'partial' || open?.ledger.pauseOf(run) != null;
  const pressing = [...latest].filter((run) => isUnfinished(site, run) && isPressing(run));
  const pressed = [...(await judges.of(pressing.slice(0, MOST_PRESSING))), ...left];
  const doubts = await doubtCounts(site, open);
  const others = await waiting(site, view, doubts, toReview(open, view.formats));
  const newest = await judges.of(shown.flatMap((runs) => runs[0] ?? []));
  const rows = newest.map((one, i) => campaignCells(view, one, shown[i] ?? [], doubts.counts));
  const search = all.length > 0 && searchForm('/', 'Campaigns', 'Campaign or environment', q);
  const recent = html`${search}${campaignsTable(view, rows, found.length, q)}${links}`;
  const parts = [
    live('head', html`<h1>Now</h1>`),
    live('going', goingSection(view, going)),
    live('attention', attentionSection(view, pressed, Math.max(0, pressing.length - MOST_PRESSING), others)),
    live('next', await nextSection(site, view, all, judges)),
    live('budgets', await moneySection(site, view, open, all, judges)),
    live('runs', section('Recent runs', recent)),
  ];
  const said = going.length === 0 ? '' : `${view.formats.count(going.length, 'run')} going on.`;
  return { content: { title: 'Now', said, parts }, isOld: judges.isOld() || doubts.isOld };
};

type Judges = ReturnType<typeof judging>;

function isUnfinished(site: Site, run: RunRecord): boolean {
  const state = stateOf(site.stats, run);
  return state !== 'finished' && state !== 'running' && run.purgedAtMs === null && run.closedAtMs === null;
}

function who({ run }: Judged): Html {
  return html`<span>${campaignLink(run.name)}<br><span class="soft">${run.environment} · ${run.occurrence}</span></span>`;
}

function runLink({ run, report }: Judged): Html {
  return html`<a class="latest" href="${address(['runs', run.id])}">${stateMark(report.state)}<span class="hidden"> ${run.id}</span></a>`;
}

function goingSection({ formats, nowMs }: View, going: readonly Judged[]): Html {
  if (going.length === 0) return html`<p class="soft">Nothing is being sent.</p>`;
  const rows = going.map((one) => {
    if (one.figures?.cameBack == null) return [who(one), 'being counted', '', '', runLink(one)];
    const [done, of] = progressOf(one.report);
    const rate = one.perSecond;
    const leftMs = leftOf(one.report, rate);
    const bar = html`<div><progress max="${Math.max(1, of)}" value="${done}" aria-label="${one.run.name}: recipients done"></progress>${formats.number(done)} of ${formats.number(of)} (${formats.percent(done, of)})</div>`;
    const end = leftMs !== null && html`<span>about ${formats.when(nowMs + leftMs, nowMs)}</span>`;
    const pace = rate > 0 ? `${formats.rate(rate)} a second` : 'nothing in the last minute';
    return [who(one), bar, end, pace, runLink(one)];
  });
  return section('Sending', table(null, GOING, rows));
}

const GOING = [
  { title: 'Campaign' },
  { title: 'Progress', isRoomy: true },
  { title: 'Done', isOptional: true },
  { title: 'Rate', isOptional: true, isLow: true },
  { title: 'Run' },
];

function attentionSection({ formats }: View, pressed: readonly Judged[], more: number, lines: readonly Html[]): Html {
  if (pressed.length + lines.length === 0) return html``;
  const runs = pressed.map((one) => {
    const { headline, cause } = verdictOf(one.report, formats);
    return html`<li>${campaignLink(one.run.name)} (${one.run.environment}, <a href="${address(['runs', one.run.id])}">${one.run.occurrence}</a>): ${headline}${cause && ` ${cause}`}</li>`;
  });
  const rest = more > 0 && html`<li>${formats.count(more, 'more run')} halted, paused or interrupted</li>`;
  return section('Needs attention', html`<ul>${runs}${rest}${lines.map((line) => html`<li>${line}</li>`)}</ul>`);
}

type Doubts = Awaited<ReturnType<typeof doubtCounts>>;

async function waiting(site: Site, { formats }: View, { counts, total }: Doubts, replies: string) {
  const unclear = html`<a href="/doubt">${formats.count(total, 'recipient')} in doubt</a> in ${formats.count(counts.size, 'run')}: they may or may not have the message.`;
  const unread = html`<a href="${address(['replies'], { meaning: 'review' })}">Replies to read: ${replies}</a>`;
  const { missed, refused } = await site.coming();
  const late = html`<a href="/campaigns">Not sent in time, in the last 31 days: ${missed.length}</a>`;
  const unplanned = html`Campaigns with a schedule that cannot be read: ${refused.length}. <code>handbill validate</code> says why.`;
  const lines = [total > 0 && unclear, replies !== '' && unread, missed.length > 0 && late];
  return [...lines, refused.length > 0 && unplanned].filter((line) => line !== false);
}

/** The next time of each campaign, and all of the coming days, with as many people as the last time. */
async function nextSection(site: Site, { formats, nowMs }: View, all: readonly RunRecord[], judges: Judges) {
  const { campaigns } = await site.coming();
  const sent = withoutTests(all);
  const dayOf = createDayOf(formats.timeZone);
  const days: { readonly name: string; readonly nextMs: number; readonly cells: Cells }[] = [];
  for (const one of campaigns) {
    const name = one.campaign;
    const [last] = await judges.of(sent.filter((run) => run.name === name).slice(0, 1));
    const people = last?.figures == null ? (last?.run.rows ?? 0) : progressOf(last.report)[1];
    const about = people > 0 && `about ${formats.count(people, 'person', 'people')}`;
    const zone = one.timeZone === formats.timeZone ? '' : ` (${one.timeZone})`;
    const words = `${one.cron === null ? 'once' : scheduleWords(one)}${zone}`;
    const times = one.next.map(({ occurrence }) => Date.parse(occurrence)).filter((ms) => ms > nowMs);
    // A campaign that goes out too often for the list has its first day only, and its schedule in words.
    const byDay = [...Map.groupBy(times, dayOf).values()].slice(0, one.next.length < MOST_COMING ? undefined : 1);
    for (const [nextMs = 0, ...more] of byDay) {
      const clocks =
        more.length > 3 ? `, ${more.length} more times` : more.map((ms) => `, ${formats.clock(ms)}`).join('');
      const when = html`<span>${formats.when(nextMs, nowMs)}${clocks}</span>`;
      days.push({ name, nextMs, cells: [when, campaignLink(name), about, words] });
    }
  }
  if (days.length === 0) return html``;
  const rows = days.toSorted((a, b) => a.nextMs - b.nextMs);
  const nearest = rows.filter(({ name }, i) => rows.findIndex((row) => row.name === name) === i);
  const caption = html`By schedule in the next ${DAYS_AHEAD} days, where <code>handbill due</code> runs.`;
  const whole = html`<details><summary>All of these days</summary>${table(null, NEXT, rows)}</details>`;
  return section('Next', [
    table(caption, NEXT, nearest),
    rows.length > nearest.length && whole,
    html`<p><a href="/ahead">Play these days</a></p>`,
  ]);
}

const NEXT = [
  { title: 'Next' },
  { title: 'Campaign' },
  { title: 'As last time', isOptional: true },
  { title: 'Schedule', isLow: true },
];

/** Budgets, and what each campaign cost in this month. */
async function moneySection(
  { reading: { project } }: Site,
  { formats, nowMs }: View,
  open: OpenLedger | null,
  all: readonly RunRecord[],
  judges: Judges,
): Promise<Html> {
  if (open === null) return html``;
  const budgets = budgetsNow(project, open.ledger, nowMs);
  const { name: month, beginsMs } = periodAt('month', nowMs, project.timeZone);
  const costs = new Map<string, number>();
  // Messages to the sandbox cost nothing.
  for (const run of all.filter((one) => one.environment !== 'sandbox' && (one.startedAtMs ?? 0) >= beginsMs)) {
    // The counts of a finished run are kept; those of others need a scan, which the judges remember.
    const [one] = run.state === 'finished' ? [{ report: summarise(open.ledger, run) }] : await judges.of([run]);
    const cost = one?.report.sms.cost ?? 0;
    if (cost > 0) costs.set(run.name, (costs.get(run.name) ?? 0) + cost);
  }
  if (budgets.length + costs.size === 0) return html``;
  const { currency = null } = readPriceList(project).prices ?? {};
  const sorted = [...costs].toSorted(([, a], [, b]) => b - a);
  const total = sorted.reduce((sum, [, cost]) => sum + cost, 0);
  const rows = sorted.map(([name, cost]) => {
    return [campaignLink(name), track((100 * cost) / total, 'accepted'), formats.money(cost, currency)];
  });
  const caption = `Runs that began in ${month}: ${formats.money(total, currency)}.`;
  return section('Money', [
    ...budgets.map((budget) => html`<p>Budget of ${budgetText(budget, formats)}</p>`),
    rows.length > 0 && table(caption, MONEY, rows),
  ]);
}

const MONEY = [{ title: 'Campaign' }, { title: 'Share', isRoomy: true }, { title: 'Cost', isFigure: true }];

/** @param runs of the campaign, the newest first */
function campaignCells({ formats, nowMs }: View, one: Judged, runs: readonly RunRecord[], doubts: Doubts['counts']) {
  const { run, report, figures } = one;
  const unclear = runs.reduce((sum, { id }) => sum + (doubts.get(id) ?? 0), 0);
  const counts =
    figures === null
      ? html`<span class="soft">being counted</span>`
      : html`<div>${endsBar(report, formats)}<span class="soft">${verdictOf(report, formats).counts}${run.purgedAtMs !== null && ' Purged.'}</span></div>`;
  return [
    who(one),
    runLink(one),
    formats.when(run.lastStartAtMs ?? run.createdAtMs, nowMs),
    formats.number(runs.length),
    counts,
    notDelivered(one, formats),
    unclear > 0 && html`<a href="/doubt">${formats.number(unclear)}</a>`,
  ];
}

function campaignsTable({ formats }: View, rows: readonly Cells[], total: number, q: string): Html {
  if (rows.length === 0 && q !== '') return empty(`No campaign that was sent is called "${q}".`);
  const hint = html`This page shows runs as soon as something is sent: <code>handbill send CAMPAIGN</code>`;
  if (rows.length === 0) return empty('No run yet.', hint);
  const count = formats.count(total, 'campaign');
  return table(`${count}, last active first; state and counts are of the newest run.`, RECENT, rows);
}

const RECENT = [
  { title: 'Campaign' },
  { title: 'State' },
  { title: 'Last start', isLow: true },
  { title: 'Runs', isFigure: true, isLow: true },
  { title: 'People', isRoomy: true },
  { title: 'Not delivered', isFigure: true, isOptional: true },
  { title: 'In doubt', isFigure: true, isOptional: true },
];
