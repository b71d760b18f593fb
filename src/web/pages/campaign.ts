import { readCampaign } from '../../campaign/load.ts';
import { newestFirst } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { deliveriesOf, returnedOf } from '../../report/deliveries.ts';
import { endsOf } from '../../report/ends.ts';
import { clockOf, followUpText, upcoming, whenText } from '../../schedule/occurrence.ts';
import { scheduleWords } from '../../schedule/words.ts';
import { type Html, html } from '../../util/escape.ts';
import { type Judged, judging } from '../judged.ts';
import { address, crumbs, empty, pager, section, stateMark, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Asked, type Made, notFound, type Site, wholeOf } from '../site.ts';
import { campaignFiles } from './campaigns.ts';
import { live, type View } from './layout.ts';

const RUNS_ON_A_PAGE = 25;

/** `/campaigns/NAME`: its next dates, and its runs side by side. A campaign whose file is gone still has its runs. */
export async function makeCampaign(site: Site, open: OpenLedger | null, asked: Asked, name: string): Promise<Made> {
  const { view, query, patienceMs } = asked;
  const now = await fileOf(site, name);
  const all = newestFirst(open?.ledger.runs() ?? []);
  const id = now?.campaign.id ?? all.find((run) => run.name === name)?.campaign;
  if (id === undefined) return notFound(`There is no campaign "${name.slice(0, 100)}", and no run of one.`);
  const runs = all.filter(({ campaign }) => campaign === id);
  const from = Math.min(wholeOf(query, 'from') ?? 0, Math.max(0, runs.length - 1));
  const judges = judging(site, open, patienceMs);
  const shown = await judges.of(runs.slice(from, from + RUNS_ON_A_PAGE));
  const { currency = null } = (await readPriceList(site.reading.project)).prices ?? {};
  const at = (place: number) => address(['campaigns', name], { from: place <= 0 ? null : place });
  const preview =
    now === null
      ? html`<p class="soft">No campaign file here has this name now.</p>`
      : html`<p class="actions"><a class="button" href="${address(['campaigns', 'preview'], { file: now.file, env: runs[0]?.environment ?? null })}">Preview</a></p>`;
  const parts = [
    live(
      'head',
      html`${crumbs([['Campaigns', '/campaigns']], name)}<div class="head"><h1>${name}</h1>${preview}</div>`,
    ),
    live('next', await nextSection(view, now?.campaign ?? null)),
    live(
      'runs',
      html`${runsSection(view, shown, runs.length, currency)}${pager('More runs', [
        ['Newer runs', from > 0 ? at(from - RUNS_ON_A_PAGE) : null],
        ['Older runs', from + RUNS_ON_A_PAGE < runs.length ? at(from + RUNS_ON_A_PAGE) : null],
      ])}`,
    ),
  ];
  return { content: { title: name, parts }, isOld: judges.isOld() };
}

async function fileOf(site: Site, name: string) {
  const { cwd, env, now } = site.context;
  // Most campaigns lie in a folder of their name.
  const isLikely = ({ file }: { readonly file: string }): number => Number(file.includes(name));
  for (const { path, file } of (await campaignFiles(site)).toSorted((a, b) => isLikely(b) - isLikely(a))) {
    const { campaign } = await readCampaign(path, { cwd, env, now: now() });
    if (campaign?.name === name) return { campaign, file };
  }
  return null;
}

type Own = NonNullable<Awaited<ReturnType<typeof fileOf>>>['campaign'];

async function nextSection({ formats, nowMs }: View, campaign: Own | null): Promise<Html> {
  if (campaign === null) return html``;
  const { schedule, after, send } = campaign;
  if (schedule === null) return html`<p>${followUpText(after) ?? 'Sent by hand: it has no schedule.'}</p>`;
  const asked = { fromMs: nowMs, count: 10, notAfterMs: send.notAfterMs };
  const dates = upcoming(await clockOf(schedule), schedule.timeZone, asked).map(({ occurrence }) =>
    Date.parse(occurrence),
  );
  const words = scheduleWords(schedule);
  const expression = words === whenText(schedule) ? '' : ` · ${whenText(schedule)}`;
  const list =
    dates.length === 0
      ? html`<p>Not any more.</p>`
      : html`<ul>${dates.map((ms) => html`<li>${formats.soon(ms, nowMs)}</li>`)}</ul>`;
  const ahead = html`<p><a href="${address(['ahead'], { campaign: campaign.name })}">Play the coming days</a></p>`;
  return section(
    'Next',
    html`<p>${words} <span class="soft">(${schedule.timeZone}${expression})</span></p>${list}${ahead}`,
  );
}

function runsSection({ formats }: View, shown: readonly Judged[], total: number, currency: string | null): Html {
  if (shown.length === 0) return empty('It was not sent yet.');
  const rows = shown.map(({ run, report, figures }) => {
    const start = html`<span><a class="name" href="${address(['runs', run.id])}">${run.occurrence}</a><br><span class="soft">${run.environment} · ${formats.time(run.startedAtMs ?? run.createdAtMs)}</span></span>`;
    const state = stateMark(report.state);
    if (figures === null) return { cells: [start, state, formats.number(run.rows), ...ENDS.map(() => '')] };
    const ends = report.ends ?? endsOf(report);
    const back = returnedOf(deliveriesOf(figures.cameBack?.deliveries ?? []));
    const { cost } = report.sms;
    const counts = [
      ends.delivered,
      ends.sent,
      ends.notDelivered,
      ends.unclear,
      ends.notSent,
      ends.waits,
      ends.notTried,
      back.replied + back.optedOut,
      back.optedOut,
    ].map((count) => (count === 0 ? '' : formats.number(count)));
    return {
      cells: [
        start,
        state,
        formats.number(report.totals.recipients),
        ...counts,
        cost === null ? '' : formats.money(cost, currency),
      ],
    };
  });
  const columns = [
    { title: 'Run' },
    { title: 'State' },
    { title: 'People', isFigure: true },
    ...ENDS.map((title) => ({ title, isFigure: true, isOptional: true, isLow: !SHOWN_FIRST.has(title) })),
  ];
  return section('Runs', table(`${formats.count(total, 'run')}, last active first.`, columns, rows));
}

const ENDS = [
  'Delivered',
  'Sent',
  'Not delivered',
  'Unclear',
  'Not sent',
  'Waiting',
  'Not tried yet',
  'Replied',
  'Opted out',
  'Cost',
] as const;
const SHOWN_FIRST: ReadonlySet<string> = new Set(['Delivered', 'Not delivered', 'Cost']);
