import { findSuppressions } from '../../campaign/read-suppressions.ts';
import { listedForm } from '../../suppression/form.ts';
import { readHasher } from '../../suppression/hash.ts';
import { type Html, html } from '../../util/html.ts';
import { createTurns } from '../../util/turns.ts';
import type { OpenLedger } from '../ledger.ts';
import { readSearch, type Search } from '../search.ts';
import { type MakePage, type Site, textOf, whole } from '../site.ts';
import { address, type Content, csrfField, pager, table, type View } from './layout.ts';

const ENTRIES_ON_A_PAGE = 50;
const STEP_ENTRIES = 20_000;
const LONGEST_MS = 1_500;

/** `/suppressions`: by address; `?q=` a whole address in any spelling, or a part of one. */
export const makeSuppressions: MakePage = async (site, open, { view, query }) => {
  const search = readSearch(textOf(query, 'q'), site.phone);
  const after = query.get('after')?.slice(0, 400) ?? null;
  const { addresses, hashes } = open.ledger.suppressionCounts();
  const { found, stoppedAt } = await readEntries(open, search, after);
  const entries = found.slice(0, ENTRIES_ON_A_PAGE);
  const data = {
    q: search?.text ?? '',
    entries,
    addresses,
    hashes,
    isHashed: hashes === 0 || search === null ? null : await isHashed(site, open, search, view.nowMs),
    isFirst: after === null,
    next: found.length > ENTRIES_ON_A_PAGE ? (entries.at(-1)?.address ?? null) : null,
    stoppedAt,
    files: await filesOf(site),
    timeZone: site.reading.project.timeZone,
  };
  return whole(suppressionsPage(view, data));
};

/** By their place in the index of addresses: the last page takes no longer than the first. */
async function readEntries(open: OpenLedger, search: Search | null, cursor: string | null) {
  const turn = createTurns();
  const until = performance.now() + LONGEST_MS;
  const names = search === null ? null : JSON.stringify(search.names.map(listedForm));
  const found: SuppressionLine[] = [];
  for (let after = cursor ?? ''; ; ) {
    const end = open.query(END_OF_STEP).get(after, STEP_ENTRIES)?.[0] ?? null;
    const limit = ENTRIES_ON_A_PAGE + 1 - found.length;
    const part = search?.part == null ? null : listedForm(search.part);
    const rows = open.query(ENTRIES).all(after, end as string | null, names, part, limit);
    found.push(
      ...rows.map(
        ([address, reason, until, source, created]): SuppressionLine => ({
          address: String(address),
          reason: reason as string | null,
          untilMs: until as number | null,
          source: String(source),
          createdMs: Number(created),
        }),
      ),
    );
    if (end === null || found.length > ENTRIES_ON_A_PAGE) return { found, stoppedAt: null };
    after = String(end);
    if (performance.now() > until) return { found, stoppedAt: after };
    await turn();
  }
}

const END_OF_STEP = 'SELECT address FROM suppressions WHERE address > ? ORDER BY address LIMIT 1 OFFSET ?';

const ENTRIES = `SELECT address, reason, until_at, source, created_at FROM suppressions
  WHERE address > ?1 AND (?2 IS NULL OR address <= ?2)
    AND (?3 IS NULL OR address IN (SELECT value FROM json_each(?3)) OR instr(address, ?4) > 0)
  ORDER BY address LIMIT ?5`;

/** Null if the key of the hashes is missing: then it is unknown. */
async function isHashed(site: Site, { ledger }: OpenLedger, search: Search, nowMs: number): Promise<boolean | null> {
  const { project } = site.reading;
  const read = await readHasher(project.suppressionKey, site.context.env, project.root);
  if ('problem' in read || read.hasher.keyId !== ledger.hashKeyId()) return null;
  return search.names.some((name) => ledger.isHashSuppressed(read.hasher.hash(listedForm(name)), nowMs));
}

async function filesOf({ reading, context }: Site): Promise<readonly string[]> {
  const { root } = reading.project;
  const { files } = await findSuppressions(null, reading, { root, folder: root, cwd: context.cwd });
  return files.map(({ file }) => file);
}

interface SuppressionLine {
  readonly address: string;
  readonly reason: string | null;
  /** Milliseconds since 1970; null: without an end. */
  readonly untilMs: number | null;
  readonly source: string;
  readonly createdMs: number;
}

interface SuppressionsData {
  readonly q: string;
  readonly entries: readonly SuppressionLine[];
  readonly addresses: number;
  readonly hashes: number;
  /** Whether the address that is searched for is on the list as a hash; null: unknown, or not asked. */
  readonly isHashed: boolean | null;
  readonly isFirst: boolean;
  readonly next: string | null;
  readonly stoppedAt: string | null;
  /** Lists in files that the project names: they count too, and are not shown. */
  readonly files: readonly string[];
  readonly timeZone: string;
}

