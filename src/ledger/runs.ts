import { createHash } from 'node:crypto';
import type { Channel, Halt, InputFile, JsonObject } from '../model.ts';
import { isTest } from '../util/occurrence-name.ts';
import type { Connection, Value } from './connection.ts';
import type { Ledger } from './ledger.ts';
import { unusable } from './ledger-error.ts';
import type { KnownCampaign, LockOwner, RunIdentity, RunRecord, Version } from './records.ts';
import { commitsOf } from './versions.ts';

export type RunStore = ReturnType<typeof runStore>;

const SELECT_RUN = `SELECT number, environment, campaign, occurrence, channel, state, halt, inputs, identity_hash, created_at,
    started_at, last_start_at, finished_at, starts, rows, figures, list, winner, counted, purged_at, versions, topic, closed_at,
    posted_from, (SELECT name FROM campaigns WHERE id = runs.campaign), version
  FROM runs`;

const SELECT_BY_NUMBER = `${SELECT_RUN} WHERE number = ?`;

export function runStore(connection: Connection) {
  const { query } = connection;
  const find = connection.query(
    `SELECT number FROM runs WHERE environment = ? AND campaign = ? AND occurrence = ? AND state <> 'loading'`,
  );
  const earlier = connection.query(
    `SELECT number, occurrence FROM runs WHERE environment = ? AND campaign = ? AND number < ? AND started_at IS NOT NULL
      ORDER BY number DESC`,
  );
  const list = connection.query('SELECT list, state FROM runs WHERE number = ?');
  const decideWinner = connection.statement('UPDATE runs SET winner = ? WHERE number = ?');
  const selectOwner = connection.query(
    'SELECT pid, host, since_at FROM holders WHERE environment = ? AND campaign = ? AND occurrence = ?',
  );
  const insertOwner = connection.statement(
    `INSERT INTO holders (environment, campaign, occurrence, pid, host, since_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (environment, campaign, occurrence) DO UPDATE
      SET pid = excluded.pid, host = excluded.host, since_at = excluded.since_at`,
  );
  const getSchedule = connection.query(
    'SELECT schedule, seen_at FROM schedules WHERE environment = ? AND campaign = ?',
  );
  // If two processes see it at once, the first counts.
  const setSchedule = connection.statement(
    `INSERT INTO schedules (environment, campaign, schedule, seen_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (environment, campaign) DO UPDATE SET schedule = excluded.schedule, seen_at = excluded.seen_at
      WHERE schedules.schedule <> excluded.schedule`,
  );
  const allCampaigns = query('SELECT id, name, file FROM campaigns ORDER BY number DESC');
  // The number says which one was sent last: times can be equal.
  const putCampaign = connection.statement(
    `INSERT INTO campaigns (id, name, file, number) SELECT ?, ?, ?, coalesce(max(number), 0) + 1 FROM campaigns WHERE true
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, file = excluded.file, number = excluded.number`,
  );
  const deleteOwner = connection.statement(
    'DELETE FROM holders WHERE environment = ? AND campaign = ? AND occurrence = ?',
  );

  const read = (sql: string, ...params: readonly string[]): RunRecord[] =>
    query(sql)
      .all(...params)
      .map((row) => toRecord(row, connection.path));
  const runs = (): RunRecord[] => read(`${SELECT_RUN} WHERE state <> 'loading' ORDER BY number`);
  const record = (number: number): RunRecord => {
    const row = connection.query(SELECT_BY_NUMBER).get(number);
    if (row === undefined) throw new Error(`The ledger holds no run ${number}.`);
    return toRecord(row, connection.path);
  };

  const campaigns = (): readonly KnownCampaign[] =>
    allCampaigns.all().map(([id, name, file]) => ({ id: String(id), name: String(name), file: String(file) }));

  return {
    campaigns,
    rememberCampaign<T>(own: KnownCampaign, refusal: (known: readonly KnownCampaign[]) => T | null): T | null {
      return connection.write(0, 1, () => {
        const why = refusal(campaigns());
        if (why === null) putCampaign(own.id, own.name, own.file);
        return why;
      });
    },
    runs,
    /** Loading or not. */
    record,
    findRun({ environment, campaign, occurrence }) {
      const row = find.get(environment, campaign, occurrence);
      return row === undefined ? null : record(Number(row[0]));
    },
    runsOf: ({ environment, campaign }) =>
      // Sorted here, so that both databases use the index of the identity.
      read(`${SELECT_RUN} WHERE environment = ? AND campaign = ? AND state <> 'loading'`, environment, campaign).sort(
        (a, b) => a.number - b.number,
      ),
    runBefore({ environment, campaign, number }) {
      const row = earlier.all(environment, campaign, number).find(([, occurrence]) => !isTest(String(occurrence)));
      return row === undefined ? null : record(Number(row[0]));
    },
    runById: (named) =>
      runs().filter(({ id, name, occurrence }) => [id, name, `${name}@${occurrence}`].includes(named)),
    scheduleOf({ environment, campaign }) {
      const row = getSchedule.get(environment, campaign);
      return row === undefined ? null : { schedule: String(row[0]), seenMs: Number(row[1]) };
    },
    seeSchedules(all) {
      connection.write(0, all.length, () => {
        for (const [{ environment, campaign }, { schedule, seenMs }] of all)
          setSchedule(environment, campaign, schedule, seenMs);
      });
    },
    /** The list of a run now; `--allow input-changed` changes it. Read anew each time, in a microsecond. */
    listOf(run: RunRecord) {
      const row = list.get(run.number);
      if (row === undefined) throw new Error(`The ledger holds no run ${run.number} any more.`);
      return { list: Number(row[0]), state: row[1] as RunRecord['state'] };
    },
    setWinner(run, variant) {
      connection.write(0, 1, () => decideWinner(variant, run.number));
      return record(run.number);
    },
    setLockOwner({ environment, campaign, occurrence }, lockOwner) {
      connection.write(0, 1, () =>
        lockOwner === null
          ? deleteOwner(environment, campaign, occurrence)
          : insertOwner(environment, campaign, occurrence, lockOwner.pid, lockOwner.host, lockOwner.sinceMs),
      );
    },
    lockOwner({ environment, campaign, occurrence }): LockOwner | null {
      const row = selectOwner.get(environment, campaign, occurrence);
      return row === undefined ? null : { pid: Number(row[0]), host: String(row[1]), sinceMs: Number(row[2]) };
    },
  } satisfies Partial<Ledger> & { readonly record: unknown; readonly listOf: unknown };
}

