import type { Report } from '../../model.ts';
import { PLAN_FILE, sentCampaign, takesPlans } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { leftOf, progressOf, verdictText } from '../../report/verdict.ts';
import { type Html, html } from '../../util/escape.ts';
import { judge } from '../judged.ts';
import { address, crumbs, section } from '../kit.ts';
import { runHead, runSections, type ShownRun } from '../sections.ts';
import { type MakePage, ofRun } from '../site.ts';
import { live, type View } from './layout.ts';

/** `/runs/ID`: one run. */
export const makeRun: MakePage = ofRun(async (site, open, found, asked) => {
  const { project } = site.reading;
  const { view } = asked;
  const { value, isOld } = await site.stats.of(found, asked.patienceMs);
  const { named, campaign } = await sentCampaign(value?.run ?? found, project, site.context);
  const { run, report, perSecond } = judge(site, open, found, value, campaign);
  const shown: ShownRun = {
    report,
    formats: view.formats,
    link: (text, query) => html`<a href="${address(['runs', run.id, 'recipients'], query)}">${text}</a>`,
    campaignFile: await named(),
    planPath: takesPlans(run, project) ? PLAN_FILE : null,
    currency: readPriceList(project).prices?.currency ?? null,
  };
  const isCounted = value?.cameBack != null;
  const none = isCounted
    ? section(
        'Deliveries',
        html`<p class="soft">Nothing came back yet. <code>handbill listen</code> receives delivery reports.</p>`,
      )
    : html`<p class="soft">Counting deliveries and times: this scans all recipients.</p>`;
  const going = report.state === 'running' && isCounted ? progress(view, report, perSecond) : null;
  // The parts are the same while the first count goes on, but most are empty.
  const parts = runSections(shown, none).map(([id, content]) => {
    const counting = id === 'totals' && html`<p class="soft">Counting: this scans all recipients.</p>`;
    return live(id, html`${value === null ? counting : content}`);
  });
  const { campaign: name, occurrence, state } = report;
  const [done, of] = progressOf(report);
  const isRunning = state === 'running';
  const before = isRunning ? `${view.formats.percent(done, of)} ` : state === 'finished' ? '' : `${state}: `;
  // Changes with the state and each tenth, so that listeners are not updated with every message.
  const tenth = of === 0 ? 1 : Math.floor((10 * done) / of) / 10;
  const said = isRunning ? `${view.formats.percent(tenth, 1)} done.` : verdictText(report, view.formats);
  const content = {
    title: `${before}${name} · ${occurrence}`,
    said: value === null ? '' : `${name}: ${said}`,
    parts: [live('head', head(shown, going)), ...parts],
  };
  return { content, isOld };
});

function head(shown: ShownRun, going: Html | null): Html {
  const { run } = shown.report;
  const recipients = address(['runs', run, 'recipients']);
  const tools = html`<form class="actions" method="get" action="${recipients}" role="search" aria-label="Recipients"><input name="q" type="search" aria-label="Find by line, key, address or message id" placeholder="Find a recipient" maxlength="300" autocomplete="off" spellcheck="false"></form><p class="actions"><a class="button main" href="${recipients}">Recipients</a><a class="button" href="${address(['runs', run, 'report'])}">Shareable report</a></p>`;
  return html`${crumbs([['Now', '/']], run)}${runHead(shown, tools, going)}`;
}

function progress({ formats, nowMs }: View, report: Report, rate: number): Html {
  const [done, of] = progressOf(report);
  const leftMs = leftOf(report, rate);
  const left = leftMs === null ? '' : `, ${formats.left(leftMs, nowMs)}`;
  const pace = rate > 0 ? `${formats.rate(rate)} a second over the last minute${left}` : 'nothing in the last minute';
  return html`<p><progress max="${of}" value="${done}" aria-label="Recipients done"></progress><strong>${formats.number(done)} of ${formats.number(of)}</strong> (${formats.percent(done, of)}), ${pace}.</p>`;
}
