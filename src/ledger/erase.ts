import type { AddressTrace } from '../util/address-trace.ts';
import type { Connection, Value } from './connection.ts';
import type { ErasedRows, EventCounts, PurgeStore } from './ledger.ts';
import { KEEP_HASH, keepAsWords } from './purge.ts';
import type { Hasher } from './records.ts';
import type { RunStore } from './runs.ts';
import { otherKey, UNKNOWN_TOPIC } from './suppressions.ts';

/**
 * Takes one person out of the ledger, in one transaction: a person has few rows. What it frees is overwritten; the
 * caller has the file written anew, as after a purge (purge.ts).
 */
export function eraser(connection: Connection, runs: Pick<RunStore, 'listOf'>): Pick<PurgeStore, 'erase' | 'traces'> {
  const { query, statement } = connection;

  const eraseRows = ({ run, rows, keys, kept }: ErasedRows, address: string): EventCounts => {
    const { list, state } = runs.listOf(run);
    if (list !== run.list || state !== 'finished') throw new Error(`Run ${run.id} is not as it was read.`);
    const reports = keepAsWords(statement, run, list, kept);
    let replies = 0;
    for (const row of rows) {
      statement(CLEAR_ROW)(list, row);
      replies += statement('DELETE FROM replies WHERE run = ? AND row = ?')(run.number, row);
    }
    statement(FORGET_HISTORY)(run.number, address, JSON.stringify(keys));
    statement(FORGET_ATTEMPTS)(run.number, JSON.stringify(keys));
    return { reports, replies, unread: 0 };
  };

  const suppressAsHash = (address: string, { hash, keyId }: Hasher, now: number): void => {
    const hashed = hash(address);
    for (const [topic, until, source, created] of query(ENTRIES).all(address)) {
      // The reply that would name its topic is deleted.
      const about = topic === UNKNOWN_TOPIC ? '' : String(topic);
      statement(KEEP_HASH)(hashed, about, keyId, until as number | null, String(source), Number(created));
    }
    statement('DELETE FROM suppressions WHERE address = ?')(address);
    statement(KEEP_HASH)(hashed, '', keyId, null, 'user', now);
    statement('UPDATE suppressed_hashes SET reason = NULL WHERE hash = ? AND reason IS NOT NULL')(hashed);
  };

  const suppressPlainly = (address: string, now: number): void => {
    statement(SUPPRESS)(address, now);
    statement('UPDATE suppressions SET reason = NULL WHERE address = ? AND reason IS NOT NULL')(address);
  };

  const erase: PurgeStore['erase'] = ({ address, runs: found, drafts, suppressed, hasher, trace }, nowMs) => {
    const rows = found.reduce((sum, one) => sum + one.rows.length, 0);
    connection.purge.overwrite();
    return connection.write(nowMs, 10 * (rows + 1), (now) => {
      const [known = null] = query('SELECT key_id FROM suppressed_hashes LIMIT 1').get() ?? [];
      if (hasher !== null && known !== null && known !== hasher.keyId) {
        throw otherKey(connection.path, String(known), hasher.keyId);
      }
      const counts = found.map((one) => eraseRows(one, address));
      for (const one of drafts) {
        const { list } = runs.listOf(one.run);
        for (const row of one.rows) statement('DELETE FROM recipients WHERE list = ? AND row = ?')(list, row);
      }
      const more = {
        reports: statement('DELETE FROM delivery_reports WHERE address = ?')(address),
        replies: statement('DELETE FROM replies WHERE sender = ?')(address),
        unread: eraseUnread(trace),
      };
      for (const texts of TEXTS) {
        const set = statement(texts.set);
        for (const one of holding(connection, texts, trace)) set(trace.without(one.text), ...one.at);
      }
      for (const one of suppressed) {
        if (hasher === null) suppressPlainly(one, now);
        else suppressAsHash(one, hasher, now);
      }
      return counts.reduce((sum, { reports, replies, unread }) => {
        return { reports: sum.reports + reports, replies: sum.replies + replies, unread: sum.unread + unread };
      }, more);
    });
  };

  const eraseUnread = (trace: AddressTrace): number => {
    let count = 0;
    for (const { at } of holding(connection, UNREAD, trace)) {
      count += statement('DELETE FROM unread_events WHERE number = ?')(...at);
    }
    return count;
  };

  const traces: PurgeStore['traces'] = (address, trace) => ({
    unread: [...holding(connection, UNREAD, trace)].map(({ at, text }) => {
      const [received] = query('SELECT received_at FROM unread_events WHERE number = ?').get(...at) ?? [];
      return { receivedAtMs: Number(received), body: text };
    }),
    reports: Number(query('SELECT count(*) FROM delivery_reports WHERE address = ?').get(address)?.[0]),
    mentions: TEXTS.reduce((sum, texts) => sum + [...holding(connection, texts, trace)].length, 0),
  });
  return { erase, traces };
}

