/*
 * Which state of a recipient may follow which: for the triggers of both databases (schema.ts),
 * docs/reference/outcomes.md, and the tests, which try every pair.
 */

export const ROW_STATES = [
  'pending',
  'claimed',
  'accepted',
  'rejected',
  'failed',
  'in-doubt',
  'skipped',
  'deferred',
] as const;
export type StoredState = (typeof ROW_STATES)[number];

/** A condition on the row before (OLD) and after (NEW), in SQL that both databases read. */
interface Condition {
  readonly sql: string;
  /** True of the row alone, and then `sql` is true as well. Absent: `sql` asks about the row alone. Null: none. */
  readonly quick?: string | null;
  readonly words: string;
}

interface Move {
  readonly from: StoredState;
  readonly to: StoredState;
  /** For the docs; null: only the reason changes. */
  readonly why: string | null;
  readonly only?: readonly (keyof typeof CONDITIONS)[];
  /** The database adds the row of the next channel step in the same statement. */
  readonly begins?: true;
}

export const CONDITIONS = {
  noOrder: { sql: 'NEW.resolved_by IS NULL', words: 'the order to send again is used up' },
  stepBegan: {
    sql: `(NEW.step = 0 OR EXISTS (SELECT 1 FROM recipients AS former WHERE former.list = NEW.list
      AND former.step = NEW.step - 1 AND former.row = NEW.row AND former.key = NEW.key
      AND former.state = 'rejected' AND former.reason = 'fell-back'))`,
    quick: 'NEW.step = 0',
    words: 'it is the first channel step, or the step before fell back',
  },
  unsentAddress: {
    sql: `(NEW.resend IS NULL OR NOT EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
      WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.resolved_by = 'resend-changed'
      AND resolutions.address = NEW.address))`,
    quick: 'NEW.resend IS NULL',
    words: 'no earlier message of this recipient went to this address',
  },
  late: {
    sql: `OLD.resolved_by = 'resend' AND (NEW.resolved_by = 'late-result' OR NEW.resolved_by = 'report')`,
    words: 'it waited to be sent to again, and the late answer or a report is about the attempt before',
  },
  staysOnStep: { sql: `NEW.reason IS DISTINCT FROM 'fell-back'`, words: 'no other step begins' },
  fallsBack: { sql: `NEW.reason = 'fell-back'`, words: 'the reason is `fell-back`' },
  sameStep: {
    sql: `(NEW.reason IS NOT DISTINCT FROM 'fell-back') = (OLD.reason IS NOT DISTINCT FROM 'fell-back')`,
    words: '`fell-back` stays so',
  },
  retried: {
    sql: `NEW.resolved_by = 'retry-rejected' AND OLD.reason IS DISTINCT FROM 'fell-back'`,
    words: 'a person asked for it, and no other step began',
  },
  noted: {
    sql: `NEW.resolved_by IS NOT NULL AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
      WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.step = NEW.step
      AND resolutions.attempts = OLD.attempts)`,
    quick: null,
    words: 'the ledger has an entry about this very attempt',
  },
  corrected: {
    sql: `NEW.resolved_by = 'resend-changed' AND NEW.address IS NOT NULL AND NEW.address IS DISTINCT FROM OLD.address
      AND NEW.resend = coalesce(OLD.resend, 0) + 1
      AND EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.step = NEW.step
        AND resolutions.attempts = OLD.attempts AND resolutions.resolved_by = 'resend-changed'
        AND resolutions.address IS NOT DISTINCT FROM OLD.address)
      AND NOT EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
        WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.address = NEW.address
          AND resolutions.verdict = 'resend')`,
    quick: null,
    words: 'the ledger has an entry about this very message, and no message went to the new address',
  },
  ordered: {
    sql: `EXISTS (SELECT 1 FROM runs JOIN resolutions ON resolutions.run = runs.number
      WHERE runs.list = NEW.list AND resolutions.key = NEW.key AND resolutions.step = NEW.step
      AND resolutions.verdict = 'resend')`,
    quick: null,
    words: 'a person had ordered a second message',
  },
  reported: { sql: `NEW.resolved_by = 'report'`, words: 'a delivery report says that it cannot be received' },
} as const satisfies Readonly<Record<string, Condition>>;

