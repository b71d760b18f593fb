import { readCampaign } from '../../campaign/load.ts';
import type { Campaign } from '../../model.ts';
import { newestFirst } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { deliveriesOf, returnedOf } from '../../report/deliveries.ts';
import { END_TABLE, ENDS, endsOf } from '../../report/ends.ts';
import { clockOf, followUpText, upcoming, whenText } from '../../schedule/occurrence.ts';
import { scheduleWords } from '../../schedule/words.ts';
import { type Html, html } from '../../util/escape.ts';
import { capital } from '../../util/words.ts';
import { type Judged, judging } from '../judged.ts';
import { address, crumbs, empty, pageOf, section, stateMark, table } from '../kit.ts';
import { type MakePage, notFound, type Site, wholeOf } from '../site.ts';
import { campaignFiles } from './campaigns.ts';
import { live, type View } from './layout.ts';

const RUNS_ON_A_PAGE = 25;

/** `/campaigns/NAME`: its next dates, and its runs side by side. A campaign whose file is gone still has its runs. */
export const makeCampaign: MakePage = async (site, open, { view, query, patienceMs }, name = '') => {
  const now = await fileOf(site, name);
  const all = newestFirst(open?.ledger.runs() ?? []);
  const id = now?.campaign.id ?? all.find((run) => run.name === name)?.campaign;
  if (id === undefined) return notFound(`There is no campaign "${name.slice(0, 100)}", and no run of one.`);
  const runs = all.filter(({ campaign }) => campaign === id);
  const judges = judging(site, open, patienceMs);
  const at = (from: number | null) => address(['campaigns', name], { from });
  const { shown, links } = pageOf(runs, wholeOf(query, 'from'), RUNS_ON_A_PAGE, 'runs', at);
  const { currency = null } = readPriceList(site.reading.project).prices ?? {};
  const preview = now && address(['campaigns', 'preview'], { file: now.file, env: runs[0]?.environment ?? null });
  const more =
    preview === null
      ? html`<p class="soft">No campaign file here has this name now.</p>`
      : html`<p class="actions"><a class="button" href="${preview}">Preview</a></p>`;
  const head = html`${crumbs([['Campaigns', '/campaigns']], name)}<div class="head"><h1>${name}</h1>${more}</div>`;
  const sent = runsSection(view, await judges.of(shown), runs.length, currency);
  const parts = [
    live('head', head),
    live('next', await nextSection(view, now?.campaign ?? null)),
    live('runs', html`${sent}${links}`),
  ];
  return { content: { title: name, parts }, isOld: judges.isOld() };
};

async function fileOf(site: Site, name: string) {
  const { cwd, env } = site.context;
  // Most campaigns lie in a folder of their name.
  const isLikely = ({ file }: { readonly file: string }): number => Number(file.includes(name));
  for (const { path, file } of (await campaignFiles(site)).toSorted((a, b) => isLikely(b) - isLikely(a))) {
    const { campaign } = await readCampaign(path, { cwd, env });
    if (campaign?.name === name) return { campaign, file };
  }
  return null;
}

async function nextSection({ formats, nowMs }: View, campaign: Campaign | null): Promise<Html> {
  if (campaign === null) return html``;
  const { schedule, after, send } = campaign;
  const ahead = html`<p><a href="${address(['ahead'], { campaign: campaign.name })}">Play the coming days</a></p>`;
  if (after !== null) return html`<p>${followUpText(after)}</p>${ahead}`;
  if (schedule === null) return html`<p>Sent by hand: it has no schedule.</p>`;
  const asked = { fromMs: nowMs, count: 10, notAfterMs: send.notAfterMs };
  const next = upcoming(await clockOf(schedule), schedule.timeZone, asked);
  const dates = next.map(({ occurrence }) => Date.parse(occurrence));
  const words = scheduleWords(schedule);
  const expression = words === whenText(schedule) ? '' : ` · ${whenText(schedule)}`;
  const list = html`<ul>${dates.map((ms) => html`<li>${formats.when(ms, nowMs)}</li>`)}</ul>`;
  return section(
    'Next',
    html`<p>${words} <span class="soft">(${schedule.timeZone}${expression})</span></p>${dates.length === 0 ? html`<p>Not any more.</p>` : list}${ahead}`,
  );
}

function runsSection({ formats, nowMs }: View, shown: readonly Judged[], total: number, currency: string | null): Html {
  if (shown.length === 0) return empty('It was not sent yet.');
  const rows = shown.map(({ run, report, figures }) => {
    const start = html`<span><a class="name" href="${address(['runs', run.id])}">${run.occurrence}</a><br><span class="soft">${run.environment} · ${formats.when(run.startedAtMs ?? run.createdAtMs, nowMs)}</span></span>`;
    if (figures === null) return [start, stateMark(report.state), formats.number(run.rows)];
    const { ends = endsOf(report), sms, totals } = report;
    const { replied, optedOut } = returnedOf(deliveriesOf(figures.cameBack?.deliveries ?? []));
    const counts = [...ENDS.map((end) => ends[end]), replied + optedOut, optedOut];
    const shownCounts = counts.map((count) => count !== 0 && formats.number(count));
    const cost = sms.cost === null ? null : formats.money(sms.cost, currency);
    return [start, stateMark(report.state), formats.number(totals.recipients), ...shownCounts, cost];
  });
  const titles = [...ENDS.map((end) => capital(END_TABLE[end].words)), 'Replied', 'Opted out', 'Cost'];
  const columns = [
    { title: 'Run' },
    { title: 'State' },
    { title: 'People', isFigure: true },
    ...titles.map((title) => ({ title, isFigure: true, isOptional: true, isLow: !SHOWN_FIRST.has(title) })),
  ];
  return section('Runs', table(`${formats.count(total, 'run')}, last active first.`, columns, rows));
}

const SHOWN_FIRST: ReadonlySet<string> = new Set(['Delivered', 'Not delivered', 'Cost']);
