import type { Report, RunState, StepCount, Totals } from '../../model.ts';
import { newestFirst, PLAN_FILE, sentCampaign, takesPlans } from '../../operations/report.ts';
import { readPriceList } from '../../plan/prices.ts';
import { deliveriesOf, returnedOf } from '../../report/deliveries.ts';
import { nextSteps } from '../../report/next-steps.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { type CampaignShape, comparedVariants, totalsKey } from '../../report/tally.ts';
import { totalsOf } from '../../report/variants.ts';
import {
  acceptedWords,
  commitFacts,
  DELIVERY_WORDS,
  deliveryBase,
  inputFacts,
  OUTCOME_WORDS,
  repliesText,
  uncountedWords,
  unmatchedLines,
  WORST_FIRST,
} from '../../report/words.ts';
import { stateOf, summarise } from '../../send/summary.ts';
import { type Html, html } from '../../util/escape.ts';
import { funnelFigures, funnelOf } from '../charts/funnel.ts';
import type { RunFigures } from '../counts.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Asked, type Made, type MakePage, noRun, runOf, type Site, wholeOf } from '../site.ts';
import {
  address,
  type Content,
  copied,
  crumbs,
  empty,
  facts,
  fixed,
  live,
  pager,
  stateMark,
  table,
  tone,
  totalsBar,
  type View,
} from './layout.ts';
import { causesTable, type RunDetail, runCharts, sparkline, variantsSection } from './run-detail.ts';

const RUNS_ON_A_PAGE = 25;

