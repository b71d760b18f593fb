import { REPLY_MEANINGS, type ReplyMeaning } from '../model.ts';
import { type ReplyLine, repliesPage } from '../pages/serve-replies.ts';
import { createTurns } from '../util/turns.ts';
import type { OpenLedger } from './serve-ledger.ts';
import { type MakePage, textOf, whole, wholeOf } from './serve-site.ts';

const REPLIES_ON_A_PAGE = 50;
const STEP_REPLIES = 20_000;
const LONGEST_MS = 1_500;

/** `/replies`: newest first; `?meaning=review` those that somebody has to read. */
export const makeReplies: MakePage = async (_site, open, { view, query }) => {
  const wanted = textOf(query, 'meaning');
  const meaning = REPLY_MEANINGS.find((one) => one === wanted) ?? null;
  const before = wholeOf(query, 'before');
  const { found, stoppedAt } = await readReplies(open, meaning, before);
  const replies = found.slice(0, REPLIES_ON_A_PAGE);
  const next = found.length > REPLIES_ON_A_PAGE ? (replies.at(-1)?.id ?? null) : null;
  return whole(repliesPage(view, { meaning: meaning ?? '', replies, isFirst: before === null, next, stoppedAt }));
};

/** In steps, because few of many may have the meaning that is asked for. */
async function readReplies(open: OpenLedger, meaning: ReplyMeaning | null, before: number | null) {
  const turn = createTurns();
  const until = performance.now() + LONGEST_MS;
  const newest = Number(open.query('SELECT max(number) FROM replies').get()?.[0] ?? 0);
  const runs = new Map(open.ledger.runs().map((run) => [run.number, run]));
  const found: ReplyLine[] = [];
  let to = Math.min(before ?? newest + 1, newest + 1);
  while (to > 1 && found.length <= REPLIES_ON_A_PAGE && performance.now() < until) {
    const from = to - STEP_REPLIES;
    const rows = open.query(REPLIES).all(from, to, meaning, REPLIES_ON_A_PAGE + 1 - found.length);
    found.push(
      ...rows.map(([id, sender, text, means, at, run, row, by]): ReplyLine => {
        const own = runs.get(Number(run));
        return {
          id: Number(id),
          from: String(sender),
          text: String(text),
          meaning: means as ReplyMeaning,
          atMs: Number(at),
          answers: own === undefined ? null : { run: own.id, campaign: own.campaign, row: Number(row) },
          reviewedBy: by as string | null,
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
