import { type Channel, DELIVERY_STATES, type DeliveryState } from '../model.ts';
import { type Connection, lazily, type Value } from './connection.ts';
import type { CountStore } from './counts.ts';
import { NOTE } from './doubts.ts';
import { mismatchOf, REPORTS, toReport } from './events.ts';
import type { EvidenceStore, InDoubtRow } from './ledger.ts';
import { postedFromOf, resendOf } from './reading.ts';
import type { RunStore } from './runs.ts';
import { counting } from './suppressions.ts';

const BATCH_ROWS = 1000;

export function evidenceStore(connection: Connection, runs: RunStore, counts: CountStore): EvidenceStore {
  const { query, statement } = connection;
  const expectMany = (): void => connection.expectMany();
  const expecting = lazily((sql) => {
    expectMany();
    return query(sql);
  });

  return {
    statesOf(messages, judged) {
      const said = new Uint16Array(messages.length);
      const add = (sql: string, ids: readonly (string | null)[]): void => {
        if (ids.every((id) => id === null)) return;
        const found = expecting(sql).all(JSON.stringify(ids));
        for (const [place, state, number, environment, reference, address, saidAt] of found) {
          const at = Number(place);
          const message = messages[at];
          if (message === undefined) continue;
          const naming = {
            environment: String(environment),
            reference: reference as string | null,
            address: address as string | null,
            saidAtMs: Number(saidAt),
          };
          const mismatch = mismatchOf(naming, message);
          if (mismatch === null) said[at] = (said[at] ?? 0) | (BITS.get(state as DeliveryState) ?? 0);
          judged?.(Number(number), mismatch);
        }
      };
      const ids = messages.map(({ messageId }) => messageId);
      add(`${NAMED} ON said.message_id = asked.value`, ids);
      const references = messages.map(({ reference }) => reference);
      add(`${NAMED} ON said.reference = asked.value`, references);
      return said;
    },

    hasReferences: () => expecting(HAS_REFERENCES).get() !== undefined,

    expectMany,

    version: () => connection.version(),

    *inDoubt() {
      for (let [list, step, row] = [0, 0, 0]; ; ) {
        const rows = query(NEXT_UNSETTLED).all(list, step, row, BATCH_ROWS);
        if (rows.length > 0) yield rows.map(toInDoubt);
        const last = rows.at(-1);
        if (last === undefined || rows.length < BATCH_ROWS) return;
        [list, step, row] = [Number(last[1]), Number(last[3]), Number(last[2])];
      }
    },

    quoting({ identity, postedFrom, to, textHash }, sinceMs, untilMs) {
      if (to === null || textHash === null) return [];
      return query(QUOTING)
        .all(to, textHash, postedFrom ?? identity.environment, sinceMs, untilMs)
        .map(toReport);
    },

    hasMessage: (environment, messageId) => query(SAME_ID).get(environment, messageId) !== undefined,

    hasOther: ({ identity, postedFrom, to, list, step, row }, sinceMs, untilMs) =>
      query(OTHER_MESSAGE).get(postedFrom ?? identity.environment, to, sinceMs, untilMs, list, step, row) !== undefined,

    resolve({ run, list, step, row, key, attempts }, { messageId, note, nowMs }) {
      return connection.write(nowMs, 3, (now) => {
        if (statement(NOTE_EVIDENCE)(messageId, note, now, list, step, row, key, attempts) === 0) return false;
        statement(ACCEPT)(messageId, now, list, step, row);
        if (statement(FINISH)(now, list) === 1) counts.keep(run);
        return true;
      });
    },

    hasUnreached: () => query(HAS_UNREACHED).get() !== undefined,

    unreached(run, step, afterRow, limit) {
      const { list } = runs.listOf(run);
      const [byReference, withoutId] = query(HOW_UNREACHED).get() ?? [];
      const rows = query(NEXT_UNREACHED).all(
        list,
        step,
        afterRow,
        limit,
        Number(byReference),
        Number(withoutId),
        run.topic ?? '',
      );
      return rows.map(([row, key]) => {
        const steps = Array.from({ length: step + 1 }, (_, one) => query(STEP).get(list, one, row ?? 0) ?? []);
        return {
          row: Number(row),
          step,
          key: String(key),
          variant: (steps[0]?.[0] ?? null) as string | null,
          steps: steps.map(([, channel, messageId, resend, to, claimedAt, postedFrom]) => ({
            channel: (channel ?? run.channel) as Channel,
            messageId: messageId as string | null,
            to: to as string | null,
            ...(claimedAt === null ? {} : { claimedAtMs: Number(claimedAt) }),
            ...postedFromOf(postedFrom),
            ...resendOf(resend),
          })),
        };
      });
    },
  };
}

const NEXT_UNSETTLED = `SELECT runs.number, r.list, r.row, r.step, r.key, r.address, coalesce(r.channel, runs.channel),
    r.attempts, coalesce(r.claimed_at, r.updated_at), r.message_id, r.text_hash,
    runs.environment, runs.campaign, runs.occurrence, r.resend, instr(runs.inputs, '"role":"redirect"'), r.posted_from
  FROM recipients AS r INDEXED BY recipients_unsettled JOIN runs ON runs.list = r.list
  WHERE (r.state = 'in-doubt' OR r.resolved_by = 'resend') AND (r.list, r.step, r.row) > (?1, ?2, ?3)
    AND runs.state <> 'loading' AND runs.purged_at IS NULL
  ORDER BY r.list, r.step, r.row LIMIT ?4`;