/** `/`: all runs, last active first. */
export const makeRuns: MakePage = async (site, { ledger }, { view, query, patienceMs }) => {
  const all = newestFirst(ledger.runs());
  const from = Math.min(wholeOf(query, 'from') ?? 0, Math.max(0, all.length - 1));
  const until = performance.now() + patienceMs;
  const lines: RunLine[] = [];
  let isOld = false;
  for (const run of all.slice(from, from + RUNS_ON_A_PAGE)) {
    const look = await site.looks.of(run, Math.max(0, until - performance.now()));
    isOld ||= look.isOld;
    const { counts = null, detail = null, ...known } = look.value ?? {};
    lines.push({
      ...lineOf({ run, isHeld: site.looks.isHeld(run), ...known }),
      totals: counts === null ? null : totalsOf(own(counts.steps)),
      deliveries: detail === null ? null : deliveriesOf(detail.cameBack.deliveries),
      times: detail?.times ?? null,
    });
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

function lineOf({ run, isHeld }: Pick<RunFigures, 'run' | 'isHeld'>): Omit<RunLine, 'totals' | 'deliveries' | 'times'> {
  const {
    id,
    name: campaign,
    environment,
    occurrence,
    rows,
    createdAtMs,
    startedAtMs,
    lastStartAtMs,
    finishedAtMs,
  } = run;
  const state = stateOf({ isHeld: () => isHeld }, run);
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

/** Recipients: a step that fell back is followed by another one. */
function own(steps: readonly StepCount[]): readonly StepCount[] {
  return steps.filter(({ fellBack }) => !fellBack);
}

/** `/runs/ID`: one run. */
export async function makeRun(site: Site, open: OpenLedger, asked: Asked, id: string): Promise<Made> {
  const found = runOf(open, id);
  if (found === null) return noRun(id);
  const { project } = site.reading;
  const { value, isOld } = await site.looks.of(found, asked.patienceMs);
  const { run, isHeld, counts, detail } = value ?? { run: found, isHeld: site.looks.isHeld(found), ...NOT_COUNTED };
  const { file, campaign } = await sentCampaign(run, project, site.context);
  const summary = summarise(
    {
      path: site.keeper.path,
      isHeld: () => isHeld,
      steps: () => [...(counts?.steps ?? [])],
      changed: () => detail?.changed ?? [],
      pauseOf: (of) => open.ledger.pauseOf(of),
    },
    run,
    null,
    campaign,
    detail?.cameBack ?? null,
  );
  const report = withDetail(summary, detail, campaign);
  const lastMinute = counts?.lastMinute ?? 0;
  const sinceStartMs = Math.max(1_000, asked.view.nowMs - (run.lastStartAtMs ?? asked.view.nowMs));
  const perSecond = report.state === 'running' ? (lastMinute * 1_000) / Math.min(60_000, sinceStartMs) : null;
  const content = runPage(asked.view, {
    report,
    perSecond,
    detail,
    campaignFile: file ?? run.name,
    planPath: takesPlans(run, project) ? PLAN_FILE : null,
    currency: (await readPriceList(project)).prices?.currency ?? null,
  });
  // The time left of a run in progress changes with the clock only.
  return { content, isOld };
}

const NOT_COUNTED = { counts: null, detail: null } as const;

/** With the figures that need the scan of all recipients. */
function withDetail(
  { variants: _, significance: __, ...report }: Report,
  detail: RunDetail | null,
  campaign: CampaignShape | null,
): Report {
  const { parts, cost } = detail ?? { parts: 0, cost: null };
  const compared =
    detail === null
      ? {}
      : comparedVariants(detail.variants, campaign, detail.cameBack.deliveries, report.winner ?? null);
  return { ...report, ...compared, sms: { ...report.sms, parts, cost } };
}

/** A run in the list. */
interface RunLine {
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
  /** Null while they are being counted. */
  readonly deliveries: Report['deliveries'] | null;
  /** Outcomes over time; null while they are being counted. */
  readonly times: RunDetail['times'] | null;
}

interface RunsData {
  readonly runs: readonly RunLine[];
  /** All of them, on all pages. */
  readonly total: number;
  /** Addresses of the pages before and after; null if there is none. */
  readonly newer: string | null;
  readonly older: string | null;
}

/** All runs, last active first. */
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

/** How many got the message; empty while it is not known, or nothing came back. */
function arrived({ totals, deliveries }: RunLine, formats: View['formats']): Html | string {
  if (totals === null || deliveries === null || Object.keys(deliveries).length === 0) return '';
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
  const rows = runs.map((run) => ({
    cells: [
      html`<span><a class="name" href="${address(['runs', run.id])}">${run.campaign}</a><br><span class="soft">${run.environment} · ${run.occurrence}</span></span>`,
      stateMark(run.state),
      html`<span>${formats.time(run.startedMs)}${run.finishedMs === null ? null : html`<br><span class="soft">took ${formats.duration(Math.max(0, run.finishedMs - run.startedMs))}</span>`}</span>`,
      formats.number(run.recipients),
      outcomes(run, formats),
      run.totals === null || run.totals.skipped === 0 ? '' : formats.number(run.totals.skipped),
      arrived(run, formats),
      run.times === null || run.times.length < 2 ? '' : sparkline(formats, run.times),
    ],
  }));
  return html`${table(`${formats.count(total, 'run')}, last active first.`, COLUMNS, rows)}
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
  { title: 'Recipients', isFigure: true },
  { title: 'Outcomes' },
  { title: 'Skipped', isFigure: true, isOptional: true },
  { title: 'Delivered', isFigure: true, isOptional: true },
  { title: 'Pace', isOptional: true },
];

interface RunData {
  readonly report: Report;
  /** Outcomes a second, over the last minute; null if no process sends. */
  readonly perSecond: number | null;
  /** Figures that need a scan of all recipients; null while the scan runs. */
  readonly detail: RunDetail | null;
  /** The campaign as its owner would name it on the command line. */
  readonly campaignFile: string;
  readonly planPath: string | null;
  readonly currency: string | null;
}

/** One run: its progress, its outcomes with their reasons, and what is left to do. */
function runPage(view: View, data: RunData): Content {
  const { report } = data;
  const title = `${report.campaign} · ${report.occurrence}`;
  return {
    title,
    said: saidOf(view, report),
    parts: [
      live('head', head(view, data)),
      live('totals', totals(view, data)),
      live('steps', steps(view, data)),
      live(
        'causes',
        data.detail === null
          ? html``
          : (causesTable(view, report.run, report.totals.recipients, data.detail) ?? html``),
      ),
      live('why', html`<div class="two">${reasons(view, report)}${deliveries(view, report)}</div>`),
      live('charts', data.detail === null ? counting() : runCharts(view, data.detail)),
      live('variants', variantsSection(view, report) ?? html``),
      live('figures', figures(view, data)),
    ],
  };
}

/** Changes with the state and each tenth, so that listeners are not updated with every message. */
function saidOf({ formats }: View, report: Report): string {
  const { totals: of, state, campaign } = report;
  const done = of.recipients - of.pending;
  const tenth = of.recipients === 0 ? 1 : Math.floor((10 * done) / of.recipients) / 10;
  const doubt = of.inDoubt === 0 ? '' : ` ${formats.number(of.inDoubt)} in doubt.`;
  return state === 'running' ? `${campaign}: ${formats.percent(tenth, 1)} done.` : `${campaign} is ${state}.${doubt}`;
}

function head({ formats }: View, { report, perSecond }: RunData): Html {
  const { run, environment, state, startedAt, finishedAt, purgedAt, closedAt, totals: of } = report;
  return html`${crumbs([['Runs', '/']], run)}
<div class="head"><h1>${report.campaign}</h1>${stateMark(state)}<form class="actions" method="get" action="${address(['runs', run, 'recipients'])}" role="search" aria-label="Recipients"><input name="q" type="search" aria-label="Find by line, key, address or message id" placeholder="Find a recipient" maxlength="300" autocomplete="off" spellcheck="false"></form><p class="actions"><a class="button main" href="${address(['runs', run, 'recipients'])}">Recipients</a><a class="button" href="${address(['runs', run, 'report'])}">Shareable report</a></p></div>
<p class="soft">${environment} · ${report.occurrence} · started ${formats.time(startedAt)}${finishedAt === null ? null : html`, ended ${formats.time(finishedAt)} (${took(formats, startedAt, finishedAt)})`}</p>
${state === 'running' ? progress(formats, of, perSecond) : null}
${closedAt === undefined ? null : html`<p>A person closed this run on ${formats.time(closedAt)}: it sends nothing more.</p>`}
${purgedAt === undefined ? null : html`<p>Personal data was taken out of this run on ${formats.time(purgedAt)}.</p>`}
${acceptedWords(report.acceptedList).map((words) => html`<p>${words}</p>`)}`;
}

function took(formats: View['formats'], startedAt: string, finishedAt: string): string {
  return formats.duration(Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)));
}

function progress(formats: View['formats'], of: Report['totals'], perSecond: number | null): Html {
  const done = of.recipients - of.pending;
  const rate = perSecond ?? 0;
  const left = rate > 0 && of.pending > 0 ? `, about ${formats.duration((of.pending / rate) * 1000)} left` : '';
  const pace =
    rate > 0
      ? `${formats.number(Math.round(rate * 10) / 10)} a second over the last minute${left}`
      : 'nothing in the last minute';
  return html`<p><progress max="${of.recipients}" value="${done}" aria-label="Recipients done"></progress><strong>${formats.number(done)} of ${formats.number(of.recipients)}</strong> (${formats.percent(done, of.recipients)}), ${pace}.</p>`;
}

/** How far the messages came, and what they cost. */
function totals({ formats }: View, { report, currency }: RunData): Html {
  if (report.totals.recipients === 0) return html`<p>The list has no recipients.</p>`;
  const { cost, parts } = report.sms;
  const priced =
    cost === null
      ? null
      : html`<div><dt>Cost</dt><dd>${formats.money(cost >= 1 ? Math.round(cost * 100) / 100 : cost, currency)}</dd><dd class="soft">${parts === 0 ? html`&nbsp;` : formats.count(parts, 'part')}</dd></div>`;
  return html`<dl class="funnel" aria-label="How far the messages came">${funnelFigures(funnelOf(report), formats)}${priced}</dl>`;
}

function steps({ formats }: View, { report, campaignFile, planPath }: RunData): Html {
  // A run in progress needs no command: its progress is shown above.
  const isShown = (command: string | null) => report.state !== 'running' || !command?.startsWith('handbill report ');
  const left = nextSteps(report, campaignFile, planPath, formats).filter(({ command }) => isShown(command));
  if (left.length === 0) return html``;
  return html`<h2>What to do</h2>
${left.map(
  ({
    text,
    command,
  }) => html`<div class="step"><p>${text}</p>${command === null ? null : copied(command, 'Command')}</div>
`,
)}`;
}

/** Every outcome with its reasons, those that need attention first. */
function reasons({ formats }: View, { run, reasons: by, totals: of }: Report): Html {
  const rows = WORST_FIRST.flatMap((outcome) => {
    const count = of[totalsKey(outcome)];
    if (count === 0) return [];
    const head = html`<span><span class="key ${tone(outcome)}" aria-hidden="true"></span><a class="name" href="${address(['runs', run, 'recipients'], { outcome })}">${outcome}</a></span>`;
    const parts = Object.entries(by[totalsKey(outcome)] ?? {}).map(([reason, some]) => ({
      isPart: true,
      cells: [
        html`<a href="${address(['runs', run, 'recipients'], { outcome, reason })}">${reason}</a>`,
        formats.number(some),
        formats.percent(some, of.recipients),
        reasonWords(reason),
      ],
    }));
    return [
      { cells: [head, formats.number(count), formats.percent(count, of.recipients), OUTCOME_WORDS[outcome]] },
      ...parts,
    ];
  });
  const columns = [
    { title: 'Outcome' },
    { title: 'Recipients', isFigure: true },
    { title: 'Share', isFigure: true },
    { title: 'Meaning' },
  ];
  return html`<section><h2>Outcomes</h2>
${totalsBar(of, formats)}
${table(`${formats.count(of.recipients, 'recipient')}, by outcome and reason.`, columns, rows)}</section>`;
}

function deliveries(view: View, report: Report): Html {
  const { formats } = view;
  const entries = Object.entries(report.deliveries);
  if (entries.length === 0)
    return html`<section><h2>Deliveries</h2><p class="soft">Nothing came back yet. <code>handbill listen</code> receives delivery reports.</p>${unmatched(view, report)}</section>`;
  const all = deliveryBase(report.totals, Object.values(report.deliveries));
  const words: Readonly<Record<string, string>> = DELIVERY_WORDS;
  const rows = entries.map(([delivery, count]) => ({
    cells: [
      html`<a href="${address(['runs', report.run, 'recipients'], { delivery })}">${delivery}</a>`,
      formats.number(count),
      formats.percent(count, all),
      words[delivery] ?? '',
    ],
  }));
  const columns = [
    { title: 'State' },
    { title: 'Recipients', isFigure: true },
    { title: 'Share of accepted', isFigure: true },
    { title: 'Meaning' },
  ];
  return html`<section><h2>Deliveries</h2>
${table('The latest delivery report or reply about each message.', columns, rows)}${unmatched(view, report)}</section>`;
}

function unmatched({ formats }: View, report: Report): Html | null {
  const rows = unmatchedLines(report).map(([why, count, meaning]) => ({
    cells: [html`<span>${why}<br><span class="soft">${meaning}</span></span>`, formats.number(count)],
  }));
  if (rows.length === 0) return null;
  const columns = [{ title: 'Why' }, { title: 'Reports', isFigure: true }];
  return html`<h2>Unmatched delivery reports</h2>
${table('They name ids of messages of this run and are not about them. They count nowhere.', columns, rows)}`;
}

function counting(): Html {
  return html`<h2>Over time</h2><p class="soft">Being looked at: this scans all recipients.</p>`;
}

function figures({ formats }: View, { report }: RunData): Html {
  const { requests, sms, steps, replies, winner, opensAt } = report;
  const { latencyMs } = requests;
  const uncounted = uncountedWords(requests, formats);
  return html`<h2>Figures</h2>
${facts([
  [
    'Requests',
    requests.posted === 0 && uncounted.length === 0
      ? null
      : [
          formats.number(requests.posted),
          formats.count(requests.retried, 'retry', 'retries'),
          `${formats.number(requests.perSecond)} a second`,
          ...uncounted,
        ].join(', '),
  ],
  [
    'Latency',
    requests.posted === 0
      ? null
      : `p50 ${formats.milliseconds(latencyMs.p50)}, p95 ${formats.milliseconds(latencyMs.p95)}, p99 ${formats.milliseconds(latencyMs.p99)}`,
  ],
  ['SMS parts', sms.parts === 0 ? null : formats.number(sms.parts)],
  ['Replies', replies === undefined ? null : repliesText(replies, formats)],
  ['Opens again', opensAt === undefined ? null : formats.time(opensAt)],
  ['Winner of the test', winner?.variant ?? null],
  ...commitFacts(report),
  ...inputFacts(report),
  ['Run', report.run],
])}
${steps === undefined ? null : channels(formats, steps)}`;
}

function channels(formats: View['formats'], steps: NonNullable<Report['steps']>): Html {
  const rows = steps.map((step) => ({
    cells: [step.channel, ...CHANNEL_COLUMNS.map(([, key]) => formats.number(step[key]))],
  }));
  const columns = [{ title: 'Channel' }, ...CHANNEL_COLUMNS.map(([title]) => ({ title, isFigure: true }))];
  return html`<h2>Channels</h2>
${table('What became of the messages on each channel.', columns, rows)}`;
}

const CHANNEL_COLUMNS = [
  ['Attempted', 'attempted'],
  ['Accepted', 'accepted'],
  ['Rejected', 'rejected'],
  ['In doubt', 'inDoubt'],
  ['Failed', 'failed'],
  ['Fell back', 'fellBack'],
  ['Pending', 'pending'],
] as const;
