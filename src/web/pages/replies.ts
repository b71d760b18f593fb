import type { RunRecord } from '../../ledger/records.ts';
import { REPLY_MEANINGS, type ReplyMeaning, type ReplyRules } from '../../model.ts';
import { stoppedBy } from '../../operations/replies.ts';
import { type Html, html } from '../../util/escape.ts';
import { createYields } from '../../util/long-work.ts';
import { address, pager, select, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Names, namesOf, personLink } from '../names.ts';
import { type MakePage, textOf, wholeOf } from '../site.ts';
import { type Content, csrfField, fixed, live, type View } from './layout.ts';

const REPLIES_ON_A_PAGE = 50;
const STEP_REPLIES = 20_000;
const LONGEST_MS = 1_500;

/** `/replies`: newest first; `?meaning=review` those that a person has to read. */
export const makeReplies: MakePage = async (site, open, asked) => {
  const { view, query } = asked;
  const wanted = textOf(query, 'meaning');
  const meaning = REPLY_MEANINGS.find((one) => one === wanted) ?? null;
  const before = wholeOf(query, 'before');
  const { found, stoppedAt } = await readReplies(open, meaning, before, site.reading.project.webhook.replies);
  const shown = found.slice(0, REPLIES_ON_A_PAGE);
  const names = new Map<string, Names>();
  for (const run of new Set(shown.flatMap(({ run }) => run ?? []))) names.set(run.id, await namesOf(site, asked, run));
  const replies = shown.map((one): ReplyLine => {
    const label = names.get(one.answers?.run ?? '')?.labelOf(one.answers?.row ?? -1, one.from) ?? null;
    return { ...one, label };
  });
  const next = found.length > REPLIES_ON_A_PAGE ? (replies.at(-1)?.id ?? null) : null;
  const content = repliesPage(view, { meaning: meaning ?? '', replies, isFirst: before === null, next, stoppedAt });
  return { content, isOld: [...names.values()].some(({ why }) => why === 'soon') };
};

/** In steps, because few of many may have the chosen meaning. */
async function readReplies(
  open: OpenLedger,
  meaning: ReplyMeaning | null,
  before: number | null,
  { stopEnds }: Pick<ReplyRules, 'stopEnds'>,
) {
  const turn = createYields();
  const until = performance.now() + LONGEST_MS;
  const newest = Number(open.query('SELECT max(number) FROM replies').get()?.[0] ?? 0);
  const runs = new Map(open.ledger.runs().map((run) => [run.number, run]));
  const found: (Omit<ReplyLine, 'label'> & { readonly run: RunRecord | undefined })[] = [];
  let to = Math.min(before ?? newest + 1, newest + 1);
  while (to > 1 && found.length <= REPLIES_ON_A_PAGE && performance.now() < until) {
    const from = to - STEP_REPLIES;
    const rows = open.query(REPLIES).all(from, to, meaning, REPLIES_ON_A_PAGE + 1 - found.length);
    found.push(
      ...rows.map(([id, sender, text, means, at, run, row, by]) => {
        const own = runs.get(Number(run));
        return {
          id: Number(id),
          from: String(sender),
          text: String(text),
          meaning: means as ReplyMeaning,
          optsOutOf: means === 'opt-out' ? stoppedBy(own?.topic ?? null, stopEnds) : null,
          atMs: Number(at),
          answers: own === undefined ? null : { run: own.id, campaign: own.name, row: Number(row) },
          reviewedBy: by as string | null,
          run: own,
        };
      }),
    );
    to = from;
    await turn();
  }
  return { found, stoppedAt: found.length <= REPLIES_ON_A_PAGE && to > 1 ? to : null };
}

const REPLIES = `SELECT number, sender, text, coalesce(reviewed_as, meaning), coalesce(happened_at, received_at), run, row,
    reviewed_by FROM replies
  WHERE number >= ?1 AND number < ?2 AND sender <> '' AND (?3 IS NULL OR coalesce(reviewed_as, meaning) = ?3)
  ORDER BY number DESC LIMIT ?4`;

/** Those that a person has to read: `88`, and `88+` where only the newest were counted. Empty: none. */
export function toReview({ query }: OpenLedger, formats: View['formats']): string {
  const newest = Number(query('SELECT max(number) FROM replies').get()?.[0] ?? 0);
  const from = Math.max(0, newest - STEP_REPLIES);
  const count = Number(query(TO_REVIEW).get(from)?.[0] ?? 0);
  return count === 0 ? '' : `${formats.number(count)}${from > 0 ? '+' : ''}`;
}

const TO_REVIEW = `SELECT count(*) FROM replies
  WHERE number > ? AND sender <> '' AND coalesce(reviewed_as, meaning) = 'review'`;

