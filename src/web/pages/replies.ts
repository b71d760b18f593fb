import type { ReplyRecord } from '../../ledger/ledger.ts';
import type { RunRecord } from '../../ledger/records.ts';
import { REPLY_MEANINGS, type ReplyMeaning, type ReplyRules } from '../../model.ts';
import { stoppedBy } from '../../operations/replies.ts';
import { type Html, html } from '../../util/escape.ts';
import { createYields } from '../../util/long-work.ts';
import { address, coded, empty, pager, select, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Names, namesOf, personLink } from '../names.ts';
import { createMatcher } from '../search.ts';
import { type Asked, type MakePage, type Site, textOf, wholeOf } from '../site.ts';
import { type Content, choices, csrfField, fixed, live, questionPage, type View } from './layout.ts';

const ROWS_ON_A_PAGE = 100;
/** Replies with the same text in one row: their numbers are in its form. */
const MOST_IN_A_ROW = 500;
const LONGEST_SEARCH_MS = 1_500;
const LONGEST_COUNT_MS = 500;
const MOST_NAMED = 50;

const TABS = [
  ['review', 'To read'],
  ['all', 'All'],
  ['opt-out', 'Opted out'],
  ['questions', 'Questions'],
] as const;

/** As in the address of the page: `meaning` is also `all` or `questions`. */
interface Chosen {
  readonly meaning: string;
  readonly campaign: string;
  readonly q: string;
}

interface ReplyRow {
  /** Newest first; several have the same text. */
  readonly replies: readonly ReplyRecord[];
  /** The run that the newest answers; null: unknown. */
  readonly run: RunRecord | null;
  readonly label: string | null;
  /** How many campaigns they answer. */
  readonly campaigns: number;
}

/** `/replies`: those that a person has to read, others by `?meaning=`; newest first. */
export const makeReplies: MakePage = async (site, open, asked) => {
  const [campaign, q] = [textOf(asked.query, 'campaign'), textOf(asked.query, 'q')];
  const chosen = { meaning: textOf(asked.query, 'meaning') || 'review', campaign, q };
  const all = open.ledger.runs();
  const runs = all.filter(({ name }) => campaign === '' || name === campaign);
  const people = createPeople(site, asked, runs, q !== '');
  const before = wholeOf(asked.query, 'before');
  const inRuns = campaign === '' ? {} : { runs: runs.map(({ number }) => number) };
  const { rows, ...place } = await readRows(site, open, chosen, { ...inRuns, before }, people);
  const data = {
    ...place,
    chosen,
    isFirst: before === null,
    rows: await Promise.all(
      rows.map(async (replies) => {
        const campaigns = new Set(replies.flatMap((one) => people.runOf(one)?.name ?? []));
        return { replies, campaigns: campaigns.size, ...(await people.of(replies[0])) };
      }),
    ),
    campaigns: [...new Set(all.map(({ name }) => name))].sort(),
    counts: await countsOf(open, inRuns, asked.view),
    rules: site.reading.project.webhook.replies,
  };
  return { content: repliesPage(asked.view, data), isOld: people.isOld() };
};

/** The people in the lists of runs: each list is opened for the first reply to it. */
function createPeople(site: Site, asked: Pick<Asked, 'patienceMs'>, runs: readonly RunRecord[], waits = false) {
  const byNumber = new Map(runs.map((run) => [run.number, run]));
  const opened = new Map<RunRecord, Names>();
  const runOf = (reply: ReplyRecord | undefined) => byNumber.get(reply?.answers?.run ?? -1) ?? null;
  return {
    runOf,
    async of(reply: ReplyRecord | undefined) {
      const { row, key } = reply?.answers ?? { row: -1, key: null };
      const run = runOf(reply);
      const names = run && (opened.get(run) ?? (await namesOf(site, asked, run, waits)));
      if (run && names) opened.set(run, names);
      return { run, label: names?.labelOf(row, key) ?? null, cells: () => names?.cellsOf(row, key) ?? [] };
    },
    isOld: () => [...opened.values()].some(({ why }) => why === 'soon'),
  };
}

