import { problem, refuse } from '../errors.ts';
import type { Connection, Query } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { HashEntry, RunRecord, SuppressEntry, SuppressedHash, Suppression } from './records.ts';

type SuppressionStore = Pick<
  Ledger,
  | 'suppress'
  | 'suppressMany'
  | 'suppressAll'
  | 'unsuppress'
  | 'unsuppressHash'
  | 'suppressions'
  | 'suppressedHashes'
  | 'suppressionsOf'
  | 'suppressedHashesOf'
  | 'isSuppressed'
  | 'isHashSuppressed'
  | 'hashKeyId'
  | 'suppressionCounts'
>;

const BATCH_ROWS = 1000;

/**
 * Whether an entry counts at an instant for a campaign of a topic ('': of none). An entry is for all topics (''), for one,
 * or for all until it is known which message a STOP answered ('?', replies.ts). Messages that are essential go out
 * whatever a person replied, but not against an entry of another origin. `appliesTo` says the same of an entry.
 */
const COUNTS = `(until_at IS NULL OR until_at > :now)
  AND (topic = '' OR topic = '?' OR topic = :topic) AND (:topic <> 'essential' OR source <> 'reply')`;

/** A statement in which `COUNTS` is that condition, with what it compares with, such as `?1`. */
export function counting(sql: string, now: string, topic: string): string {
  return sql.replaceAll('COUNTS', COUNTS.replaceAll(':now', now).replaceAll(':topic', topic));
}

export const ACTIVE = counting('SELECT 1 FROM suppressions WHERE address = ?1 AND COUNTS', '?2', '?3');

export const ACTIVE_HASH = counting('SELECT 1 FROM suppressed_hashes WHERE hash = ?1 AND COUNTS', '?2', '?3');

/** The topic of an entry while it is not known which message a STOP answered: it counts for all topics. */
export const UNKNOWN_TOPIC = '?';

/**
 * Whether an entry counts for a campaign, as the statements above say it.
 *
 * @param topic - of the campaign; null: it has none
 */
export function appliesTo(entry: Pick<Suppression, 'topic' | 'source'>, topic: string | null): boolean {
  if (topic === 'essential' && entry.source === 'reply') return false;
  return entry.topic === '' || entry.topic === UNKNOWN_TOPIC || entry.topic === topic;
}

/** The topic of an entry as people and other programs see it; null: all topics. */
export function shownTopic(topic: string): string | null {
  return topic === '' || topic === UNKNOWN_TOPIC ? null : topic;
}

/**
 * The topic that a STOP in answer to a message of the run ends. A STOP never means a code: in answer to what is
 * essential, it is about everything else.
 */
export function stoppedTopic({ topic }: Pick<RunRecord, 'topic'>): string {
  return topic === null || topic === 'essential' ? '' : topic;
}

/** As these statements take it. */
export function topicOf({ topic }: Pick<RunRecord, 'topic'>): string {
  return topic ?? '';
}

