import { hash } from 'node:crypto';
import type { Channel, DeliveryCause, DeliveryState, UnmatchedReason, WebhookEvent } from '../model.ts';
import { kindOf, listedForm } from '../util/address-form.ts';
import type { Connection, Value } from './connection.ts';
import type { DeliveryRecord, EventStore, RecordFacts } from './ledger.ts';
import type { MessageIds, SentMessage } from './records.ts';
import { optOuts } from './replies.ts';
import { UNKNOWN_TOPIC } from './suppressions.ts';

interface Naming {
  readonly environment: string;
  readonly reference: string | null;
  readonly address: string | null;
  /** When it happened, else when it came in. */
  readonly saidAtMs: number;
}

/** The clocks of two machines differ by at most this. */
export const SKEW_MS = 5 * 60_000;

/**
 * The one rule that decides whether a report is about a message; null: it is. Figures, gates, winners, fallbacks and
 * the end of doubts all use it (failures.md, K2).
 *
 * An id of the API is unique within one account at best, so the report must have come in for the environment of the
 * message. What else it names must agree: the reference, the address, and the time, because a report cannot be older
 * than its message.
 *
 * If several recipients share a request, the API may give them one id. A report with the reference or the address of
 * one of them is about that recipient only.
 * @param message - its reference may be null if no report in the ledger names a reference
 */
export function mismatchOf(report: Naming, message: SentMessage): UnmatchedReason | null {
  const { environment, reference, address, saidAtMs } = report;
  if (environment !== message.environment) return 'environment';
  if (reference !== null && message.reference !== null && reference !== message.reference) return 'reference';
  if (address !== null && message.to !== null && isAnother(address, message.to)) return 'address';
  if (message.claimedAtMs !== null && saidAtMs < message.claimedAtMs - SKEW_MS) return 'time';
  return null;
}

/**
 * Whether two addresses cannot be one person's. A contact of an address book has a number and an email address that the
 * ledger does not know, and a number that cannot be read may be any.
 */
function isAnother(a: string, b: string): boolean {
  if (a === b) return false;
  const [kind, other] = [kindOf(a), kindOf(b)];
  if (kind !== other) return kind !== 'contact' && other !== 'contact';
  return listedForm(a) !== listedForm(b);
}

/** Holds each delivery report and reply once, also when it arrives before the answer to its request (failures.md, K1). */
export function eventStore(connection: Connection): EventStore {
  const { query, statement } = connection;
  const holders = { delivery: query(HOLDERS_OF_REPORT), reply: query(HOLDERS_OF_REPLY) };
  const { lift, lastWord, ...words } = optOuts(connection);
  const last = query('SELECT max(number) FROM delivery_reports');
  const dropPage = statement('DELETE FROM unread_events WHERE number = ?');
  const pages = query('SELECT number, body FROM unread_events WHERE source = ? ORDER BY number');
  const fetched = query('SELECT fetched_at FROM fetches WHERE environment = ?');
  const setFetched = statement(`INSERT INTO fetches (environment, fetched_at) VALUES (?, ?)
    ON CONFLICT (environment) DO UPDATE SET fetched_at = excluded.fetched_at`);

  /** Returns whether the event is new. */
  const hold = (event: WebhookEvent, { source, environment, alsoIn = [] }: RecordFacts, now: number): boolean => {
    const digest = hash('sha256', JSON.stringify(identityOf(event)), 'buffer').subarray(0, 16);
    if (event.kind === 'unread') return statement(ADD_UNREAD)(digest, event.body, now, source) === 1;
    // A request that is signed with a secret of two environments may be posted to both.
    if (alsoIn.length > 0 && holders[event.kind].all(digest).some(([name]) => alsoIn.includes(String(name))))
      return false;
    if (event.kind === 'delivery') {
      const { reference, messageId, address, channel, state, word, cause, error, textHash, atMs } = event;
      const ids = [digest, environment, reference, messageId, address, channel];
      return statement(ADD_REPORT)(...ids, state, word, cause, error, textHash, atMs, now, source) === 1;
    }
    const { replyId, reference, messageId, from, to, channel, text, meaning, atMs } = event;
    const ids = [digest, environment, replyId, reference, messageId];
    return statement(ADD_REPLY)(...ids, from, to, channel, text, meaning, atMs, now, source) === 1;
  };

  const reportsNaming = ({ reference, messageId }: MessageIds): DeliveryRecord[] => {
    const found = new Map<number, DeliveryRecord>();
    const rows = [
      ...(reference === null ? [] : query(`${REPORTS} WHERE reference = ? ORDER BY number`).all(reference)),
      ...(messageId === null ? [] : query(`${REPORTS} WHERE message_id = ? ORDER BY number`).all(messageId)),
    ];
    for (const row of rows) found.set(Number(row[0]), toReport(row));
    return [...found.values()];
  };

  return {
    record(events, facts) {
      const { nowMs, startLifts = false, stopEnds = 'everything', isAddress, page } = facts;
      const displaced = connection.displacement();
      if (displaced !== null) throw displaced;
      return connection.write(nowMs, 4 * events.length, (now) => {
        const tally = { reports: 0, replies: 0, unread: 0, known: 0 };
        const suppressed: string[] = [];
        const lifted: string[] = [];
        const unassigned: string[] = [];
        const optOut = (address: string, by: 'reply' | 'report', about = ''): void => {
          // An address that matches no recipient must not look as if it could.
          if (isAddress?.(address) === false) unassigned.push(address);
          else if (words.optOut(address, by, now, about)) suppressed.push(address);
        };
        for (const event of events) {
          if (!hold(event, facts, now)) {
            tally.known++;
            // A STOP without a time or id: after a START, it may be a repeated delivery or a new STOP.
            const isBare = event.kind === 'reply' && event.replyId === null && event.atMs === null;
            if (isBare && event.meaning === 'opt-out') optOut(event.from, 'reply');
            continue;
          }
          tally[COUNTED_AS[event.kind]]++;
          if (event.kind === 'unread' && event.optsOut === true) unassigned.push('');
          if (event.kind === 'delivery' && event.cause === 'opted-out' && event.address !== null) {
            optOut(event.address, 'report');
          }
          if (event.kind !== 'reply' || (event.meaning !== 'opt-out' && event.meaning !== 'opt-in')) continue;
          if (stopEnds === 'topic') {
            // replies.ts finds the answered message later: until then a STOP is about all topics, a START about none.
            if (event.meaning === 'opt-out') optOut(event.from, 'reply', UNKNOWN_TOPIC);
            continue;
          }
          // Unless START may lift opt-outs, an opt-out stays in force whatever the recipient writes later.
          const meaning = startLifts ? lastWord(event.from, null) : event.meaning;
          if (meaning === 'opt-out') optOut(event.from, 'reply');
          else if (startLifts && lift(event.from, null)) lifted.push(event.from);
        }
        if (page !== undefined) dropPage(page);
        return { ...tally, suppressed, lifted, unassigned };
      });
    },

    reportsOf: (message) => reportsNaming(message).filter((report) => mismatchOfRecord(report, message) === null),

    reportsNaming,

    // The newest comes last, but for a clock that was set.
    hasReports: (sinceMs) => query(REPORTED_SINCE).get(sinceMs) !== undefined,

    lastReport: () => Number(last.get()?.[0] ?? 0),

    answered({ number }) {
      const rows = query(ANSWERED).all(number);
      return new Map(rows.map(([row, out]) => [Number(row), out === 1 ? 'opted-out' : 'replied'] as const));
    },

    pages: (source) => pages.all(source).map(([number, body]) => ({ number: Number(number), body: String(body) })),

    fetchedMs(environment) {
      const [atMs] = fetched.get(environment) ?? [];
      return atMs === undefined ? null : Number(atMs);
    },

    setFetched: (environment, atMs) => connection.write(atMs, 1, () => void setFetched(environment, atMs)),

    counts() {
      const [reports, replies, unread] = query(COUNTS).get() ?? [];
      return { reports: Number(reports), replies: Number(replies), unread: Number(unread) };
    },
  };
}