/** A page of rows. A row has one reply, or those to be read that have the same text: each reply is on one page only. */
async function readRows(
  site: Site,
  open: OpenLedger,
  { meaning, q }: Chosen,
  { before, ...inRuns }: { readonly before: number | null; readonly runs?: readonly number[] },
  people: ReturnType<typeof createPeople>,
) {
  const turn = createYields();
  const until = performance.now() + LONGEST_SEARCH_MS;
  const isMeant = createMatcher(q, site.phone);
  const meanings = REPLY_MEANINGS.filter((one) => one === meaning);
  const filter = { ...inRuns, ...(before && { before }), ...(meanings.length > 0 && { meanings }) };
  const rows: [ReplyRecord, ...ReplyRecord[]][] = [];
  const byText = new Map<string, ReplyRecord[]>();
  for (const batch of open.ledger.events.replies({ ...filter, questions: meaning === 'questions' })) {
    for (const reply of batch) {
      const { text, number, from, answers } = reply;
      const cells = isMeant === null ? [] : (await people.of(reply)).cells().map(([, cell]) => cell);
      if (isMeant?.([from, answers?.key ?? null], [text], cells) === false) continue;
      const same = meaning === 'review' ? byText.get(text.trim()) : undefined;
      if (same !== undefined && same.length < MOST_IN_A_ROW) {
        same.push(reply);
        continue;
      }
      if (rows.length === ROWS_ON_A_PAGE) return { rows, next: number + 1, stoppedAt: null };
      rows.push([reply]);
      byText.set(text.trim(), rows.at(-1) ?? []);
    }
    await turn();
    const last = batch.at(-1)?.number;
    if (last !== undefined && performance.now() > until) return { rows, next: null, stoppedAt: last };
  }
  return { rows, next: null, stoppedAt: null };
}

/** The count of each tab; `88+`: only the newest were counted in time. */
async function countsOf(open: OpenLedger, inRuns: { readonly runs?: readonly number[] }, { formats }: View) {
  const turn = createYields();
  const until = performance.now() + LONGEST_COUNT_MS;
  const sums = new Map<string, number>();
  let isCut = false;
  for (const part of open.ledger.events.replyCounts(inRuns)) {
    for (const [meaning] of TABS) sums.set(meaning, (sums.get(meaning) ?? 0) + part[meaning]);
    isCut = !part.isLast && performance.now() > until;
    if (isCut) break;
    await turn();
  }
  return (meaning: string) => `${formats.number(sums.get(meaning) ?? 0)}${isCut ? '+' : ''}`;
}

/** Those that a person has to read: `88`, and `88+` where only the newest were counted. Empty: none. */
export function toReview({ ledger }: OpenLedger, formats: View['formats']): string {
  for (const { review, isLast } of ledger.events.replyCounts())
    return review === 0 ? '' : `${formats.number(review)}${isLast ? '' : '+'}`;
  return '';
}

interface RepliesData {
  readonly chosen: Chosen;
  readonly campaigns: readonly string[];
  /** Null: there is no ledger. */
  readonly counts: ((meaning: string) => string) | null;
  readonly rows: readonly ReplyRow[];
  readonly isFirst: boolean;
  readonly next: number | null;
  /** The reply at which the search stopped. */
  readonly stoppedAt: number | null;
  readonly rules: Pick<ReplyRules, 'stopEnds'>;
}

export const NO_REPLIES: RepliesData = {
  chosen: { meaning: 'review', campaign: '', q: '' },
  campaigns: [],
  counts: null,
  rows: [],
  isFirst: true,
  next: null,
  stoppedAt: null,
  rules: { stopEnds: 'everything' },
};

