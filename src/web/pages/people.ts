import { findSuppressions } from '../../campaign/read-suppressions.ts';
import type { Outcome, UnreachableAddress } from '../../model.ts';
import { namesIn } from '../../operations/person.ts';
import { newestFirst, withoutTests } from '../../operations/report.ts';
import { failuresText, unreachableIn } from '../../plan/unreachable.ts';
import { listedForm } from '../../util/address-form.ts';
import { html } from '../../util/escape.ts';
import { address, crumbs, empty, facts, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { namesOf, personLink } from '../names.ts';
import { nodeHtml } from '../preview/message-html.ts';
import { NO_FILTER, readRow, readRows } from '../rows.ts';
import { readSearch, type Search } from '../search.ts';
import { type Asked, type Made, noRun, notFound, runOf, type Site, textOf, whole } from '../site.ts';
import { type Content, csrfField, fixed, type View } from './layout.ts';
import { dataOf, type Moment, momentsOf, type RecipientData, timelineOf } from './recipients.ts';

const MOST_PEOPLE = 50;
const LONGEST_MS = 1_500;

interface Found {
  readonly href: string;
  readonly who: string;
  readonly label: string | null;
  readonly campaigns: string[];
}

/** `/people`: the people of all runs who match `?q=`, by number, key or name; the newest run first. */
export async function makePeople(site: Site, open: OpenLedger | null, asked: Asked): Promise<Made> {
  const q = textOf(asked.query, 'q');
  const until = performance.now() + LONGEST_MS;
  const found = new Map<string, Found>();
  let isCut = false;
  for (const run of q === '' || open === null ? [] : newestFirst(withoutTests(open.ledger.runs()))) {
    isCut ||= found.size >= MOST_PEOPLE || performance.now() > until;
    if (isCut || open === null) break;
    const names = await namesOf(site, asked, run, true);
    const search = readSearch(q, site.phone, await names.find(q));
    for (const outcome of await rowsIn(site, open, run, search)) {
      const { row, key, to } = outcome;
      const who = to ?? key;
      if (who === null) continue;
      const label = names.labelOf(row, key);
      const known = found.get(who) ?? { href: address(['people', run.id, row]), who, label, campaigns: [] };
      found.set(who, known);
      if (!known.campaigns.includes(run.name)) known.campaigns.push(run.name);
    }
  }
  return whole(peoplePage(q, [...found.values()].slice(0, MOST_PEOPLE), isCut));
}

/** A line says nothing of a person. */
async function rowsIn(site: Site, open: OpenLedger, run: Parameters<typeof readRow>[1], search: Search | null) {
  const filter = { ...NO_FILTER, search: search === null ? null : { ...search, line: null } };
  return (await readRows(open, run, site.stats.isHeld(run), filter, { after: -1 }, MOST_PEOPLE)).rows;
}

function peoplePage(q: string, people: readonly Found[], isCut: boolean): Content {
  const rows = people.map(({ href, who, label, campaigns }) => ({
    cells: [personLink(href, label, who), campaigns.join(', ')],
  }));
  const cut = isCut ? html`<p>There may be more in older runs: search for more of the name or number.</p>` : null;
  const list =
    rows.length > 0
      ? table('In the runs of the ledger, the newest first.', [{ title: 'Person' }, { title: 'Campaigns' }], rows)
      : q === ''
        ? null
        : empty(
            'No person of the runs is like that.',
            html`Names are searched in lists that have not changed since the run.`,
          );
  const form = html`<h1>People</h1>
<form class="filters" method="get" action="/people" role="search" aria-label="People">
<p class="field wide"><label for="q">Name, number or key</label><input id="q" name="q" type="search" value="${q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
<p class="actions"><button class="main">Search</button></p>
</form>`;
  return { title: 'People', parts: [fixed('head', form), fixed('people', html`${list}${cut}`)] };
}

/** `/people/ID/ROW`: every message to the person in this row of a run, and what came of them; no address is in it. */
export async function makePerson(site: Site, open: OpenLedger, asked: Asked, id: string, row: number): Promise<Made> {
  const run = runOf(open, id);
  if (run === null) return noRun(id);
  const outcome = readRow(open, run, site.stats.isHeld(run), row);
  if (outcome === null || outcome.key === null) return notFound('The ledger has no person there.');
  const names = addressesOf(outcome);
  const search = { text: '', names, line: null, part: null, rows: new Set<number>() };
  const all: RecipientData[] = [];
  for (const other of newestFirst(withoutTests(open.ledger.runs()))) {
    if (other.purgedAtMs !== null) continue;
    for (const one of await rowsIn(site, open, other, search))
      all.push(await dataOf(site, open, asked, other, one, true));
  }
  const { unreachable } = await findSuppressions(null, site.reading, site.context.cwd);
  const failing = unreachableIn(site.reading.project, unreachable, open.ledger, asked.view.nowMs, names);
  return whole(
    personPage(
      asked.view,
      open,
      names,
      failing,
      all,
      all.find((one) => one.run === id),
    ),
  );
}

/** In other lists, the same key may be another person. */
function addressesOf(outcome: Outcome): readonly string[] {
  const all = [...new Set(namesIn({ ...outcome, key: null }))];
  return all.length > 0 || outcome.key === null ? all : [outcome.key];
}

function personPage(
  view: View,
  open: OpenLedger,
  names: readonly string[],
  failing: readonly UnreachableAddress[],
  all: readonly RecipientData[],
  own: RecipientData | undefined,
): Content {
  const [who = ''] = names;
  const label = own?.names.labelOf(own.outcome.row, own.outcome.key) ?? null;
  const entries = names.flatMap((name) => open.ledger.suppressionsOf(listedForm(name)));
  const moments = [
    ...all.flatMap((data) => [...textMoments(view, data), ...momentsOf(view.formats, data)]),
    ...entries.map(({ createdAtMs, source, topic, reason }): Moment => {
      const scope = topic === '' ? 'everything' : topic;
      const content = html`<b>Opted out of ${scope}</b> <span class="soft">${[source, reason].filter(Boolean).join(' · ')}</span>`;
      return { atMs: createdAtMs, tone: 'rejected', content };
    }),
  ];
  const title = label ?? who;
  const head = html`${crumbs([['People', '/people']], title)}
<h1>${title}</h1>
${facts([
  ['Address', names.join(', ')],
  ['Messages', view.formats.number(all.filter(({ outcome }) => outcome.attempts > 0).length)],
  ...failing.map(({ environment, failures, lastFailure }): [string, string] => [
    `Unreachable in ${environment}`,
    failuresText(failures, lastFailure),
  ]),
  ['Suppressed now', names.some((one) => open.ledger.isSuppressed(one, view.nowMs)) ? 'yes' : 'no'],
])}${
  view.actions !== 'on'
    ? null
    : html`<form method="post" action="/suppressions" class="actions">${csrfField(view)}<input type="hidden" name="address" value="${who}"><button name="do" value="ask-add">Opt out</button></form>`
}`;
  return { title, parts: [fixed('head', head), fixed('story', timelineOf(view.formats, moments))] };
}

/** The text of a run, at its place in time. */
function textMoments({ formats }: View, data: RecipientData): readonly Moment[] {
  const { outcome, run, campaign, sent } = data;
  const times = momentsOf(formats, data).flatMap(({ atMs }) => atMs ?? []);
  const nodes = sent !== null && 'messages' in sent ? [...sent.messages.values()] : [];
  const href = address(['runs', run, 'recipients', outcome.row]);
  const texts = nodes.map(
    (node) =>
      html`<div class="said-text"><h3 class="hidden">Its text</h3>${nodeHtml(node, 'Its HTML is on the page of the preview.')}</div>`,
  );
  const content = html`<b><a href="${href}">${campaign}</a></b> <span class="soft">${run}</span>${texts}`;
  return [{ atMs: times.length === 0 ? null : Math.min(...times), tone: 'deferred', content }];
}
