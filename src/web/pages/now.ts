import type { RunRecord } from '../../ledger/records.ts';
import { newestFirst, withoutTests } from '../../operations/report.ts';
import { budgetsNow, budgetText } from '../../plan/budget.ts';
import { leftOf, progressOf, verdictOf } from '../../report/verdict.ts';
import { scheduleWords } from '../../schedule/words.ts';
import { stateOf } from '../../send/summary.ts';
import { type Html, html } from '../../util/escape.ts';
import { DAY_MS } from '../../util/time.ts';
import { campaignLink, type Judged, judging } from '../judged.ts';
import { address, empty, pager, section, stateMark, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { endsBar } from '../sections.ts';
import { type Asked, type Made, type Site, textOf, wholeOf } from '../site.ts';
import { doubtCounts } from './doubt.ts';
import { live, type View } from './layout.ts';
import { toReview } from './replies.ts';

const CAMPAIGNS_ON_A_PAGE = 25;
const MOST_PRESSING = 10;
const DAYS_AHEAD = 14;

/** `/`: what is being sent, what needs a person, what goes out next, and the runs by campaign. */
export async function makeNow(site: Site, open: OpenLedger | null, { view, query, patienceMs }: Asked): Promise<Made> {
  const all = newestFirst(open?.ledger.runs() ?? []);
  const judges = judging(site, open, patienceMs);
  const q = textOf(query, 'q').toLowerCase();
  const groups = [...Map.groupBy(all, ({ campaign }) => campaign).values()];
  const found = groups.filter((runs) => `${runs[0]?.name} ${runs[0]?.environment}`.toLowerCase().includes(q));
  const from = Math.min(wholeOf(query, 'from') ?? 0, Math.max(0, found.length - 1));
  const shown = found.slice(from, from + CAMPAIGNS_ON_A_PAGE);
  const going = await judges.of(all.filter((run) => stateOf(site.stats, run) === 'running'));
  const pressing = open === null ? [] : newestOfEach(all).filter((run) => isPressing(site, open, run));
  const pressed = await judges.of(pressing.slice(0, MOST_PRESSING));
  const newest = await judges.of(shown.flatMap((runs) => runs[0] ?? []));
  const doubts = open === null ? { counts: new Map<string, number>(), isOld: false } : await doubtCounts(site, open);
  const at = (place: number) => address([], { q, from: place <= 0 ? null : place });
  const lines = newest.map((one, i) => {
    const runs = shown[i] ?? [];
    return { ...one, runs: runs.length, unclear: runs.reduce((sum, run) => sum + (doubts.counts.get(run.id) ?? 0), 0) };
  });
  const parts = [
    live('head', html`<h1>Now</h1>`),
    live('going', goingSection(view, going)),
    live(
      'attention',
      attentionSection(view, pressed, pressing.length - pressed.length, [
        ...waiting(view, doubts.counts, open),
        ...(await unsent(site)),
      ]),
    ),
    live('next', await nextSection(site, view, all, judges)),
    live('budgets', moneySection(site, open, view)),
    live(
      'runs',
      html`<section><h2>Recent runs</h2>${all.length === 0 ? null : filterForm(q)}${campaignsTable(view, lines, found.length, q)}${pager(
        'More campaigns',
        [
          ['Newer', from > 0 ? at(from - CAMPAIGNS_ON_A_PAGE) : null],
          ['Older', from + CAMPAIGNS_ON_A_PAGE < found.length ? at(from + CAMPAIGNS_ON_A_PAGE) : null],
        ],
      )}</section>`,
    ),
  ];
  const said = going.length === 0 ? '' : `${view.formats.count(going.length, 'run')} going on.`;
  return { content: { title: 'Now', said, parts }, isOld: judges.isOld() || doubts.isOld };
}

/** A later run of the same campaign and environment replaces what was to be done about the one before. */
function newestOfEach(runs: readonly RunRecord[]): readonly RunRecord[] {
  const groups = Map.groupBy(withoutTests(runs), ({ campaign, environment }) =>
    JSON.stringify([campaign, environment]),
  );
  return [...groups.values()].flatMap(([first]) => first ?? []);
}

function isPressing(site: Site, open: OpenLedger, run: RunRecord): boolean {
  const state = stateOf(site.stats, run);
  if (state === 'finished' || state === 'running' || run.purgedAtMs !== null || run.closedAtMs !== null) return false;
  return state !== 'partial' || open.ledger.pauseOf(run) !== null;
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
    const [done, of] = progressOf(one.report);
    const rate = one.perSecond;
    const leftMs = leftOf(one.report, rate);
    const bar = html`<div><progress max="${Math.max(1, of)}" value="${done}" aria-label="${one.run.name}: recipients done"></progress>${formats.number(done)} of ${formats.number(of)} (${formats.percent(done, of)})</div>`;
    const isKnown = one.figures?.cameBack != null;
    const end = leftMs === null ? '' : html`<span>about ${formats.soon(nowMs + leftMs, nowMs)}</span>`;
    const pace = rate > 0 ? `${formats.rate(rate)} a second` : 'nothing in the last minute';
    return {
      cells: [who(one), isKnown ? bar : 'being counted', isKnown ? end : '', isKnown ? pace : '', runLink(one)],
    };
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
    return html`<li>${campaignLink(one.run.name)} (${one.run.environment}, <a href="${address(['runs', one.run.id])}">${one.run.occurrence}</a>): ${headline}${cause === null ? null : ` ${cause}`}</li>`;
  });
  const rest = more > 0 ? html`<li>${formats.count(more, 'more run')} halted, paused or interrupted</li>` : null;
  return section('Needs attention', html`<ul>${runs}${rest}${lines.map((line) => html`<li>${line}</li>`)}</ul>`);
}

