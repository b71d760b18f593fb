import type { Connection } from './connection.ts';
import { lazily } from './lazily.ts';
import type { EventCounts, PurgeStore } from './purge-store.ts';
import type { RunStore } from './runs.ts';

const BATCH_EVENTS = 5_000;

type EventPurge = Pick<PurgeStore, 'keepDeliveries' | 'forgetReplies' | 'oldEvents' | 'forgetEvents'>;

/**
 * How personal data leaves what came back.
 *
 * A report does not say which run it is about, and nobody looks through all lists for that. But it never comes before
 * the first start of its run: whatever came before the first start of every run that is kept is about none of them, and
 * goes. What came later may still count, and is emptied.
 *
 * Events are numbered as they come in, and times of the ledger never go back, so that old ones come first.
 */
export function eventPurge(
  connection: Connection,
  runs: Pick<RunStore, 'runs' | 'listOf'>,
  step: <T>(rows: number, work: () => T) => T,
): EventPurge {
  const query = lazily((sql) => connection.query(sql));
  const statement = lazily((sql) => connection.statement(sql));

  /** Before the first start of a run that is kept; never after the limit. */
  const firstKeptMs = (beforeMs: number): number => {
    const kept = runs.runs().filter(({ purgedAtMs }) => purgedAtMs === null);
    return Math.min(beforeMs, ...kept.map((run) => run.startedAtMs ?? beforeMs));
  };

  /** Works on events of one kind in the order of their numbers, until one is not old any more. */
  function* walk(next: string, beforeMs: number, work: (after: number, last: number) => number): Generator<number> {
    for (let after = 0; ; ) {
      const [last = null] = query(next).get(after, beforeMs, BATCH_EVENTS) ?? [];
      if (last === null) return;
      const first = after;
      yield step(BATCH_EVENTS, () => work(first, Number(last)));
      after = Number(last);
    }
  }

  return {
    keepDeliveries(run, kept) {
      return step(3 * kept.length, () => {
        const { list } = runs.listOf(run);
        let reports = 0;
        for (const { row, leg, delivery, reference, messageId } of kept) {
          if (delivery !== null) statement(KEEP)(delivery, list, leg, row);
          if (reference !== null) reports += statement('DELETE FROM delivery_reports WHERE reference = ?')(reference);
          if (messageId !== null) reports += statement(DELETE_BY_MESSAGE)(messageId, run.environment);
        }
        return reports;
      });
    },

    *forgetReplies({ number }) {
      for (let count = BATCH_EVENTS; count === BATCH_EVENTS; ) {
        count = step(BATCH_EVENTS, () => statement(FORGET_OF_RUN)(number, BATCH_EVENTS));
        yield count;
      }
    },

    oldEvents(beforeMs) {
      const keptMs = firstKeptMs(beforeMs);
      return {
        reports: Number(query(OLD_REPORTS).get(beforeMs, keptMs)?.[0]),
        replies: Number(query(OLD_REPLIES).get(beforeMs)?.[0]),
        unread: Number(query('SELECT count(*) FROM unread_events WHERE received_at < ?').get(beforeMs)?.[0]),
      };
    },

    *forgetEvents(beforeMs) {
      const keptMs = firstKeptMs(beforeMs);
      const counted = (changes: Partial<EventCounts>): EventCounts => ({ ...NONE, ...changes });
      const reports = walk(NEXT_REPORT, beforeMs, (after, last) => {
        const forgotten = statement(FORGET_REPORTS)(after, last, keptMs);
        return forgotten + statement(EMPTY_REPORTS)(after, last, beforeMs);
      });
      for (const count of reports) yield counted({ reports: count });
      const replies = walk(NEXT_REPLY, beforeMs, (after, last) => {
        const forgotten = statement(FORGET_REPLIES)(after, last, beforeMs);
        return forgotten + statement(EMPTY_REPLIES)(after, last, beforeMs);
      });
      for (const count of replies) yield counted({ replies: count });
      const unread = walk(NEXT_UNREAD, beforeMs, (after, last) => statement(FORGET_UNREAD)(after, last, beforeMs));
      for (const count of unread) yield counted({ unread: count });
    },
  };
}

const NONE: EventCounts = { reports: 0, replies: 0, unread: 0 };

// Another environment may have the same id.
const DELETE_BY_MESSAGE = 'DELETE FROM delivery_reports WHERE message_id = ? AND environment = ?';

// What somebody said stays, whatever a report says that came in while a purge was killed.
const KEEP = `UPDATE recipients SET delivery = ? WHERE list = ? AND leg = ? AND row = ?
  AND (delivery IS NULL OR (delivery <> 'replied' AND delivery <> 'opted-out'))`;

const FORGET_OF_RUN = `DELETE FROM replies WHERE number IN (SELECT number FROM replies WHERE run = ? LIMIT ?)`;

const OLD_REPORTS = `SELECT count(*) FROM delivery_reports WHERE received_at < ?1
  AND (received_at < ?2 OR address IS NOT NULL OR error IS NOT NULL OR text_hash IS NOT NULL)`;

const OLD_REPLIES = `SELECT count(*) FROM replies WHERE received_at < ? AND (run IS NULL OR sender <> '')`;

const NEXT_REPORT = `SELECT max(number) FROM (SELECT number FROM delivery_reports
  WHERE number > ?1 AND received_at < ?2 ORDER BY number LIMIT ?3) AS batch`;

const NEXT_REPLY = `SELECT max(number) FROM (SELECT number FROM replies
  WHERE number > ?1 AND received_at < ?2 ORDER BY number LIMIT ?3) AS batch`;

const NEXT_UNREAD = `SELECT max(number) FROM (SELECT number FROM unread_events
  WHERE number > ?1 AND received_at < ?2 ORDER BY number LIMIT ?3) AS batch`;

const FORGET_REPORTS = 'DELETE FROM delivery_reports WHERE number > ? AND number <= ? AND received_at < ?';

// By its digest somebody could try whose report it was.
const EMPTY_REPORTS = `UPDATE delivery_reports SET address = NULL, error = NULL, text_hash = NULL, digest = randomblob(16)
  WHERE number > ? AND number <= ? AND received_at < ?
    AND (address IS NOT NULL OR error IS NOT NULL OR text_hash IS NOT NULL)`;

const FORGET_REPLIES = 'DELETE FROM replies WHERE number > ? AND number <= ? AND received_at < ? AND run IS NULL';

const EMPTY_REPLIES = `UPDATE replies SET sender = '', text = '', recipient = NULL, reply_id = NULL, reference = NULL,
    message_id = NULL, reviewed_by = NULL, digest = randomblob(16)
  WHERE number > ? AND number <= ? AND received_at < ? AND sender <> ''`;

const FORGET_UNREAD = 'DELETE FROM unread_events WHERE number > ? AND number <= ? AND received_at < ?';