interface Texts {
  readonly keys: number;
  /** Columns of a page: the keys of the row, then the text. */
  readonly page: string;
}

const TEXTS: readonly (Texts & { readonly set: string })[] = [
  {
    keys: 1,
    page: 'SELECT number, error FROM delivery_reports WHERE number > ? AND error IS NOT NULL ORDER BY number LIMIT 1000',
    set: 'UPDATE delivery_reports SET error = ? WHERE number = ?',
  },
  {
    keys: 1,
    page: 'SELECT number, text FROM replies WHERE number > ? AND text IS NOT NULL ORDER BY number LIMIT 1000',
    set: 'UPDATE replies SET text = ? WHERE number = ?',
  },
  {
    keys: 1,
    page: 'SELECT number, error FROM attempts WHERE number > ? AND error IS NOT NULL ORDER BY number LIMIT 1000',
    set: 'UPDATE attempts SET error = ? WHERE number = ?',
  },
  {
    keys: 3,
    page: `SELECT list, row, step, error FROM recipients WHERE (list, row, step) > (?, ?, ?) AND error IS NOT NULL
  ORDER BY list, row, step LIMIT 1000`,
    set: 'UPDATE recipients SET error = ? WHERE list = ? AND row = ? AND step = ?',
  },
];
const UNREAD: Texts = {
  keys: 1,
  page: 'SELECT number, body FROM unread_events WHERE number > ? AND body IS NOT NULL ORDER BY number LIMIT 1000',
};

/** Rows whose text holds the address, in pages: each is read before any of its rows changes. */
function* holding(connection: Connection, { keys, page }: Texts, trace: AddressTrace) {
  const query = connection.query(page);
  for (let after: readonly Value[] = Array.from({ length: keys }, () => -1); ; ) {
    const rows = query.all(...after);
    for (const row of rows) {
      const found = String(row[keys]);
      if (trace.isIn(found)) yield { at: row.slice(0, keys), text: found };
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.slice(0, keys);
  }
}

// As CLEAR_ROWS and CLEAR_RESOLUTIONS (purge.ts), in each step of the row.
const CLEAR_ROW = `UPDATE recipients SET key = NULL, address = NULL, message_id = NULL, error = NULL, updated_at = NULL,
    text_hash = NULL, list_address = NULL, claimed_at = claimed_at - claimed_at % 86400000 + 86399999
  WHERE list = ? AND row = ?`;

const FORGET_HISTORY = `UPDATE resolutions SET key = '', address = NULL, message_id = NULL, error = NULL,
    who = NULL, note = NULL, doubt_at = NULL
  WHERE run = ?1 AND key > '' AND (address = ?2 OR key IN (SELECT value FROM json_each(?3)))`;

const FORGET_ATTEMPTS = 'DELETE FROM attempts WHERE run = ? AND key IN (SELECT value FROM json_each(?))';

const ENTRIES = 'SELECT topic, until_at, source, created_at FROM suppressions WHERE address = ? ORDER BY topic';

// An entry that is not a reply counts for more than a reply, as in KEEP_HASH.
const SUPPRESS = `INSERT INTO suppressions (address, topic, reason, until_at, source, created_at)
  VALUES (?, '', NULL, NULL, 'user', ?) ON CONFLICT (address, topic) DO UPDATE SET until_at = NULL,
    source = CASE suppressions.source WHEN 'reply' THEN 'user' ELSE suppressions.source END`;