export function repliesPage(view: View, data: RepliesData): Content {
  const { chosen, campaigns, counts } = data;
  const tabs = TABS.map(([meaning, title]) => ({
    href: address(['replies'], { ...chosen, meaning }),
    text: html`${title}${counts === null ? null : html` <b>${counts(meaning)}</b>`}`,
    isNow: meaning === chosen.meaning,
  }));
  const named = campaigns.map((name) => [name, name] as const);
  const filters = html`<form class="filters" method="get" action="/replies" role="search" aria-label="Replies"><input type="hidden" name="meaning" value="${chosen.meaning}">
<p class="field wide"><label for="q">Words, name or number</label><input id="q" name="q" type="search" value="${chosen.q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
${campaigns.length < 2 ? null : select('campaign', 'Campaign', named, chosen.campaign)}<p class="actions"><button class="main">Show</button></p></form>`;
  const undo = html`<p id="decided" class="notice" role="status" hidden><span></span> <button type="button" class="quiet" aria-keyshortcuts="u">Undo</button></p>`;
  return {
    title: chosen.meaning === 'review' ? 'Replies to read' : 'Replies',
    parts: [
      fixed('head', html`<h1>Replies</h1>`),
      live('tabs', choices('Replies', tabs)),
      fixed('find', filters),
      live('replies', list(view, data)),
      fixed('undo', html`${view.actions === 'on' ? undo : null}`),
    ],
  };
}

function list(view: View, data: RepliesData): Html {
  const { chosen, rows, isFirst, next, stoppedAt, rules } = data;
  const at = (before: number | null): string => address(['replies'], { ...chosen, before });
  // By its oldest reply: a newer one with the same text is no other row.
  const lines = rows.map((row) => ({
    id: `reply-${row.replies.at(-1)?.number}`,
    cells: row.replies.slice(0, 1).flatMap((newest) => cells(view, row, newest, rules)),
  }));
  return html`${rows.length === 0 ? noReplies(data) : table('Newest first, as they came in.', COLUMNS, lines)}
${pager('Pages of the list', [
  ['Newest', isFirst ? null : at(null)],
  ['Older', next === null ? null : at(next)],
  ['Look further back', stoppedAt === null ? null : at(stoppedAt)],
])}`;
}

function noReplies({ chosen: { meaning, q, campaign }, campaigns, stoppedAt }: RepliesData): Html {
  const isReview = meaning === 'review';
  if (campaign !== '' && !campaigns.includes(campaign))
    return empty(`No campaign that was sent is called "${campaign}".`);
  if (q !== '' || campaign !== '')
    return empty(`No reply${isReview ? ' to read' : ''} is like that${stoppedAt === null ? '' : ' yet'}.`);
  return empty(
    isReview ? 'No reply waits to be read.' : 'No replies.',
    html`<code>handbill listen</code> receives replies; <code>handbill listen --from FILE</code> reads them from an export.`,
  );
}

const COLUMNS = [
  { title: 'From' },
  { title: 'Text', isRoomy: true },
  { title: 'To', isLow: true },
  { title: 'When', isLow: true },
  { title: 'Meaning' },
];

function cells(
  view: View,
  { replies, run, label, campaigns }: ReplyRow,
  { from, text, answers, isSought, review, meaning: read, atMs, receivedAtMs }: ReplyRecord,
  { stopEnds }: RepliesData['rules'],
): readonly (Html | string)[] {
  const at = run === null || answers === null ? null : ([run.id, answers.row] as const);
  const person = at === null ? address(['people'], { q: from }) : address(['people', ...at]);
  const isOne = replies.length === 1;
  const others = new Set(replies.map((one) => one.from)).size - 1;
  const meaning = review?.meaning ?? read;
  const scope = meaning === 'opt-out' ? ` of ${stoppedBy(run?.topic ?? null, stopEnds)}` : '';
  return [
    html`<span>${personLink(person, label, from)}${others === 0 ? null : html`<br><span class="soft">and ${view.formats.count(others, 'other')}</span>`}</span>`,
    html`<div><p class="quote">${text}</p>${isOne ? null : html`<b>× ${view.formats.number(replies.length)}</b>`}</div>`,
    at === null
      ? html`<span class="soft">${isSought ? 'no known message' : 'not looked up yet'}</span>`
      : html`<span><a href="${address(['runs', at[0], 'recipients', at[1]])}">${run?.name ?? ''}</a>${campaigns < 2 ? null : html`<br><span class="soft">and ${view.formats.count(campaigns - 1, 'other')}</span>`}</span>`,
    html`<span>${view.formats.time(atMs ?? receivedAtMs)}</span>`,
    meaning === 'review' && view.actions === 'on'
      ? decision(view, replies, label ?? from)
      : html`<span>${meaning === 'review' ? 'to read' : meaning}${scope}${review === null ? null : html`<br><span class="soft">read by ${review.who}</span>`}</span>`,
  ];
}