/** Who must not be sent to. The claim reads the same tables in its transaction (commits.ts). */
export function suppressionStore(connection: Connection): SuppressionStore {
  const active = connection.query(ACTIVE);
  const activeHash = connection.query(ACTIVE_HASH);
  const has = connection.query(
    'SELECT 1 FROM suppressions WHERE address = ? AND topic = ? AND (until_at IS NULL OR until_at > ?)',
  );
  const hasHash = connection.query(
    'SELECT 1 FROM suppressed_hashes WHERE hash = ? AND topic = ? AND (until_at IS NULL OR until_at > ?)',
  );
  // The longer entry stays: an import must not end what a person asked for. What is not a reply counts for more than a
  // reply: START does not take it back, and what is essential does not go out against it. A reason is never lost: one from a user replaces the old one, and one from an import is
  // only used if there is none.
  const add = connection.statement(
    `INSERT INTO suppressions (address, topic, reason, until_at, source, created_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (address, topic) DO UPDATE SET
        reason = CASE
          WHEN excluded.reason IS NULL THEN suppressions.reason
          WHEN excluded.source = 'user' OR suppressions.reason IS NULL
            OR (suppressions.until_at IS NOT NULL
              AND (excluded.until_at IS NULL OR excluded.until_at > suppressions.until_at))
            OR (suppressions.source = 'reply' AND excluded.source <> 'reply' AND excluded.until_at IS NULL)
          THEN excluded.reason ELSE suppressions.reason END,
        until_at = CASE WHEN suppressions.until_at IS NULL OR excluded.until_at <= suppressions.until_at
          THEN suppressions.until_at ELSE excluded.until_at END,
        source = CASE
          WHEN excluded.source = 'reply' AND suppressions.source <> 'reply' THEN suppressions.source
          WHEN (suppressions.until_at IS NOT NULL
              AND (excluded.until_at IS NULL OR excluded.until_at > suppressions.until_at))
            OR (suppressions.source = 'reply' AND excluded.source <> 'reply')
          THEN excluded.source ELSE suppressions.source END`,
  );
  const addHash = connection.statement(
    `INSERT INTO suppressed_hashes (hash, topic, key_id, reason, until_at, source, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash, topic) DO UPDATE SET
        reason = CASE
          WHEN excluded.reason IS NULL THEN suppressed_hashes.reason
          WHEN excluded.source = 'user' OR suppressed_hashes.reason IS NULL
            OR (suppressed_hashes.until_at IS NOT NULL
              AND (excluded.until_at IS NULL OR excluded.until_at > suppressed_hashes.until_at))
          THEN excluded.reason ELSE suppressed_hashes.reason END,
        until_at = CASE WHEN suppressed_hashes.until_at IS NULL OR excluded.until_at <= suppressed_hashes.until_at
          THEN suppressed_hashes.until_at ELSE excluded.until_at END,
        source = CASE
          WHEN excluded.source = 'reply' AND suppressed_hashes.source <> 'reply' THEN suppressed_hashes.source
          WHEN (suppressed_hashes.until_at IS NOT NULL
              AND (excluded.until_at IS NULL OR excluded.until_at > suppressed_hashes.until_at))
            OR (suppressed_hashes.source = 'reply' AND excluded.source <> 'reply')
          THEN excluded.source ELSE suppressed_hashes.source END`,
  );
  const remove = connection.statement('DELETE FROM suppressions WHERE address = ?1 AND (?2 IS NULL OR topic = ?2)');
  const removeHash = connection.statement(
    'DELETE FROM suppressed_hashes WHERE hash = ?1 AND (?2 IS NULL OR topic = ?2)',
  );
  const next = connection.query(
    `SELECT address, reason, until_at, source, created_at, topic FROM suppressions
      WHERE (address, topic) > (?, ?) ORDER BY address, topic LIMIT ?`,
  );
  const nextHashes = connection.query(
    `SELECT hash, reason, until_at, source, created_at, topic, key_id FROM suppressed_hashes
      WHERE (hash, topic) > (?, ?) ORDER BY hash, topic LIMIT ?`,
  );
  const one = connection.query(
    `SELECT address, reason, until_at, source, created_at, topic FROM suppressions WHERE address = ? ORDER BY topic`,
  );
  const oneHash = connection.query(
    `SELECT hash, reason, until_at, source, created_at, topic, key_id FROM suppressed_hashes WHERE hash = ?
      ORDER BY topic`,
  );
  const anyKeyId = connection.query('SELECT key_id FROM suppressed_hashes LIMIT 1');
  const counts = connection.query(
    'SELECT (SELECT count(*) FROM suppressions), (SELECT count(*) FROM suppressed_hashes)',
  );
  const hashKeyId = (): string | null => (anyKeyId.get()?.[0] ?? null) as string | null;

  const addAddresses = (entries: readonly SuppressEntry[], now: number): number => {
    let added = 0;
    for (const { address, topic = '', reason, untilMs, source } of entries) {
      if (lasts(untilMs, now) && has.get(address, topic, now) === undefined) added++;
      add(address, topic, reason, untilMs, source, now);
    }
    return added;
  };
  const addHashes = (entries: readonly HashEntry[], now: number): number => {
    let added = 0;
    let known = hashKeyId();
    for (const { hash, keyId, topic = '', reason, untilMs, source } of entries) {
      // One key for all: a claim makes one hash of an address, and compares it with every entry.
      if (known !== null && keyId !== known) throw otherKey(connection.path, known, keyId);
      known = keyId;
      if (lasts(untilMs, now) && hasHash.get(hash, topic, now) === undefined) added++;
      addHash(hash, topic, keyId, reason, untilMs, source, now);
    }
    return added;
  };
  const suppressAll: Ledger['suppressAll'] = (addresses, hashes, nowMs) =>
    connection.write(
      nowMs,
      addresses.length + hashes.length,
      (now) => addAddresses(addresses, now) + addHashes(hashes, now),
    );

  return {
    suppressAll,
    suppressMany: (entries, nowMs) => suppressAll(entries, [], nowMs),
    suppress: (address, { nowMs, ...entry }) => suppressAll([{ address, ...entry }], [], nowMs) === 1,
    unsuppress: (address, topic = null) => connection.write(0, 1, () => remove(address, topic)) > 0,
    unsuppressHash: (hash, topic = null) => connection.write(0, 1, () => removeHash(hash, topic)) > 0,
    *suppressions(): Iterable<Suppression> {
      for (const row of walk(next)) yield { address: String(row[0]), ...factsOf(row) };
    },
    *suppressedHashes(): Iterable<SuppressedHash> {
      for (const row of walk(nextHashes)) yield { hash: String(row[0]), keyId: String(row[6]), ...factsOf(row) };
    },
    suppressionsOf: (address) => one.all(address).map((row) => ({ address, ...factsOf(row) })),
    suppressedHashesOf: (hash) => oneHash.all(hash).map((row) => ({ hash, keyId: String(row[6]), ...factsOf(row) })),
    isSuppressed: (address, nowMs, topic = null) => active.get(address, nowMs, topic ?? '') !== undefined,
    isHashSuppressed: (hash, nowMs, topic = null) => activeHash.get(hash, nowMs, topic ?? '') !== undefined,
    hashKeyId,
    suppressionCounts() {
      const [addresses, hashes] = counts.get() ?? [];
      return { addresses: Number(addresses), hashes: Number(hashes) };
    },
  };
}

/** Whether an entry has not ended yet. */
function lasts(untilMs: number | null, now: number): boolean {
  return untilMs === null || untilMs > now;
}

type Row = readonly unknown[];

/** Every row in its order, read in batches, so that a reader does not hold up a writer. */
function* walk(next: Query): Iterable<Row> {
  for (let after = ['', '']; ; ) {
    const rows = next.all(...after, BATCH_ROWS);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [String(last[0]), String(last[5])];
    yield* rows;
  }
}

function factsOf([, reason, untilAt, source, createdAt, topic]: Row): Omit<Suppression, 'address'> {
  return {
    topic: String(topic),
    reason: reason as string | null,
    untilMs: untilAt as number | null,
    source: String(source),
    createdAtMs: Number(createdAt),
  };
}

/** Two keys do not go together on one list. */
export function otherKey(path: string, known: string, given: string): Error {
  const message = `The hashes were made with another key (${given}) than those on the list (${known}).`;
  const hint = 'A list has one key: use that of the list, or import the addresses themselves.';
  return refuse(problem('other-suppression-key', message, { at: { file: path }, hint }));
}