function waiting({ formats }: View, doubts: ReadonlyMap<string, number>, open: OpenLedger | null): readonly Html[] {
  const unclear = [...doubts.values()].reduce((sum, count) => sum + count, 0);
  const replies = open === null ? '' : toReview(open, formats);
  return [
    ...(unclear === 0
      ? []
      : [
          html`<a href="/doubt">${formats.count(unclear, 'recipient')} in doubt</a> in ${formats.count(doubts.size, 'run')}: they may or may not have the message.`,
        ]),
    ...(replies === ''
      ? []
      : [html`<a href="${address(['replies'], { meaning: 'review' })}">Replies to read: ${replies}</a>`]),
  ];
}

async function unsent(site: Site): Promise<readonly Html[]> {
  const { missed, refused } = await site.coming();
  return [
    ...(missed.length === 0
      ? []
      : [html`<a href="/campaigns">Not sent in time, in the last 31 days: ${missed.length}</a>`]),
    ...(refused.length === 0
      ? []
      : [
          html`Campaigns with a schedule that cannot be read: ${refused.length}. <code>handbill validate</code> says why.`,
        ]),
  ];
}

async function nextSection(
  site: Site,
  { formats, nowMs }: View,
  all: readonly RunRecord[],
  judges: ReturnType<typeof judging>,
): Promise<Html> {
  const { campaigns } = await site.coming();
  const soon = campaigns
    .flatMap((one) => {
      const next = one.next.map(({ occurrence }) => Date.parse(occurrence)).find((ms) => ms > nowMs);
      return next === undefined || next > nowMs + DAYS_AHEAD * DAY_MS ? [] : [{ ...one, nextMs: next }];
    })
    .toSorted((a, b) => a.nextMs - b.nextMs);
  if (soon.length === 0) return html``;
  const sent = withoutTests(all);
  const rows: { readonly cells: readonly (Html | string)[] }[] = [];
  for (const { campaign, cron, at, timeZone, nextMs } of soon) {
    const [last] = await judges.of(sent.filter(({ name }) => name === campaign).slice(0, 1));
    const people = last?.figures == null ? (last?.run.rows ?? 0) : progressOf(last.report)[1];
    const zone = timeZone === formats.timeZone ? '' : ` (${timeZone})`;
    rows.push({
      cells: [
        campaignLink(campaign),
        formats.soon(nextMs, nowMs),
        people === 0 ? '' : `about ${formats.count(people, 'person', 'people')}`,
        cron === null ? `once${zone}` : `${scheduleWords({ cron, at })}${zone}`,
      ],
    });
  }
  const caption = html`By schedule in the next ${DAYS_AHEAD} days, where <code>handbill due</code> runs.`;
  return section('Next', table(caption, NEXT, rows));
}

const NEXT = [
  { title: 'Campaign' },
  { title: 'Next' },
  { title: 'As last time', isOptional: true },
  { title: 'Schedule' },
];

function moneySection({ reading: { project }, context }: Site, open: OpenLedger | null, { formats }: View): Html {
  const budgets = open === null ? [] : budgetsNow(project, open.ledger, context.now());
  if (budgets.length === 0) return html``;
  return section('Money', html`${budgets.map((budget) => html`<p>Budget of ${budgetText(budget, formats)}</p>`)}`);
}

function filterForm(q: string): Html {
  return html`<form class="filters" method="get" action="/" role="search" aria-label="Campaigns"><p class="field wide"><label for="q">Campaign or environment</label><input id="q" name="q" type="search" value="${q}" maxlength="300" autocomplete="off" spellcheck="false"></p><p class="actions"><button>Show</button></p></form>`;
}

interface CampaignLine extends Judged {
  readonly runs: number;
  /** Recipients in doubt in all its runs. */
  readonly unclear: number;
}

function campaignsTable({ formats }: View, lines: readonly CampaignLine[], total: number, q: string): Html {
  if (lines.length === 0 && q !== '') return empty(`No campaign that was sent is called "${q}".`);
  if (lines.length === 0) {
    return empty(
      'No run yet.',
      html`This page shows runs as soon as something is sent: <code>handbill send CAMPAIGN</code>`,
    );
  }
  const rows = lines.map((one) => {
    const { run, report, figures, runs, unclear } = one;
    const counts =
      figures === null
        ? html`<span class="soft">being counted</span>`
        : html`<div>${endsBar(report, formats)}<span class="soft">${verdictOf(report, formats).counts}${run.purgedAtMs === null ? null : ' Purged.'}</span></div>`;
    return {
      cells: [
        who(one),
        runLink(one),
        formats.time(run.lastStartAtMs ?? run.createdAtMs),
        formats.number(runs),
        counts,
        unclear === 0 ? '' : html`<a href="/doubt">${formats.number(unclear)}</a>`,
      ],
    };
  });
  return table(
    `${formats.count(total, 'campaign')}, last active first; state and counts are of the newest run.`,
    RECENT,
    rows,
  );
}

const RECENT = [
  { title: 'Campaign' },
  { title: 'State' },
  { title: 'Last start', isLow: true },
  { title: 'Runs', isFigure: true, isLow: true },
  { title: 'People', isRoomy: true },
  { title: 'In doubt', isFigure: true, isOptional: true },
];
