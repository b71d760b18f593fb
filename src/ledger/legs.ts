import type { Connection } from './connection.ts';
import { ownChannel } from './lists.ts';
import { type ClaimRequest, FELL_BACK, type LegFacts, type ResultRecord, type RunRecord } from './records.ts';

/** What is written for legs and variants beside the hot path: hardly any recipient comes here. Inside a transaction. */
export interface LegStore {
  /** Claims a later leg, or with facts that the row does not know. True when it was claimed. */
  claim(run: RunRecord, list: number, request: ClaimRequest, nowMs: number): boolean;
  /**
   * Lets an accepted leg fall back, because a report says that it reached nobody: the next leg's row is pending then.
   * False where it is not accepted any more.
   */
  fallBack(list: number, row: number, leg: number, key: string): boolean;
  /** Fills in the leg that began when the row of this result fell back. */
  begin(run: RunRecord, list: number, result: ResultRecord): void;
}

export function legStore(connection: Connection): LegStore {
  // Who is sent to on leg 0 is who was loaded. A later leg has the address that is given, and so has who is asked for
  // again: a list that was amended, or a campaign, may have changed it since; and it is this address that must not be
  // suppressed. The variant is that of the first leg, whoever was named as the winner since.
  const claim = connection.statement(
    `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL, address = ?2
      WHERE list = ?3 AND leg = ?4 AND row = ?5 AND state = 'pending' AND key = ?6 AND (leg > 0 OR address = ?2)
      AND attempts = coalesce(?7, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ?2 AND (until_at IS NULL OR until_at > ?1))`,
  );
  const claimWith = connection.statement(
    `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL, address = ?2, channel = ?8,
      variant = CASE leg WHEN 0 THEN ?9 ELSE variant END, parts = ?10, encoding = ?11, cost_micros = ?12
      WHERE list = ?3 AND leg = ?4 AND row = ?5 AND state = 'pending' AND key = ?6
      AND (leg > 0 OR attempts > 0 OR address = ?2)
      AND attempts = coalesce(?7, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ?2 AND (until_at IS NULL OR until_at > ?1))`,
  );
  const fill = connection.statement(
    `UPDATE recipients SET address = ?, channel = ?, variant = ?, parts = ?, encoding = ?, cost_micros = ?
      WHERE list = ? AND leg = ? AND row = ? AND state = 'pending' AND attempts = 0`,
  );

  const fallBack = connection.statement(
    `UPDATE recipients SET reason = 'fell-back', state = 'rejected', resolved_by = 'report'
      WHERE list = ? AND row = ? AND leg = ? AND key = ? AND state = 'accepted'`,
  );

  return {
    fallBack: (list, row, leg, key) => fallBack(list, row, leg, key) === 1,

    claim(run, list, { row, leg, to, key, attempts = null, facts }, now) {
      if (facts === undefined) return claim(now, to, list, leg, row, key, attempts) === 1;
      return claimWith(now, to, list, leg, row, key, attempts, ...columnsOf(facts, run)) === 1;
    },

    begin(run, list, { row, leg, next }) {
      if (next === undefined || fill(next.to, ...columnsOf(next, run), list, leg + 1, row) !== 1) {
        throw new Error(`Row ${row} fell back from leg ${leg}, but no leg follows.`);
      }
    },
  };
}

function columnsOf({ channel, variant, parts, encoding, costMicros }: LegFacts, run: RunRecord) {
  return [ownChannel(channel, run), variant, parts, encoding, costMicros] as const;
}

/**
 * A leg falls back by a refusal of its claimed row, and says so by `next` alone: else the next leg would lack its
 * facts.
 */
export function checkNext({ row, from, state, reason, next }: ResultRecord): void {
  if (reason !== FELL_BACK && (next === undefined || (from === 'claimed' && state === 'rejected'))) return;
  throw new Error(`Row ${row} falls back, but it is ${state} (${reason}) after being ${from}.`);
}
