import { problem, refuse } from '../errors.ts';
import type { Connection, Value } from './connection.ts';
import type { SuppressionStore } from './ledger.ts';
import type { HashEntry, RunRecord, SuppressEntry, Suppression } from './records.ts';

const BATCH_ROWS = 1000;

/**
 * Whether an entry counts at an instant for a campaign of a topic ('': of none). An entry is for all topics (''), for
 * one, or for all until it is known which message a STOP answered ('?', replies.ts). Essential messages go out whatever
 * a person replied, but not against an entry of another origin. `appliesTo` is the same condition in TypeScript.
 */
const COUNTS = `(until_at IS NULL OR until_at > :now)
  AND (topic = '' OR topic = '?' OR topic = :topic) AND (:topic <> 'essential' OR source <> 'reply')`;

/** A statement with the condition `COUNTS`, and with what it compares, such as `?1`. */
export function counting(sql: string, now: string, topic: string): string {
  return sql.replaceAll('COUNTS', COUNTS.replaceAll(':now', now).replaceAll(':topic', topic));
}

export const ACTIVE = counting('SELECT 1 FROM suppressions WHERE address = ?1 AND COUNTS', '?2', '?3');

export const ACTIVE_HASH = counting('SELECT 1 FROM suppressed_hashes WHERE hash = ?1 AND COUNTS', '?2', '?3');

/** The topic of an entry while it is not known which message a STOP answered: it counts for all topics. */
export const UNKNOWN_TOPIC = '?';

/**
 * The condition `COUNTS` for one entry, without its end.
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

/** The topic that a STOP in answer to the run ends. It never means a code: for essential messages, it is all others. */
export function stoppedTopic({ topic }: Pick<RunRecord, 'topic'>): string {
  return topic === null || topic === 'essential' ? '' : topic;
}

/** The suppression list. The claim reads the same tables in its transaction (commits.ts). */
export function suppressionStore(connection: Connection): SuppressionStore {
  const addresses = entriesIn(connection, 'suppressions', 'address', '', ACTIVE);
  const hashes = entriesIn(connection, 'suppressed_hashes', 'hash', ', key_id', ACTIVE_HASH);
  const anyKeyId = connection.query('SELECT key_id FROM suppressed_hashes LIMIT 1');
  const counts = connection.query(
    'SELECT (SELECT count(*) FROM suppressions), (SELECT count(*) FROM suppressed_hashes)',
  );
  const hashKeyId = (): string | null => (anyKeyId.get()?.[0] ?? null) as string | null;

  const addHashes = (entries: readonly HashEntry[], now: number): number => {
    let known = hashKeyId();
    for (const { keyId } of entries) {
      // One key for all: a claim makes one hash of an address, and compares it with every entry.
      if (known !== null && keyId !== known) throw otherKey(connection.path, known, keyId);
      known = keyId;
    }
    return entries.reduce((added, entry) => added + hashes.add(entry.hash, entry, now, entry.keyId), 0);
  };
  const suppressAll: SuppressionStore['suppressAll'] = (entries, hashed, nowMs) =>
    connection.write(nowMs, entries.length + hashed.length, (now) =>
      entries.reduce((added, entry) => added + addresses.add(entry.address, entry, now), addHashes(hashed, now)),
    );

  return {
    suppressAll,
    suppress: (address, { nowMs, ...entry }) => suppressAll([{ address, ...entry }], [], nowMs) === 1,
    unsuppress: addresses.remove,
    unsuppressHash: hashes.remove,
    *suppressions() {
      for (const [address, facts] of addresses.all()) yield { address, ...facts };
    },
    *suppressedHashes() {
      for (const [hash, facts, keyId] of hashes.all()) yield { hash, keyId, ...facts };
    },
    suppressionsOf: (address) => addresses.of(address).map(([, facts]) => ({ address, ...facts })),
    suppressedHashesOf: (hash) => hashes.of(hash).map(([, facts, keyId]) => ({ hash, keyId, ...facts })),
    isSuppressed: addresses.isActive,
    isHashSuppressed: hashes.isActive,
    hashKeyId,
    suppressionCounts() {
      const [addresses, hashes] = counts.get() ?? [];
      return { addresses: Number(addresses), hashes: Number(hashes) };
    },
  };
}

type Entry = readonly [name: string, facts: Omit<Suppression, 'address'>, keyId: string];

