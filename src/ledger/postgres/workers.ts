import type { Halt, Json } from '../../model.ts';
import type { Connection, Value } from '../connection.ts';
import type { Pulse, RunRecord, Shard, Share, WorkerFacts, WorkerRecord, WorkerStore } from '../records.ts';

type RecordOf = (number: number) => RunRecord;

/** If an open shard is not taken for this long and the queue is empty, the worker that was about to take it is dead. */
const LOST_MS = 5000;

/** A worker that is silent for its lease loses its shards, and its claims are in doubt (failures.md, J5). */
export function workerStore(connection: Connection, recordOf: RecordOf): WorkerStore {
  const { query, statement } = connection;

  const giveBackAll = (list: number, id: string, nowMs: number): number[] =>
    connection.write(nowMs, 1, (now) => {
      const given = query(GIVE_BACK).all(list, id);
      for (const [, first, last] of given) statement(RECOVER_SHARD)(now, list, Number(first), Number(last));
      return given.map(([number]) => Number(number));
    });

  const say = ({ id, host, pid, leaseMs }: WorkerFacts, run: RunRecord, share: Share): readonly Value[] =>
    query(PULSE).get(
      ...[id, host, pid, leaseMs, run.list, run.number],
      ...[...COUNTS.map((name) => share[name]), share.opensAtMs, share.limitedUntilMs],
    ) ?? [];
  const runsIn = (sql: string): RunRecord[] =>
    query(sql)
      .all()
      .map(([number]) => recordOf(Number(number)));

  return {
    join({ id, host, pid, leaseMs }) {
      statement('DELETE FROM workers WHERE heard_at < now_ms() - 86400000')();
      query(BEAT).get(id, host, pid, leaseMs);
    },
    beat: ({ id, host, pid, leaseMs }) => void query(BEAT).get(id, host, pid, leaseMs),
    pulse(worker, run, share): Pulse {
      const row = say(worker, run, share);
      const halt = typeof row[1] === 'string' ? (JSON.parse(row[1]) as Halt) : null;
      return { state: row[0] as Pulse['state'], halt, heldMs: Number(row[2] ?? 0), others: shareOf(row.slice(3)) };
    },
    rest(worker, run, share, latency) {
      say(worker, run, share);
      statement(REST)(worker.id, run.list, latency);
    },
    leave(id) {
      for (const [list] of query(SHARDS_OF).all(id)) giveBackAll(Number(list), id, 0);
      query('DELETE FROM workers WHERE id = ? RETURNING 1').get(id);
    },
    workers: () =>
      query(WORKERS)
        .all()
        .map((row) => toWorker(row, recordOf)),

    forget(run, waits = false) {
      connection.write(0, 1, () => {
        statement(FORGET_SHARDS)(run.list);
        statement(FORGET_SHARES)(run.list);
        if (!waits && run.starts > 1) statement(FORGET_LIMITS)(run.list);
      });
    },
    cut(run, rows, limit, facts) {
      return connection.write(0, run.rows, () =>
        query(CUT)
          .all(run.list, rows, limit ?? Number.MAX_SAFE_INTEGER, JSON.stringify(facts))
          .map(toShard)
          .sort((a, b) => a.number - b.number),
      );
    },
    facts(run) {
      const said = query('SELECT facts FROM shards WHERE list = ? LIMIT 1').get(run.list)?.[0];
      return typeof said === 'string' ? (JSON.parse(said) as Json) : null;
    },
    shared: () => runsIn(SHARED),
    finished: () => runsIn(FINISHED),
    take(run, number, worker, nowMs) {
      return connection.write(nowMs, 1, (now) => {
        const found = query(LOOK).get(run.list, number, run.number, worker.id);
        if (found === undefined) return null;
        const shard = toShard(found);
        if (found[3] === 1) statement(RECOVER_SHARD)(now, run.list, shard.firstRow, shard.lastRow);
        statement(TAKE)(worker.id, run.list, number);
        statement('UPDATE workers SET list = ?, heard_at = now_ms() WHERE id = ?')(run.list, worker.id);
        return shard;
      });
    },
    holds: (list, number, id) => query(HOLDS).get(list, number, id) !== undefined,
    finish: (run, number, id, passed = false) =>
      connection.write(0, 1, () => query(FINISH).get(run.list, number, id, passed ? 1 : 0) !== undefined),
    giveBack: (run, id, nowMs) => giveBackAll(run.list, id, nowMs),
    reopen(run, drained, nowMs) {
      const isDrained = drained ? 1 : 0;
      if (query(LOST).get(run.list, isDrained, LOST_MS) === undefined) return [];
      return connection.write(nowMs, 1, (now) =>
        query(REOPEN)
          .all(run.list, isDrained, LOST_MS)
          .map((row) => {
            const { number, firstRow, lastRow } = toShard(row);
            statement(RECOVER_SHARD)(now, run.list, firstRow, lastRow);
            return number;
          }),
      );
    },
    left: (run) => Number(query(`SELECT count(*) FROM shards WHERE list = ? AND state <> 'done'`).get(run.list)?.[0]),
    sum(run) {
      const said = query('SELECT latency FROM shares WHERE list = ? AND latency IS NOT NULL')
        .all(run.list)
        .map(([latency]) => String(latency));
      return { share: shareOf(query(SUM).get(run.list) ?? []), latencies: said };
    },

    end(run, state, halt) {
      connection.write(0, 1, () => statement(END)(state, halt === null ? null : JSON.stringify(halt), run.number));
    },
    callBack(run) {
      connection.write(0, 1, () => statement(FORGET_SHARDS)(run.list));
    },
    isWorkedOn: ({ list }, id) => query(WORKED_ON).get(list, id) !== undefined,
  };
}

