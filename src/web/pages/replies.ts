import type { ReplyRecord } from '../../ledger/ledger.ts';
import type { RunRecord } from '../../ledger/records.ts';
import { REPLY_MEANINGS, type ReplyMeaning, type ReplyRules } from '../../model.ts';
import { stoppedBy } from '../../operations/replies.ts';
import { type Html, html } from '../../util/escape.ts';
import { createYields } from '../../util/long-work.ts';
import { address, type Cells, coded, empty, pager, searchForm, select, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Names, namesOf, personLink } from '../names.ts';
import { createMatcher } from '../search.ts';
import { type Asked, type MakePage, notFound, type Site, textOf, unknownValue, wholeOf } from '../site.ts';
import { choices, fixed, formFields, live, questionPage, type View } from './layout.ts';

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

/** `/replies`: those that a person has to read, others by `?meaning=`; newest first. */
export const makeReplies: MakePage = async (site, open, asked) => {
  const { view, query } = asked;
  const [campaign, q] = [textOf(query, 'campaign'), textOf(query, 'q')];
  const chosen = { meaning: textOf(query, 'meaning') || 'review', campaign, q };
  const unknown = unknownValue(query, { meaning: [...REPLY_MEANINGS, 'all', 'questions'] });
  if (unknown !== null) return notFound(unknown);
  const all = open?.ledger.runs() ?? [];
  const runs = all.filter(({ name }) => campaign === '' || name === campaign);
  const people = createPeople(site, asked, runs, q !== '');
  const before = wholeOf(query, 'before');
  const inRuns = campaign === '' ? {} : { runs: runs.map(({ number }) => number) };
  const found = open === null ? NO_REPLIES : await readRows(site, open, chosen, { ...inRuns, before }, people);
  const campaigns = [...new Set(all.map(({ name }) => name))].sort();
  const countOf = open === null ? () => null : await countsOf(open, inRuns, view);
  const tabs = TABS.map(([meaning, title]) => ({
    href: address(['replies'], { ...chosen, meaning }),
    text: html`${title}${countOf(meaning)}`,
    isNow: meaning === chosen.meaning,
  }));
  const named = campaigns.map((name) => [name, name] as const);
  const filters = searchForm('/replies', 'Replies', 'Words, name or number', q, {
    hidden: { meaning: chosen.meaning },
    fields: campaigns.length > 1 && select('campaign', 'Campaign', named, campaign),
  });
  const at = (place: number | null) => address(['replies'], { ...chosen, before: place });
  const links = pager('Pages of the list', [
    ['Newest', before === null ? null : at(null)],
    ['Older', found.next === null ? null : at(found.next)],
    ['Look further back', found.stoppedAt === null ? null : at(found.stoppedAt)],
  ]);
  const { stopEnds } = site.reading.project.webhook.replies;
  const lines = await Promise.all(
    // By its oldest reply: a newer one with the same text is no other row.
    found.rows.map(async (row) => ({
      id: `reply-${row.at(-1)?.number}`,
      cells: await cells(view, row, people, stopEnds),
    })),
  );
  const list =
    lines.length === 0
      ? noReplies(chosen, campaigns, found.stoppedAt !== null)
      : table('Newest first, as they came in.', COLUMNS, lines);
  const undo = html`<p id="decided" class="notice" role="status" hidden><span></span> <button type="button" class="quiet" aria-keyshortcuts="u">Undo</button></p>`;
  const content = {
    title: chosen.meaning === 'review' ? 'Replies to read' : 'Replies',
    parts: [
      fixed('head', html`<h1>Replies</h1>`),
      live('tabs', choices('Replies', tabs)),
      fixed('find', filters),
      live('replies', html`${list}\n${links}`),
      fixed('undo', html`${view.actions === 'on' && undo}`),
    ],
  };
  return { content, isOld: people.isOld() };
};

const NO_REPLIES = { rows: [], next: null, stoppedAt: null };

type People = ReturnType<typeof createPeople>;

/** The people in the lists of runs: each list is opened for the first reply to it. */
function createPeople(site: Site, asked: Pick<Asked, 'patienceMs'>, runs: readonly RunRecord[], waits = false) {
  const byNumber = new Map(runs.map((run) => [run.number, run]));
  const opened = new Map<RunRecord, Names>();
  const runOf = (reply: ReplyRecord) => byNumber.get(reply.answers?.run ?? -1) ?? null;
  return {
    runOf,
    async of(reply: ReplyRecord) {
      const { row, key } = reply.answers ?? { row: -1, key: null };
      const run = runOf(reply);
      const names = run && (opened.get(run) ?? (await namesOf(site, asked, run, waits)));
      if (run && names) opened.set(run, names);
      return { run, label: names?.labelOf(row, key) ?? null, cells: () => names?.cellsOf(row, key) ?? [] };
    },
    isOld: () => [...opened.values()].some(({ why }) => why === 'soon'),
  };
}

/** Replies with the same text, the newest first. */
type Row = [ReplyRecord, ...ReplyRecord[]];

