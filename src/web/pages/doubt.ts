import type { RunRecord } from '../../ledger/records.ts';
import type { Channel } from '../../model.ts';
import { newestFirst, referencesOf, withoutTests } from '../../operations/report.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { type Html, html } from '../../util/escape.ts';
import { createYields } from '../../util/long-work.ts';
import { address, type Cells, copied, crumbs, empty, hiddenFields, pager, searchForm, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Names, namesOf, personLink, whyNoNames } from '../names.ts';
import { createMatcher } from '../search.ts';
import { type Asked, type MakePage, noRun, runOf, type Site, textOf } from '../site.ts';
import { type Content, fixed, formFields, live, questionPage, type View } from './layout.ts';

/** Rows of each run, where all runs are shown. */
const SHOWN_OF_EACH = 20;
const ROWS_ON_A_PAGE = 100;
const MOST_RUNS = 50;
/** Lines that a question repeats. */
const MOST_NAMED = 50;

const BEGIN = { step: 0, row: -1 };

/** Those with this cause are chosen; empty: all that are shown; null: none. */
type Chosen = string | null;

/** `/doubt`: all recipients in doubt, or those of `?run=ID` by pages. */
export const makeDoubt: MakePage = async (site, open, asked) => {
  const { view, query } = asked;
  const [id, q, cause] = [textOf(query, 'run'), textOf(query, 'q'), query.get('cause')];
  const only = open === null || id === '' ? null : runOf(open, id);
  if (open !== null && id !== '' && only === null) return noRun(id);
  const [after = null, step, row] = /^(\d{1,3})\.(\d{1,15})$/.exec(query.get('after') ?? '') ?? [];
  const runs: DoubtRun[] = [];
  if (open !== null && only !== null) {
    const place = after === null ? BEGIN : { step: Number(step), row: Number(row) };
    runs.push(await doubtsOf(site, open, asked, only, place, ROWS_ON_A_PAGE));
  } else {
    for (const { run } of runsInDoubt(site, open).slice(0, MOST_RUNS))
      if (open !== null) runs.push(await doubtsOf(site, open, asked, run, BEGIN, SHOWN_OF_EACH));
  }
  const shown = runs.filter(({ count }) => count > 0);
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  const none = q === '' ? 'No recipients are in doubt.' : 'No recipient in doubt is like that.';
  const list = shown.map((run) => runSection(view, run, { q, cause, after, isAlone: only !== null }));
  const hint = html`<code>handbill doubt list --resolved</code> shows doubts that ended.`;
  const content = {
    title: 'In doubt',
    said: total === 0 ? 'No recipients are in doubt.' : `${view.formats.count(total, 'recipient')} in doubt.`,
    parts: [
      fixed('head', head(only?.id ?? null, q)),
      live('doubts', shown.length === 0 ? empty(none, hint) : html`${list}`),
    ],
  };
  return { content, isOld: runs.some(({ names }) => names.why === 'soon') };
};

/** Claimed rows of a run whose process was killed have no outcome: they are in doubt too, and `count` lacks them. */
function runsInDoubt(site: Site, open: OpenLedger | null) {
  if (open === null) return [];
  const all = open.query(LISTS).all();
  const lists = new Map(all.map(([list, count]) => [Number(list), Number(count)]));
  return newestFirst(withoutTests(open.ledger.runs())).flatMap((run) => {
    const isKilled = run.state === 'running' && !site.stats.isHeld(run);
    const count = lists.get(run.list) ?? 0;
    return run.purgedAtMs === null && (isKilled || count > 0) ? [{ run, count, isKilled }] : [];
  });
}

/** Recipients in doubt of every run that has some, by the id of the run. */
export async function doubtCounts(site: Site, open: OpenLedger | null) {
  const counts = new Map<string, number>();
  let isOld = false;
  for (const { run, count, isKilled } of runsInDoubt(site, open)) {
    // No index has claimed rows: the page of the run counts them too, once.
    const figures = isKilled ? await site.stats.of(run, 0) : null;
    isOld ||= figures?.isOld === true;
    const steps = figures?.value?.steps.filter(({ outcome }) => outcome === 'in-doubt') ?? [];
    const total = figures?.value == null ? count : steps.reduce((sum, step) => sum + step.count, 0);
    if (total > 0) counts.set(run.id, total);
  }
  return { counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0), isOld };
}

type DoubtRun = Awaited<ReturnType<typeof doubtsOf>>;