/** The id that people see: the campaign's name and eight hex digits of the run's identity. */
export function runId({ environment, campaign, occurrence }: RunIdentity): string {
  const hash = createHash('sha256').update(JSON.stringify([environment, campaign, occurrence]));
  return `${campaign}-${hash.digest('hex').slice(0, 8)}`;
}

function toRecord(row: readonly Value[], path: string): RunRecord {
  const identity = { environment: String(row[1]), campaign: String(row[2]), occurrence: String(row[3]) };
  const versions = parsed<readonly Version[]>(row[20], path) ?? [];
  return {
    ...identity,
    id: runId(identity),
    number: Number(row[0]),
    list: Number(row[16]),
    channel: row[4] as Channel,
    state: row[5] as RunRecord['state'],
    halt: parsed<Halt>(row[6], path),
    inputs: parsed<readonly InputFile[]>(row[7], path) ?? [],
    identityHash: String(row[8]),
    createdAtMs: Number(row[9]),
    startedAtMs: numberOrNull(row[10]),
    lastStartAtMs: numberOrNull(row[11]),
    finishedAtMs: numberOrNull(row[12]),
    starts: Number(row[13]),
    rows: Number(row[14]),
    winner: (row[17] ?? null) as string | null,
    isCounted: row[18] !== 0,
    purgedAtMs: numberOrNull(row[19]),
    closedAtMs: numberOrNull(row[22]),
    version: Number(row[25]),
    versions,
    commits: commitsOf(versions),
    topic: (row[21] ?? null) as string | null,
    postedFrom: (row[23] ?? null) as string | null,
    // It is recorded with the first start.
    name: (row[24] ?? identity.campaign) as string,
    figures: parsed<JsonObject>(row[15], path),
  };
}

function numberOrNull(value: Value | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** Invalid JSON is damage that no check of SQLite finds, because SQLite treats it as text (failures.md, H3). */
function parsed<T>(value: Value | undefined, path: string): T | null {
  if (typeof value !== 'string') return null;
  try {
    return JSON.parse(value) as T;
  } catch {
    const hint = 'Move it away for safe keeping and restore a backup.';
    throw unusable('ledger-unusable', path, 'The ledger is damaged: what it holds of a run cannot be read.', hint);
  }
}
