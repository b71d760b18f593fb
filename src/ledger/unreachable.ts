import { listedForm, spellingsOf } from '../util/address-form.ts';
import type { Connection } from './connection.ts';
import type { UnreachableStore } from './ledger.ts';

/** Addresses that failed for good, by the delivery reports that name them. */
export function unreachableStore(connection: Connection): UnreachableStore {
  const { query } = connection;
  return {
    unreachable({ after, withinMs, environments }, nowMs, among = null) {
      const asked = [JSON.stringify(environments), nowMs - withinMs, after] as const;
      const rows =
        among === null ? query(UNREACHABLE).all(...asked) : query(AMONG).all(...asked, JSON.stringify(among));
      const found = rows.map(([address, failures, last]) => [
        listedForm(String(address)),
        { failures: Number(failures), lastAtMs: Number(last) },
      ]);
      return new Map(found as [string, { failures: number; lastAtMs: number }][]);
    },
    dismissFailures(address, nowMs) {
      const forms = JSON.stringify(spellingsOf(address));
      return connection.write(nowMs, 1, (now) => connection.statement(DISMISS)(now, forms)) > 0;
    },
  };
}

const DISMISS = `UPDATE delivery_reports SET dismissed_at = ?1
  WHERE cause = 'gone' AND dismissed_at IS NULL AND address IN (SELECT value FROM json_each(?2))`;

// A message counts once, however many reports it has: one for each part of a long SMS, for instance, or from the webhook
// with the reference and from an export without. Two environments may give one id to two messages. A report of its
// delivery shows that it arrived, whichever of the two is later. A failure before a person said that the address is in use
// does not count, even if it is reported later.
const TEXT = `SELECT address, count(DISTINCT message), max(at) FROM (
    SELECT gone.address, coalesce(gone.happened_at, gone.received_at) AS at,
      coalesce(gone.reference, (SELECT max(same.reference) FROM delivery_reports AS same INDEXED BY delivery_reports_gone
        WHERE same.cause = 'gone' AND same.address = gone.address AND same.message_id = gone.message_id
          AND same.environment = gone.environment), gone.environment || ' ' || gone.message_id, CAST(gone.number AS TEXT)) AS message
    FROM delivery_reports AS gone INDEXED BY delivery_reports_gone
    WHERE gone.cause = 'gone' AND gone.dismissed_at IS NULL AND gone.state <> 'unknown' AMONG
      AND gone.environment IN (SELECT value FROM json_each(?1)) AND coalesce(gone.happened_at, gone.received_at) > ?2
      AND NOT EXISTS (SELECT 1 FROM delivery_reports AS arrived INDEXED BY delivery_reports_arrived
        WHERE (arrived.state = 'delivered' OR arrived.state = 'read') AND arrived.address = gone.address
          AND arrived.environment IN (SELECT value FROM json_each(?1))
          AND (coalesce(arrived.happened_at, arrived.received_at) >= coalesce(gone.happened_at, gone.received_at)
            OR arrived.reference = gone.reference
            OR (arrived.message_id = gone.message_id AND arrived.environment = gone.environment)))
      AND NOT EXISTS (SELECT 1 FROM delivery_reports AS said INDEXED BY delivery_reports_gone
        WHERE said.cause = 'gone' AND said.address = gone.address
          AND said.dismissed_at >= coalesce(gone.happened_at, gone.received_at))
  ) AS failures
  GROUP BY address
  HAVING count(DISTINCT message) >= ?3
  ORDER BY address`;

const UNREACHABLE = TEXT.replace('AMONG', 'AND gone.address IS NOT NULL');
const AMONG = TEXT.replace('AMONG', 'AND gone.address IN (SELECT value FROM json_each(?4))');
