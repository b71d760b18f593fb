import type { Connection } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { SuppressEntry, Suppression } from './records.ts';

export type SuppressionStore = Pick<
  Ledger,
  'suppress' | 'suppressMany' | 'unsuppress' | 'suppressions' | 'isSuppressed'
>;

const BATCH_ROWS = 1000;

/** Who must not be sent to. The claim reads the same table in its transaction (commits.ts). */
export function suppressionStore(connection: Connection): SuppressionStore {
  const active = connection.query(
    'SELECT 1 FROM suppressions WHERE address = ? AND (until_at IS NULL OR until_at > ?)',
  );
  // The entry that lasts longer stays: an import must not take back what somebody asked for.
  const add = connection.statement(
    `INSERT INTO suppressions (address, reason, until_at, source, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (address) DO UPDATE
      SET reason = excluded.reason, until_at = excluded.until_at, source = excluded.source
      WHERE until_at IS NOT NULL AND (excluded.until_at IS NULL OR excluded.until_at > until_at)`,
  );
  const remove = connection.statement('DELETE FROM suppressions WHERE address = ?');
  const next = connection.query(
    `SELECT address, reason, until_at, source, created_at FROM suppressions WHERE address > ?
      ORDER BY address LIMIT ?`,
  );

  const suppressMany = (entries: readonly SuppressEntry[], nowMs: number): number =>
    connection.write(nowMs, entries.length, (now) => {
      let added = 0;
      for (const { address, reason, untilMs, source } of entries) {
        if (active.get(address, now) === undefined) added++;
        add(address, reason, untilMs, source, now);
      }
      return added;
    });

  return {
    suppressMany,
    suppress: (address, { reason, untilMs, source, nowMs }) =>
      suppressMany([{ address, reason, untilMs, source }], nowMs) === 1,
    unsuppress: (address) => connection.write(0, 1, () => remove(address)) === 1,
    *suppressions(): Iterable<Suppression> {
      let after = '';
      for (;;) {
        const rows = next.all(after, BATCH_ROWS);
        if (rows.length === 0) return;
        after = String(rows.at(-1)?.[0]);
        for (const [address, reason, untilAt, source, createdAt] of rows) {
          yield {
            address: String(address),
            reason: reason as string | null,
            untilMs: untilAt as number | null,
            source: String(source),
            createdAtMs: Number(createdAt),
          };
        }
      }
    },
    isSuppressed: (address, nowMs) => active.get(address, nowMs) !== undefined,
  };
}