async function doubtsOf(
  site: Site,
  open: OpenLedger,
  asked: Asked,
  run: RunRecord,
  after: Pick<DoubtLine, 'step' | 'row'>,
  limit: number,
) {
  const isHeld = site.stats.isHeld(run);
  const isKilled = run.state === 'running' && !isHeld;
  const [rows, count] = isKilled ? ROWS_OF_KILLED : ROWS_BY_INDEX;
  const referenceOf = referencesOf(run, site.reading.project);
  const isMeant = createMatcher(textOf(asked.query, 'q'), site.phone);
  const names = await namesOf(site, asked, run, isMeant !== null);
  const turn = createYields();
  const found: DoubtLine[] = [];
  for (let from = after; found.length <= limit; ) {
    const read = open.query(rows).all(run.list, from.step, from.row, limit + 1);
    const all = read.map((one) => lineOf(one, run, names, referenceOf));
    found.push(...all.filter(({ ids, cells }) => isMeant?.(ids, [], cells()) !== false));
    const last = all.at(-1);
    if (read.length <= limit || last === undefined) break;
    from = last;
    await turn();
  }
  const doubts = found.slice(0, limit);
  const last = doubts.at(-1);
  return {
    run,
    isHeld,
    count: isMeant === null ? Number(open.query(count).get(run.list)?.[0] ?? 0) : found.length,
    next: last === undefined || found.length <= limit ? null : `${last.step}.${last.row}`,
    names,
    doubts,
  };
}

type DoubtLine = ReturnType<typeof lineOf>;

function lineOf(found: readonly unknown[], run: RunRecord, names: Names, referenceOf: ReturnType<typeof referencesOf>) {
  const [step, row, line, anyKey, to, written, reason, error, since, status, resend, postedFrom] = found;
  const channel = (written ?? run.channel) as Channel;
  const key = anyKey as string | null;
  const stand = typeof postedFrom === 'string' ? { postedFrom } : {};
  const reference = referenceOf({ key, channel, resend: Number(resend ?? 0), ...stand });
  const words = reason === null ? '' : reasonWords(String(reason)) || String(reason);
  return {
    step: Number(step),
    row: Number(row),
    line: Number(line),
    /** By which it is found. */
    ids: [key, to as string | null, reference],
    cells: () => names.cellsOf(Number(row), key).map(([, cell]) => cell),
    who: String(to ?? key ?? `line ${String(line)}`),
    label: names.labelOf(Number(row), key),
    channel,
    reference,
    cause: status === null ? words : `HTTP ${String(status)}: ${words}`,
    error: error as string | null,
    sinceMs: since as number | null,
  };
}

/** The index holds the rows in doubt, and few others. */
const LISTS = `SELECT list, count(*) FROM recipients INDEXED BY recipients_unsettled
  WHERE (state = 'in-doubt' OR resolved_by = 'resend') AND state = 'in-doubt' GROUP BY list`;

const ROWS_BY_INDEX = [
  `SELECT step, row, line, key, address, channel, reason, error, coalesce(claimed_at, updated_at), http_status, resend, posted_from
    FROM recipients INDEXED BY recipients_unsettled
    WHERE (state = 'in-doubt' OR resolved_by = 'resend') AND state = 'in-doubt'
      AND list = ? AND (step, row) > (?, ?) ORDER BY step, row LIMIT ?`,
  `SELECT count(*) FROM recipients INDEXED BY recipients_unsettled
    WHERE (state = 'in-doubt' OR resolved_by = 'resend') AND state = 'in-doubt' AND list = ?`,
] as const;

/** No index has claimed rows: a pass over the list (0.1 s a million), for a run that waits for its next start. */
const ROWS_OF_KILLED = [
  `SELECT step, row, line, key, address, channel, CASE state WHEN 'claimed' THEN 'crash' ELSE reason END,
      CASE state WHEN 'claimed' THEN NULL ELSE error END, coalesce(claimed_at, updated_at),
      CASE state WHEN 'claimed' THEN NULL ELSE http_status END, resend, posted_from
    FROM recipients WHERE (state = 'in-doubt' OR state = 'claimed')
      AND list = ? AND (step, row) > (?, ?) ORDER BY step, row LIMIT ?`,
  `SELECT count(*) FROM recipients WHERE (state = 'in-doubt' OR state = 'claimed') AND list = ?`,
] as const;

function head(run: string | null, q: string): Html {
  return html`${run !== null && crumbs([['In doubt', '/doubt']], run)}
<h1>In doubt</h1>
<p>The request may have reached the API, and no usable answer came. handbill never sends to these recipients again by itself. Ask the provider for the reference, in the API's log or by its support, and record what became of the message.</p>
${searchForm('/doubt', 'In doubt', 'Name, number, key or reference', q, { hidden: { run } })}`;
}

interface Shown {
  readonly q: string;
  readonly cause: Chosen;
  /** The place that it begins after; null: the first page. */
  readonly after: string | null;
  /** Shows only one run, by pages. */
  readonly isAlone: boolean;
}