/** Each with its key. */
const VERDICTS = [
  ['opt-out', 'Opt out', 'o'],
  ['answer', 'Answer', 'a'],
  ['opt-in', 'Opt in', 'i'],
] as const;

function decision(view: View, replies: readonly ReplyRecord[], who: string): Html {
  const ids = replies.map(({ number }) => number);
  const whose = ids.length === 1 ? ` from ${who}, reply ${ids[0] ?? ''}` : ` for ${ids.length} replies`;
  const buttons = VERDICTS.map(
    ([as, text, key]) =>
      html`<button class="quiet" name="as" value="${as}" aria-keyshortcuts="${key}">${text}<span class="hidden">${whose}</span></button>`,
  );
  return html`<form method="post" action="/replies" class="actions"${ids.length === 1 ? html` data-decides` : null}>${fields(view, ids, view.url)}${buttons}</form>`;
}

function fields(view: View, ids: readonly number[], back: string): Html {
  return html`${csrfField(view)}<input type="hidden" name="back" value="${back}">${ids.map((id) => html`<input type="hidden" name="id" value="${id}">`)}`;
}

interface Question {
  readonly as: Exclude<ReplyMeaning, 'review'>;
  readonly ids: readonly number[];
  readonly back: string;
}

/** Before several replies are entered at once: their senders, and what is recorded. */
export async function replyQuestion(site: Site, open: OpenLedger, view: View, { as, ids, back }: Question) {
  const people = createPeople(site, { patienceMs: LONGEST_SEARCH_MS }, open.ledger.runs());
  const found = [...open.ledger.events.replies({ numbers: ids, before: Math.max(...ids) + 1 })].flat();
  const all = await Promise.all(found.map(async (reply) => ({ ...(await people.of(reply)), ...reply })));
  const { stopEnds, startLifts } = site.reading.project.webhook.replies;
  const scopes = new Set(all.map(({ run }) => stoppedBy(run?.topic ?? null, stopEnds)));
  const effects = {
    'opt-out': `Their addresses are suppressed, for ${[...scopes].sort().join(' and ')}.`,
    answer: 'This neither suppresses an address nor removes one from the list.',
    'opt-in': startLifts
      ? 'An opt-out that came as a reply is taken back.'
      : 'No opt-out is taken back: `webhook.replies.startLifts` is not set.',
  };
  const senders = [...new Set(all.map(({ label, from }) => `${label === null ? '' : `${label}, `}${from}`))];
  return questionPage(
    `Record ${view.formats.count(all.length, 'reply', 'replies')} as ${as}?`,
    html`<p class="quote">${all[0]?.text ?? ''}</p>
<ul>${senders.slice(0, MOST_NAMED).map((one) => html`<li>${one}</li>`)}</ul>${senders.length > MOST_NAMED ? html`<p>And ${view.formats.number(senders.length - MOST_NAMED)} more.</p>` : null}
<p>${coded(effects[as])} The name of the user is kept with it.</p>
<form method="post" action="/replies" class="actions">${fields(view, ids, back)}<input type="hidden" name="as" value="${as}"><button class="main" name="sure" value="yes">Record as ${as}</button><a class="button" href="${back}">Back</a></form>`,
  );
}
