import type { Connection, Statement, Value } from './connection.ts';
import type { EventCounts, KeptDelivery, PurgeStore } from './ledger.ts';
import type { Hasher, RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';

const BATCH_ROWS = 5000;
const SUPPRESSION_ROWS = 1000;

/**
 * How personal data is deleted:
 *
 * 1. A note beside the ledger says that a purge is under way, until all of it is done.
 * 2. `purged_at` of a run is set first, in a separate transaction: from then on the run is never continued.
 * 3. The delivery result of its messages is kept as a word in each row, and the reports and replies are deleted.
 * 4. Its rows are cleared and its attempts deleted, in batches, and the freed space is overwritten (`secure_delete`).
 * 5. The hash of its identity, which is not compared any more, is emptied: nothing is left in the run.
 * 6. The file is written anew. Overwriting is not enough. Pages that were split while rows grew keep copies of them,
 * because SQLite clears freed cells but not moved ones (of 20,000 rows that had been sent to, 3,377 keys and 1,008 ids
 * were still in the file). Replaced lists are in free pages.
 */
export function purgeStore(connection: Connection, runs: RunStore): Omit<PurgeStore, 'erase' | 'traces'> {
  const clearHistory = [connection.statement(CLEAR_RESOLUTIONS), connection.statement(FORGET_ATTEMPTS)];
  const markRun = connection.statement('UPDATE runs SET purged_at = ? WHERE number = ? AND purged_at IS NULL');
  const endRun = connection.statement(`UPDATE runs SET identity_hash = '' WHERE number = ? AND purged_at IS NOT NULL`);
  const forgetRun = connection.statement(`DELETE FROM runs WHERE number = ? AND state = 'loading'`);

  const drafts = (): readonly RunRecord[] =>
    connection
      .query(`SELECT number FROM runs WHERE state = 'loading' ORDER BY number`)
      .all()
      .map(([number]) => runs.record(Number(number)));

  /** One step, which overwrites the space that it frees. The setting is per connection and does not affect others. */
  const step = <T>(rows: number, work: () => T): T => {
    connection.purge.overwrite();
    return connection.write(0, rows, work);
  };

  /** Every row of a list: those of step 0 in list order, then those of step 1 ... */
  function* walk(list: number, change: Statement): Generator<number> {
    for (let channelStep = 0, after = -1; ; ) {
      const last = Number(connection.query(LAST_OF_BATCH).get(list, channelStep, after, BATCH_ROWS)?.[0] ?? -1);
      // A step has only rows of recipients who fell back in the step before.
      if (last === -1 && after === -1) return;
      if (last === -1) {
        channelStep++;
        after = -1;
        continue;
      }
      const first = after;
      yield step(BATCH_ROWS, () => change(list, channelStep, first, last));
      after = last;
    }
  }

  return {
    lastActivityMs(run) {
      const recorded = connection.query(NEWEST).get(runs.listOf(run).list)?.[0] ?? 0;
      return Math.max(Number(recorded), run.createdAtMs, run.lastStartAtMs ?? 0, run.finishedAtMs ?? 0);
    },
    drafts,
    isDone: (run) => run.purgedAtMs !== null && run.identityHash === '',
    isUnderWay: () => connection.purge.isUnderWay(),
    begin: () => connection.purge.begin(),
    mark(run, nowMs) {
      connection.write(nowMs, 1, (now) => markRun(now, run.number));
      return runs.record(run.number);
    },
    *clear(run) {
      yield* walk(runs.listOf(run).list, connection.statement(CLEAR_ROWS));
      for (const clear of clearHistory) {
        for (let rows = BATCH_ROWS; rows === BATCH_ROWS; ) {
          rows = step(BATCH_ROWS, () => clear(run.number, BATCH_ROWS));
          yield rows;
        }
      }
      connection.write(0, 1, () => endRun(run.number));
    },
    *forget(draft) {
      if (draft.state !== 'loading') throw new Error(`Run ${draft.id} is loaded: its list is not forgotten.`);
      yield* walk(runs.listOf(draft).list, connection.statement(FORGET_ROWS));
      connection.write(0, 1, () => forgetRun(draft.number));
    },
    ...suppressionPurge(connection, step),
    ...eventPurge(connection, runs, step),
    rewrite: () => connection.purge.rewrite(() => [...runs.runs(), ...drafts()]),
  };
}

function suppressionPurge(
  connection: Connection,
  step: <T>(rows: number, work: () => T) => T,
): Pick<PurgeStore, 'oldSuppressions' | 'hashSuppressions'> {
  const forget = connection.statement('DELETE FROM suppressions WHERE address = ? AND topic = ?');

  const move = (
    [address, until, source, created, topic]: readonly Value[],
    beforeMs: number,
    hasher: Hasher | null,
  ) => {
    const gone = () => forget(String(address), String(topic));
    if (typeof until === 'number' && until < beforeMs) return { hashed: 0, expired: gone() };
    if (hasher === null) return { hashed: 0, expired: 0 };
    const hash = hasher.hash(String(address));
    connection.statement(KEEP_HASH)(
      hash,
      String(topic),
      hasher.keyId,
      until as number | null,
      String(source),
      Number(created),
    );
    return { hashed: gone(), expired: 0 };
  };

  return {
    oldSuppressions(beforeMs) {
      const [expired, active] = connection.query(COUNT_OLD).get(beforeMs) ?? [];
      return { expired: Number(expired), active: Number(active) };
    },
    *hashSuppressions(beforeMs, hasher) {
      for (let after = ['', '']; ; ) {
        const first = after;
        const moved = step(2 * SUPPRESSION_ROWS, () => {
          const rows = connection.query(NEXT_OLD).all(beforeMs, ...first, SUPPRESSION_ROWS);
          after = [String(rows.at(-1)?.[0] ?? ''), String(rows.at(-1)?.[4] ?? '')];
          return rows.map((row) => move(row, beforeMs, hasher));
        });
        if (moved.length === 0) return;
        const sum = (of: 'hashed' | 'expired') => moved.reduce((total, one) => total + one[of], 0);
        yield { hashed: sum('hashed'), expired: sum('expired') };
      }
    },
  };
}

// An erased person's row keeps the end of a day, which may be in the future.
const NEWEST =
  'SELECT max(CASE WHEN coalesce(updated_at, 0) > coalesce(claimed_at, 0) THEN updated_at ELSE claimed_at END) FROM recipients WHERE list = ? AND key IS NOT NULL';

const LAST_OF_BATCH = `SELECT max(row) FROM (SELECT row FROM recipients WHERE list = ? AND step = ? AND row > ?
  ORDER BY row LIMIT ?) AS batch`;

// A claim's millisecond would identify its recipient in the provider's log. Frequency caps need only its day.
const CLEAR_ROWS = `UPDATE recipients SET key = NULL, address = NULL, message_id = NULL, error = NULL, updated_at = NULL,
    text_hash = NULL, list_address = NULL, claimed_at = claimed_at - claimed_at % 86400000 + 86399999
  WHERE list = ? AND step = ? AND row > ? AND row <= ?
    AND (key IS NOT NULL OR address IS NOT NULL OR message_id IS NOT NULL OR error IS NOT NULL
      OR text_hash IS NOT NULL OR list_address IS NOT NULL OR updated_at IS NOT NULL OR claimed_at % 86400000 <> 86399999)`;

const CLEAR_RESOLUTIONS = `UPDATE resolutions SET key = '', address = NULL, message_id = NULL, error = NULL,
    who = NULL, note = NULL, doubt_at = NULL
  WHERE number IN (SELECT number FROM resolutions WHERE run = ? AND key > '' LIMIT ?)`;

const FORGET_ATTEMPTS = 'DELETE FROM attempts WHERE number IN (SELECT number FROM attempts WHERE run = ? LIMIT ?)';

const FORGET_ROWS = 'DELETE FROM recipients WHERE list = ? AND step = ? AND row > ? AND row <= ?';

const COUNT_OLD = `SELECT count(*) FILTER (WHERE until_at < ?1), count(*) FILTER (WHERE until_at IS NULL OR until_at >= ?1)
  FROM suppressions WHERE created_at < ?1`;

const NEXT_OLD = `SELECT address, until_at, source, created_at, topic FROM suppressions
  WHERE created_at < ? AND (address, topic) > (?, ?) ORDER BY address, topic LIMIT ?`;

// The longer entry stays, and a reply counts for less than others; the reason is free text with personal data.
export const KEEP_HASH = `INSERT INTO suppressed_hashes (hash, topic, key_id, reason, until_at, source, created_at)
  VALUES (?, ?, ?, NULL, ?, ?, ?) ON CONFLICT (hash, topic) DO UPDATE
  SET until_at = CASE WHEN suppressed_hashes.until_at IS NULL OR excluded.until_at <= suppressed_hashes.until_at
      THEN suppressed_hashes.until_at ELSE excluded.until_at END,
    source = CASE WHEN excluded.source = 'reply' THEN suppressed_hashes.source ELSE excluded.source END
  WHERE (suppressed_hashes.source = 'reply' AND excluded.source <> 'reply')
    OR (suppressed_hashes.until_at IS NOT NULL
      AND (excluded.until_at IS NULL OR excluded.until_at > suppressed_hashes.until_at))`;

/** Delivery results become words in the rows, and the reports go. Inside a transaction; returns how many reports. */
export function keepAsWords(
  statement: (sql: string) => Statement,
  run: RunRecord,
  list: number,
  kept: readonly KeptDelivery[],
): number {
  let reports = 0;
  for (const { row, step, delivery, reference, messageId, postedFrom = run.environment } of kept) {
    if (delivery !== null) statement(KEEP)(delivery, list, step, row);
    if (reference !== null) reports += statement('DELETE FROM delivery_reports WHERE reference = ?')(reference);
    if (messageId !== null) reports += statement(DELETE_BY_MESSAGE)(messageId, postedFrom);
  }
  return reports;
}

const BATCH_EVENTS = 5_000;

/**
 * Deletes personal data from delivery reports and replies.
 *
 * A report does not name its run, and scanning all lists for it would take too long. But a report never comes before
 * the first start of its run. So a report from before the first start of every kept run belongs to none of them, and is
 * deleted. A later one may still count, and is emptied.
 *
 * Events are numbered as they arrive, and times of the ledger never go back, so old ones come first.
 */
function eventPurge(
  connection: Connection,
  runs: Pick<RunStore, 'runs' | 'listOf'>,
  step: <T>(rows: number, work: () => T) => T,
): Pick<PurgeStore, 'keepDeliveries' | 'forgetReplies' | 'oldEvents' | 'forgetEvents' | 'waitingReplies'> {
  const { query, statement } = connection;

  /** Before the first start of every kept run; never after the limit. */
  const firstKeptMs = (beforeMs: number): number => {
    const kept = runs.runs().filter(({ purgedAtMs }) => purgedAtMs === null);
    return Math.min(beforeMs, ...kept.map((run) => run.startedAtMs ?? beforeMs));
  };

  /** Works on events of one kind by number, until one is not old. */
  function* walk(kind: EventTable, beforeMs: number, work: (after: number, last: number) => number): Generator<number> {
    const next = query(NEXT_EVENT.replace('EVENTS', kind));
    for (let after = 0; ; ) {
      const [last = null] = next.get(after, beforeMs, BATCH_EVENTS) ?? [];
      if (last === null) return;
      const first = after;
      yield step(BATCH_EVENTS, () => work(first, Number(last)));
      after = Number(last);
    }
  }

  return {
    keepDeliveries: (run, kept) =>
      step(3 * kept.length, () => keepAsWords(statement, run, runs.listOf(run).list, kept)),

    *forgetReplies({ number }) {
      for (let count = BATCH_EVENTS; count === BATCH_EVENTS; ) {
        count = step(BATCH_EVENTS, () => statement(FORGET_OF_RUN)(number, BATCH_EVENTS));
        yield count;
      }
    },

    waitingReplies: (beforeMs, numbers) =>
      Number(query(WAITING).get(beforeMs ?? 0, JSON.stringify(numbers.map(String)))?.[0]),

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
      const reports = walk('delivery_reports', beforeMs, (after, last) => {
        const forgotten = statement(FORGET_REPORTS)(after, last, keptMs);
        return forgotten + statement(EMPTY_REPORTS)(after, last, beforeMs);
      });
      for (const count of reports) yield { ...NONE, reports: count };
      const replies = walk('replies', beforeMs, (after, last) => {
        statement(KEEP_STOPS)(after, last, beforeMs);
        const forgotten = statement(FORGET_REPLIES)(after, last, beforeMs);
        return forgotten + statement(EMPTY_REPLIES)(after, last, beforeMs);
      });
      for (const count of replies) yield { ...NONE, replies: count };
      const unread = walk('unread_events', beforeMs, (after, last) => statement(FORGET_UNREAD)(after, last, beforeMs));
      for (const count of unread) yield { ...NONE, unread: count };
    },
  };
}