/** In the order of the columns of `shares`; its two times follow. */
const COUNTS = [
  ...(['posted', 'retried', 'accepted', 'rejected', 'failed', 'inDoubt'] as const),
  ...(['skipped', 'deferred', 'firstSteps', 'fellBack'] as const),
];

function shareOf(row: readonly Value[]): Share {
  const [opensAt = null, limitedUntil = null] = row.slice(COUNTS.length);
  const counts = Object.fromEntries(COUNTS.map((name, i) => [name, Number(row[i] ?? 0)]));
  return {
    ...(counts as Record<(typeof COUNTS)[number], number>),
    opensAtMs: opensAt === null ? null : Number(opensAt),
    limitedUntilMs: limitedUntil === null ? null : Number(limitedUntil),
  };
}

function toShard(row: readonly Value[]): Shard {
  return { number: Number(row[0]), firstRow: Number(row[1]), lastRow: Number(row[2]) };
}

function toWorker(row: readonly Value[], recordOf: RecordOf): WorkerRecord {
  const facts: WorkerFacts = { id: String(row[0]), host: String(row[1]), pid: Number(row[2]), leaseMs: Number(row[3]) };
  return {
    ...facts,
    joinedAtMs: Math.floor(Number(row[4])),
    heardAtMs: Math.floor(Number(row[5])),
    isAlive: row[6] === 1,
    run: row[7] === null ? null : recordOf(Number(row[7])),
    shards: row[8] === null ? [] : String(row[8]).split(' ').map(Number),
    rows: Number(row[9]),
    posted: Number(row[10]),
    nowMs: Math.floor(Number(row[11])),
  };
}

// A server that crashed has forgotten all workers.
const BEAT = `INSERT INTO workers (id, host, pid, lease_ms, joined_at, heard_at) VALUES (?1, ?2, ?3, ?4, now_ms(), now_ms())
  ON CONFLICT (id) DO UPDATE SET heard_at = excluded.heard_at, list = NULL RETURNING 1`;

const PULSE = `WITH heard AS (
  INSERT INTO workers (id, host, pid, lease_ms, joined_at, heard_at, list) VALUES (?1, ?2, ?3, ?4, now_ms(), now_ms(), ?5)
  ON CONFLICT (id) DO UPDATE SET heard_at = excluded.heard_at, list = excluded.list
), said AS (
  INSERT INTO shares AS s (list, worker, posted, retried, accepted, rejected, failed, in_doubt, skipped, deferred,
    first_steps, fell_back, opens_at, limited_until)
  VALUES (?5, ?1, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
  ON CONFLICT (list, worker) DO UPDATE SET posted = excluded.posted, retried = excluded.retried,
    accepted = excluded.accepted, rejected = excluded.rejected, failed = excluded.failed, in_doubt = excluded.in_doubt,
    skipped = excluded.skipped, deferred = excluded.deferred, first_steps = excluded.first_steps,
    fell_back = excluded.fell_back, opens_at = excluded.opens_at, limited_until = excluded.limited_until
)
SELECT (SELECT state FROM runs WHERE number = ?6), (SELECT halt FROM runs WHERE number = ?6),
  (SELECT held_until - now_ms() FROM turns WHERE name = 'run ' || ?6::bigint),
  sum(posted), sum(retried), sum(accepted), sum(rejected), sum(failed), sum(in_doubt), sum(skipped), sum(deferred),
  sum(first_steps), sum(fell_back), min(opens_at), max(limited_until) FROM shares WHERE list = ?5 AND worker <> ?1`;

const REST = `WITH rested AS (UPDATE workers SET list = NULL WHERE id = ?1)
  UPDATE shares SET latency = ?3 WHERE list = ?2 AND worker = ?1`;

const SHARDS_OF = 'SELECT DISTINCT list FROM shards WHERE worker = ?';