/** Moves of an ordinary send come first: the databases compare in this order. */
export const MOVES: readonly Move[] = [
  {
    from: 'pending',
    to: 'claimed',
    why: 'its request is about to be made',
    only: ['noOrder', 'stepBegan', 'unsentAddress'],
  },
  { from: 'pending', to: 'pending', why: null },
  { from: 'pending', to: 'skipped', why: 'a rule leaves it out, or a person closes the run' },
  { from: 'pending', to: 'deferred', why: 'a rule says later' },
  { from: 'pending', to: 'failed', why: 'no connection was reached, so nothing was sent' },
  { from: 'pending', to: 'accepted', why: 'the answer to an attempt that was in doubt came late', only: ['late'] },
  { from: 'claimed', to: 'accepted', why: 'the API took the message' },
  { from: 'claimed', to: 'pending', why: 'the API asked to try again, or the run stopped before the request' },
  { from: 'claimed', to: 'failed', why: 'nothing was sent' },
  { from: 'claimed', to: 'in-doubt', why: 'the API may have the message, and no usable answer came' },
  { from: 'claimed', to: 'rejected', why: 'the API refused it', only: ['staysOnStep'] },
  { from: 'claimed', to: 'rejected', why: 'it cannot receive this channel', only: ['fallsBack'], begins: true },
  { from: 'failed', to: 'failed', why: null },
  { from: 'failed', to: 'pending', why: 'the next start tries again' },
  { from: 'failed', to: 'skipped', why: 'its second message is not sent any more', only: ['ordered'] },
  { from: 'deferred', to: 'deferred', why: null },
  { from: 'deferred', to: 'pending', why: 'the next start decides again' },
  { from: 'deferred', to: 'skipped', why: 'a rule leaves it out, or a person closes the run' },
  { from: 'deferred', to: 'accepted', why: 'the answer to an attempt that was in doubt came late', only: ['late'] },
  { from: 'rejected', to: 'rejected', why: null, only: ['sameStep'] },
  { from: 'rejected', to: 'pending', why: '`send --retry rejected`', only: ['retried'] },
  { from: 'in-doubt', to: 'in-doubt', why: null },
  { from: 'in-doubt', to: 'accepted', why: 'a person, a report or a late answer says so', only: ['noted'] },
  { from: 'in-doubt', to: 'rejected', why: 'a person says so', only: ['noted', 'staysOnStep'] },
  { from: 'in-doubt', to: 'pending', why: 'a person wants it sent again', only: ['noted'] },
  { from: 'accepted', to: 'accepted', why: null },
  { from: 'accepted', to: 'pending', why: '`send --retry corrected`', only: ['corrected'] },
  {
    from: 'accepted',
    to: 'rejected',
    why: 'it cannot receive this channel',
    only: ['fallsBack', 'reported'],
    begins: true,
  },
  { from: 'skipped', to: 'skipped', why: null },
  { from: 'skipped', to: 'in-doubt', why: 'the message before may have arrived', only: ['ordered'] },
  { from: 'skipped', to: 'accepted', why: 'the API took the message before', only: ['ordered'] },
  { from: 'rejected', to: 'in-doubt', why: 'the message before may have arrived', only: ['ordered'] },
  { from: 'rejected', to: 'accepted', why: 'the API took the message before', only: ['ordered'] },
];

/** The last order to send to a recipient once more, unless a person said later what became of that message. */
const LAST_ORDER = `former.number = (SELECT max(last.number) FROM resolutions AS last JOIN runs ON runs.number = last.run
      WHERE runs.list = recipients.list AND last.key = recipients.key AND last.step = recipients.step
        AND last.verdict = 'resend' AND (last.resolved_by <> 'user' OR NOT EXISTS (SELECT 1 FROM resolutions AS later
          WHERE later.run = last.run AND later.key = last.key AND later.step = last.step AND later.number > last.number
            AND later.resolved_by = 'user' AND later.verdict <> 'resend')))`;

/**
 * A second message that was claimed did not go out, and waits again. What is heard of the message before counts as it did
 * before the claim: it can end the wait. A caller appends the list, and any condition on the rows.
 */
export const WAITS_AGAIN = `UPDATE recipients SET
    resolved_by = CASE former.resolved_by WHEN 'user' THEN 'resend' ELSE former.resolved_by END,
    claimed_at = former.doubt_at, posted_from = former.posted_from, version = former.version
  FROM resolutions AS former WHERE ${LAST_ORDER} AND recipients.list = `;

export const SECOND_REFUSED = 'the second message was refused:';

/**
 * A recipient who was to be sent to once more was not: a rule skips them, or the API refuses the message. Then the message
 * before counts again: it is in doubt, because it may have arrived (failures.md, section 3), or was accepted at an address
 * that was corrected since. A person who resolves a doubt speaks of all messages to that address. A caller appends
 * the list, and any condition on the rows.
 */
export const AS_BEFORE = `UPDATE recipients SET state = CASE former.resolved_by WHEN 'user' THEN 'in-doubt' ELSE 'accepted' END,
    reason = former.reason, http_status = former.http_status, message_id = former.message_id,
    error = CASE recipients.state WHEN 'rejected'
      THEN concat_ws(' ', '${SECOND_REFUSED}', recipients.http_status, recipients.error) ELSE former.error END,
    address = former.address, claimed_at = former.doubt_at, updated_at = former.doubt_at, posted_from = former.posted_from,
    version = former.version, resolved_by = NULL, resend = CASE former.resolved_by WHEN 'user' THEN resend ELSE nullif(resend - 1, 0) END,
    list_address = CASE WHEN recipients.address <> former.address THEN recipients.address END
  FROM resolutions AS former
  WHERE (recipients.state = 'skipped' OR (recipients.state = 'rejected' AND recipients.reason IS DISTINCT FROM 'fell-back'))
    AND recipients.attempts > 0
    AND ${LAST_ORDER}
    AND recipients.list = `;

/** SQL that is true of these moves; `quick`: only where the row alone shows it. */
export function isOneOf(moves: readonly Move[], quick = false): string {
  const cases = ROW_STATES.flatMap((state) => {
    const terms = moves.filter(({ from }) => from === state).flatMap((move) => termOf(move, quick) ?? []);
    return terms.length === 0 ? [] : [`WHEN '${state}' THEN ${terms.join('\n      OR ')}`];
  });
  return `CASE OLD.state\n    ${cases.join('\n    ')}\n    ELSE false END`;
}

function termOf({ to, only = [] }: Move, quick: boolean): string | null {
  const conditions = only.map((name) => {
    const { sql, quick: alone = sql }: Condition = CONDITIONS[name];
    return quick ? alone : sql;
  });
  if (conditions.includes(null)) return null;
  const term = [`NEW.state = '${to}'`, ...conditions].join(' AND ');
  return only.length === 0 ? term : `(${term})`;
}
