import { problem, refuse } from '../errors.ts';
import type { Connection, Query } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { HashEntry, SuppressEntry, SuppressedHash, Suppression } from './records.ts';

type SuppressionStore = Pick<
  Ledger,
  | 'suppress'
  | 'suppressMany'
  | 'suppressAll'
  | 'unsuppress'
  | 'unsuppressHash'
  | 'suppressions'
  | 'suppressedHashes'
  | 'suppressionOf'
  | 'suppressedHashOf'
  | 'isSuppressed'
  | 'isHashSuppressed'
  | 'hashKeyId'
  | 'suppressionCounts'
>;

const BATCH_ROWS = 1000;

/** Who must not be sent to. The claim reads the same tables in its transaction (commits.ts). */
export function suppressionStore(connection: Connection): SuppressionStore {
  const active = connection.query(
    'SELECT 1 FROM suppressions WHERE address = ? AND (until_at IS NULL OR until_at > ?)',
  );
  const activeHash = connection.query(
    'SELECT 1 FROM suppressed_hashes WHERE hash = ? AND (until_at IS NULL OR until_at > ?)',
  );
  // The longer entry stays: an import must not end what a person asked for. Of two without an end, the one that START
  // does not take back stays. A reason is never lost: one from a user replaces the old one, and one from an import is
  // only used if there is none.
  const add = connection.statement(
    `INSERT INTO suppressions (address, reason, until_at, source, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (address) DO UPDATE SET
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
          WHEN (suppressions.until_at IS NOT NULL
              AND (excluded.until_at IS NULL OR excluded.until_at > suppressions.until_at))
            OR (suppressions.source = 'reply' AND excluded.source <> 'reply' AND excluded.until_at IS NULL)
          THEN excluded.source ELSE suppressions.source END`,
  );
  const addHash = connection.statement(
    `INSERT INTO suppressed_hashes (hash, key_id, reason, until_at, source, created_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET
        reason = CASE
          WHEN excluded.reason IS NULL THEN suppressed_hashes.reason
          WHEN excluded.source = 'user' OR suppressed_hashes.reason IS NULL
            OR (suppressed_hashes.until_at IS NOT NULL
              AND (excluded.until_at IS NULL OR excluded.until_at > suppressed_hashes.until_at))
          THEN excluded.reason ELSE suppressed_hashes.reason END,
        until_at = CASE WHEN suppressed_hashes.until_at IS NULL OR excluded.until_at <= suppressed_hashes.until_at
          THEN suppressed_hashes.until_at ELSE excluded.until_at END,
        source = CASE WHEN suppressed_hashes.until_at IS NOT NULL
            AND (excluded.until_at IS NULL OR excluded.until_at > suppressed_hashes.until_at)
          THEN excluded.source ELSE suppressed_hashes.source END`,
  );
  const remove = connection.statement('DELETE FROM suppressions WHERE address = ?');
  const removeHash = connection.statement('DELETE FROM suppressed_hashes WHERE hash = ?');
  const next = connection.query(
    `SELECT address, reason, until_at, source, created_at FROM suppressions WHERE address > ?
      ORDER BY address LIMIT ?`,
  );
  const nextHashes = connection.query(
    `SELECT hash, reason, until_at, source, created_at, key_id FROM suppressed_hashes WHERE hash > ?
      ORDER BY hash LIMIT ?`,
  );
  const one = connection.query(
    'SELECT address, reason, until_at, source, created_at FROM suppressions WHERE address = ?',
  );
  const oneHash = connection.query(
    'SELECT hash, reason, until_at, source, created_at, key_id FROM suppressed_hashes WHERE hash = ?',
  );
  const anyKeyId = connection.query('SELECT key_id FROM suppressed_hashes LIMIT 1');
  const counts = connection.query(
    'SELECT (SELECT count(*) FROM suppressions), (SELECT count(*) FROM suppressed_hashes)',
  );
  const hashKeyId = (): string | null => (anyKeyId.get()?.[0] ?? null) as string | null;

  const addAddresses = (entries: readonly SuppressEntry[], now: number): number => {
    let added = 0;
    for (const { address, reason, untilMs, source } of entries) {
      if (lasts(untilMs, now) && active.get(address, now) === undefined) added++;
      add(address, reason, untilMs, source, now);
    }
    return added;
  };
  const addHashes = (entries: readonly HashEntry[], now: number): number => {
    let added = 0;
    let known = hashKeyId();
    for (const { hash, keyId, reason, untilMs, source } of entries) {
      // One key for all: a claim makes one hash of an address, and compares it with every entry.
      if (known !== null && keyId !== known) throw otherKey(connection.path, known, keyId);
      known = keyId;
      if (lasts(untilMs, now) && activeHash.get(hash, now) === undefined) added++;
      addHash(hash, keyId, reason, untilMs, source, now);
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
    suppress: (address, { reason, untilMs, source, nowMs }) =>
      suppressAll([{ address, reason, untilMs, source }], [], nowMs) === 1,
    unsuppress: (address) => connection.write(0, 1, () => remove(address)) === 1,
    unsuppressHash: (hash) => connection.write(0, 1, () => removeHash(hash)) === 1,
    *suppressions(): Iterable<Suppression> {
      for (const row of walk(next)) yield { address: String(row[0]), ...factsOf(row) };
    },
    *suppressedHashes(): Iterable<SuppressedHash> {
      for (const row of walk(nextHashes)) yield { hash: String(row[0]), keyId: String(row[5]), ...factsOf(row) };
    },
    suppressionOf(address) {
      const row = one.get(address);
      return row === undefined ? null : { address: String(row[0]), ...factsOf(row) };
    },
    suppressedHashOf(hash) {
      const row = oneHash.get(hash);
      return row === undefined ? null : { hash: String(row[0]), keyId: String(row[5]), ...factsOf(row) };
    },
    isSuppressed: (address, nowMs) => active.get(address, nowMs) !== undefined,
    isHashSuppressed: (hash, nowMs) => activeHash.get(hash, nowMs) !== undefined,
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
  for (let after = ''; ; ) {
    const rows = next.all(after, BATCH_ROWS);
    if (rows.length === 0) return;
    after = String(rows.at(-1)?.[0]);
    yield* rows;
  }
}

function factsOf([, reason, untilAt, source, createdAt]: Row): Omit<Suppression, 'address'> {
  return {
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