/** A page of rows. A row has one reply, or those to be read that have the same text: each reply is on one page only. */
async function readRows(
  site: Site,
  open: OpenLedger,
  { meaning, q }: Chosen,
  { before, ...inRuns }: { readonly before: number | null; readonly runs?: readonly number[] },
  people: People,
) {
  const turn = createYields();
  const until = performance.now() + LONGEST_SEARCH_MS;
  const isMeant = createMatcher(q, site.phone);
  const meanings = REPLY_MEANINGS.filter((one) => one === meaning);
  const filter = { ...inRuns, ...(before && { before }), ...(meanings.length > 0 && { meanings }) };
  const rows: Row[] = [];
  const byText = new Map<string, Row>();
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
      const row: Row = [reply];
      rows.push(row);
      byText.set(text.trim(), row);
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
  return (meaning: string) => html` <b>${formats.number(sums.get(meaning) ?? 0)}${isCut && '+'}</b>`;
}

/** Those that a person has to read: `88`, and `88+` where only the newest were counted. Empty: none. */
export function toReview(open: OpenLedger | null, formats: View['formats']): string {
  for (const { review, isLast } of open?.ledger.events.replyCounts() ?? [])
    return review === 0 ? '' : `${formats.number(review)}${isLast ? '' : '+'}`;
  return '';
}

function noReplies({ meaning, q, campaign }: Chosen, campaigns: readonly string[], isCut: boolean): Html {
  const isReview = meaning === 'review';
  if (campaign !== '' && !campaigns.includes(campaign))
    return empty(`No campaign that was sent is called "${campaign}".`);
  if (q !== '' || campaign !== '')
    return empty(`No reply${isReview ? ' to read' : ''} is like that${isCut ? ' yet' : ''}.`);
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

async function cells(view: View, replies: Row, people: People, stopEnds: ReplyRules['stopEnds']): Promise<Cells> {
  const [{ from, text, answers, isSought, review, meaning: read, atMs, receivedAtMs }] = replies;
  const { run, label } = await people.of(replies[0]);
  const campaigns = new Set(replies.flatMap((reply) => people.runOf(reply)?.name ?? []));
  const { count, number, when } = view.formats;
  const and = (more: number) => more > 0 && html`<br><span class="soft">and ${count(more, 'other')}</span>`;
  const at = run === null || answers === null ? null : ([run.id, answers.row] as const);
  const person = at === null ? address(['people'], { q: from }) : address(['people', ...at]);
  const meaning = review?.meaning ?? read;
  const scope = meaning === 'opt-out' && ` of ${stoppedBy(run?.topic ?? null, stopEnds)}`;
  return [
    html`<span>${personLink(person, label, from)}${and(new Set(replies.map((one) => one.from)).size - 1)}</span>`,
    html`<div><p class="quote">${text}</p>${replies.length > 1 && html`<b>× ${number(replies.length)}</b>`}</div>`,
    at === null
      ? html`<span class="soft">${isSought ? 'no known message' : 'not looked up yet'}</span>`
      : html`<span><a href="${address(['runs', at[0], 'recipients', at[1]])}">${run?.name}</a>${and(campaigns.size - 1)}</span>`,
    when(atMs ?? receivedAtMs, view.nowMs),
    meaning === 'review' && view.actions === 'on'
      ? decision(view, replies, label ?? from)
      : html`<span>${meaning === 'review' ? 'to read' : meaning}${scope}${review && html`<br><span class="soft">read by ${review.who}</span>`}</span>`,
  ];
}

/** Each with its key. */
const VERDICTS = [
  ['opt-out', 'Opt out', 'o'],
  ['answer', 'Answer', 'a'],
  ['opt-in', 'Opt in', 'i'],
] as const;

function decision(view: View, replies: Row, who: string): Html {
  const ids = replies.map(({ number }) => number);
  const whose = ids.length === 1 ? ` from ${who}, reply ${ids[0] ?? ''}` : ` for ${ids.length} replies`;
  const buttons = VERDICTS.map(
    ([as, text, key]) =>
      html`<button class="quiet" name="as" value="${as}" aria-keyshortcuts="${key}">${text}<span class="hidden">${whose}</span></button>`,
  );
  const isOne = ids.length === 1;
  return html`<form method="post" action="/replies" class="actions"${isOne && html` data-decides`}>${formFields(view, { back: view.url, id: ids })}${buttons}</form>`;
}

interface Review {
  readonly as: Exclude<ReplyMeaning, 'review'>;
  readonly ids: readonly number[];
  readonly back: string;
}

/** Before several replies are entered at once: their senders, and what is recorded. */
export async function replyQuestion(site: Site, open: OpenLedger, view: View, { as, ids, back }: Review) {
  const people = createPeople(site, { patienceMs: LONGEST_SEARCH_MS }, open.ledger.runs(), true);
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
  const more = senders.length - MOST_NAMED;
  return questionPage(view, {
    title: `Record ${view.formats.count(all.length, 'reply', 'replies')} as ${as}?`,
    content: html`<p class="quote">${all[0]?.text}</p>
<ul>${senders.slice(0, MOST_NAMED).map((one) => html`<li>${one}</li>`)}</ul>${more > 0 && html`<p>And ${view.formats.number(more)} more.</p>`}
<p>${coded(effects[as])} The name of the user is kept with it.</p>`,
    to: '/replies',
    hidden: { back, id: ids, as },
    button: ['sure', 'yes', `Record as ${as}`],
    back,
  });
}
