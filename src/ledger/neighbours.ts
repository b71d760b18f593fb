import { isFirst, isPlain } from './batch.ts';
import type { Connection } from './connection.ts';
import type { ClaimRequest, ResultRecord } from './records.ts';

/** What nearly every commit to a file is: people who stand near each other in the list, claimed and accepted once. */
export interface Neighbours {
  /**
   * Records those that are accepted at their first attempt, and returns the others.
   * @throws NOT_ALL
   */
  record(list: number, results: readonly ResultRecord[], nowMs: number): readonly ResultRecord[];
  /**
   * Claims all of them and returns true; false where they are nothing for one statement: then none is claimed. Nobody
   * among them may be left out by a rule, but for suppression by the address as it stands.
   * @throws NOT_ALL
   */
  claim(list: number, claims: readonly ClaimRequest[], nowMs: number): boolean;
}

/**
 * Ends a transaction in which a row was not as it was expected to be. All of it is undone, and is to be done again row by
 * row: that way knows what becomes of whom.
 */
export const NOT_ALL = new Error('not all rows are as they were expected');

/**
 * One statement for all of them, which takes a third less than a statement for each. It is a compare-and-set for each row, as
 * in commits.ts (J4), and looks up suppressions (A2, K3); and either all who were asked for are changed or nobody is.
 * To be called inside `write`.
 */
export function neighbours(connection: Connection): Neighbours {
  // `?3` and `?4` are the first and the last row, `?5` has a text for each row from the first on: NULL is not meant.
  const claimAll = connection.statement(
    `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL
      WHERE list = ?2 AND leg = 0 AND row BETWEEN ?3 AND ?4 AND state = 'pending' AND attempts = 0
      AND key = ?5 ->> CAST(row - ?3 AS INTEGER) AND address = key
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = recipients.address
        AND (until_at IS NULL OR until_at > ?1))`,
  );
  const acceptAll = connection.statement(
    `UPDATE recipients SET state = 'accepted', reason = NULL, attempts = 1, http_status = ?6,
      message_id = ?5 ->> CAST(row - ?3 AS INTEGER), error = NULL, updated_at = ?1
      WHERE list = ?2 AND leg = 0 AND row BETWEEN ?3 AND ?4 AND state = 'claimed' AND attempts = 0
      AND ?5 ->> CAST(row - ?3 AS INTEGER) IS NOT NULL`,
  );
  return {
    record(list, results, now) {
      const status = results.find(isPlain)?.httpStatus ?? null;
      const isUsual = (r: ResultRecord): boolean =>
        isPlain(r) && r.attempts === 1 && r.httpStatus === status && r.messageId !== null;
      const usual = results.every(isUsual) ? results : results.filter(isUsual);
      const stretch = stretchOf(usual, ({ messageId }) => messageId);
      if (stretch === null) return results;
      const { first, last, texts } = stretch;
      if (acceptAll(now, list, first, last, texts, status) !== usual.length) throw NOT_ALL;
      return usual === results ? [] : results.filter((r) => !isUsual(r));
    },
    claim(list, claims, now) {
      if (!claims.every(isUsualClaim)) return false;
      const stretch = stretchOf(claims, ({ key }) => key);
      if (stretch === null) return false;
      const { first, last, texts } = stretch;
      if (claimAll(now, list, first, last, texts) !== claims.length) throw NOT_ALL;
      return true;
    },
  };
}

/** Never tried. Key and address are one where the list names no other key. */
function isUsualClaim(claim: ClaimRequest): boolean {
  return isFirst(claim) && (claim.attempts ?? 0) === 0 && claim.key === claim.to;
}

/** The rows from the first to the last of some, as the statements above want them. */
interface Stretch {
  readonly first: number;
  readonly last: number;
  readonly texts: string;
}

/** Above it, what lies between them costs more than it saves. */
const MOST_ROWS_FOR_EACH = 4;

/** Null where one statement would not be worth it, or could not say their texts. */
function stretchOf<T extends { readonly row: number }>(
  all: readonly T[],
  textOf: (one: T) => string | null,
): Stretch | null {
  if (all.length < 2) return null;
  let [first, last] = [Number.POSITIVE_INFINITY, -1];
  for (const { row } of all) {
    if (row < first) first = row;
    if (row > last) last = row;
  }
  const rows = last - first + 1;
  if (rows > MOST_ROWS_FOR_EACH * all.length) return null;
  const byRow = new Array<string | null>(rows).fill(null);
  for (const one of all) byRow[one.row - first] = textOf(one);
  const texts = JSON.stringify(byRow);
  // Control characters and halves of characters are not what they were when SQLite has read them from JSON.
  return texts.includes('\\') ? null : { first, last, texts };
}
