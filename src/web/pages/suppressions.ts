import { findSuppressions } from '../../campaign/read-suppressions.ts';
import { shownTopic } from '../../ledger/suppressions.ts';
import type { UnreachableAddress } from '../../model.ts';
import { failuresText, unreachableIn } from '../../plan/unreachable.ts';
import { readHasher } from '../../suppression/hash.ts';
import { listedForm, spellingsOf } from '../../util/address-form.ts';
import { type Html, html } from '../../util/escape.ts';
import { createYields } from '../../util/long-work.ts';
import { address, empty, pager, searchForm, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { readSearch, type Search } from '../search.ts';
import { type MakePage, type Site, textOf, whole } from '../site.ts';
import { actionForm, type Content, fixed, formFields, live, questionPage, type View } from './layout.ts';

const ENTRIES_ON_A_PAGE = 50;
const STEP_ENTRIES = 20_000;
const LONGEST_MS = 1_500;

/** `/suppressions`: by address; `?q=` a whole address in any spelling, or a part of one. */
export const makeSuppressions: MakePage = async (site, open, { view, query }) => {
  const { project } = site.reading;
  const search = readSearch(textOf(query, 'q'), site.phone);
  const after = query.get('after')?.slice(0, 400) ?? null;
  const { files, unreachable } = findSuppressions(null, site.reading, site.context.cwd);
  const names = files.map(({ file }) => file).join(', ');
  const links = html`<a class="button" href="/suppressions">All</a>`;
  const field = 'Number, email address or contact:ID, or a part of it';
  const form = searchForm('/suppressions', 'Suppressions', field, search?.text ?? '', { links });
  const head = html`<h1>Suppressions</h1>
<p>No address on this list is sent to: in any campaign, or in those of a topic.</p>
${names !== '' && html`<p class="soft">Files of the project that count too, and are not shown here: ${names}</p>`}
${form}
${view.actions === 'on' ? adding(view, project.timeZone) : IN_A_TERMINAL}`;
  const topic = query.get('topic')?.slice(0, 100) ?? '';
  const failing = open === null ? [] : unreachableIn(project, unreachable, open.ledger, view.nowMs);
  const [forms, part] = [search?.names.map(listedForm) ?? [], search?.part ?? null];
  const isSought = (who: string) => forms.includes(who) || (part !== null && who.includes(listedForm(part)));
  const sought = after === null ? failing.filter((one) => search === null || isSought(one.address)) : [];
  return whole({
    title: 'Suppressions',
    parts: [
      fixed('head', head),
      live('suppressed', await list(site, open, view, search, after === null ? null : [after, topic])),
      live('unreachable', unreachableList(view, sought)),
    ],
  });
};

/** End of a page: by address, then by topic. */
type Place = readonly [address: string, topic: string];

/** Uses the index of addresses: the last page is as fast as the first. */
async function readEntries({ query }: OpenLedger, search: Search | null, cursor: Place) {
  const turn = createYields();
  const until = performance.now() + LONGEST_MS;
  const names = search === null ? null : JSON.stringify(search.names.map(listedForm));
  const part = search?.part == null ? null : listedForm(search.part);
  const found: (readonly unknown[])[] = [];
  for (let after = cursor; ; ) {
    const [endAddress = null, endTopic = null] = query(END_OF_STEP).get(...after, STEP_ENTRIES) ?? [];
    const limit = ENTRIES_ON_A_PAGE + 1 - found.length;
    found.push(...query(ENTRIES).all(...after, endAddress, endTopic, names, part, limit));
    const entries = found.slice(0, ENTRIES_ON_A_PAGE).map(entryOf);
    const last = entries.at(-1);
    if (last !== undefined && found.length > ENTRIES_ON_A_PAGE)
      return { entries, next: [last.address, last.topic] as const, stoppedAt: null };
    if (endAddress === null) return { entries, next: null, stoppedAt: null };
    after = [String(endAddress), String(endTopic)];
    if (performance.now() > until) return { entries, next: null, stoppedAt: after };
    await turn();
  }
}

function entryOf([who, topic, reason, until, source, created]: readonly unknown[]) {
  return {
    address: String(who),
    /** As in the ledger. */
    topic: String(topic),
    reason: reason as string | null,
    /** Null: no end. */
    untilMs: until as number | null,
    source: String(source),
    createdMs: Number(created),
  };
}

const END_OF_STEP = `SELECT address, topic FROM suppressions WHERE (address, topic) > (?, ?)
  ORDER BY address, topic LIMIT 1 OFFSET ?`;

const ENTRIES = `SELECT address, topic, reason, until_at, source, created_at FROM suppressions
  WHERE (address, topic) > (?1, ?2) AND (?3 IS NULL OR (address, topic) <= (?3, ?4))
    AND (?5 IS NULL OR address IN (SELECT value FROM json_each(?5)) OR instr(address, ?6) > 0)
  ORDER BY address, topic LIMIT ?7`;

/** False also where the key of the hashes is missing. */
async function isHashed({ reading, context }: Site, { ledger }: OpenLedger, search: Search, nowMs: number) {
  const { project } = reading;
  const read = await readHasher(project.suppressionKey, context.env, project.root);
  if ('problem' in read || read.hasher.keyId !== ledger.hashKeyId()) return false;
  return search.names.flatMap(spellingsOf).some((one) => ledger.isHashSuppressed(read.hasher.hash(one), nowMs));
}

const IN_A_TERMINAL = html`<p class="soft">In a terminal: <code>handbill suppress add ADDRESS</code>, <code>handbill suppress remove ADDRESS</code></p>`;

function adding(view: View, timeZone: string): Html {
  return html`<form method="post" action="/suppressions"><fieldset><legend>Add an address</legend><div class="filters">${formFields(view)}
<p class="field wide"><label for="address">Number, email address, contact:ID or hash</label><input id="address" name="address" required maxlength="300" autocomplete="off" spellcheck="false"></p>
<p class="field wide"><label for="reason">Reason</label><input id="reason" name="reason" maxlength="300"></p>
<p class="field"><label for="topic">Topic; empty means all</label><input id="topic" name="topic" maxlength="64" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="until">Until the end of the day (${timeZone}); empty means without end</label><input id="until" name="until" type="date"></p>
<p class="actions"><button name="do" value="add">Suppress</button></p>
</div></fieldset></form>`;
}

/** @param after - null: the first page */
async function list(site: Site, open: OpenLedger | null, view: View, search: Search | null, after: Place | null) {
  const { count } = view.formats;
  const q = search?.text ?? '';
  const pageFrom = ([who, topic]: Place) => address(['suppressions'], { q, after: who, topic });
  const { addresses, hashes } = open?.ledger.suppressionCounts() ?? { addresses: 0, hashes: 0 };
  const { entries, next, stoppedAt } =
    open === null ? { entries: [], next: null, stoppedAt: null } : await readEntries(open, search, after ?? ['', '']);
  const isFound = open !== null && hashes > 0 && search !== null && (await isHashed(site, open, search, view.nowMs));
  const hashed = isFound && html`<p class="step">${q} is on the list as a keyed hash.</p>`;
  const far = stoppedAt && html`<p><a href="${pageFrom(stoppedAt)}">Look further</a></p>`;
  const counts = `${count(addresses, 'address', 'addresses')} and ${count(hashes, 'keyed hash', 'keyed hashes')} on the list`;
  const links = pager('Pages of the list', [
    ['First page', after && address(['suppressions'], { q })],
    ['Next page', next && pageFrom(next)],
  ]);
  if (entries.length === 0) {
    const hint = html`A STOP that <code>handbill listen</code> receives is entered by itself; <code>handbill suppress add ADDRESS</code> enters one by hand.`;
    const none = q === '' ? 'No addresses are suppressed.' : 'No address on the list is like that.';
    return html`${hashed}${empty(none, q === '' ? html`${counts}. ${hint}` : `${counts}.`, far)}\n${links}`;
  }
  const caption = `${counts}${q === '' ? '' : `; those that match ${q}`}.`;
  const rows = entries.map((entry) => cells(view, entry));
  return html`${hashed}${table(caption, COLUMNS, rows)}\n${far}\n${links}`;
}

function unreachableList(view: View, failing: readonly UnreachableAddress[]): Html {
  if (failing.length === 0) return html``;
  const shown = failing.slice(0, ENTRIES_ON_A_PAGE);
  const rows = shown.map(({ address: who, environment, failures, lastFailure }) => [
    peopleLink(who),
    environment,
    failuresText(failures, lastFailure),
    removal(view, who, null),
  ]);
  const more = failing.length > shown.length ? ` The first ${shown.length} are here.` : '';
  const counts = `${view.formats.count(failing.length, 'address', 'addresses')} failed for good too often.${more}`;
  return html`<h2>Unreachable</h2>${table(counts, [{ title: 'Address' }, { title: 'Environment' }, { title: 'Why' }, CHANGE], rows)}`;
}

/** Only for a reader who may change something. */
const CHANGE = { title: 'Change', isHidden: true, isOptional: true };

const COLUMNS = [
  { title: 'Address' },
  { title: 'Topic' },
  { title: 'Until', isLow: true },
  { title: 'From', isLow: true },
  { title: 'Reason', isOptional: true, isLow: true },
  { title: 'Since', isLow: true },
  CHANGE,
];

function cells(view: View, { address: who, topic, untilMs, source, reason, createdMs }: ReturnType<typeof entryOf>) {
  const { formats, nowMs } = view;
  const over = untilMs !== null && untilMs <= nowMs && html` <span class="soft">(over)</span>`;
  return [
    html`<span data-key="${topic === '' ? who : `${who} ${topic}`}">${peopleLink(who)}</span>`,
    shownTopic(topic) ?? 'all',
    untilMs === null ? 'without end' : html`<span>${formats.when(untilMs, nowMs)}${over}</span>`,
    source,
    reason,
    formats.when(createdMs, nowMs),
    removal(view, who, shownTopic(topic)),
  ];
}

function peopleLink(who: string): Html {
  return html`<a href="${address(['people'], { q: who })}">${who}</a>`;
}

function removal(view: View, who: string, topic: string | null): Html | null {
  const button = html`<button class="quiet" name="do" value="ask">Remove<span class="hidden"> ${who}</span></button>`;
  return actionForm(view, '/suppressions', { address: who, topic }, button);
}

export function additionQuestionPage(view: View, who: string): Content {
  return questionPage(view, {
    title: `Opt ${who} out?`,
    content: html`<p>No campaign sends to this address any more, until it is taken off the list.</p>`,
    to: '/suppressions',
    hidden: { address: who },
    button: ['do', 'add', 'Opt out'],
  });
}

/**
 * Asks before removing an address from the suppressions.
 * @param topic - only the entry for this topic; null: every entry of the address
 */
export function removalQuestionPage(view: View, who: string, topic: string | null): Content {
  return questionPage(view, {
    title: `Take ${who} off the list${topic === null ? '' : ` for ${topic}`}?`,
    content: html`<p>Campaigns may send to this address again, also where its owner asked not to be written to. The entry is not kept.</p>`,
    to: '/suppressions',
    hidden: { address: who, topic },
    button: ['do', 'remove', 'Take it off'],
  });
}