/** The page of suppressed addresses. */
export function suppressionsPage(view: View, data: SuppressionsData): Content {
  return {
    title: 'Suppressions',
    parts: [
      { id: 'head', content: head(view, data), isLive: false },
      { id: 'list', content: list(view, data), isLive: true },
    ],
  };
}

function head(view: View, { q, files, timeZone }: SuppressionsData): Html {
  const others =
    files.length === 0
      ? null
      : html`<p class="soft">Files of the project that count too, and are not shown here: ${files.join(', ')}</p>`;
  return html`<h1>Suppressions</h1>
<p>No address on this list is sent to, in any campaign.</p>
${others}
<form class="filters" method="get" action="/suppressions" role="search" aria-label="Suppressions">
<p class="field wide"><label for="q">Number, email address or contact:ID, or a part of it</label><input id="q" name="q" type="search" value="${q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
<p class="actions"><button class="main">Search</button><a class="button" href="/suppressions">All</a></p>
</form>
${view.actions === 'on' ? adding(view, timeZone) : null}`;
}

function adding(view: View, timeZone: string): Html {
  return html`<form method="post" action="/suppressions"><fieldset><legend>Add an address</legend><div class="filters">${csrfField(view)}
<p class="field wide"><label for="address">Number, email address, contact:ID or hash</label><input id="address" name="address" required maxlength="300" autocomplete="off" spellcheck="false"></p>
<p class="field wide"><label for="reason">Reason</label><input id="reason" name="reason" maxlength="300"></p>
<p class="field"><label for="until">Until the end of the day (${timeZone}); empty means without end</label><input id="until" name="until" type="date"></p>
<p class="actions"><button name="do" value="add">Suppress</button></p>
</div></fieldset></form>`;
}

function list(view: View, data: SuppressionsData): Html {
  const { formats } = view;
  const { q, entries, addresses, hashes, isHashed, next, stoppedAt } = data;
  const first = data.isFirst ? null : address(['suppressions'], { q });
  const hashed = isHashed === true ? html`<p class="step">${q} is on the list as a keyed hash.</p>` : null;
  const far =
    stoppedAt === null
      ? null
      : html`<p><a href="${address(['suppressions'], { q, after: stoppedAt })}">Look further</a></p>`;
  const counts = `${formats.count(addresses, 'address', 'addresses')} and ${formats.count(hashes, 'keyed hash', 'keyed hashes')} on the list${q === '' ? '' : `; those that match ${q}`}.`;
  if (entries.length === 0) {
    return html`${hashed}<div class="empty"><p>${q === '' ? 'No addresses are suppressed.' : 'No address on the list is like that.'}</p><p class="soft">${counts}</p>${far}</div>
${pager('Pages of the list', [['First page', first]])}`;
  }
  const columns = view.actions === 'on' ? [...COLUMNS, { title: 'Change', isHidden: true }] : COLUMNS;
  const rows = entries.map((entry) => ({ cells: cells(view, entry) }));
  return html`${hashed}${table(counts, columns, rows)}
${far}
${pager('Pages of the list', [
  ['First page', first],
  ['Next page', next === null ? null : address(['suppressions'], { q, after: next })],
])}`;
}

const COLUMNS = [
  { title: 'Address' },
  { title: 'Until' },
  { title: 'From' },
  { title: 'Reason', isOptional: true },
  { title: 'Since' },
];

function cells(view: View, entry: SuppressionLine): readonly (Html | string)[] {
  const { formats, nowMs } = view;
  const { untilMs, source, reason, createdMs } = entry;
  const until =
    untilMs === null
      ? 'without end'
      : html`<span>${formats.time(untilMs)}${untilMs <= nowMs ? html` <span class="soft">(over)</span>` : null}</span>`;
  return [
    html`<span data-key="${entry.address}">${entry.address}</span>`,
    until,
    source,
    reason ?? '',
    html`<span>${formats.time(createdMs)}</span>`,
    ...(view.actions === 'on' ? [removal(view, entry.address)] : []),
  ];
}

function removal(view: View, who: string): Html {
  return html`<form method="post" action="/suppressions">${csrfField(view)}<input type="hidden" name="address" value="${who}"><button class="quiet" name="do" value="ask">Remove<span class="hidden"> ${who}</span></button></form>`;
}

/** Asks whether an address is really to be removed from the suppressions. */
export function removalQuestionPage(view: View, who: string): Content {
  const title = `Take ${who} off the list?`;
  return {
    title,
    parts: [
      {
        id: 'question',
        isLive: false,
        content: html`<h1>${title}</h1>
<p>Campaigns may send to this address again, also where its owner asked not to be written to. The entry is not kept.</p>
<form method="post" action="/suppressions" class="actions">${csrfField(view)}<input type="hidden" name="address" value="${who}"><button class="main" name="do" value="remove">Take it off</button><a class="button" href="/suppressions">Back</a></form>`,
      },
    ],
  };
}
