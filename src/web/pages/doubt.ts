import type { DoubtRow, RunRecord } from '../../ledger/records.ts';
import type { Channel } from '../../model.ts';
import { newestFirst, referencesOf, withoutTests } from '../../operations/report.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { type Html, html } from '../../util/escape.ts';
import { createYields } from '../../util/long-work.ts';
import { address, copied, empty, pager, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Names, namesOf, personLink, whyNoNames } from '../names.ts';
import { createMatcher } from '../search.ts';
import { type Asked, type Made, type MakePage, noRun, runOf, type Site, textOf } from '../site.ts';
import { type Content, csrfField, fixed, live, questionPage, type View } from './layout.ts';

/** Rows of each run, where all runs are shown. */
const SHOWN_OF_EACH = 20;
const ROWS_ON_A_PAGE = 100;
const MOST_RUNS = 50;

/** `/doubt`: all recipients in doubt, or those of `?run=ID` by pages. */
export const makeDoubt: MakePage = async (site, open, asked) => {
  const only = textOf(asked.query, 'run');
  if (only === '') return await allRuns(site, open, asked);
  const run = runOf(open, only);
  if (run === null) return noRun(only);
  const after = /^(\d{1,3})\.(\d{1,15})$/.exec(asked.query.get('after') ?? '');
  const cursor = after === null ? null : { step: Number(after[1]), row: Number(after[2]) };
  const doubts = await doubtsOf(site, open, asked, run, cursor, ROWS_ON_A_PAGE);
  return made(asked, { runs: [doubts], only: run.id, after: after?.[0] ?? null });
};

function made({ view, query }: Asked, data: Omit<DoubtData, 'q' | 'cause'>): Made {
  const content = doubtPage(view, { ...data, q: textOf(query, 'q'), cause: query.get('cause') });
  return { content, isOld: data.runs.some(({ names }) => names.why === 'soon') };
}

async function allRuns(site: Site, open: OpenLedger, asked: Asked): Promise<Made> {
  const runs: DoubtRun[] = [];
  for (const { run } of runsInDoubt(site, open).slice(0, MOST_RUNS))
    runs.push(await doubtsOf(site, open, asked, run, null, SHOWN_OF_EACH));
  return made(asked, { runs, only: null, after: null });
}

/** Claimed rows of a run whose process was killed have no outcome: they are in doubt too, and `count` lacks them. */
function runsInDoubt(site: Site, open: OpenLedger) {
  const lists = new Map(
    open
      .query(LISTS)
      .all()
      .map(([list, count]) => [Number(list), Number(count)]),
  );
  return newestFirst(withoutTests(open.ledger.runs())).flatMap((run) => {
    const isKilled = run.state === 'running' && !site.stats.isHeld(run);
    const count = lists.get(run.list) ?? 0;
    return run.purgedAtMs === null && (isKilled || count > 0) ? [{ run, count, isKilled }] : [];
  });
}

/** Recipients in doubt of every run that has some, by the id of the run. */
export async function doubtCounts(site: Site, open: OpenLedger) {
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
  return { counts, isOld };
}

interface Place {
  readonly step: number;
  readonly row: number;
}

async function doubtsOf(
  site: Site,
  open: OpenLedger,
  asked: Asked,
  run: RunRecord,
  after: Place | null,
  limit: number,
): Promise<DoubtRun> {
  const isHeld = site.stats.isHeld(run);
  const isKilled = run.state === 'running' && !isHeld;
  const [rows, count] = isKilled ? ROWS_OF_KILLED : ROWS_BY_INDEX;
  const { id, name: campaign, environment, occurrence } = run;
  const referenceOf = referencesOf(run, site.reading.project);
  const isMeant = createMatcher(textOf(asked.query, 'q'), site.phone);
  const names = await namesOf(site, asked, run, isMeant !== null);
  const turn = createYields();
  const found: DoubtLine[] = [];
  for (let from: Place | undefined = after ?? { step: 0, row: -1 }; from !== undefined && found.length <= limit; ) {
    const read = open.query(rows).all(run.list, from.step, from.row, limit + 1);
    const all = read.map((one) => toLine(one, run, names, referenceOf));
    found.push(...all.filter(({ ids, cells }) => isMeant?.(ids, [], cells()) !== false));
    from = read.length > limit ? all.at(-1) : undefined;
    await turn();
  }
  const doubts = found.slice(0, limit);
  const last = doubts.at(-1);
  return {
    run: id,
    campaign,
    environment,
    occurrence,
    isHeld,
    count: isMeant === null ? Number(open.query(count).get(run.list)?.[0] ?? 0) : found.length,
    next: last === undefined || found.length <= limit ? null : `${last.step}.${last.row}`,
    names,
    doubts,
  };
}

