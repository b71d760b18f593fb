import { problem, refuse } from '../errors.ts';
import { type ChangedRecipient, type Channel, REPAIRABLE } from '../model.ts';
import { listedForm } from '../util/address-form.ts';
import { isTest } from '../util/occurrence-name.ts';
import type { Connection, Value } from './connection.ts';
import { NOTE } from './doubts.ts';
import type { Ledger } from './ledger.ts';
import { AS_BEFORE, SECOND_REFUSED } from './moves.ts';
import { postedFromOf } from './reading.ts';
import type { EarlierRow, LoadRow, RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';
import { RECOVER, TRY_AGAIN } from './starts.ts';
import { withInputs } from './versions.ts';

type ListStore = Pick<Ledger, 'beginLoad' | 'load' | 'finishLoad' | 'discardLoad'>;

/** Loads a new list. Other processes see only complete lists: a kill leaves nothing that looks like a run. */
export function listStore(connection: Connection, runs: RunStore): ListStore {
  const leftovers = connection.query(
    `SELECT number, list FROM runs WHERE environment = ? AND campaign = ? AND occurrence = ? AND state = 'loading'`,
  );
  const forgetRows = connection.statement('DELETE FROM recipients WHERE list = ?');
  const forgetRun = connection.statement(`DELETE FROM runs WHERE number = ? AND state = 'loading'`);
  const insertRun = connection.query(
    `INSERT INTO runs (list, environment, campaign, occurrence, channel, state, inputs, identity_hash, created_at, counted, topic)
      SELECT coalesce(max(list), 0) + 1, ?, ?, ?, ?, 'loading', '[]', '', ?, ?, ? FROM runs RETURNING number`,
  );
  const insertRow = connection.statement(
    `INSERT INTO recipients (list, row, line, key, address, state, reason, parts, encoding, cost_micros, variant, channel)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // To bind a value takes 0.1 to 0.3 us, and most rows of most lists need no more than these.
  const insertPlain = connection.statement(
    `INSERT INTO recipients (list, row, line, key, address, state, parts, encoding)
      VALUES (?1, ?2, ?3, ?4, ?4, 'pending', ?5, ?6)`,
  );
  const finish = connection.statement(
    `UPDATE runs SET state = 'partial', inputs = ?, versions = ?, identity_hash = ?, created_at = ?,
      rows = (SELECT count(*) FROM recipients WHERE recipients.list = runs.list AND step = 0)
      WHERE number = ? AND state = 'loading'`,
  );

  const loadingList = (run: RunRecord): number => {
    const { list, state } = runs.listOf(run);
    if (state !== 'loading') throw new Error(`Run ${run.id} is loaded: its list cannot be loaded again.`);
    return list;
  };

  return {
    beginLoad({ environment, campaign, occurrence }, { channel, nowMs, isCounted = true, topic = null }) {
      // While the start may be refused, the ledger's newest time stays.
      const number = connection.write(0, 1, (newestMs) => {
        for (const [number = 0, list = 0] of leftovers.all(environment, campaign, occurrence)) {
          forgetRows(list);
          forgetRun(number);
        }
        const facts = [channel, Math.max(nowMs, newestMs), isCounted ? 1 : 0, topic];
        return Number(insertRun.get(environment, campaign, occurrence, ...facts)?.[0]);
      });
      return runs.record(number);
    },

    load(run, rows) {
      if (connection.many !== null) {
        for (const row of rows) if (row.state !== 'skipped') checkComplete(row);
        connection.many.load(loadingList(run), rows, run);
        return;
      }
      connection.write(0, rows.length, () => {
        const list = loadingList(run);
        for (const r of rows) {
          if (r.state !== 'skipped') checkComplete(r);
          const { row, line, key, to, state, reason, parts, encoding, costMicros, variant } = r;
          const channel = ownChannel(r.channel ?? null, run);
          const isPlain = state === 'pending' && key === to && reason === null && costMicros === null;
          if (isPlain && variant === null && channel === null) insertPlain(list, row, line, key, parts, encoding);
          else insertRow(list, row, line, key, to, state, reason, parts, encoding, costMicros, variant, channel);
        }
      });
    },

    finishLoad(run, { inputs, identityHash, nowMs, takesOver = false }) {
      connection.write(nowMs, 1, (now) => {
        loadingList(run);
        if (takesOver) takeOver(connection, run, now);
        const { versions } = withInputs([], inputs, now);
        finish(JSON.stringify(inputs), JSON.stringify(versions), identityHash, now, run.number);
      });
      return runs.record(run.number);
    },

    discardLoad(run) {
      connection.write(0, run.rows, () => {
        forgetRows(loadingList(run));
        forgetRun(run.number);
      });
    },
  };
}

/**
 * The list that was read last says who is still to be sent to: in earlier runs of the campaign, rows that are not claimed
 * become `removed`. A process that sends such a run can no longer claim them. Failed rows become pending first, because a
 * failed row may not become skipped (moves.ts). Inside a transaction.
 */
function takeOver(connection: Connection, { number, environment, campaign }: RunRecord, now: number): void {
  const open = connection.query(OPEN_RUNS).all(environment, campaign, number);
  for (const [former = 0, list = 0, occurrence] of open) {
    if (isTest(String(occurrence))) continue;
    connection.statement(TRY_AGAIN)(list);
    connection.statement(REMOVE_OPEN)(now, list);
    connection.statement(END_RUN)(now, former);
  }
}

const OPEN_RUNS = `SELECT number, list, occurrence FROM runs
  WHERE environment = ? AND campaign = ? AND number <> ? AND state <> 'loading' AND state <> 'finished'`;

const REMOVE_OPEN = `UPDATE recipients SET state = 'skipped', reason = 'removed', updated_at = ?
  WHERE list = ? AND state = 'pending'`;

// A running one, or one that was killed, may have claimed rows.
const END_RUN = `UPDATE runs SET state = 'finished', halt = NULL, finished_at = coalesce(finished_at, ?)
  WHERE number = ? AND state <> 'running'`;

/** Null for the run's channel, so that one channel has one spelling. */
export function ownChannel(channel: Channel | null, run: Pick<RunRecord, 'channel'>): Channel | null {
  return channel === run.channel ? null : channel;
}

function checkComplete(row: LoadRow): void {
  if (row.key === null || row.to === null) throw new Error(`Row ${row.row} has no key or address, but is not skipped.`);
}

/**
 * Replaces the list of a run with a new one and keeps what is known about recipients who were already sent to.
 * Recipients are matched by key:
 *
 * - A final outcome stays with the recipient, together with what was sent (address, parts, cost, variant). A recipient
 * who was `removed` earlier and is in the new list again is no longer removed, and one who was skipped for what can be
 * repaired (`REPAIRABLE`) is decided again.
 * - Every other recipient is as the new list says, with the attempts made so far.
 * - A recipient who is missing from the new list is kept after its rows: with the final outcome, or else as `skipped`
 * (`removed`). Missing rows without a key and missing duplicates are dropped, except those of an erased person: their
 * outcome still counts.
 *
 * If a key has several rows that are not duplicates, the row that was sent to counts. Of the new rows, the one that
 * will be sent to counts. Rows skipped by `where` come last in both. A recipient who fell back has one new row with
 * all channel steps in it; a last step that is not final is as the new list says.
 *
 * All of it is one transaction in the database: keys are not read into memory. The keys of both lists are sorted into
 * temporary tables first, because looking them up in list order would read the index at random.
 */
export function amender(connection: Connection, runs: RunStore, lists: ListStore): Pick<Ledger, 'amend'> {
  const giveAway = connection.statement('UPDATE runs SET list = -1 WHERE number = ?');
  const setList = connection.statement('UPDATE runs SET list = ? WHERE number = ?');
  const update = connection.statement(
    `UPDATE runs SET inputs = ?1, counted = ?3, topic = ?4, version = ?5, versions = ?6,
      rows = (SELECT count(*) FROM recipients WHERE recipients.list = runs.list AND step = 0),
      state = CASE WHEN EXISTS (SELECT 1 FROM recipients WHERE recipients.list = runs.list
        AND (recipients.state = 'pending' OR recipients.state = 'deferred')) THEN 'partial' ELSE state END
      WHERE number = ?2`,
  );

  // Rows have other numbers in the new list: replies are joined again.
  const lookAgain = connection.statement('UPDATE replies SET run = NULL, step = NULL, row = NULL WHERE run = ?');

  return {
    amend(run, draft, { inputs, nowMs, takesOver = false }) {
      if (run.channel !== draft.channel) {
        const message = `The channel was ${run.channel} and is ${draft.channel} now.`;
        throw refuse(problem('identity-changed', message, { hint: 'Send it as another campaign.' }));
      }
      connection.write(nowMs, 2 * run.rows, (now) => {
        const { list: oldList } = runs.listOf(run);
        const { list: newList, state } = runs.listOf(draft);
        if (state !== 'loading') throw new Error('A run can only be amended with a list that is not loaded yet.');
        connection.statement(RECOVER)(now, oldList);
        connection.statement(WITHDRAW_SECOND)(oldList);
        merge(connection, oldList, newList, now);
        for (const [row = 0, to, listTo] of connection.query(CORRECTED).all(newList)) {
          if (isSame(String(to), String(listTo))) connection.statement(NOT_CORRECTED)(newList, row);
        }
        connection.deferReferences();
        giveAway(draft.number);
        setList(newList, run.number);
        setList(oldList, draft.number);
        connection.statement(SKIPPED_AS_BEFORE)(newList);
        const { version, versions } = withInputs(runs.record(run.number).versions, inputs, now);
        const facts = [draft.isCounted ? 1 : 0, draft.topic, version, JSON.stringify(versions)];
        update(JSON.stringify(inputs), run.number, ...facts);
        lookAgain(run.number);
        if (takesOver) takeOver(connection, run, now);
      });
      lists.discardLoad(draft);
      return runs.record(run.number);
    },
  };
}

function merge(connection: Connection, oldList: number, newList: number, nowMs: number): void {
  connection.exec(TEMPORARY_TABLES);
  connection.statement(OLD_KEYS)(oldList);
  connection.statement(NEW_KEYS)(newList);
  connection.statement(PAIRS)();
  connection.statement(GONE)(newList, oldList);
  connection.statement(KEEP_GONE)(oldList, newList, nowMs);
  connection.statement(MOVED)(oldList);
  connection.statement(MOVED_GONE)(oldList);
  connection.statement(KEEP_STEPS)(oldList, newList);
  // While the rows of step 0 still say what the new list says.
  connection.statement(OPEN_STEPS)(newList, nowMs);
  connection.statement(KEEP_FINAL)(oldList, newList, DECIDED_AGAIN);
  connection.statement(KEEP_ATTEMPTS)(oldList, newList);
  connection.statement(WITHDRAW_ORDER)(oldList, newList);
  connection.exec(
    'DROP TABLE temp.moved; DROP TABLE temp.gone; DROP TABLE temp.pairs; DROP TABLE temp.new_keys; DROP TABLE temp.old_keys',
  );
}

const TEMPORARY_TABLES = `
  CREATE TEMP TABLE old_keys (key TEXT PRIMARY KEY, row INTEGER NOT NULL, fell_back INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TEMP TABLE new_keys (key TEXT NOT NULL, row INTEGER NOT NULL, skipped INTEGER NOT NULL,
    PRIMARY KEY (key, row)) WITHOUT ROWID;
  CREATE TEMP TABLE pairs (row INTEGER PRIMARY KEY, old_row INTEGER NOT NULL);
  CREATE TEMP TABLE gone (old_row INTEGER PRIMARY KEY, row INTEGER NOT NULL);
  CREATE TEMP TABLE moved (old_row INTEGER PRIMARY KEY, row INTEGER NOT NULL)`;

const OLD_KEYS = `INSERT INTO temp.old_keys
  SELECT key, row, CASE WHEN state = 'rejected' AND reason = 'fell-back' THEN 1 ELSE 0 END FROM main.recipients
  WHERE list = ? AND step = 0 AND key IS NOT NULL AND reason IS DISTINCT FROM 'duplicate'
  ORDER BY key, CASE state WHEN 'accepted' THEN 0 WHEN 'in-doubt' THEN 1 WHEN 'rejected' THEN 2
    WHEN 'skipped' THEN 4 + CASE reason WHEN 'excluded' THEN 1 ELSE 0 END ELSE 3 END, row
  ON CONFLICT DO NOTHING`;

const NEW_KEYS = `INSERT INTO temp.new_keys
  SELECT key, row, CASE state WHEN 'skipped' THEN 1 ELSE 0 END + CASE reason WHEN 'excluded' THEN 1 ELSE 0 END FROM main.recipients
  WHERE list = ? AND step = 0 AND key IS NOT NULL AND reason IS DISTINCT FROM 'duplicate' ORDER BY key, row`;

// If several rows have one key, the recipient is the row that will be sent to. A rule (`where`) skips the others, and
// they do not take over the outcome. If two rows will be sent to, both take it over, so that no second message is sent;
// but a pending step must not exist twice.
const PAIRS = `INSERT INTO temp.pairs
  SELECT n.row, o.row FROM temp.new_keys AS n CROSS JOIN temp.old_keys AS o ON o.key = n.key
  WHERE (o.fell_back = 0 AND n.skipped = 0) OR n.row = (SELECT m.row FROM temp.new_keys AS m WHERE m.key = n.key ORDER BY m.skipped, m.row
    LIMIT 1)
  ORDER BY n.row`;

const GONE = `INSERT INTO temp.gone
  SELECT k.row,
    (SELECT coalesce(max(row), -1) FROM main.recipients WHERE list = ?1 AND step = 0) + row_number() OVER (ORDER BY k.row)
  FROM (SELECT old.row FROM temp.old_keys AS old
      WHERE NOT EXISTS (SELECT 1 FROM temp.new_keys AS n WHERE n.key = old.key)
    UNION ALL SELECT row FROM main.recipients WHERE list = ?2 AND step = 0 AND key IS NULL AND state <> 'skipped') AS k`;

/** Reasons of skipped recipients who are as the new list says. */
const DECIDED_AGAIN = JSON.stringify(['removed', ...REPAIRABLE]);

const KEEP_FINAL = `UPDATE main.recipients AS n
  SET address = o.address, channel = o.channel, state = o.state, reason = o.reason, attempts = o.attempts, http_status = o.http_status,
    message_id = o.message_id, error = o.error, parts = o.parts, encoding = o.encoding, cost_micros = o.cost_micros,
    variant = o.variant, claimed_at = o.claimed_at, updated_at = o.updated_at, resolved_by = o.resolved_by,
    delivery = o.delivery, text_hash = o.text_hash, resend = o.resend, posted_from = o.posted_from, version = o.version,
    list_address = CASE WHEN n.address <> o.address AND o.reason IS DISTINCT FROM 'fell-back' THEN n.address END
  FROM temp.pairs AS p CROSS JOIN main.recipients AS o ON o.list = ?1 AND o.step = 0 AND o.row = p.old_row
  WHERE n.list = ?2 AND n.step = 0 AND n.row = p.row
    AND (o.state = 'accepted' OR o.state = 'in-doubt' OR o.state = 'rejected'
      OR (o.state = 'skipped' AND NOT EXISTS (SELECT 1 FROM json_each(?3) AS again WHERE again.value = o.reason)))`;

const KEEP_ATTEMPTS = `UPDATE main.recipients AS n SET attempts = o.attempts, version = o.version,
    claimed_at = o.claimed_at, posted_from = o.posted_from, text_hash = o.text_hash, resend = o.resend,
    resolved_by = CASE WHEN o.resolved_by = 'resend' AND n.state <> 'skipped' THEN 'resend' END
  FROM temp.pairs AS p CROSS JOIN main.recipients AS o ON o.list = ?1 AND o.step = 0 AND o.row = p.old_row
  WHERE n.list = ?2 AND n.step = 0 AND n.row = p.row AND o.attempts > n.attempts`;

const KEEP_GONE = `INSERT INTO main.recipients (list, row, line, key, address, channel, state, reason, attempts,
    http_status, message_id, error, parts, encoding, cost_micros, variant, claimed_at, updated_at, resolved_by, delivery,
    text_hash, resend, posted_from, version)
  SELECT ?2, g.row, o.line, o.key, o.address, o.channel,
    CASE WHEN o.state = 'pending' OR o.state = 'failed' OR o.state = 'deferred' THEN 'skipped' ELSE o.state END,
    CASE WHEN o.state = 'pending' OR o.state = 'failed' OR o.state = 'deferred' THEN 'removed' ELSE o.reason END,
    o.attempts, o.http_status, o.message_id, o.error, o.parts, o.encoding, o.cost_micros, o.variant, o.claimed_at,
    CASE WHEN o.state = 'pending' OR o.state = 'failed' OR o.state = 'deferred' THEN CAST(?3 AS INTEGER) ELSE o.updated_at END,
    o.resolved_by, o.delivery, o.text_hash, o.resend, o.posted_from, o.version
  FROM temp.gone AS g CROSS JOIN main.recipients AS o ON o.list = ?1 AND o.step = 0 AND o.row = g.old_row`;

// A second message to a corrected address that did not go out is withdrawn, because the list may have a third address by
// now: the recipient is as the message before left them (AS_BEFORE).
const WITHDRAW_SECOND = `UPDATE main.recipients SET state = 'skipped', reason = 'removed'
  WHERE list = ? AND step = 0 AND resend IS NOT NULL AND (state = 'pending' OR state = 'deferred' OR state = 'failed')
    AND EXISTS (SELECT 1 FROM main.resolutions AS former WHERE former.resolved_by = 'resend-changed'
      AND former.number = (SELECT max(last.number) FROM main.resolutions AS last
        JOIN main.runs ON runs.number = last.run WHERE runs.list = recipients.list AND last.key = recipients.key))`;

// A person wanted the message to a corrected address sent again, and the list has again an address that got the one
// before.
const WITHDRAW_ORDER = `UPDATE main.recipients SET state = 'skipped', reason = 'removed', resolved_by = NULL
  WHERE list = ?2 AND step = 0 AND resend IS NOT NULL AND (state = 'pending' OR state = 'deferred')
    AND EXISTS (SELECT 1 FROM main.resolutions AS former JOIN main.runs ON runs.number = former.run
      WHERE runs.list = ?1 AND former.key = recipients.key AND former.resolved_by = 'resend-changed'
        AND former.address = recipients.address)`;

// Every recipient who fell back has a row of step 1, so only those rows are read.
const MOVED = `INSERT INTO temp.moved
  SELECT o.row, p.row FROM main.recipients AS o CROSS JOIN temp.new_keys AS n ON n.key = o.key
    CROSS JOIN temp.pairs AS p ON p.row = n.row AND p.old_row = o.row
  WHERE o.list = ? AND o.step = 1`;

const MOVED_GONE = `INSERT INTO temp.moved
  SELECT o.row, g.row FROM main.recipients AS o CROSS JOIN temp.gone AS g ON g.old_row = o.row
  WHERE o.list = ? AND o.step = 1`;

const KEEP_STEPS = `INSERT INTO main.recipients (list, step, row, line, key, address, channel, state, reason, attempts,
    http_status, message_id, error, parts, encoding, cost_micros, variant, claimed_at, updated_at, resolved_by, delivery,
    text_hash, posted_from, version)
  SELECT ?2, o.step, n.row, n.line, o.key, o.address, o.channel, o.state, o.reason, o.attempts,
    o.http_status, o.message_id, o.error, o.parts, o.encoding, o.cost_micros, o.variant, o.claimed_at, o.updated_at,
    o.resolved_by, o.delivery, o.text_hash, o.posted_from, o.version
  FROM main.recipients AS o CROSS JOIN temp.moved AS m ON m.old_row = o.row
    CROSS JOIN main.recipients AS n ON n.list = ?2 AND n.step = 0 AND n.row = m.row
  WHERE o.list = ?1 AND o.step > 0`;

// Only a recipient who is missing from the new list is `rejected` here. Step 0 of a recipient who fell back stays.
const OPEN_STEPS = `UPDATE main.recipients AS o
  SET state = CASE n.state WHEN 'rejected' THEN 'skipped' ELSE n.state END,
    reason = CASE n.state WHEN 'rejected' THEN 'removed' ELSE n.reason END,
    updated_at = CASE n.state WHEN 'rejected' THEN CAST(?2 AS INTEGER) END,
    http_status = NULL, message_id = NULL, error = NULL,
    resolved_by = CASE WHEN o.resolved_by = 'resend' AND n.state <> 'skipped' AND n.state <> 'rejected' THEN 'resend' END
  FROM main.recipients AS n
  WHERE o.list = ?1 AND o.step > 0
    AND (o.state = 'pending' OR o.state = 'failed' OR o.state = 'deferred'
      OR (o.state = 'skipped' AND o.reason IS NOT DISTINCT FROM 'removed'))
    AND n.list = ?1 AND n.step = 0 AND n.row = o.row`;

const SKIPPED_AS_BEFORE = `${AS_BEFORE}?`;

/** One address in two spellings was not corrected. */
const isSame = (one: string, other: string): boolean => listedForm(one) === listedForm(other);

const CORRECTED = `SELECT row, address, list_address FROM recipients INDEXED BY recipients_changed
  WHERE list = ? AND step = 0 AND list_address IS NOT NULL`;

const NOT_CORRECTED = 'UPDATE recipients SET list_address = NULL WHERE list = ? AND step = 0 AND row = ?';

/** Recipients whose address was corrected after the message had gone out, and the second message to them. */
export function changedStore(
  connection: Connection,
  runs: RunStore,
): Pick<Ledger, 'changed' | 'secondMessages' | 'reopenCorrected' | 'earlier' | 'versionsBefore'> {
  const { query, statement } = connection;

  return {
    changed(run, draft = null) {
      if (run.purgedAtMs !== null) return [];
      const { list } = runs.listOf(run);
      if (draft === null) return query(CHANGED).all(list, run.number).map(toChanged);
      const found = query(CHANGED_BY).all(list, runs.listOf(draft).list, run.number).map(toChanged);
      return found.filter(({ to, listTo }) => !isSame(to, listTo));
    },

    secondMessages(run) {
      if (run.purgedAtMs !== null || query(HAS_ORDERS).get(run.number) === undefined) return null;
      const [refused, failed] = query(SECOND_MESSAGES).get(runs.listOf(run).list, run.number) ?? [];
      const found = { refused: Number(refused ?? 0), failed: Number(failed ?? 0) };
      return found.refused + found.failed === 0 ? null : found;
    },

    reopenCorrected: (run, nowMs) =>
      connection.write(nowMs, 2, (now) => {
        const { list, state } = runs.listOf(run);
        if (state === 'loading') throw new Error(`The list of run ${run.id} is not loaded yet.`);
        statement(NOTE_EARLIER)(run.number, now, list);
        return statement(SEND_ONCE_MORE)(now, list, run.number);
      }),

    versionsBefore(run) {
      const found = new Map<string, number[]>();
      if (run.versions.length < 2) return found;
      for (const [key, version] of query(RESENT).all(run.number)) {
        found.set(String(key), [...(found.get(String(key)) ?? []), Number(version)]);
      }
      return found;
    },

    earlier(run) {
      if (run.purgedAtMs !== null) return new Map();
      const found = new Map<string, EarlierRow[]>();
      for (const row of query(EARLIER).all(run.number)) {
        const key = String(row[0]);
        const before = found.get(key) ?? [];
        // An amendment withdrew an unsent second message: the message before it is recorded again later.
        if (before.some(({ to }) => to === row[2])) continue;
        found.set(key, [...before, toEarlier(row, run, before.length)]);
      }
      return found;
    },
  };
}

const CHANGED = `SELECT line, key, address, list_address, state,
    EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?2 AND former.key = recipients.key
      AND former.address = recipients.list_address AND former.verdict = 'resend')
  FROM recipients INDEXED BY recipients_changed WHERE list = ?1 AND step = 0 AND list_address IS NOT NULL
    AND (state = 'accepted' OR state = 'in-doubt') ORDER BY row`;

// Both lists, before one replaces the other. An unsent second message is taken back by it.
const CHANGED_BY = `SELECT n.line, o.key, coalesce(r.address, o.address), n.address,
    CASE WHEN r.number IS NULL THEN o.state ELSE 'accepted' END,
    EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?3 AND former.key = o.key
      AND former.address = n.address AND former.verdict = 'resend')
  FROM recipients AS n JOIN recipients AS o ON o.key = n.key
    LEFT JOIN resolutions AS r ON o.resend IS NOT NULL
    AND (o.state = 'pending' OR o.state = 'failed' OR o.state = 'deferred')
    AND r.number = (SELECT max(number) FROM resolutions AS last WHERE last.run = ?3 AND last.key = o.key
      AND last.resolved_by = 'resend-changed')
  WHERE o.list = ?1 AND o.step = 0 AND n.list = ?2 AND n.step = 0
    AND (o.state = 'accepted' OR o.state = 'in-doubt' OR r.number IS NOT NULL)
    AND n.state <> 'skipped' AND n.address <> coalesce(r.address, o.address) ORDER BY n.row`;

const NOTE_EARLIER = `${NOTE}, CAST(?1 AS INTEGER), 'resend', message_id, 'resend-changed', NULL, NULL, CAST(?2 AS INTEGER),
    posted_from, version
  FROM recipients INDEXED BY recipients_changed
  WHERE list = ?3 AND step = 0 AND list_address IS NOT NULL AND recipients.state = 'accepted'
    AND NOT EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?1 AND former.key = recipients.key
      AND former.address = recipients.list_address AND former.verdict = 'resend')`;

const SEND_ONCE_MORE = `UPDATE recipients INDEXED BY recipients_changed SET state = 'pending', reason = 'resend', resolved_by = 'resend-changed',
    address = list_address, list_address = NULL, resend = coalesce(resend, 0) + 1, http_status = NULL, message_id = NULL,
    error = NULL, updated_at = ?1
  WHERE list = ?2 AND step = 0 AND list_address IS NOT NULL AND state = 'accepted'
    AND NOT EXISTS (SELECT 1 FROM resolutions AS former WHERE former.run = ?3 AND former.key = recipients.key
      AND former.address = recipients.list_address AND former.verdict = 'resend')`;

const HAS_ORDERS = `SELECT 1 FROM resolutions WHERE run = ? AND verdict = 'resend' LIMIT 1`;

// AS_BEFORE writes the text of a refusal.
const SECOND_MESSAGES = `SELECT
    sum(CASE WHEN (state = 'accepted' OR state = 'in-doubt') AND error LIKE '${SECOND_REFUSED}%' THEN 1 ELSE 0 END),
    sum(CASE WHEN state = 'failed' AND EXISTS (SELECT 1 FROM resolutions WHERE run = ?2
      AND resolutions.key = recipients.key AND resolutions.step = recipients.step AND verdict = 'resend') THEN 1 ELSE 0 END)
  FROM recipients WHERE list = ?1`;

const EARLIER = `SELECT key, channel, address, message_id, http_status, doubt_at, posted_from, version FROM resolutions
  WHERE run = ? AND resolved_by = 'resend-changed' AND key > '' ORDER BY number`;

function toChanged(row: readonly Value[]): ChangedRecipient {
  return {
    line: Number(row[0]),
    key: String(row[1]),
    to: String(row[2]),
    listTo: String(row[3]),
    outcome: row[4] as ChangedRecipient['outcome'],
    sentBefore: row[5] === 1,
  };
}

const RESENT = `SELECT DISTINCT key, version FROM resolutions
  WHERE run = ? AND verdict = 'resend' AND version IS NOT NULL AND key > '' ORDER BY key, version`;

function toEarlier(row: readonly Value[], run: RunRecord, resend: number): EarlierRow {
  return {
    channel: (row[1] ?? run.channel) as Channel,
    to: row[2] as string | null,
    messageId: row[3] as string | null,
    httpStatus: row[4] as number | null,
    resend,
    sentAtMs: row[5] as number | null,
    version: row[7] as number | null,
    ...postedFromOf(row[6]),
  };
}