const NONE: EventCounts = { reports: 0, replies: 0, unread: 0 };

// Another environment may have the same id.
const DELETE_BY_MESSAGE = 'DELETE FROM delivery_reports WHERE message_id = ? AND environment = ?';

// A result that a person entered stays, whatever a report says that came in while a purge was killed.
const KEEP = `UPDATE recipients SET delivery = ? WHERE list = ? AND step = ? AND row = ?
  AND (delivery IS NULL OR (delivery <> 'replied' AND delivery <> 'opted-out'))`;

// A reply that may mean to opt out stays until a person has read it: else its sender would be sent to again.
const FORGET_OF_RUN = `DELETE FROM replies WHERE number IN (SELECT number FROM replies
  WHERE run = ? AND (meaning <> 'review' OR reviewed_as IS NOT NULL) LIMIT ?)`;

const WAITING = `SELECT count(*) FROM replies WHERE sender <> '' AND meaning = 'review' AND reviewed_as IS NULL
  AND (received_at < ? OR CAST(run AS TEXT) IN (SELECT value FROM json_each(?)))`;

const OLD_REPORTS = `SELECT count(*) FROM delivery_reports WHERE received_at < ?1
  AND (received_at < ?2 OR address IS NOT NULL OR error IS NOT NULL OR text_hash IS NOT NULL)`;