function toLine(
  found: readonly unknown[],
  run: RunRecord,
  names: Names,
  referenceOf: ReturnType<typeof referencesOf>,
): DoubtLine {
  const [step, row, line, key, to, written, reason, error, since, status, resend, postedFrom] = found;
  const channel = (written ?? run.channel) as Channel;
  const reference = referenceOf({
    key: key as string | null,
    channel,
    resend: Number(resend ?? 0),
    ...(typeof postedFrom === 'string' ? { postedFrom } : {}),
  });
  return {
    step: Number(step),
    row: Number(row),
    ids: [key as string | null, to as string | null, reference],
    cells: () => names.cellsOf(Number(row), key as string | null).map(([, cell]) => cell),
    line: Number(line),
    who: String(to ?? key ?? `line ${String(line)}`),
    label: names.labelOf(Number(row), key as string | null),
    channel,
    reference,
    reason: reason as string | null,
    httpStatus: status as number | null,
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

interface DoubtLine extends Pick<DoubtRow, 'line' | 'row' | 'channel' | 'reason' | 'httpStatus' | 'error' | 'sinceMs'> {
  readonly step: number;
  readonly who: string;
  readonly label: string | null;
  readonly reference: string | null;
  /** By which it is found. */
  readonly ids: readonly (string | null)[];
  readonly cells: () => readonly string[];
}

interface DoubtRun {
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  readonly count: number;
  readonly doubts: readonly DoubtLine[];
  readonly next: string | null;
  readonly names: Names;
  /** A process is sending: doubts can be resolved when it has ended. */
  readonly isHeld: boolean;
}

interface DoubtData {
  readonly runs: readonly DoubtRun[];
  /** Shows only one run, by pages. */
  readonly only: string | null;
  /** The place that it begins after; null: the first page. */
  readonly after: string | null;
  readonly q: string;
  /** Those with this cause are chosen; empty: all that are shown; null: none. */
  readonly cause: string | null;
}

export function doubtPage(view: View, data: DoubtData): Content {
  const total = data.runs.reduce((sum, { count }) => sum + count, 0);
  return {
    title: 'In doubt',
    said: total === 0 ? 'No recipients are in doubt.' : `${view.formats.count(total, 'recipient')} in doubt.`,
    parts: [fixed('head', head(data)), live('doubts', list(view, data))],
  };
}

function head({ only, q }: DoubtData): Html {
  return html`${only === null ? null : html`<p class="crumbs"><a href="/doubt">In doubt</a> / ${only}</p>`}
<h1>In doubt</h1>
<p>The request may have reached the API, and no usable answer came. handbill never sends to these recipients again by itself. Ask the provider for the reference, in the API's log or by its support, and record what became of the message.</p>
<form class="filters" method="get" action="/doubt" role="search" aria-label="In doubt">${only === null ? null : html`<input type="hidden" name="run" value="${only}">`}<p class="field wide"><label for="q">Name, number, key or reference</label><input id="q" name="q" type="search" value="${q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
<p class="actions"><button class="main">Search</button></p></form>`;
}

function list(view: View, data: DoubtData): Html {
  const { runs, q } = data;
  const shown = runs.filter(({ count }) => count > 0);
  if (shown.length === 0)
    return empty(
      q === '' ? 'No recipients are in doubt.' : 'No recipient in doubt is like that.',
      html`<code>handbill doubt list --resolved</code> shows doubts that ended.`,
    );
  return html`${shown.map((run) => runSection(view, run, data))}`;
}

function runSection(view: View, run: DoubtRun, { only, after, q, cause }: DoubtData): Html {
  const { formats } = view;
  const canAct = view.actions === 'on' && !run.isHeld;
  const rows = run.doubts.map((doubt) => ({ cells: cells(view, run, doubt, canAct ? cause : undefined) }));
  const more = run.count - run.doubts.length;
  const caption = html`${formats.count(run.count, 'recipient')} in doubt${only === null && more > 0 ? `, the first ${formats.number(run.doubts.length)} of them` : ''}. <a href="${address(['runs', run.run, 'doubt.csv'])}">All of this run as CSV</a>`;
  const content = html`${canAct ? choosers(view, run) : null}${table(caption, COLUMNS, rows)}
${canAct ? controls(run) : null}`;
  return html`<section aria-labelledby="run-${run.run}"><h2 id="run-${run.run}"><a href="${address(['runs', run.run])}">${run.campaign}</a> <span class="soft">${run.environment} · ${run.occurrence}</span></h2>
${run.isHeld ? html`<p class="soft">This run is being sent: enter results when it has ended.</p>` : null}${whyNoNames(run.names)}
${
  canAct
    ? html`<form method="get" action="/doubt" id="choose-${run.run}"><input type="hidden" name="run" value="${run.run}"><input type="hidden" name="q" value="${q}">${after === null ? null : html`<input type="hidden" name="after" value="${after}">`}</form>
<form method="post" action="/doubt">${csrfField(view)}<input type="hidden" name="run" value="${run.run}">${content}</form>`
    : content
}
${pager(`Recipients in doubt of ${run.campaign}`, [
  ['First page', only !== null && after !== null ? address(['doubt'], { run: run.run, q }) : null],
  [
    only === null ? `All ${formats.number(run.count)}` : 'Next page',
    run.next === null
      ? null
      : only === null
        ? address(['doubt'], { run: run.run, q })
        : address(['doubt'], { run: run.run, q, after: run.next }),
  ],
])}</section>`;
}

/** @param chosen - the cause of those that are chosen; undefined: none can be */
function cells(view: View, { run }: DoubtRun, doubt: DoubtLine, chosen?: string | null): readonly (Html | string)[] {
  const { line, row, who, label, channel, reference, error, sinceMs } = doubt;
  const why = causeOfDoubt(doubt);
  const box = html`<input type="checkbox" name="line" value="${line}" data-cause="${why}" aria-label="Choose ${label ?? who}, line ${line}"${chosen === '' || chosen === why ? html` checked` : null}> `;
  return [
    html`<span>${chosen === undefined ? null : box}${personLink(address(['runs', run, 'recipients', row]), label, who)}<br><span class="soft">line ${view.formats.number(line)}, ${channel}</span></span>`,
    reference === null ? '' : copied(reference),
    html`<span>${why}${error === null ? null : html`<br><span class="soft">${error}</span>`}</span>`,
    sinceMs === null ? '' : html`<span>${view.formats.time(sinceMs)}</span>`,
  ];
}

function causeOfDoubt({ reason, httpStatus }: DoubtLine): string {
  const words = reason === null ? '' : reasonWords(reason) || reason;
  return httpStatus === null ? words : `HTTP ${httpStatus}: ${words}`;
}

/** All that are shown, or those with the same cause: by the script, else by another page. */
function choosers({ formats }: View, { run, doubts }: DoubtRun): Html {
  const causes = Map.groupBy(doubts, causeOfDoubt);
  const ofCause = [...causes].map(
    ([cause, { length }]) =>
      html`<button form="choose-${run}" class="quiet" name="cause" value="${cause}">${formats.number(length)} × ${cause}</button>`,
  );
  return html`<p class="choosers" role="group" aria-label="Choose several"><button form="choose-${run}" class="quiet" name="cause" value="">Choose all ${formats.number(doubts.length)}</button>${causes.size > 1 ? ofCause : null}</p>
`;
}

const COLUMNS = [
  { title: 'Recipient' },
  { title: 'Reference', isRoomy: true },
  { title: 'Why', isRoomy: true },
  { title: 'Since', isLow: true },
];

function controls({ run, campaign }: DoubtRun): Html {
  return html`<fieldset class="chosen"><legend>Record what became of those who are chosen in ${campaign} <output></output></legend>
<div class="filters">
<p class="field wide"><label for="note-${run}">Note, kept permanently</label><input id="note-${run}" name="note" maxlength="1000"></p>
<p class="actions"><button name="as" value="accepted">The API has them</button><button name="as" value="rejected">The API does not have them</button></p>
<p class="field"><label for="id-${run}">Message id of the API, for one that was accepted</label><input id="id-${run}" name="messageId" maxlength="1000" autocomplete="off"></p>
</div></fieldset>`;
}

interface DoubtQuestion {
  readonly run: string;
  readonly as: 'accepted' | 'rejected';
  readonly lines: readonly number[];
  readonly messageId: string;
  readonly note: string;
}

export function doubtQuestionPage(view: View, { run, as, lines, messageId, note }: DoubtQuestion): Content {
  const meaning =
    as === 'accepted'
      ? 'They are recorded as accepted, and never sent to again.'
      : 'They are recorded as rejected. They are sent to again only with --retry rejected.';
  const shown = lines
    .slice(0, 50)
    .map((line) => view.formats.number(line))
    .join(', ');
  const title = `Record ${view.formats.count(lines.length, 'recipient')} as ${as}?`;
  return questionPage(
    title,
    html`<p>Run ${run}, ${lines.length === 1 ? 'line' : 'lines'} ${shown}${lines.length > 50 ? ' and more' : ''}.</p>
<p>${meaning} This is kept permanently, with the name of the user.</p>
${note === '' ? null : html`<p>Note: ${note}</p>`}${messageId === '' ? null : html`<p>Message id: <code>${messageId}</code></p>`}
<form method="post" action="/doubt" class="actions">${csrfField(view)}<input type="hidden" name="run" value="${run}"><input type="hidden" name="as" value="${as}"><input type="hidden" name="messageId" value="${messageId}"><input type="hidden" name="note" value="${note}">${lines.map((line) => html`<input type="hidden" name="line" value="${line}">`)}<button class="main" name="sure" value="yes">Record as ${as}</button><a class="button" href="/doubt">Back</a></form>`,
  );
}
