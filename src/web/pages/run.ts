import type { Report } from '../../model.ts';
import { PLAN_FILE, sentCampaign, takesPlans } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { leftOf, progressOf, verdictText } from '../../report/verdict.ts';
import { type Html, html } from '../../util/escape.ts';
import type { RunFigures } from '../counts.ts';
import { judge } from '../judged.ts';
import { address, crumbs } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { runHead, runSections, type ShownRun } from '../sections.ts';
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
  const top = live('head', head(view, data));
  const none =
    figures?.cameBack == null
      ? html`<p class="soft">Counting deliveries and times: this scans all recipients.</p>`
      : html`<section><h2>Deliveries</h2><p class="soft">Nothing came back yet. <code>handbill listen</code> receives delivery reports.</p></section>`;
  // The parts are the same while the first count goes on, but most are empty.
  const parts = runSections(data, none).map(([id, content]) => {
    const counting = id === 'totals' ? html`<p class="soft">Counting: this scans all recipients.</p>` : null;
    return live(id, html`${figures === null ? counting : content}`);
  });
  return {
    title: titleOf(formats, report),
    said: figures === null ? '' : saidOf(formats, report),
    parts: [top, ...parts],
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
  const { report, perSecond, figures } = data;
  const recipients = address(['runs', report.run, 'recipients']);
  const tools = html`<form class="actions" method="get" action="${recipients}" role="search" aria-label="Recipients"><input name="q" type="search" aria-label="Find by line, key, address or message id" placeholder="Find a recipient" maxlength="300" autocomplete="off" spellcheck="false"></form><p class="actions"><a class="button main" href="${recipients}">Recipients</a><a class="button" href="${address(['runs', report.run, 'report'])}">Shareable report</a></p>`;
  const going = report.state === 'running' && figures?.cameBack ? progress(view, report, perSecond) : null;
  return html`${crumbs([['Now', '/']], report.run)}${runHead(data, tools, going)}`;
}

function progress({ formats, nowMs }: View, report: Report, rate: number): Html {
  const [done, of] = progressOf(report);
  const leftMs = leftOf(report, rate);
  const left = leftMs === null ? '' : `, ${formats.left(leftMs, nowMs)}`;
  const pace = rate > 0 ? `${formats.rate(rate)} a second over the last minute${left}` : 'nothing in the last minute';
  return html`<p><progress max="${of}" value="${done}" aria-label="Recipients done"></progress><strong>${formats.number(done)} of ${formats.number(of)}</strong> (${formats.percent(done, of)}), ${pace}.</p>`;
}
