import { setTimeout as sleep } from 'node:timers/promises';
import { onlyEnvironment } from '../../campaign/environments.ts';
import { HandbillError } from '../../errors.ts';
import { newestFirst, withoutTests } from '../../operations/report.ts';
import { type Html, html } from '../../util/escape.ts';
import { campaignLink } from '../judged.ts';
import { address, empty } from '../kit.ts';
import { rehearsalSections } from '../rehearsal.ts';
import { DAYS_AHEAD, type Made, type MakePage, notFound, textOf } from '../site.ts';
import { choices, live } from './layout.ts';

/** `/ahead`: the coming days of an environment, by default the one that was sent to last. */
export const makeAhead: MakePage = async (site, open, { view, query, patienceMs }) => {
  const { project } = site.reading;
  const names = [...project.environments.keys()];
  const [newest] = newestFirst(withoutTests(open?.ledger.runs() ?? []));
  const asked = textOf(query, 'env');
  const environment = asked === '' ? (onlyEnvironment(project) ?? newest?.environment ?? names[0] ?? '') : asked;
  if (!names.includes(environment)) return notFound(`There is no environment "${environment.slice(0, 100)}".`);
  const campaign = textOf(query, 'campaign');
  const links = names.map((name) => {
    return { href: address(['ahead'], { env: name, campaign }), text: html`${name}`, isNow: name === environment };
  });
  const all = html`<a href="${address(['ahead'], { env: environment })}">All campaigns</a>`;
  const head = html`<h1>The next ${DAYS_AHEAD} days</h1>${names.length > 1 && choices('Environment', links)}${campaign !== '' && html`<p>Only ${campaign}. ${all}</p>`}`;
  const made = (content: Html, isOld = false): Made => {
    return { content: { title: 'The coming days', parts: [live('head', head), live('ahead', content)] }, isOld };
  };
  try {
    const found = await Promise.race([site.ahead(environment), sleep(patienceMs, null)]);
    if (found === null)
      return made(html`<p class="soft">These days are being played. The page shows them soon.</p>`, true);
    const occurrences = found.occurrences.filter((one) => campaign === '' || one.campaign === campaign);
    const shown = { ...found, occurrences, ...(campaign === '' ? {} : { days: [], busiest: 0 }) };
    return made(rehearsalSections(shown, view.formats, campaignLink));
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    return made(empty(error.message, html`<code>handbill rehearse</code> says it in the terminal.`));
  }
};
