import type { Connection } from './connection.ts';

/** What people said about being written to. All of it is called inside a transaction. */
export interface OptOuts {
  /** Never again, in any campaign. Returns whether the address was not suppressed for good before. */
  optOut(address: string, by: 'reply' | 'report', nowMs: number): boolean;
  /** Takes back what a reply said, and nothing else. Returns whether there was such an entry. */
  lift(address: string): boolean;
  /** The last of somebody's words of opting in or out, by the time that they carry; null: there is none. */
  lastWord(sender: string): 'opt-out' | 'opt-in' | null;
}

export function optOuts(connection: Connection): OptOuts {
  const lasting = connection.query(LASTING_SUPPRESSION);
  const suppress = connection.statement(SUPPRESS);
  const lift = connection.statement(LIFT);
  const lastWord = connection.query(LAST_WORD);
  return {
    optOut(address, by, nowMs) {
      const isNew = lasting.get(address) === undefined;
      suppress(address, REASONS[by], by, nowMs);
      return isNew;
    },
    lift: (address) => lift(address) === 1,
    lastWord: (sender) => (lastWord.get(sender)?.[0] ?? null) as ReturnType<OptOuts['lastWord']>,
  };
}

const REASONS = { reply: 'replied to opt out', report: 'the provider reports that this person opted out' } as const;

const LASTING_SUPPRESSION = 'SELECT 1 FROM suppressions WHERE address = ? AND until_at IS NULL';

// Somebody's own word lasts longer than an entry that ends; and START takes back a reply, but not what the provider
// says.
const SUPPRESS = `INSERT INTO suppressions (address, reason, until_at, source, created_at) VALUES (?, ?, NULL, ?, ?)
  ON CONFLICT (address) DO UPDATE SET reason = excluded.reason, until_at = NULL, source = excluded.source
  WHERE suppressions.until_at IS NOT NULL OR (suppressions.source = 'reply' AND excluded.source = 'report')`;

// Never a complaint, an import, or an entry that somebody made.
const LIFT = `DELETE FROM suppressions WHERE address = ? AND source = 'reply'`;

// Whoever wrote both at once does not want to be written to. Nothing was said after it came in: the time of a START
// that is ahead, as of a clock that is wrong or of a zone that was left out, would count before every STOP until then.
const LAST_WORD = `SELECT coalesce(reviewed_as, meaning) AS word FROM replies
  WHERE sender = ? AND coalesce(reviewed_as, meaning) IN ('opt-out', 'opt-in')
  ORDER BY CASE WHEN happened_at < received_at THEN happened_at ELSE received_at END DESC,
    CASE coalesce(reviewed_as, meaning) WHEN 'opt-out' THEN 0 ELSE 1 END LIMIT 1`;