const OLD_REPLIES = `SELECT count(*) FROM replies WHERE received_at < ? AND (run IS NULL OR sender <> '')
  AND (meaning <> 'review' OR reviewed_as IS NOT NULL)`;

type EventTable = 'delivery_reports' | 'replies' | 'unread_events';

const NEXT_EVENT = `SELECT max(number) FROM (SELECT number FROM EVENTS
  WHERE number > ?1 AND received_at < ?2 ORDER BY number LIMIT ?3) AS batch`;

const FORGET_REPORTS = 'DELETE FROM delivery_reports WHERE number > ? AND number <= ? AND received_at < ?';

// With its digest, a reader could test whose report it was.
const EMPTY_REPORTS = `UPDATE delivery_reports SET address = NULL, error = NULL, text_hash = NULL, digest = randomblob(16)
  WHERE number > ? AND number <= ? AND received_at < ?
    AND (address IS NOT NULL OR error IS NOT NULL OR text_hash IS NOT NULL)`;

// A STOP whose message was never found is about all topics, and stays so when its message cannot be found any more.
const KEEP_STOPS = `INSERT INTO suppressions (address, topic, reason, until_at, source, created_at)
  SELECT address, '', reason, until_at, source, created_at FROM suppressions WHERE topic = '?' AND address IN
    (SELECT sender FROM replies WHERE number > ? AND number <= ? AND received_at < ? AND run IS NULL
      AND coalesce(reviewed_as, meaning) = 'opt-out')
  ON CONFLICT (address, topic) DO NOTHING`;

const FORGET_REPLIES = `DELETE FROM replies WHERE number > ? AND number <= ? AND received_at < ? AND run IS NULL
  AND (meaning <> 'review' OR reviewed_as IS NOT NULL)`;

const EMPTY_REPLIES = `UPDATE replies SET sender = '', text = '', recipient = NULL, reply_id = NULL, reference = NULL,
    message_id = NULL, reviewed_by = NULL, digest = randomblob(16)
  WHERE number > ? AND number <= ? AND received_at < ? AND sender <> ''
    AND (meaning <> 'review' OR reviewed_as IS NOT NULL)`;

const FORGET_UNREAD = 'DELETE FROM unread_events WHERE number > ? AND number <= ? AND received_at < ?';