/** `mismatchOf` for a report in the ledger. */
export function mismatchOfRecord(report: DeliveryRecord, message: SentMessage): UnmatchedReason | null {
  const naming: Naming = { ...report, saidAtMs: report.atMs ?? report.receivedAtMs };
  return mismatchOf(naming, message);
}

const COUNTED_AS = { delivery: 'reports', reply: 'replies', unread: 'unread' } as const;

/** The provider's id, else all content but the time of delivery: a repeated report has otherwise the same bytes. */
function identityOf(event: WebhookEvent): readonly (string | number | null)[] {
  if (event.kind === 'unread') return ['unread', event.body];
  if (event.kind === 'reply') return ['reply', event.replyId, event.from, event.to, event.text, event.atMs];
  const { reference, messageId, address, channel, state, word, cause, error, atMs, eventId } = event;
  // The id alone is not enough: a provider that numbers requests would lose all but the first event of each.
  return ['delivery', reference, messageId, address, channel, state, word, cause, error, atMs, eventId];
}

export function toReport(row: readonly Value[]): DeliveryRecord {
  return {
    number: Number(row[0]),
    reference: row[1] as string | null,
    messageId: row[2] as string | null,
    address: row[3] as string | null,
    channel: row[4] as Channel | null,
    state: row[5] as DeliveryState,
    word: row[6] as string | null,
    cause: row[7] as DeliveryCause | null,
    error: row[8] as string | null,
    textHash: row[9] as string | null,
    atMs: row[10] as number | null,
    receivedAtMs: Number(row[11]),
    source: String(row[12]),
    environment: String(row[13]),
  };
}

// The same words for two environments are two events: both number their messages independently.
const ADD_REPORT = `INSERT INTO delivery_reports (digest, environment, reference, message_id, address, channel, state,
    word, cause, error, text_hash, happened_at, received_at, source)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest, environment) DO NOTHING`;

const ADD_REPLY = `INSERT INTO replies (digest, environment, reply_id, reference, message_id, sender, recipient, channel,
    text, meaning, happened_at, received_at, source)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest, environment) DO NOTHING`;

const ADD_UNREAD = `INSERT INTO unread_events (digest, body, received_at, source) VALUES (?, ?, ?, ?)
  ON CONFLICT (digest) DO NOTHING`;

const HOLDERS_OF_REPORT = 'SELECT environment FROM delivery_reports WHERE digest = ?';

const HOLDERS_OF_REPLY = 'SELECT environment FROM replies WHERE digest = ?';

/** As `toReport` reads it. */
export const REPORTS = `SELECT number, reference, message_id, address, channel, state, word, cause, error, text_hash,
    happened_at, received_at, source, environment FROM delivery_reports`;

const REPORTED_SINCE = `SELECT 1 FROM (SELECT received_at FROM delivery_reports ORDER BY number DESC LIMIT 1) AS newest
  WHERE received_at >= ?`;

const ANSWERED = `SELECT row, max(CASE coalesce(reviewed_as, meaning) WHEN 'opt-out' THEN 1 ELSE 0 END) FROM replies
  WHERE run = ? AND row IS NOT NULL GROUP BY row`;

const COUNTS = `SELECT (SELECT count(*) FROM delivery_reports), (SELECT count(*) FROM replies),
  (SELECT count(*) FROM unread_events)`;
