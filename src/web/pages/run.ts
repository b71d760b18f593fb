import type { Report } from '../../model.ts';
import { PLAN_FILE, sentCampaign, takesPlans } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { leftOf, progressOf, verdictText } from '../../report/verdict.ts';
import { keptWords, tookMs } from '../../report/words.ts';
import { type Html, html } from '../../util/escape.ts';
import type { RunFigures } from '../counts.ts';
import { judge } from '../judged.ts';
import { address, crumbs, section, stateMark } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import {
  causesSection,
  channelsSection,
  deliveriesSection,
  endsSection,
  figuresOf,
  nextSection,
  outcomesSection,
  type ShownRun,
  unmatchedSection,
  variantsSection,
  verdictSection,
} from '../sections.ts';
import { type Asked, type Made, noRun, runOf, type Site } from '../site.ts';
import { type Content, live, type View } from './layout.ts';

/** `/runs/ID`: one run. */
export async function makeRun(site: Site, open: OpenLedger, asked: Asked, id: string): Promise<Made> {
  const found = runOf(open, id);
  if (found === null) return noRun(id);
  const { project } = site.reading;
  const { value, isOld } = await site.stats.of(found, asked.patienceMs);
  const { named, campaign } = await sentCampaign(value?.run ?? found, project, site.context);
  const { run, report, perSecond } = judge(site, open, found, value, campaign);
  const content = runPage(asked.view, {
    report,
    formats: asked.view.formats,
    link: (text, query) => html`<a href="${address(['runs', run.id, 'recipients'], query)}">${text}</a>`,
    perSecond,
    figures: value,
    campaignFile: await named(),
    planPath: takesPlans(run, project) ? PLAN_FILE : null,
    currency: (await readPriceList(project)).prices?.currency ?? null,
  });
  return { content, isOld };
}

interface RunData extends ShownRun {
  /** Over the last minute. */
  readonly perSecond: number;
  /** Null while all recipients are scanned. */
  readonly figures: RunFigures | null;
}

function runPage(view: View, data: RunData): Content {
  const { formats } = view;
  const { report, figures } = data;
  const title = titleOf(formats, report);
  const none = html``;
  const top = live('head', head(view, data));
  if (figures === null) {
    const counting = live('totals', html`<p class="soft">Counting: this scans all recipients.</p>`);
    const later = ['causes', 'steps', 'why', 'variants', 'figures'].map((id) => live(id, none));
    return { title, said: '', parts: [top, counting, ...later] };
  }
  const nothing = html`<section><h2>Deliveries</h2><p class="soft">Nothing came back yet. <code>handbill listen</code> receives delivery reports.</p></section>`;
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
      live('totals', endsSection(data)),
      live('causes', causesSection(data) ?? none),
      live('steps', nextSection(data) ?? none),
      live('why', html`<div class="pair">${outcomesSection(data)}${returned}</div>`),
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

function head(view: View, data: RunData): Html {
  const { formats } = view;
  const { report, perSecond, figures } = data;
  const { run, environment, state, startedAt, finishedAt } = report;
  const ms = tookMs(report);
  const took = ms === null ? '' : ` (${report.activeMs === undefined ? '' : 'sending for '}${formats.duration(ms)})`;
  return html`${crumbs([['Now', '/']], run)}
<div class="head"><h1>${report.campaign}</h1>${stateMark(state)}<form class="actions" method="get" action="${address(['runs', run, 'recipients'])}" role="search" aria-label="Recipients"><input name="q" type="search" aria-label="Find by line, key, address or message id" placeholder="Find a recipient" maxlength="300" autocomplete="off" spellcheck="false"></form><p class="actions"><a class="button main" href="${address(['runs', run, 'recipients'])}">Recipients</a><a class="button" href="${address(['runs', run, 'report'])}">Shareable report</a></p></div>
<p class="soft">${environment} · ${report.occurrence} · started ${formats.time(startedAt)}${finishedAt === null ? null : html`, ended ${formats.time(finishedAt)}${took}`}</p>
${verdictSection(data)}
${state === 'running' && figures?.cameBack ? progress(view, report, perSecond) : null}
${keptWords(report, formats).map((words) => html`<p>${words}</p>`)}`;
}

function progress({ formats, nowMs }: View, report: Report, rate: number): Html {
  const [done, of] = progressOf(report);
  const leftMs = leftOf(report, rate);
  const left = leftMs === null ? '' : `, ${formats.left(leftMs, nowMs)}`;
  const pace = rate > 0 ? `${formats.rate(rate)} a second over the last minute${left}` : 'nothing in the last minute';
  return html`<p><progress max="${of}" value="${done}" aria-label="Recipients done"></progress><strong>${formats.number(done)} of ${formats.number(of)}</strong> (${formats.percent(done, of)}), ${pace}.</p>`;
}
