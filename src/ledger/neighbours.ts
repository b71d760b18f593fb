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
  // `?3` and `?4` are the first and the last row; `?5` has a text of `?6` bytes for each row from the first on.
  const claimAll = connection.statement(
    `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL
      WHERE list = ?2 AND leg = 0 AND row BETWEEN ?3 AND ?4 AND state = 'pending' AND attempts = 0
      AND key = rtrim(CAST(substr(?5, (row - ?3) * ?6 + 1, ?6) AS TEXT)) AND address = key
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = recipients.address
        AND (until_at IS NULL OR until_at > ?1))`,
  );
  const acceptAll = connection.statement(
    `UPDATE recipients SET state = 'accepted', reason = NULL, attempts = 1, http_status = ?7,
      message_id = rtrim(CAST(substr(?5, (row - ?3) * ?6 + 1, ?6) AS TEXT)), error = NULL, updated_at = ?1
      WHERE list = ?2 AND leg = 0 AND row BETWEEN ?3 AND ?4 AND state = 'claimed' AND attempts = 0
      AND rtrim(CAST(substr(?5, (row - ?3) * ?6 + 1, ?6) AS TEXT)) <> ''`,
  );
  return {
    record(list, results, now) {
      const status = results.find(isPlain)?.httpStatus ?? null;
      const isUsual = (r: ResultRecord): boolean =>
        isPlain(r) && r.attempts === 1 && r.httpStatus === status && r.messageId !== null;
      const usual = results.every(isUsual) ? results : results.filter(isUsual);
      const stretch = stretchOf(usual, ({ messageId }) => messageId);
      if (stretch === null) return results;
      const { first, last, texts, width } = stretch;
      if (acceptAll(now, list, first, last, texts, width, status) !== usual.length) throw NOT_ALL;
      return usual === results ? [] : results.filter((r) => !isUsual(r));
    },
    claim(list, claims, now) {
      if (!claims.every(isUsualClaim)) return false;
      const stretch = stretchOf(claims, ({ key }) => key);
      if (stretch === null) return false;
      const { first, last, texts, width } = stretch;
      if (claimAll(now, list, first, last, texts, width) !== claims.length) throw NOT_ALL;
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
  /** Filled up with spaces; only spaces, where a row between them is not meant. Valid until the next one is made. */
  readonly texts: Uint8Array;
  readonly width: number;
}

/** Above it, what lies between them costs more than it saves. */
const MOST_ROWS_FOR_EACH = 4;

/** So that one long text among many does not make all of them long. */
const MOST_BYTES = 64 * 1024;

/**
 * What SQLite is given, which makes a copy of its own. One for all commits, because V8 forgets buffers late: 2 MB stay for
 * each second of sending. Somewhat longer, so that a text that takes more bytes than characters is noticed at its end too.
 */
const scratch = Buffer.allocUnsafeSlow(MOST_BYTES + 4);

/**
 * Null where one statement would not be worth it, or could not say their texts. Bytes at places that can be worked out
 * are found at once, where an array of JSON is walked from its beginning for each row.
 */
function stretchOf<T extends { readonly row: number }>(
  all: readonly T[],
  textOf: (one: T) => string | null,
): Stretch | null {
  if (all.length < 2) return null;
  let [first, last, width] = [Number.POSITIVE_INFINITY, -1, 1];
  for (const one of all) {
    const { row } = one;
    const text = textOf(one) ?? '';
    // An empty one is not meant, and of a space at its end nobody could tell whose it is.
    if (text === '' || text.endsWith(' ')) return null;
    if (row < first) first = row;
    if (row > last) last = row;
    if (text.length > width) width = text.length;
  }
  const rows = last - first + 1;
  if (rows > MOST_ROWS_FOR_EACH * all.length || rows * width > MOST_BYTES) return null;
  const byRow = new Array<string>(rows).fill(' '.repeat(width));
  for (const one of all) byRow[one.row - first] = (textOf(one) ?? '').padEnd(width);
  const joined = byRow.join('');
  // Where a character takes several bytes, the places are others.
  if (scratch.write(joined) !== joined.length) return null;
  return { first, last, texts: scratch.subarray(0, joined.length), width };
}
