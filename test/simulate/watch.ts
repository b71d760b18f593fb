import type { DatabaseSync } from 'node:sqlite';
import type { World } from './world.ts';

/** A row as it stands in the database. */
export interface RowView {
  readonly row: number;
  readonly state: string;
  readonly reason: string | null;
  readonly key: string | null;
  readonly address: string | null;
  readonly attempts: number;
}

/** Which call of the ledger made a transaction. */
export type Operation =
  | 'open'
  | 'hold'
  | 'beginLoad'
  | 'load'
  | 'sealLoad'
  | 'discardLoad'
  | 'amend'
  | 'retryRejected'
  | 'start'
  | 'commit'
  | 'skip'
  | 'suppress'
  | 'finish';

/** What may become of a row in one transaction: the rules once more, not taken from the ledger's own. */
const MOVES: Readonly<Partial<Record<Operation, readonly string[]>>> = {
  start: ['claimed>in-doubt', 'failed>pending', 'deferred>pending'],
  retryRejected: ['rejected>pending'],
  skip: ['pending>skipped'],
  commit: [
    'pending>claimed',
    'pending>skipped',
    'pending>failed',
    'claimed>accepted',
    'claimed>rejected',
    'claimed>failed',
    'claimed>in-doubt',
    'claimed>pending',
    'in-doubt>accepted',
    'in-doubt>rejected',
  ],
};

export interface Committer {
  readonly name: string;
  readonly operation: Operation;
  /** Most rows that this one and those before it may hold claimed. */
  readonly mostClaimed: number;
  /** `--limit`, attempts per start and so on are its business. */
  readonly claimed: (row: RowView) => void;
}

/** Looks at the whole list after each transaction. */
export interface LedgerView {
  committed(db: DatabaseSync, by: Committer): void;
  readonly rows: readonly RowView[];
  byReference(reference: string): RowView | undefined;
  suppressed(address: string): void;
  /** By reference, how often it was asked to try somebody again who had been rejected. */
  readonly askedAgain: ReadonlyMap<string, number>;
}

export function createLedgerView(world: World, referenceOf: (key: string) => string): LedgerView {
  let rows: readonly RowView[] = [];
  let list = -1;
  let references = new Map<string, number>();
  const suppressed = new Set<string>();
  const askedAgain = new Map<string, number>();
  const queries = new WeakMap<DatabaseSync, Queries>();

  const index = (): void => {
    references = new Map();
    for (const [at, { key, state, reason }] of rows.entries()) {
      if (key !== null && !(state === 'skipped' && reason === 'duplicate')) references.set(referenceOf(key), at);
    }
  };

  const noteAskedAgain = (before: readonly RowView[]): void => {
    for (const { key, state } of before) {
      if (state !== 'rejected' || key === null) continue;
      const reference = referenceOf(key);
      askedAgain.set(reference, (askedAgain.get(reference) ?? 0) + 1);
    }
  };

  return {
    askedAgain,
    committed(db, by) {
      let query = queries.get(db);
      if (query === undefined) {
        query = prepare(db);
        queries.set(db, query);
      }
      const run = query.run.get() as unknown as readonly [number, number] | undefined;
      if (run === undefined) return;
      const [nowList, count] = run;
      const now = (query.rows.all(nowList) as unknown as readonly Stored[]).map(toView);
      if (now.length !== count) world.object(`the run has ${count} rows, but ${now.length} outcomes`);
      const before = rows;
      rows = now;
      if (by.operation === 'retryRejected') noteAskedAgain(before);
      if (nowList === list) compare(world, by, before, now, suppressed);
      else {
        if (list !== -1) compareAmended(world, before, now);
        index();
      }
      list = nowList;
      const claimed = now.reduce((sum, { state }) => (state === 'claimed' ? sum + 1 : sum), 0);
      if (claimed > by.mostClaimed) world.object(`${claimed} rows are claimed, more than ${by.mostClaimed} in flight`);
    },
    get rows() {
      return rows;
    },
    byReference: (reference) => rows[references.get(reference) ?? -1],
    suppressed: (address) => suppressed.add(address),
  };
}

interface Queries {
  readonly run: ReturnType<DatabaseSync['prepare']>;
  readonly rows: ReturnType<DatabaseSync['prepare']>;
}

type Stored = readonly [number, string, string | null, string | null, string | null, number];

function prepare(db: DatabaseSync): Queries {
  const asArrays = { returnArrays: true } as const;
  return {
    run: db.prepare(`SELECT list, rows FROM runs WHERE state <> 'loading'`, asArrays),
    rows: db.prepare(
      'SELECT row, state, reason, key, address, attempts FROM recipients WHERE list = ? ORDER BY row',
      asArrays,
    ),
  };
}

function toView([row, state, reason, key, address, attempts]: Stored): RowView {
  return { row, state, reason, key, address, attempts };
}

function compare(
  world: World,
  by: Committer,
  before: readonly RowView[],
  now: readonly RowView[],
  suppressed: ReadonlySet<string>,
): void {
  const allowed = MOVES[by.operation] ?? [];
  for (const [at, row] of now.entries()) {
    const old = before[at];
    if (old === undefined || old.key !== row.key || old.row !== row.row) {
      world.object(`row ${row.row} became somebody else in ${by.operation}`);
      continue;
    }
    // Recorded and claimed again in one transaction: another attempt that came at once.
    const again = row.state === 'claimed' && old.state === 'claimed' && row.attempts > old.attempts;
    if (again) by.claimed(row);
    if (old.state === row.state) continue;
    const move = `${old.state}>${row.state}`;
    world.cover(`move:${move}`);
    world.note(() => `${by.name} row ${row.row}: ${move}${row.reason === null ? '' : ` (${row.reason})`}`);
    if (!allowed.includes(move)) world.object(`row ${row.row} moved ${move} in ${by.operation}`);
    if (move === 'in-doubt>accepted' && old.reason !== 'crash') world.object(`row ${row.row} left ${old.reason}`);
    if (row.attempts < old.attempts) world.object(`row ${row.row} has fewer attempts than before`);
    if (row.state !== 'claimed') continue;
    if (suppressed.has(row.address ?? '')) world.object(`row ${row.row} was claimed although it is suppressed`);
    by.claimed(row);
  }
}

/** A final outcome stays with its person, whatever the new list says, and nobody who was known is gone. */
function compareAmended(world: World, before: readonly RowView[], now: readonly RowView[]): void {
  world.note(() => `the list is another one, of ${now.length} rows`);
  const people = new Map<string, RowView>();
  for (const row of now) if (row.key !== null && row.reason !== 'duplicate') people.set(row.key, row);
  for (const old of before) {
    if (old.key === null || old.reason === 'duplicate') continue;
    const row = people.get(old.key);
    if (row === undefined) world.object(`${old.key} is gone from the ledger`);
    const stays = old.state === 'claimed' ? 'in-doubt' : FINAL.has(old.state) ? old.state : null;
    if (stays !== null && row?.state !== stays) world.object(`${old.key} was ${stays} and is ${row?.state}`);
  }
}

const FINAL = new Set(['accepted', 'rejected', 'in-doubt']);