const WORKERS = `SELECT id, host, pid, lease_ms, joined_at, heard_at, heard_at + lease_ms > now_ms(),
    (SELECT number FROM runs WHERE runs.list = w.list),
    (SELECT string_agg(s.number::text, ' ' ORDER BY s.number) FROM shards AS s WHERE s.worker = w.id),
    (SELECT coalesce(sum(s.last_row - s.first_row + 1), 0) FROM shards AS s WHERE s.worker = w.id),
    coalesce((SELECT posted FROM shares WHERE shares.list = w.list AND shares.worker = w.id), 0), now_ms()
  FROM workers AS w ORDER BY joined_at, id`;

const FORGET_SHARDS = 'DELETE FROM shards WHERE list = ?';
const FORGET_SHARES = 'DELETE FROM shares WHERE list = ?';
const FORGET_LIMITS = `UPDATE recipients SET reason = NULL
  WHERE list = ? AND state = 'pending' AND reason = 'rate-limited'`;

const CUT = `INSERT INTO shards (list, number, first_row, last_row, state, offered_at, facts)
  SELECT ?1::bigint, (place - 1) / ?2::bigint, min(row), max(row), 'open', now_ms(), ?4
  FROM (SELECT row, row_number() OVER (ORDER BY row) AS place FROM recipients WHERE list = ?1
    AND state = 'pending' AND reason IS DISTINCT FROM 'rate-limited') AS due
  WHERE place <= ?3::bigint GROUP BY (place - 1) / ?2::bigint RETURNING number, first_row, last_row`;

const SHARED = `SELECT number FROM runs WHERE state = 'running'
  AND EXISTS (SELECT 1 FROM shards WHERE shards.list = runs.list AND shards.state <> 'done') ORDER BY number`;

const FINISHED = `SELECT number FROM runs WHERE state = 'running'
  AND EXISTS (SELECT 1 FROM shards WHERE shards.list = runs.list)
  AND NOT EXISTS (SELECT 1 FROM shards WHERE shards.list = runs.list AND shards.state <> 'done') ORDER BY number`;

const LOOK = `SELECT s.number, first_row, last_row, s.state = 'taken' FROM shards AS s
  JOIN runs ON runs.list = s.list AND runs.number = ?3 AND runs.state = 'running'
  WHERE s.list = ?1 AND s.number = ?2 AND (s.state = 'open' OR (s.state = 'taken' AND s.worker <> ?4
    AND NOT EXISTS (SELECT 1 FROM workers AS w WHERE w.id = s.worker AND w.heard_at + w.lease_ms > now_ms())))`;

const TAKE = `UPDATE shards SET state = 'taken', worker = ? WHERE list = ? AND number = ?`;

const HOLDS = 'SELECT 1 FROM shards WHERE list = ? AND number = ? AND worker = ?';

/** As starts.ts does for a whole list: by the row, so that other workers' claims stay theirs. */
const RECOVER_SHARD = `UPDATE recipients SET state = 'in-doubt', reason = 'crash', attempts = attempts + 1,
    http_status = NULL, message_id = NULL, error = NULL, updated_at = ?1
  WHERE list = ?2 AND step = ANY ('{0,1,2,3,4,5,6,7}'::bigint[]) AND row BETWEEN ?3 AND ?4 AND state = 'claimed'`;

const FINISH = `UPDATE shards SET state = 'done', worker = NULL WHERE list = ?1 AND number = ?2 AND worker = ?3
  AND NOT EXISTS (SELECT 1 FROM recipients AS r WHERE r.list = ?1 AND r.step = ANY ('{0,1,2,3,4,5,6,7}'::bigint[])
    AND r.row BETWEEN first_row AND last_row AND (r.state = 'claimed' OR (?4 = 0 AND r.state = 'pending'))) RETURNING number`;

const GIVE_BACK = `UPDATE shards SET state = 'open', worker = NULL, offered_at = now_ms()
  WHERE list = ? AND worker = ? RETURNING number, first_row, last_row`;

const IF_LOST = `(state = 'taken'
    AND NOT EXISTS (SELECT 1 FROM workers AS w WHERE w.id = s.worker AND w.heard_at + w.lease_ms > now_ms()))
  OR (state = 'open' AND ?2 = 1 AND offered_at < now_ms() - ?3::double precision)`;
const LOST = `SELECT 1 FROM shards AS s WHERE list = ?1 AND (${IF_LOST}) LIMIT 1`;
const REOPEN = `UPDATE shards AS s SET state = 'open', worker = NULL, offered_at = now_ms() WHERE list = ?1 AND (${IF_LOST})
  RETURNING number, first_row, last_row`;

const SUM = `SELECT sum(posted), sum(retried), sum(accepted), sum(rejected), sum(failed), sum(in_doubt), sum(skipped),
  sum(deferred), sum(first_steps), sum(fell_back), min(opens_at), max(limited_until) FROM shares WHERE list = ?`;

const END = `UPDATE runs SET state = ?, halt = ? WHERE number = ? AND state = 'running'`;

const WORKED_ON = `SELECT 1 FROM workers WHERE list = ? AND id <> ? AND heard_at + lease_ms > now_ms() LIMIT 1`;
