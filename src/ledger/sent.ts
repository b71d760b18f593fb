import type { Connection } from './connection.ts';
import type { Ledger } from './ledger.ts';

export function sentStore(connection: Connection): Pick<Ledger, 'sentSince' | 'busiestSince'> {
  return {
    sentSince: (environment, sinceMs) =>
      connection
        .query(
          `SELECT runs.number, count(*), coalesce(sum(parts), 0), coalesce(sum(cost_micros), 0), min(claimed_at), max(claimed_at)
            FROM recipients JOIN runs ON runs.list = recipients.list
            WHERE runs.environment = ?1 AND runs.last_start_at >= ?2 AND (recipients.state = 'accepted' OR by_report = 1) AND claimed_at >= ?2
            GROUP BY 1, claimed_at / 900000 ORDER BY 1, claimed_at / 900000`,
        )
        .all(environment, sinceMs)
        .map((row) => {
          const [run = 0, messages = 0, parts = 0, costMicros = 0, firstMs = 0, lastMs = 0] = row.map(Number);
          return { run, messages, parts, costMicros, firstMs, lastMs };
        }),
    busiestSince(environment, sinceMs, more) {
      const rows = connection
        .query(
          `SELECT address, messages, count(*) FILTER (WHERE messages > ?3) OVER () FROM (
            SELECT address, count(*) AS messages FROM recipients JOIN runs ON runs.list = recipients.list
              WHERE runs.environment = ?1 AND runs.last_start_at >= ?2 AND (recipients.state = 'accepted' OR by_report = 1)
              AND claimed_at >= ?2 AND address IS NOT NULL GROUP BY 1) AS people
            ORDER BY 2 DESC, 1 LIMIT 20`,
        )
        .all(environment, sinceMs, more);
      return {
        over: Number(rows[0]?.[2] ?? 0),
        people: rows.map(([to, messages]) => ({ to: String(to), messages: Number(messages) })),
      };
    },
  };
}