const QUOTING = `${REPORTS}
  WHERE address = ? AND text_hash = ? AND environment = ? AND reference IS NULL
    AND coalesce(happened_at, received_at) BETWEEN ? AND ? ORDER BY number`;

const SAME_ID = `SELECT 1 FROM runs JOIN recipients AS r ON r.list = runs.list
  WHERE coalesce(r.posted_from, runs.environment) = ? AND r.message_id = ? LIMIT 1`;

const OTHER_MESSAGE = `SELECT 1 FROM runs JOIN recipients AS r ON r.list = runs.list
  WHERE coalesce(r.posted_from, runs.environment) = ? AND r.address = ? AND r.message_id IS NULL
    AND (r.state = 'accepted' OR r.state = 'in-doubt' OR r.state = 'claimed' OR r.resolved_by = 'report'
      OR r.resolved_by = 'resend')
    AND coalesce(r.claimed_at, r.updated_at) BETWEEN ? AND ? AND NOT (r.list = ? AND r.step = ? AND r.row = ?) LIMIT 1`;

const NOTE_EVIDENCE = `${NOTE}, runs.number, 'accepted', ?1, 'report', NULL, ?2, CAST(?3 AS INTEGER), NULL, NULL
  FROM recipients JOIN runs ON runs.list = recipients.list
  WHERE recipients.list = ?4 AND step = ?5 AND row = ?6 AND key = ?7 AND attempts = ?8 AND (recipients.state = 'in-doubt'
    OR ((recipients.state = 'pending' OR recipients.state = 'deferred') AND resolved_by = 'resend'))`;

const ACCEPT = `UPDATE recipients SET state = 'accepted', reason = 'resolved', message_id = coalesce(?, message_id),
    updated_at = ?, resolved_by = 'report', text_hash = NULL WHERE list = ? AND step = ? AND row = ?`;

// A run that halted with only doubts left is finished when they end; a process that works on it sets the state itself.
// The whole list is read only for the last doubt, because other processes wait for this transaction.
const FINISH = `UPDATE runs SET state = 'finished', halt = NULL, finished_at = coalesce(finished_at, ?1)
  WHERE list = ?2 AND state <> 'running' AND state <> 'loading'
    AND NOT EXISTS (SELECT 1 FROM recipients INDEXED BY recipients_unsettled
      WHERE recipients.list = ?2 AND recipients.state = 'in-doubt')
    AND NOT EXISTS (SELECT 1 FROM recipients WHERE recipients.list = ?2 AND (recipients.state = 'pending'
      OR recipients.state = 'claimed' OR recipients.state = 'failed' OR recipients.state = 'deferred'))`;

const HAS_UNREACHED = `SELECT 1 FROM delivery_reports WHERE (state = 'undeliverable' OR cause = 'unsupported-channel') LIMIT 1`;

const HOW_UNREACHED = `SELECT max(CASE WHEN reference IS NOT NULL THEN 1 ELSE 0 END), max(CASE WHEN message_id IS NULL THEN 1 ELSE 0 END) FROM delivery_reports
  WHERE (state = 'undeliverable' OR cause = 'unsupported-channel')`;

// A recipient with a permanent opt-out gets no fallback, because the claim would refuse it each time. Most reports name
// the id of the API, which SQLite finds by itself; without an id, every row has to be read.
const NEXT_UNREACHED = counting(
  `SELECT row, key FROM recipients
  WHERE list = ?1 AND step = ?2 AND row > ?3 AND state = 'accepted' AND key IS NOT NULL AND (?6 = 1 OR (?5 = 1 AND message_id IS NULL)
    OR message_id IN (SELECT message_id FROM delivery_reports
      WHERE (state = 'undeliverable' OR cause = 'unsupported-channel')))
    AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = recipients.address AND COUNTS)
  ORDER BY row LIMIT ?4`,
  // Later than any end.
  '9223372036854775807',
  '?7',
);

const STEP = `SELECT variant, channel, message_id, resend, address, claimed_at, posted_from FROM recipients
  WHERE list = ? AND step = ? AND row = ?`;

function toInDoubt(row: readonly Value[]): InDoubtRow {
  return {
    run: Number(row[0]),
    identity: { environment: String(row[11]), campaign: String(row[12]), occurrence: String(row[13]) },
    list: Number(row[1]),
    row: Number(row[2]),
    step: Number(row[3]),
    key: String(row[4]),
    to: row[5] as string | null,
    channel: row[6] as Channel,
    attempts: Number(row[7]),
    sinceMs: row[8] as number | null,
    messageId: row[9] as string | null,
    textHash: row[10] as string | null,
    isRedirected: Number(row[15]) > 0,
    ...postedFromOf(row[16]),
    ...resendOf(row[14]),
  };
}

const BITS: ReadonlyMap<DeliveryState, number> = new Map(DELIVERY_STATES.map((state, i) => [state, 1 << i]));

// One message can be in a batch several times, under the same id.
const NAMED = `SELECT asked.key, said.state, said.number, said.environment, said.reference, said.address,
    coalesce(said.happened_at, said.received_at)
  FROM json_each(?) AS asked CROSS JOIN delivery_reports AS said`;
const HAS_REFERENCES = 'SELECT 1 FROM delivery_reports WHERE reference IS NOT NULL LIMIT 1';
