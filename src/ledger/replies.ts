import { hash } from 'node:crypto';
import type { Channel, ReplyMeaning } from '../model.ts';
import { kindOf, listedForm, spellingsOf } from '../util/address-form.ts';
import type { Connection, Value } from './connection.ts';
import type { Joined, JoinFacts, ReplyRecord, ReplyReview, ReplyStore } from './ledger.ts';
import type { RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';
import { stoppedTopic, UNKNOWN_TOPIC } from './suppressions.ts';

const BATCH_REPLIES = 1_000;
/** Numbers that one query looks at: few of many replies may match. */
const SPAN_REPLIES = 20_000;

export function replyStore(connection: Connection, runs: RunStore): ReplyStore {
  const { query, statement } = connection;
  const { optOut, lift, lastWord } = optOuts(connection);
  const newest = (): number => Number(query('SELECT max(number) FROM replies').get()?.[0] ?? 0);

  return {
    ...replyJoiner(connection, runs),

    *replies({ runs: only, meanings, sinceMs, questions = false, before = Number.MAX_SAFE_INTEGER, numbers } = {}) {
      const [inRuns, meaning, named] = [only, meanings, numbers].map((list) =>
        list === undefined ? null : JSON.stringify(list.map(String)),
      );
      const filters = [inRuns ?? null, meaning ?? null, sinceMs ?? null, questions ? 1 : 0, named ?? null];
      for (let to = Math.min(before, newest() + 1); to > 1; ) {
        const from = to - SPAN_REPLIES;
        const rows = query(NEXT_REPLIES).all(to, from, BATCH_REPLIES, ...filters);
        yield rows.map(toReply);
        to = rows.length < BATCH_REPLIES ? from : Number(rows.at(-1)?.[0]);
      }
    },

    *replyCounts({ runs: only } = {}) {
      const inRuns = only === undefined ? null : JSON.stringify(only.map(String));
      for (let to = newest() + 1; to > 1; to -= SPAN_REPLIES) {
        const counts = query(REPLY_COUNTS).get(to, to - SPAN_REPLIES, inRuns) ?? [];
        const [all = 0, review = 0, optOut = 0, questions = 0] = counts.map(Number);
        yield { all, review, 'opt-out': optOut, questions, isLast: to <= SPAN_REPLIES };
      }
    },

    reviewReplies(numbers, { meaning, who, atMs }, { startLifts, stopEnds = 'everything', onlyUnread = false }) {
      return connection.write(atMs, 3 * numbers.length, (now) => {
        const found = numbers.map((number) => ({ number, row: query(SENDER).get(number) }));
        const missed = found.flatMap(({ number, row }) => (row === undefined ? [number] : []));
        const earlier = found.flatMap(({ number, row }) =>
          row?.[3] == null ? [] : [{ number, ...toReview(row.slice(3)) }],
        );
        if (missed.length > 0 || (onlyUnread && earlier.length > 0))
          return { reviewed: 0, suppressed: [], lifted: [], unassigned: [], missed, earlier };
        const suppressed: string[] = [];
        const lifted: string[] = [];
        const unassigned: string[] = [];
        for (const { number, row } of found) {
          statement(REVIEW)(meaning, who, now, number);
          const sender = String(row?.[0]);
          // Names in the answered message: the id of a contact, or another address of the same person.
          const run = row?.[2] == null ? null : runs.record(Number(row[2]));
          const other = run === null || isRedirect(run, sender) ? null : (row?.[1] as string | null);
          const addresses = new Set([...listable(sender), ...(other === null ? [] : [listedForm(other)])]);
          if (meaning === 'opt-out' && addresses.size === 0) unassigned.push(sender);
          const topic = stopEnds === 'topic' ? stoppedTopic(run ?? { topic: null }) : null;
          const word = startLifts && meaning !== 'answer' ? lastWord(sender, topic) : meaning;
          for (const address of addresses) {
            if (word === 'opt-out' && optOut(address, 'reply', now, topic ?? '')) suppressed.push(address);
            if (word === 'opt-in' && startLifts && lift(address, topic)) lifted.push(address);
          }
        }
        return { reviewed: found.length, suppressed, lifted, unassigned, missed, earlier };
      });
    },
  };
}

// A question has the mark of Latin, Arabic or East Asian writing; REPLY_COUNTS counts the same.
const NEXT_REPLIES = `SELECT s.number, s.reply_id, s.reference, s.message_id, s.sender, s.recipient, s.channel, s.text,
    s.meaning, s.happened_at, s.received_at, s.source, s.run, s.step, s.row, s.reviewed_as, s.reviewed_by, s.reviewed_at,
    r.key, r.line, r.variant
  FROM replies AS s LEFT JOIN runs ON runs.number = s.run
    LEFT JOIN recipients AS r ON r.list = runs.list AND r.step = s.step AND r.row = s.row
  WHERE s.number < ?1 AND s.number >= ?2 AND s.sender <> ''
    AND (?4 IS NULL OR CAST(s.run AS TEXT) IN (SELECT value FROM json_each(?4)))
    AND (?5 IS NULL OR coalesce(s.reviewed_as, s.meaning) IN (SELECT value FROM json_each(?5)))
    AND coalesce(s.happened_at, s.received_at) >= coalesce(?6, CAST(0 AS BIGINT))
    AND (?7 = 0 OR instr(s.text, '?') > 0 OR instr(s.text, '؟') > 0 OR instr(s.text, '？') > 0)
    AND (?8 IS NULL OR CAST(s.number AS TEXT) IN (SELECT value FROM json_each(?8)))
  ORDER BY s.number DESC LIMIT ?3`;

const REPLY_COUNTS = `SELECT count(*), sum(CASE WHEN coalesce(reviewed_as, meaning) = 'review' THEN 1 ELSE 0 END),
    sum(CASE WHEN coalesce(reviewed_as, meaning) = 'opt-out' THEN 1 ELSE 0 END),
    sum(CASE WHEN instr(s.text, '?') > 0 OR instr(s.text, '؟') > 0 OR instr(s.text, '？') > 0 THEN 1 ELSE 0 END)
  FROM replies AS s WHERE number < ?1 AND number >= ?2 AND sender <> ''
    AND (?3 IS NULL OR CAST(run AS TEXT) IN (SELECT value FROM json_each(?3)))`;

const SENDER = `SELECT sender, (SELECT address FROM runs JOIN recipients ON recipients.list = runs.list
    WHERE runs.number = replies.run AND recipients.step = replies.step AND recipients.row = replies.row), run,
    reviewed_as, reviewed_by, reviewed_at
  FROM replies WHERE number = ? AND sender <> ''`;

const REVIEW = 'UPDATE replies SET reviewed_as = ?, reviewed_by = ?, reviewed_at = ? WHERE number = ?';

function toReview([meaning, who, atMs]: readonly Value[]): ReplyReview {
  return { meaning: meaning as ReplyReview['meaning'], who: String(who), atMs: Number(atMs) };
}

function toReply(row: readonly Value[]): ReplyRecord {
  const [run, step, at] = [row[12], row[13], row[14]].map(Number) as [number, number, number];
  const [key, line, variant] = [row[18] as string | null, row[19] as number | null, row[20] as string | null];
  return {
    number: Number(row[0]),
    replyId: row[1] as string | null,
    reference: row[2] as string | null,
    messageId: row[3] as string | null,
    from: String(row[4]),
    to: row[5] as string | null,
    channel: row[6] as Channel | null,
    text: String(row[7]),
    meaning: row[8] as ReplyMeaning,
    atMs: row[9] as number | null,
    receivedAtMs: Number(row[10]),
    source: String(row[11]),
    answers: row[12] === null ? null : { run, step, row: at, key, line, variant },
    isSought: row[14] !== null,
    review: row[15] === null ? null : toReview(row.slice(15)),
  };
}

/** Replies joined in one pass over the lists. */
const JOINED_AT_ONCE = 500;

/** Rows of one step: some 15 ms, also where the reference of each has to be made. */
const SPAN_ROWS = 20_000;
const HASHED_ROWS = 4_000;

/** Times of providers are often whole seconds, rounded down. */
const ROUNDING_MS = 1_000;
/** A time without its zone is wrong by less. What is older answers no message of handbill. */
const WRONG_CLOCK_MS = 24 * 3_600_000;

/**
 * Finds the message that each reply answers, in one scan of the lists for many replies: rows have no index by address
 * or id, because that would double the cost of a send, and replies are few.
 *
 * What the reply names (our reference, the id of the API) counts first. Otherwise it answers the last message to its
 * sender that was claimed before the reply was written. If no message is that old, the clock of the reply may be wrong:
 * then it answers the first message that was claimed within a day after, and before the reply came in.
 *
 * A reply answers messages of the environment that it came in for. If that is unknown, only our reference says which
 * message it answers. An opt-out applies to all environments: the address of the message that it would answer in any of
 * them is suppressed too.
 *
 * A reply whose message is not found stays without a run, and `row` is the number of starts (of all runs) at that time:
 * without a new start, no one has to look for it again.
 */
function replyJoiner(
  connection: Connection,
  runs: RunStore,
): Pick<ReplyStore, 'hasUnjoined' | 'hasUnjoinedOptOut' | 'unjoinedOptOuts' | 'joinReplies'> {
  const { query, statement } = connection;
  const { optOut, lift, lastWord, learned } = optOuts(connection);
  const starts = (): number => Number(query('SELECT coalesce(sum(starts), 0) FROM runs').get()?.[0]);

  function* look(run: RunRecord, search: Search, referencesOf: JoinFacts['referencesOf']): Generator<Joined> {
    const { list } = runs.listOf(run);
    const referenceOf = referencesOf(run);
    for (let step = 0; ; step++) {
      const last = query('SELECT max(row) FROM recipients WHERE list = ? AND step = ?').get(list, step)?.[0] ?? null;
      // A step has only rows of recipients who fell back in the step before.
      if (last === null) return;
      for (let after = -1, until = -1; after < Number(last); after = until) {
        const all = search.byReference.size > 0;
        until = after + (all ? HASHED_ROWS : SPAN_ROWS);
        const { addresses, messageIds } = search;
        const rows = query(ROWS).all(list, step, after, until, run.channel, all ? 1 : 0, addresses, messageIds);
        for (const row of rows) consider(toCandidate(row, run, step), search, referenceOf);
        yield NOTHING;
      }
    }
  }

  const store = (search: Search, startsSeen: number, { startLifts, stopEnds = 'everything', now }: JoinFacts): Joined =>
    connection.write(now(), 2 * search.replies.length, (nowMs) => {
      const suppressed: string[] = [];
      // All are joined before any is judged: one may take back another.
      const looked = search.replies.filter(({ number, own }) => {
        const found = bestOf(own);
        if (found === null) statement(NOT_FOUND)(startsSeen, number);
        // A list that was replaced meanwhile has other rows: it is scanned again.
        return found === null || statement(JOIN)(found.run, found.step, found.row, number, found.key) === 1;
      });
      for (const reply of looked) {
        const { number, sender } = reply;
        const found = bestOf(reply.own);
        const meaning = query('SELECT coalesce(reviewed_as, meaning) FROM replies WHERE number = ?').get(number)?.[0];
        if (meaning !== 'opt-out' && meaning !== 'opt-in') continue;
        const about = found === null ? UNKNOWN_TOPIC : stoppedTopic(runs.record(found.run));
        const topic = stopEnds === 'topic' ? about : null;
        const word = startLifts ? lastWord(sender, topic) : meaning;
        // A contact id, or another address of the same person: the opt-out or opt-in applies to it too.
        const [own, any] = [found, bestOf(reply.any)].map((one) =>
          one?.address == null || isRedirect(one, sender) ? null : listedForm(one.address),
        );
        const known = listable(sender);
        for (const address of new Set([...known, ...[own, any].filter((one) => typeof one === 'string')])) {
          // Without topics the sender was suppressed when it came in, or is not any more.
          const isKnown = known.includes(address);
          if (isKnown && topic === null) continue;
          const isNew = word === 'opt-out' && optOut(address, 'reply', nowMs, topic ?? '');
          if (isNew && !isKnown) suppressed.push(address);
          if (word === 'opt-in' && startLifts && (address === own || address === sender)) lift(address, topic);
        }
        if (topic !== null && found !== null) learned(sender);
      }
      return { joined: looked.filter(({ own }) => bestOf(own) !== null).length, suppressed };
    });

  return {
    hasUnjoined: () => query(NEXT_UNJOINED).get(0, starts(), 1) !== undefined,

    unjoinedOptOuts: () =>
      query(UNJOINED_OPT_OUTS)
        .all()
        .map(([sender, replyId]) => ({ sender: String(sender), replyId: replyId as string | null })),

    hasUnjoinedOptOut: () => query(NEW_OPT_OUT).get() !== undefined,

    *joinReplies(facts) {
      for (let after = 0; ; ) {
        const startsSeen = starts();
        const wanted = query(NEXT_UNJOINED).all(after, startsSeen, JOINED_AT_ONCE).map(toWanted);
        const last = wanted.at(-1);
        if (last === undefined) return;
        after = last.number;
        const search = searchFor(wanted);
        const newestFirst = runs
          .runs()
          // `untilMs`: the last time at which a message of it can have been claimed.
          .map((run) => ({ run, untilMs: run.finishedAtMs ?? Number.MAX_SAFE_INTEGER }))
          .sort((a, b) => b.untilMs - a.untilMs || b.run.number - a.run.number);
        for (const { run, untilMs } of newestFirst) {
          if (isOver(search, untilMs)) break;
          const isAfter = run.startedAtMs === null || run.startedAtMs > search.latestMs;
          if (run.purgedAtMs === null && !isAfter) yield* look(run, search, facts.referencesOf);
        }
        yield store(search, startsSeen, facts);
      }
    },
  };
}

/** The sender, if it is an address: the id of a contact is one where a message went to it. */
function listable(sender: string): readonly string[] {
  return kindOf(sender) === 'contact' ? [] : [sender];
}

const NOTHING: Joined = { joined: 0, suppressed: [] };

type Candidate = ReturnType<typeof toCandidate>;

type Wanted = ReturnType<typeof toWanted>;

/** The message that a reply names; else the last before it was written; else the first before it came in. */
interface Best {
  named: Candidate | null;
  before: Candidate | null;
  after: Candidate | null;
}

function bestOf({ named, before, after }: Best): Candidate | null {
  return named ?? before ?? after;
}

const NO_MATCH: Best = { named: null, before: null, after: null };

type Search = ReturnType<typeof searchFor>;

function searchFor(replies: readonly Wanted[]) {
  const bySender = Map.groupBy(replies, ({ sender }) => sender);
  const naming = (by: 'messageId' | 'reference') =>
    Map.groupBy(
      replies.filter((reply) => reply[by] !== null),
      (reply) => reply[by],
    );
  const byMessageId = naming('messageId');
  return {
    replies,
    bySender,
    byMessageId,
    /** Not found yet: while there are any, the reference of every row has to be made. */
    byReference: naming('reference'),
    /** JSON, by which the database filters rows. */
    addresses: JSON.stringify([...bySender.keys()].flatMap(spellingsOf)),
    messageIds: JSON.stringify([...byMessageId.keys()]),
    /** When the last of them came in. */
    latestMs: Math.max(...replies.map(({ receivedAtMs }) => receivedAtMs)),
  };
}

function consider(found: Candidate, search: Search, referenceOf: ReturnType<JoinFacts['referencesOf']>): void {
  if (search.byReference.size > 0) {
    const reference = referenceOf(found.key, found.channel, found.resend);
    for (const reply of search.byReference.get(reference) ?? []) {
      reply.any.named = found;
      if (reply.environment === found.environment) reply.own.named = found;
    }
    search.byReference.delete(reference);
  }
  if (found.messageId !== null) {
    for (const reply of search.byMessageId.get(found.messageId) ?? []) {
      for (const best of bestsFor(reply, found)) best.named ??= found;
    }
  }
  if (found.address === null || !found.mayBeThere) return;
  for (const reply of search.bySender.get(listedForm(found.address)) ?? []) {
    const { claimedAtMs } = found;
    for (const best of bestsFor(reply, found)) {
      if (claimedAtMs <= reply.atMs + ROUNDING_MS) {
        if (best.before === null || claimedAtMs > best.before.claimedAtMs) best.before = found;
      } else if (claimedAtMs <= Math.min(reply.receivedAtMs, reply.atMs + WRONG_CLOCK_MS)) {
        if (best.after === null || claimedAtMs < best.after.claimedAtMs) best.after = found;
      }
    }
  }
}

function bestsFor({ own, any, environment }: Wanted, found: Candidate): readonly Best[] {
  return environment === found.environment ? [own, any] : [any];
}

/** Whether no run that was last active before an instant can be a better match. */
function isOver({ replies }: Search, untilMs: number): boolean {
  return replies.every(
    ({ own: { named, before }, reference, messageId }) =>
      named !== null || (reference === null && messageId === null && before !== null && before.claimedAtMs > untilMs),
  );
}

function toWanted(row: readonly Value[]) {
  const receivedAtMs = Number(row[5]);
  return {
    number: Number(row[0]),
    sender: String(row[1]),
    reference: row[2] as string | null,
    messageId: row[3] as string | null,
    // A clock that is ahead does not make the reply one to a later message.
    atMs: Math.min(Number(row[4] ?? receivedAtMs), receivedAtMs),
    receivedAtMs,
    /** Empty: unknown. */
    environment: String(row[6]),
    /** The best match in its own environment, which it answers. */
    own: { ...NO_MATCH },
    /** The best match of all environments. */
    any: { ...NO_MATCH },
  };
}

function toCandidate(row: readonly Value[], { number, environment, inputs }: RunRecord, step: number) {
  return {
    run: number,
    environment: (row[8] ?? environment) as string,
    step,
    row: Number(row[0]),
    key: String(row[1]),
    channel: row[2] as Channel,
    address: row[3] as string | null,
    messageId: row[4] as string | null,
    claimedAtMs: Number(row[5]),
    /** Whether the person may have got it: a refused message only counts if the reply names it. */
    mayBeThere: row[6] === 1,
    resend: Number(row[7] ?? 0),
    inputs,
  };
}

/** A tester answers a redirected message: that means nothing for its intended recipient. */
function isRedirect({ inputs }: Pick<RunRecord, 'inputs'>, sender: string): boolean {
  return inputs.some(({ role, sha256 }) => role === 'redirect' && sha256 === hash('sha256', sender, 'hex'));
}

const NEXT_UNJOINED = `SELECT number, sender, reference, message_id, happened_at, received_at, environment FROM replies
  WHERE run IS NULL AND sender <> '' AND number > ? AND (row IS NULL OR row < ?) ORDER BY number LIMIT ?`;

const NEW_OPT_OUT = `SELECT 1 FROM replies
  WHERE run IS NULL AND row IS NULL AND sender <> '' AND coalesce(reviewed_as, meaning) = 'opt-out' LIMIT 1`;

const UNJOINED_OPT_OUTS = `SELECT sender, reply_id FROM replies
  WHERE run IS NULL AND sender <> '' AND coalesce(reviewed_as, meaning) = 'opt-out'`;

// Email addresses compare in lower case; numbers and ids of contacts are not affected.
const ROWS = `SELECT row, key, coalesce(channel, ?5), address, message_id, claimed_at,
    state = 'accepted' OR state = 'in-doubt' OR state = 'claimed' OR resolved_by IS NOT DISTINCT FROM 'resend', resend,
    posted_from
  FROM recipients WHERE list = ?1 AND step = ?2 AND row > ?3 AND row <= ?4 AND claimed_at IS NOT NULL AND key IS NOT NULL
    AND (?6 = 1 OR lower(address) IN (SELECT value FROM json_each(?7))
      OR message_id IN (SELECT value FROM json_each(?8)))`;

const JOIN = `UPDATE replies SET run = ?1, step = ?2, row = ?3 WHERE number = ?4 AND run IS NULL
  AND EXISTS (SELECT 1 FROM runs JOIN recipients ON recipients.list = runs.list
    WHERE runs.number = ?1 AND recipients.step = ?2 AND recipients.row = ?3 AND recipients.key = ?5)`;

const NOT_FOUND = 'UPDATE replies SET row = ? WHERE number = ? AND run IS NULL';

/** Opt-outs and opt-ins, inside a transaction. Topic '' is for all, null means every one: the project has no topics. */
export function optOuts(connection: Connection) {
  return {
    /** Permanent, in any campaign of the topic. Returns whether the address was not suppressed permanently before. */
    optOut(address: string, by: keyof typeof REASONS, nowMs: number, topic: string): boolean {
      const isNew = connection.query(LASTING_SUPPRESSION).get(address, topic) === undefined;
      connection.statement(SUPPRESS)(address, topic, REASONS[by], by, nowMs);
      return isNew;
    },
    /** Takes back opt-outs by reply only: about this topic, and about all. Returns whether there was one. */
    lift: (address: string, topic: string | null) => connection.statement(LIFT)(address, topic) > 0,
    /**
     * The sender's last opt-out or opt-in about the topic or about all, by its time. In answer to an unknown message, a
     * STOP is about every topic, a START about none.
     */
    lastWord: (sender: string, topic: string | null) =>
      (connection.query(LAST_WORD).get(sender, topic)?.[0] ?? null) as 'opt-out' | 'opt-in' | null,
    /** The answered messages are known now: the sender is not suppressed for all topics any more. */
    learned: (sender: string) => void connection.statement(LEARNED)(sender),
  };
}

const REASONS = {
  reply: 'replied to opt out',
  report: 'the provider reports that this person opted out',
  provider: 'the provider answered that this person opted out',
} as const;

const LASTING_SUPPRESSION = `SELECT 1 FROM suppressions WHERE address = ?1 AND until_at IS NULL
  AND (topic = '' OR topic = '?' OR topic = ?2)`;

// A recipient's own opt-out lasts longer than an entry with an end, which stays an entry of its origin: what is
// essential does not go out against it. START takes back a reply, but not what the provider says.
const SUPPRESS = `INSERT INTO suppressions (address, topic, reason, until_at, source, created_at)
  VALUES (?, ?, ?, NULL, ?, ?) ON CONFLICT (address, topic) DO UPDATE
  SET reason = excluded.reason, until_at = NULL,
    source = CASE WHEN excluded.source <> 'reply' OR suppressions.source = 'reply'
      OR suppressions.until_at <= excluded.created_at THEN excluded.source ELSE suppressions.source END
  WHERE suppressions.until_at IS NOT NULL OR (suppressions.source = 'reply' AND excluded.source <> 'reply')`;

// Never a complaint, an import, or an entry that a person made.
const LIFT = `DELETE FROM suppressions WHERE address = ?1 AND source = 'reply'
  AND (?2 IS NULL OR topic = '' OR topic = ?2)`;

// While another STOP of the same sender is not joined, it may be about another topic.
const LEARNED = `DELETE FROM suppressions WHERE address = ?1 AND topic = '?' AND NOT EXISTS (SELECT 1 FROM replies
  WHERE sender = ?1 AND run IS NULL AND coalesce(reviewed_as, meaning) = 'opt-out')`;

// A sender who wrote both at the same time counts as opted out. The time of a reply is never later than its arrival:
// otherwise a START from a clock that is ahead, or without its time zone, would override every STOP until then.
const LAST_WORD = `SELECT coalesce(reviewed_as, meaning) AS word FROM replies
  WHERE sender = ?1 AND coalesce(reviewed_as, meaning) IN ('opt-out', 'opt-in')
    AND (?2 IS NULL OR ?2 = '?' OR ?2 = '' OR (run IS NULL AND coalesce(reviewed_as, meaning) = 'opt-out')
      OR EXISTS (SELECT 1 FROM runs WHERE runs.number = replies.run
        AND (topic = ?2 OR topic IS NULL OR topic = 'essential')))
  ORDER BY CASE WHEN happened_at < received_at THEN happened_at ELSE received_at END DESC,
    CASE coalesce(reviewed_as, meaning) WHEN 'opt-out' THEN 0 ELSE 1 END LIMIT 1`;