function runSection(view: View, one: DoubtRun, { q, cause, after, isAlone }: Shown): Html {
  const { run, doubts, count, isHeld, next, names } = one;
  const { formats } = view;
  const canAct = view.actions === 'on' && !isHeld;
  const rows = doubts.map((doubt) => cells(view, run, doubt, canAct ? cause : undefined));
  const first = !isAlone && count > doubts.length ? `, the first ${formats.number(doubts.length)} of them` : '';
  const caption = html`${formats.count(count, 'recipient')} in doubt${first}. <a href="${address(['runs', run.id, 'doubt.csv'])}">All of this run as CSV</a>`;
  const content = html`${canAct && choosers(view, run, doubts)}${table(caption, COLUMNS, rows)}\n${canAct && controls(run)}`;
  const at = (place: string | null) => address(['doubt'], { run: run.id, q, after: place });
  return html`<section aria-labelledby="run-${run.id}"><h2 id="run-${run.id}"><a href="${address(['runs', run.id])}">${run.name}</a> <span class="soft">${run.environment} · ${run.occurrence}</span></h2>
${isHeld && html`<p class="soft">This run is being sent: enter results when it has ended.</p>`}${whyNoNames(names)}
${
  canAct
    ? html`<form method="get" action="/doubt" id="choose-${run.id}">${hiddenFields({ run: run.id, q, after })}</form>
<form method="post" action="/doubt">${formFields(view, { run: run.id })}${content}</form>`
    : content
}
${pager(`Recipients in doubt of ${run.name}`, [
  ['First page', isAlone && after !== null ? at(null) : null],
  [isAlone ? 'Next page' : `All ${formats.number(count)}`, next && at(isAlone ? next : null)],
])}</section>`;
}

/** @param chosen - undefined: none can be */
function cells(view: View, run: RunRecord, doubt: DoubtLine, chosen: Chosen | undefined): Cells {
  const { line, row, who, label, channel, reference, cause, error, sinceMs } = doubt;
  const isChosen = chosen === '' || chosen === cause;
  const box = html`<input type="checkbox" name="line" value="${line}" data-cause="${cause}" aria-label="Choose ${label ?? who}, line ${line}"${isChosen && html` checked`}> `;
  const person = personLink(address(['runs', run.id, 'recipients', row]), label, who);
  return [
    html`<span>${chosen !== undefined && box}${person}<br><span class="soft">line ${view.formats.number(line)}, ${channel}</span></span>`,
    reference && copied(reference),
    html`<span>${cause}${error !== null && html`<br><span class="soft">${error}</span>`}</span>`,
    sinceMs && view.formats.when(sinceMs, view.nowMs),
  ];
}

/** All that are shown, or those with the same cause: by the script, else by another page. */
function choosers({ formats }: View, { id }: RunRecord, doubts: readonly DoubtLine[]): Html {
  const button = (cause: string, text: string) =>
    html`<button form="choose-${id}" class="quiet" name="cause" value="${cause}">${text}</button>`;
  const causes = [...Map.groupBy(doubts, ({ cause }) => cause)];
  const ofCause = causes.map(([cause, { length }]) => button(cause, `${formats.number(length)} × ${cause}`));
  return html`<p class="choosers" role="group" aria-label="Choose several">${button('', `Choose all ${formats.number(doubts.length)}`)}${causes.length > 1 && ofCause}</p>\n`;
}

const COLUMNS = [
  { title: 'Recipient' },
  { title: 'Reference', isRoomy: true },
  { title: 'Why', isRoomy: true },
  { title: 'Since', isLow: true },
];

function controls({ id, name }: RunRecord): Html {
  return html`<fieldset class="chosen"><legend>Record what became of those who are chosen in ${name} <output></output></legend>
<div class="filters">
<p class="field wide"><label for="note-${id}">Note, kept permanently</label><input id="note-${id}" name="note" maxlength="1000"></p>
<p class="actions"><button name="as" value="accepted">The API has them</button><button name="as" value="rejected">The API does not have them</button></p>
<p class="field"><label for="id-${id}">Message id of the API, for one that was accepted</label><input id="id-${id}" name="messageId" maxlength="1000" autocomplete="off"></p>
</div></fieldset>`;
}

interface Resolution {
  readonly run: string;
  readonly as: 'accepted' | 'rejected';
  readonly line: readonly number[];
  readonly messageId: string;
  readonly note: string;
}

export function doubtQuestionPage(view: View, resolution: Resolution): Content {
  const { run, as, line: lines, messageId, note } = resolution;
  const meaning =
    as === 'accepted'
      ? 'They are recorded as accepted, and never sent to again.'
      : 'They are recorded as rejected. They are sent to again only with --retry rejected.';
  const shown = lines.slice(0, MOST_NAMED).map(view.formats.number).join(', ');
  return questionPage(view, {
    title: `Record ${view.formats.count(lines.length, 'recipient')} as ${as}?`,
    content: html`<p>Run ${run}, ${lines.length === 1 ? 'line' : 'lines'} ${shown}${lines.length > MOST_NAMED && ' and more'}.</p>
<p>${meaning} This is kept permanently, with the name of the user.</p>
${note !== '' && html`<p>Note: ${note}</p>`}${messageId !== '' && html`<p>Message id: <code>${messageId}</code></p>`}`,
    to: '/doubt',
    hidden: { ...resolution },
    button: ['sure', 'yes', `Record as ${as}`],
  });
}
