import { findSuppressions } from '../../campaign/read-suppressions.ts';
import type { RunRecord } from '../../ledger/records.ts';
import { namesIn } from '../../operations/person.ts';
import { newestFirst, withoutTests } from '../../operations/report.ts';
import { failuresText, unreachableIn } from '../../plan/unreachable.ts';
import { listedForm } from '../../util/address-form.ts';
import { type Html, html } from '../../util/escape.ts';
import { address, crumbs, empty, facts, searchForm, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { namesOf, personLink } from '../names.ts';
import { nodeHtml } from '../preview/message-html.ts';
import { readRow, readRows } from '../rows.ts';
import { readSearch, type Search } from '../search.ts';
import { type MakePage, notFound, ofRun, type Site, textOf, whole } from '../site.ts';
import { actionForm, fixed, type View } from './layout.ts';
import { dataOf, type Moment, momentsOf, OF_AN_EMAIL, type RecipientData, timelineOf } from './recipient.ts';

const MOST_PEOPLE = 50;
const LONGEST_MS = 1_500;

/** `/people`: the people of all runs who match `?q=`, by number, key or name; the newest run first. */
export const makePeople: MakePage = async (site, open, asked) => {
  const q = textOf(asked.query, 'q');
  const until = performance.now() + LONGEST_MS;
  const found = new Map<string, { readonly person: Html; readonly campaigns: Set<string> }>();
  let isCut = false;
  for (const run of q === '' || open === null ? [] : newestFirst(withoutTests(open.ledger.runs()))) {
    isCut ||= found.size >= MOST_PEOPLE || performance.now() > until;
    if (isCut || open === null) break;
    const names = await namesOf(site, asked, run, true);
    const search = readSearch(q, site.phone, await names.find(q));
    for (const { row, key, to } of await rowsIn(site, open, run, search)) {
      const who = to ?? key;
      if (who === null) continue;
      const person = personLink(address(['people', run.id, row]), names.labelOf(row, key), who);
      const known = found.get(who) ?? { person, campaigns: new Set() };
      found.set(who, known);
      known.campaigns.add(run.name);
    }
  }
  const rows = [...found.values()]
    .slice(0, MOST_PEOPLE)
    .map(({ person, campaigns }) => [person, [...campaigns].join(', ')]);
  const columns = [{ title: 'Person' }, { title: 'Campaigns' }];
  const list = table('In the runs of the ledger, the newest first.', columns, rows);
  const hint = 'Names are searched in lists that have not changed since the run.';
  const where = isCut ? 'of the runs that were searched in time' : 'of the runs';
  const none = q !== '' && empty(`No person ${where} is like that.`, hint);
  const cut = isCut && html`<p>There may be more in older runs: search for more of the name or number.</p>`;
  const form = searchForm('/people', 'People', 'Name, number or key', q);
  return whole({
    title: 'People',
    parts: [
      fixed('head', html`<h1>People</h1>\n${form}`),
      fixed('people', html`${rows.length > 0 ? list : none}${cut}`),
    ],
  });
};

/** A line says nothing of a person. */
async function rowsIn(site: Site, open: OpenLedger, run: RunRecord, search: Search | null) {
  const filter = search === null ? {} : { search: { ...search, line: null } };
  const list = { open, run, isHeld: site.stats.isHeld(run) };
  return (await readRows(list, filter, { after: -1 }, MOST_PEOPLE)).rows;
}

/** `/people/ID/ROW`: every message to the person in this row of a run, and what came of them; no address is in it. */
export const makePerson: MakePage = ofRun(async (site, open, run, asked, row) => {
  const outcome = readRow({ open, run, isHeld: site.stats.isHeld(run) }, row);
  if (outcome === null || outcome.key === null) return notFound('The ledger has no person there.');
  const { view } = asked;
  const { ledger } = open;
  // In other lists, the same key may be another person.
  const addresses = [...new Set(namesIn({ ...outcome, key: null }))];
  const names = addresses.length > 0 ? addresses : [outcome.key];
  const search = { text: '', names, line: null, part: null, rows: new Set<number>() };
  const all: RecipientData[] = [];
  for (const other of newestFirst(withoutTests(ledger.runs()))) {
    if (other.purgedAtMs !== null) continue;
    for (const one of await rowsIn(site, open, other, search))
      all.push(await dataOf(site, open, asked, other, one, true));
  }
  const own = all.find((one) => one.run.id === run.id);
  const [who = ''] = names;
  const title = own?.names.labelOf(own.outcome.row, own.outcome.key) ?? who;
  const { unreachable } = findSuppressions(null, site.reading, site.context.cwd);
  const failing = unreachableIn(site.reading.project, unreachable, ledger, view.nowMs, names);
  const optOut = html`<button name="do" value="ask-add">Opt out</button>`;
  const head = html`${crumbs([['People', '/people']], title)}
<h1>${title}</h1>
${facts([
  ['Address', names.join(', ')],
  ['Messages', view.formats.number(all.filter((one) => one.outcome.attempts > 0).length)],
  ...failing.map((one) => [`Unreachable in ${one.environment}`, failuresText(one.failures, one.lastFailure)] as const),
  ['Suppressed now', names.some((one) => ledger.isSuppressed(one, view.nowMs)) ? 'yes' : 'no'],
])}${actionForm(view, '/suppressions', { address: who }, optOut)}`;
  const moments = [
    ...all.flatMap((data) => [...textMoments(view, data), ...momentsOf(view.formats, data)]),
    ...names
      .flatMap((name) => ledger.suppressionsOf(listedForm(name)))
      .map(({ createdAtMs, source, topic, reason }): Moment => {
        const content = html`<b>Opted out of ${topic === '' ? 'everything' : topic}</b> <span class="soft">${[source, reason].filter(Boolean).join(' · ')}</span>`;
        return { atMs: createdAtMs, tone: 'rejected', content };
      }),
  ];
  return whole({ title, parts: [fixed('head', head), fixed('story', timelineOf(view.formats, moments))] });
});

/** The text of a run, at its place in time. */
function textMoments({ formats }: View, data: RecipientData): readonly Moment[] {
  const { outcome, run, sent } = data;
  const times = momentsOf(formats, data).flatMap(({ atMs }) => atMs ?? []);
  const nodes = sent !== null && 'messages' in sent ? [...sent.messages.values()] : [];
  const href = address(['runs', run.id, 'recipients', outcome.row]);
  const texts = nodes.map(
    (node) => html`<div class="said-text"><h3 class="hidden">Its text</h3>${nodeHtml(node, OF_AN_EMAIL)}</div>`,
  );
  const content = html`<b><a href="${href}">${run.name}</a></b> <span class="soft">${run.id}</span>${texts}`;
  return [{ atMs: times.length === 0 ? null : Math.min(...times), tone: 'deferred', content }];
}
