import { findSuppressions } from '../../campaign/read-suppressions.ts';
import { shownTopic } from '../../ledger/suppressions.ts';
import type { UnreachableAddress } from '../../model.ts';
import { failuresText, unreachableIn } from '../../plan/unreachable.ts';
import { readHasher } from '../../suppression/hash.ts';
import { listedForm, spellingsOf } from '../../util/address-form.ts';
import { type Html, html } from '../../util/escape.ts';
import { createYields } from '../../util/long-work.ts';
import { address, pager, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { readSearch, type Search } from '../search.ts';
import { type MakePage, type Site, textOf, whole } from '../site.ts';
import { type Content, csrfField, fixed, live, questionPage, type View } from './layout.ts';

const ENTRIES_ON_A_PAGE = 50;
const STEP_ENTRIES = 20_000;
const LONGEST_MS = 1_500;

/** `/suppressions`: by address; `?q=` a whole address in any spelling, or a part of one. */
export const makeSuppressions: MakePage = async (site, open, { view, query }) => {
  const search = readSearch(textOf(query, 'q'), site.phone);
  const after = query.get('after')?.slice(0, 400) ?? null;
  const afterTopic = query.get('topic')?.slice(0, 100) ?? '';
  const { addresses, hashes } = open.ledger.suppressionCounts();
  const { found, stoppedAt } = await readEntries(open, search, after === null ? ['', ''] : [after, afterTopic]);
  const entries = found.slice(0, ENTRIES_ON_A_PAGE);
  const { files, unreachable } = await findSuppressions(null, site.reading, site.context.cwd);
  const part = search?.part == null ? null : listedForm(search.part);
  const isSought = (one: string): boolean =>
    search === null || search.names.map(listedForm).includes(one) || (part !== null && one.includes(part));
  const data = {
    q: search?.text ?? '',
    entries,
    addresses,
    hashes,
    isHashed: hashes === 0 || search === null ? null : await isHashed(site, open, search, view.nowMs),
    isFirst: after === null,
    next: found.length > ENTRIES_ON_A_PAGE ? placeOf(entries.at(-1)) : null,
    stoppedAt,
    files: files.map(({ file }) => file),
    failing: unreachableIn(site.reading.project, unreachable, open.ledger, view.nowMs).filter((one) =>
      isSought(one.address),
    ),
    timeZone: site.reading.project.timeZone,
  };
  return whole(suppressionsPage(view, data));
};

/** End of a page: by address, then by topic. */
type Place = readonly [address: string, topic: string];

function placeOf(entry: SuppressionLine | undefined): Place | null {
  return entry === undefined ? null : [entry.address, entry.topic];
}

/** Uses the index of addresses: the last page is as fast as the first. */
async function readEntries(open: OpenLedger, search: Search | null, cursor: Place) {
  const turn = createYields();
  const until = performance.now() + LONGEST_MS;
  const names = search === null ? null : JSON.stringify(search.names.map(listedForm));
  const found: SuppressionLine[] = [];
  for (let after = cursor; ; ) {
    const [endAddress = null, endTopic = null] = open.query(END_OF_STEP).get(...after, STEP_ENTRIES) ?? [];
    const limit = ENTRIES_ON_A_PAGE + 1 - found.length;
    const part = search?.part == null ? null : listedForm(search.part);
    const rows = open.query(ENTRIES).all(...after, endAddress, endTopic, names, part, limit);
    found.push(
      ...rows.map(
        ([address, topic, reason, until, source, created]): SuppressionLine => ({
          address: String(address),
          topic: String(topic),
          reason: reason as string | null,
          untilMs: until as number | null,
          source: String(source),
          createdMs: Number(created),
        }),
      ),
    );
    if (endAddress === null || found.length > ENTRIES_ON_A_PAGE) return { found, stoppedAt: null };
    after = [String(endAddress), String(endTopic)];
    if (performance.now() > until) return { found, stoppedAt: after };
    await turn();
  }
}

const END_OF_STEP = `SELECT address, topic FROM suppressions WHERE (address, topic) > (?, ?)
  ORDER BY address, topic LIMIT 1 OFFSET ?`;

const ENTRIES = `SELECT address, topic, reason, until_at, source, created_at FROM suppressions
  WHERE (address, topic) > (?1, ?2) AND (?3 IS NULL OR (address, topic) <= (?3, ?4))
    AND (?5 IS NULL OR address IN (SELECT value FROM json_each(?5)) OR instr(address, ?6) > 0)
  ORDER BY address, topic LIMIT ?7`;

/** Null: unknown, because the key of the hashes is missing. */
async function isHashed(site: Site, { ledger }: OpenLedger, search: Search, nowMs: number): Promise<boolean | null> {
  const { project } = site.reading;
  const read = await readHasher(project.suppressionKey, site.context.env, project.root);
  if ('problem' in read || read.hasher.keyId !== ledger.hashKeyId()) return null;
  return search.names.flatMap(spellingsOf).some((one) => ledger.isHashSuppressed(read.hasher.hash(one), nowMs));
}

interface SuppressionLine {
  readonly address: string;
  /** As in the ledger. */
  readonly topic: string;
  readonly reason: string | null;
  /** Null: no end. */
  readonly untilMs: number | null;
  readonly source: string;
  readonly createdMs: number;
}

interface SuppressionsData {
  readonly q: string;
  readonly entries: readonly SuppressionLine[];
  readonly addresses: number;
  readonly hashes: number;
  /** The list has a hash of the searched address; null: unknown, or no search. */
  readonly isHashed: boolean | null;
  readonly isFirst: boolean;
  readonly next: Place | null;
  readonly stoppedAt: Place | null;
  /** Lists in files that the project names: they count too, but are not shown. */
  readonly files: readonly string[];
  /** Addresses that failed for good too often. */
  readonly failing: readonly UnreachableAddress[];
  readonly timeZone: string;
}

export function suppressionsPage(view: View, data: SuppressionsData): Content {
  return {
    title: 'Suppressions',
    parts: [
      fixed('head', head(view, data)),
      live('suppressed', list(view, data)),
      live('unreachable', unreachableList(view, data)),
    ],
  };
}

function head(view: View, { q, files, timeZone }: SuppressionsData): Html {
  const others =
    files.length === 0
      ? null
      : html`<p class="soft">Files of the project that count too, and are not shown here: ${files.join(', ')}</p>`;
  return html`<h1>Suppressions</h1>
<p>No address on this list is sent to: in any campaign, or in those of a topic.</p>
${others}
<form class="filters" method="get" action="/suppressions" role="search" aria-label="Suppressions">
<p class="field wide"><label for="q">Number, email address or contact:ID, or a part of it</label><input id="q" name="q" type="search" value="${q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
<p class="actions"><button class="main">Search</button><a class="button" href="/suppressions">All</a></p>
</form>
${view.actions === 'on' ? adding(view, timeZone) : howToChange(view)}`;
}

function howToChange({ actions }: View): Html {
  const here =
    actions === 'off'
      ? html`To change the list here, start <code>handbill serve --allow-actions</code> and open the address that it prints.`
      : html`To change the list here, open the address that the start printed.`;
  return html`<p class="soft">${here} In a terminal: <code>handbill suppress add ADDRESS</code>, <code>handbill suppress remove ADDRESS</code></p>`;
}

function adding(view: View, timeZone: string): Html {
  return html`<form method="post" action="/suppressions"><fieldset><legend>Add an address</legend><div class="filters">${csrfField(view)}
<p class="field wide"><label for="address">Number, email address, contact:ID or hash</label><input id="address" name="address" required maxlength="300" autocomplete="off" spellcheck="false"></p>
<p class="field wide"><label for="reason">Reason</label><input id="reason" name="reason" maxlength="300"></p>
<p class="field"><label for="topic">Topic; empty means all</label><input id="topic" name="topic" maxlength="64" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="until">Until the end of the day (${timeZone}); empty means without end</label><input id="until" name="until" type="date"></p>
<p class="actions"><button name="do" value="add">Suppress</button></p>
</div></fieldset></form>`;
}

function list(view: View, data: SuppressionsData): Html {
  const { formats } = view;
  const { q, entries, addresses, hashes, isHashed, next, stoppedAt } = data;
  const first = data.isFirst ? null : address(['suppressions'], { q });
  const hashed = isHashed === true ? html`<p class="step">${q} is on the list as a keyed hash.</p>` : null;
  const far = stoppedAt === null ? null : html`<p><a href="${pageFrom(q, stoppedAt)}">Look further</a></p>`;
  const counts = `${formats.count(addresses, 'address', 'addresses')} and ${formats.count(hashes, 'keyed hash', 'keyed hashes')} on the list${q === '' ? '' : `; those that match ${q}`}.`;
  if (entries.length === 0) {
    return html`${hashed}<div class="empty"><p>${q === '' ? 'No addresses are suppressed.' : 'No address on the list is like that.'}</p><p class="soft">${counts}</p>${q === '' ? html`<p class="soft">A STOP that <code>handbill listen</code> receives is entered by itself; <code>handbill suppress add ADDRESS</code> enters one by hand.</p>` : null}${far}</div>
${pager('Pages of the list', [['First page', first]])}`;
  }
  const columns = view.actions === 'on' ? [...COLUMNS, { title: 'Change', isHidden: true }] : COLUMNS;
  const rows = entries.map((entry) => ({ cells: cells(view, entry) }));
  return html`${hashed}${table(counts, columns, rows)}
${far}
${pager('Pages of the list', [
  ['First page', first],
  ['Next page', next === null ? null : pageFrom(q, next)],
])}`;
}

function unreachableList(view: View, { failing, isFirst }: SuppressionsData): Html {
  if (failing.length === 0 || !isFirst) return html``;
  const shown = failing.slice(0, ENTRIES_ON_A_PAGE);
  const rows = shown.map(({ address: who, environment, failures, lastFailure }) => ({
    cells: [
      html`<a href="${address(['people'], { q: who })}">${who}</a>`,
      environment,
      failuresText(failures, lastFailure),
      ...(view.actions === 'on' ? [removal(view, who, null)] : []),
    ],
  }));
  const more = failing.length > shown.length ? ` The first ${shown.length} are here.` : '';
  const counts = `${view.formats.count(failing.length, 'address', 'addresses')} failed for good too often.${more}`;
  const change = view.actions === 'on' ? [{ title: 'Change', isHidden: true }] : [];
  const columns = [{ title: 'Address' }, { title: 'Environment' }, { title: 'Why' }, ...change];
  return html`<h2>Unreachable</h2>${table(counts, columns, rows)}`;
}

function pageFrom(q: string, [after, topic]: Place): string {
  return address(['suppressions'], { q, after, ...(topic === '' ? {} : { topic }) });
}

const COLUMNS = [
  { title: 'Address' },
  { title: 'Topic' },
  { title: 'Until', isLow: true },
  { title: 'From', isLow: true },
  { title: 'Reason', isOptional: true, isLow: true },
  { title: 'Since', isLow: true },
];

function cells(view: View, entry: SuppressionLine): readonly (Html | string)[] {
  const { formats, nowMs } = view;
  const { untilMs, source, reason, createdMs } = entry;
  const until =
    untilMs === null
      ? 'without end'
      : html`<span>${formats.time(untilMs)}${untilMs <= nowMs ? html` <span class="soft">(over)</span>` : null}</span>`;
  return [
    html`<span data-key="${entry.topic === '' ? entry.address : `${entry.address} ${entry.topic}`}"><a href="${address(['people'], { q: entry.address })}">${entry.address}</a></span>`,
    shownTopic(entry.topic) ?? 'all',
    until,
    source,
    reason ?? '',
    html`<span>${formats.time(createdMs)}</span>`,
    ...(view.actions === 'on' ? [removal(view, entry.address, shownTopic(entry.topic))] : []),
  ];
}

function removal(view: View, who: string, topic: string | null): Html {
  return html`<form method="post" action="/suppressions">${csrfField(view)}<input type="hidden" name="address" value="${who}">${topicField(topic)}<button class="quiet" name="do" value="ask">Remove<span class="hidden"> ${who}</span></button></form>`;
}

function topicField(topic: string | null): Html | null {
  return topic === null ? null : html`<input type="hidden" name="topic" value="${topic}">`;
}

/** Asks before a person is opted out of everything. */
export function additionQuestionPage(view: View, who: string): Content {
  return questionPage(
    `Opt ${who} out?`,
    html`<p>No campaign sends to this address any more, until it is taken off the list.</p>
<form method="post" action="/suppressions" class="actions">${csrfField(view)}<input type="hidden" name="address" value="${who}"><button class="main" name="do" value="add">Opt out</button><a class="button" href="/suppressions">Back</a></form>`,
  );
}

/**
 * Asks before removing an address from the suppressions.
 * @param topic - only the entry for this topic; null: every entry of the address
 */
export function removalQuestionPage(view: View, who: string, topic: string | null): Content {
  const title = `Take ${who} off the list${topic === null ? '' : ` for ${topic}`}?`;
  return questionPage(
    title,
    html`<p>Campaigns may send to this address again, also where its owner asked not to be written to. The entry is not kept.</p>
<form method="post" action="/suppressions" class="actions">${csrfField(view)}<input type="hidden" name="address" value="${who}">${topicField(topic)}<button class="main" name="do" value="remove">Take it off</button><a class="button" href="/suppressions">Back</a></form>`,
  );
}