interface ReplyLine {
  readonly id: number;
  readonly from: string;
  /** The name of a sender who answers a message; null: none is known. */
  readonly label: string | null;
  readonly text: string;
  readonly meaning: ReplyMeaning;
  /** `everything`, or a topic; null: it is no opt-out. */
  readonly optsOutOf: string | null;
  /** When it was written, else when it arrived. */
  readonly atMs: number;
  /** The message that it answers; null: unknown. */
  readonly answers: { readonly run: string; readonly campaign: string; readonly row: number } | null;
  readonly reviewedBy: string | null;
}

interface RepliesData {
  /** Empty for all. */
  readonly meaning: string;
  readonly replies: readonly ReplyLine[];
  readonly isFirst: boolean;
  readonly next: number | null;
  /** The reply at which the search stopped. */
  readonly stoppedAt: number | null;
}

export function repliesPage(view: View, data: RepliesData): Content {
  return {
    title: data.meaning === 'review' ? 'Replies to review' : 'Replies',
    parts: [fixed('head', head(data)), live('replies', list(view, data))],
  };
}

function head({ meaning }: RepliesData): Html {
  const options = REPLY_MEANINGS.map((word) => [word, MEANING_WORDS[word]] as const);
  return html`<h1>Replies</h1>
<p>Replies that may mean to opt out wait for review. An opt-out suppresses the address at once.</p>
<form class="filters" method="get" action="/replies" aria-label="Replies">${select('meaning', 'Meaning', options, meaning)}<p class="actions"><button class="main">Show</button><a class="button" href="${address(['replies'], { meaning: 'review' })}">To review</a></p></form>`;
}

const MEANING_WORDS: Readonly<Record<ReplyMeaning, string>> = {
  review: 'to review',
  'opt-out': 'opt-out',
  'opt-in': 'opt-in',
  answer: 'answer',
};

function list(view: View, { meaning, replies, isFirst, next, stoppedAt }: RepliesData): Html {
  const first = isFirst ? null : address(['replies'], { meaning });
  const far =
    stoppedAt === null
      ? null
      : html`<p><a href="${address(['replies'], { meaning, before: stoppedAt })}">Look further back</a></p>`;
  if (replies.length === 0) {
    const none = meaning === 'review' ? 'No reply waits to be read.' : 'No replies.';
    return html`<div class="empty"><p>${none}</p><p class="soft"><code>handbill listen</code> receives replies; <code>handbill listen --from FILE</code> reads them from an export.</p>${far}</div>
${pager('Pages of the list', [['Newest', first]])}`;
  }
  const rows = replies.map((reply) => ({ id: `reply-${reply.id}`, cells: cells(view, reply, meaning) }));
  const columns = view.actions === 'on' ? [...COLUMNS, { title: 'It means', isLow: true }] : COLUMNS;
  return html`${table('Newest first, as they came in.', columns, rows)}
${far}
${pager('Pages of the list', [
  ['Newest', first],
  ['Older', next === null ? null : address(['replies'], { meaning, before: next })],
])}`;
}

const COLUMNS = [
  { title: 'From' },
  { title: 'Text', isRoomy: true },
  { title: 'Meaning' },
  { title: 'To', isLow: true },
  { title: 'When', isLow: true },
];

function cells(view: View, reply: ReplyLine, meaning: string): readonly (Html | string)[] {
  const { id, from, label, text, answers, atMs, reviewedBy, optsOutOf } = reply;
  return [
    html`<span data-key="${id}">${answers === null ? from : personLink(address(['people', answers.run, answers.row]), label, from)}</span>`,
    html`<p class="quote">${text}</p>`,
    html`<span>${MEANING_WORDS[reply.meaning] ?? reply.meaning}${optsOutOf === null ? null : ` of ${optsOutOf}`}${reviewedBy === null ? null : html`<br><span class="soft">read by ${reviewedBy}</span>`}</span>`,
    answers === null
      ? ''
      : html`<a href="${address(['runs', answers.run, 'recipients', answers.row])}">${answers.campaign}</a>`,
    html`<span>${view.formats.time(atMs)}</span>`,
    ...(view.actions === 'on' ? [review(view, id, label ?? from, meaning)] : []),
  ];
}

function review(view: View, id: number, from: string, meaning: string): Html {
  const button = (as: string, text: string) =>
    html`<button class="quiet" name="as" value="${as}">${text}<span class="hidden"> from ${from}, reply ${id}</span></button>`;
  return html`<form method="post" action="/replies" class="actions">${csrfField(view)}<input type="hidden" name="id" value="${id}"><input type="hidden" name="meaning" value="${meaning}">${button('opt-out', 'Opt-out')}${button('answer', 'Answer')}${button('opt-in', 'Opt-in')}</form>`;
}
