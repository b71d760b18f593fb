import type { Channel, ReplyMeaning } from '../model.ts';
import type { Connection, Value } from './connection.ts';
import type { ReplyRecord, ReplyReview } from './event-records.ts';
import { lazily } from './lazily.ts';
import { optOuts } from './opt-outs.ts';
import { replyJoiner } from './reply-messages.ts';
import type { ReplyStore } from './reply-store.ts';
import type { RunStore } from './runs.ts';

const BATCH_REPLIES = 1_000;

export function replyStore(connection: Connection, runs: RunStore): ReplyStore {
  // Prepared when they are needed: most commands ask nothing of it.
  const query = lazily((sql) => connection.query(sql));
  const statement = lazily((sql) => connection.statement(sql));
  const { optOut, lift, lastWord } = optOuts(connection);

  return {
    ...replyJoiner(connection, runs),

    *replies({ runs: only, meanings, sinceMs } = {}) {
      const [inRuns, meaning] = [only, meanings].map((list) =>
        list === undefined ? null : JSON.stringify(list.map(String)),
      );
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        const rows = query(NEXT_REPLIES).all(before, BATCH_REPLIES, inRuns ?? null, meaning ?? null, sinceMs ?? null);
        if (rows.length > 0) yield rows.map(toReply);
        if (rows.length < BATCH_REPLIES) return;
        before = Number(rows.at(-1)?.[0]);
      }
    },

    reviewReplies(numbers, { meaning, who, atMs }, { startLifts, listed }) {
      return connection.write(atMs, 3 * numbers.length, (now) => {
        const found = numbers.map((number) => ({ number, row: query(SENDER).get(number) }));
        const missed = found.flatMap(({ number, row }) => (row === undefined ? [number] : []));
        if (missed.length > 0) return { reviewed: 0, suppressed: [], lifted: [], missed };
        const suppressed: string[] = [];
        const lifted: string[] = [];
        for (const { number, row } of found) {
          statement(REVIEW)(meaning, who, now, number);
          const sender = String(row?.[0]);
          // Of the message that it answers: the id of a contact, or another address of the same person.
          const other = row?.[1] as string | null;
          const addresses = new Set(other === null ? [sender] : [sender, listed(other)]);
          const word = startLifts && meaning !== 'answer' ? lastWord(sender) : meaning;
          for (const address of addresses) {
            if (word === 'opt-out' && optOut(address, 'reply', now)) suppressed.push(address);
            if (word === 'opt-in' && startLifts && lift(address)) lifted.push(address);
          }
        }
        return { reviewed: found.length, suppressed, lifted, missed };
      });
    },
  };
}

const NEXT_REPLIES = `SELECT s.number, s.reply_id, s.reference, s.message_id, s.sender, s.recipient, s.channel, s.text,
    s.meaning, s.happened_at, s.received_at, s.source, s.run, s.leg, s.row, s.reviewed_as, s.reviewed_by, s.reviewed_at,
    r.key, r.line, r.variant
  FROM replies AS s LEFT JOIN runs ON runs.number = s.run
    LEFT JOIN recipients AS r ON r.list = runs.list AND r.leg = s.leg AND r.row = s.row
  WHERE s.number < ?1 AND s.sender <> '' AND (?3 IS NULL OR CAST(s.run AS TEXT) IN (SELECT value FROM json_each(?3)))
    AND (?4 IS NULL OR coalesce(s.reviewed_as, s.meaning) IN (SELECT value FROM json_each(?4)))
    AND coalesce(s.happened_at, s.received_at) >= coalesce(?5, CAST(0 AS BIGINT))
  ORDER BY s.number DESC LIMIT ?2`;

const SENDER = `SELECT sender, (SELECT address FROM runs JOIN recipients ON recipients.list = runs.list
    WHERE runs.number = replies.run AND recipients.leg = replies.leg AND recipients.row = replies.row)
  FROM replies WHERE number = ? AND sender <> ''`;

const REVIEW = 'UPDATE replies SET reviewed_as = ?, reviewed_by = ?, reviewed_at = ? WHERE number = ?';

function toReply(row: readonly Value[]): ReplyRecord {
  const isReviewed = row[15] !== null;
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
    answers: row[12] === null ? null : toAnswered(row),
    review: isReviewed
      ? { meaning: row[15] as ReplyReview['meaning'], who: String(row[16]), atMs: Number(row[17]) }
      : null,
  };
}

function toAnswered(row: readonly Value[]): ReplyRecord['answers'] {
  const [run, leg, at] = [row[12], row[13], row[14]].map(Number) as [number, number, number];
  const [key, line, variant] = [row[18] as string | null, row[19] as number | null, row[20] as string | null];
  return { run, leg, row: at, key, line, variant };
}