/** The entries of one table, found by address or by hash. `more` is its further column. */
function entriesIn(
  connection: Connection,
  table: 'suppressions' | 'suppressed_hashes',
  name: 'address' | 'hash',
  more: string,
  activeSql: string,
) {
  const sql = (text: string): string =>
    text
      .replaceAll('ENTRIES', table)
      .replaceAll('NAME', name)
      .replaceAll('MORE', more)
      .replaceAll('HELD', more === '' ? '' : ', ?');
  const next = connection.query(sql(NEXT));
  const one = connection.query(sql(OF_ONE));
  const active = connection.query(activeSql);
  const has = connection.query(sql(HAS));
  const insert = connection.statement(sql(INSERT));
  const remove = connection.statement(sql(REMOVE));

  /** In order, read in batches, so that a reader does not hold up a writer. */
  function* all(): Generator<Entry> {
    for (let after = ['', '']; ; ) {
      const rows = next.all(...after, BATCH_ROWS);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = [String(last[0]), String(last[5])];
      yield* rows.map(entryOf);
    }
  }

  return {
    all,
    of: (who: string) => one.all(who).map(entryOf),
    isActive: (who: string, nowMs: number, topic: string | null = null) =>
      active.get(who, nowMs, topic ?? '') !== undefined,
    remove: (who: string, topic: string | null = null) => connection.write(0, 1, () => remove(who, topic)) > 0,
    /** Returns 1 if nothing of this topic was active before. */
    add(who: string, entry: Omit<SuppressEntry, 'address'>, now: number, ...keyId: readonly string[]): number {
      const { topic = '', reason, untilMs, source } = entry;
      const isNew = (untilMs === null || untilMs > now) && has.get(who, topic, now) === undefined;
      insert(who, topic, reason, untilMs, source, now, ...keyId);
      return isNew ? 1 : 0;
    },
  };
}

function entryOf([name, reason, untilAt, source, createdAt, topic, keyId]: readonly Value[]): Entry {
  const facts = {
    topic: String(topic),
    reason: reason as string | null,
    untilMs: untilAt as number | null,
    source: String(source),
    createdAtMs: Number(createdAt),
  };
  return [String(name), facts, String(keyId)];
}

const NEXT = `SELECT NAME, reason, until_at, source, created_at, topicMORE FROM ENTRIES
  WHERE (NAME, topic) > (?, ?) ORDER BY NAME, topic LIMIT ?`;

const OF_ONE =
  'SELECT NAME, reason, until_at, source, created_at, topicMORE FROM ENTRIES WHERE NAME = ? ORDER BY topic';

const HAS = 'SELECT 1 FROM ENTRIES WHERE NAME = ? AND topic = ? AND (until_at IS NULL OR until_at > ?)';

// The longer entry stays: an import must not end what a person asked for. An entry that is not a reply counts for more
// than a reply: START does not take it back, and what is essential does not go out against it. A reason is never lost:
// one from a user replaces the old one, and one from an import is only used if there is none.
const INSERT = `INSERT INTO ENTRIES (NAME, topic, reason, until_at, source, created_atMORE)
  VALUES (?, ?, ?, ?, ?, ?HELD) ON CONFLICT (NAME, topic) DO UPDATE SET
    reason = CASE
      WHEN excluded.reason IS NULL THEN ENTRIES.reason
      WHEN excluded.source = 'user' OR ENTRIES.reason IS NULL
        OR (ENTRIES.until_at IS NOT NULL AND (excluded.until_at IS NULL OR excluded.until_at > ENTRIES.until_at))
        OR (ENTRIES.source = 'reply' AND excluded.source <> 'reply' AND excluded.until_at IS NULL)
      THEN excluded.reason ELSE ENTRIES.reason END,
    until_at = CASE WHEN ENTRIES.until_at IS NULL OR excluded.until_at <= ENTRIES.until_at
      THEN ENTRIES.until_at ELSE excluded.until_at END,
    source = CASE
      WHEN excluded.source = 'reply' AND ENTRIES.source <> 'reply' THEN ENTRIES.source
      WHEN (ENTRIES.until_at IS NOT NULL AND (excluded.until_at IS NULL OR excluded.until_at > ENTRIES.until_at))
        OR (ENTRIES.source = 'reply' AND excluded.source <> 'reply')
      THEN excluded.source ELSE ENTRIES.source END`;

const REMOVE = 'DELETE FROM ENTRIES WHERE NAME = ?1 AND (?2 IS NULL OR topic = ?2)';

export function otherKey(path: string, known: string, given: string): Error {
  const message = `The hashes were made with another key (${given}) than those on the list (${known}).`;
  const hint = 'A list has one key: use that of the list, or import the addresses themselves.';
  return refuse(problem('other-suppression-key', message, { at: { file: path }, hint }));
}
