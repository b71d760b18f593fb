import type { DatabaseSync } from 'node:sqlite';
import type { Channel } from '../../src/model.ts';
import { type Heard, NOTHING_HEARD } from './heard.ts';
import { IDENTITY } from './scene.ts';
import type { World } from './world.ts';

/** A row as it is in the database: one for each step that was begun. */
export interface RowView {
  readonly row: number;
  readonly step: number;
  readonly channel: Channel;
  readonly state: string;
  readonly reason: string | null;
  readonly key: string | null;
  readonly address: string | null;
  readonly attempts: number;
  /** The environment that it was claimed for last; at first, that of the run. */
  readonly postedFrom: string;
}

/** Which call of the ledger made a transaction. */
export type Operation =
  | 'open'
  | 'setLockOwner'
  | 'beginLoad'
  | 'load'
  | 'finishLoad'
  | 'discardLoad'
  | 'amend'
  | 'reopenRejected'
  | 'start'
  | 'commit'
  | 'skip'
  | 'defer'
  | 'setWinner'
  | 'suppress'
  | 'pause'
  | 'resume'
  | 'finish'
  | 'record'
  | 'resolve'
  | 'order';

/** A second message was ordered, and a rule skips the recipient: the first may have arrived. */
const AGAIN = 'pending>in-doubt';
const OF_ORDERED: ReadonlySet<string> = new Set([AGAIN, 'pending>accepted', 'deferred>accepted']);

/** What may become of a row in one transaction: the rules once more, not taken from the ledger's own. */
const MOVES: Readonly<Partial<Record<Operation, readonly string[]>>> = {
  start: ['claimed>in-doubt', 'failed>pending', 'deferred>pending'],
  reopenRejected: ['rejected>pending'],
  skip: ['pending>skipped', AGAIN],
  defer: ['pending>deferred'],
  resolve: ['in-doubt>accepted', 'pending>accepted', 'deferred>accepted'],
  // A claimed row was left behind by a kill.
  order: ['claimed>in-doubt', 'in-doubt>pending', 'claimed>pending'],
  // Of earlier runs, where rows have times: a later run takes them over.
  finishLoad: ['pending>skipped', 'deferred>skipped', 'failed>skipped'],
  commit: [
    'pending>claimed',
    'pending>skipped',
    AGAIN,
    'pending>failed',
    'claimed>accepted',
    'claimed>rejected',
    'claimed>failed',
    'claimed>in-doubt',
    'claimed>pending',
    'in-doubt>accepted',
    'in-doubt>rejected',
    'accepted>rejected',
  ],
};

export interface Committer {
  readonly name: string;
  readonly operation: Operation;
  /** Most rows that this one and those before it may hold claimed. */
  readonly mostClaimed: number;
  /** The variant that a person named when it was started. */
  readonly winner: string | null;
  /** `--limit`, attempts per start and so on are its business. */
  readonly claimed: (row: RowView) => void;
  /** When it began, by the monotonic clock: from then on it may have looked at reports. */
  readonly sinceMs: number;
}

/** Looks at the whole list after each transaction. */
export interface LedgerView {
  committed(db: DatabaseSync, by: Committer): void;
  readonly rows: readonly RowView[];
  /** The winner that the ledger holds. */
  readonly winner: string | null;
  byReference(reference: string): RowView | undefined;
  suppressed(address: string): void;
  /** A recipient must not be sent to, or must not have been at some time. */
  isLeftOut(address: string): boolean;
  /** By reference, how often a person asked for another send to a recipient who was rejected or in doubt. */
  readonly askedAgain: ReadonlyMap<string, number>;
}

export function createLedgerView(
  world: World,
  referenceOf: (key: string, channel: Channel) => string,
  campaign: string,
  heard: Heard = NOTHING_HEARD,
  occurrence = IDENTITY.occurrence,
): LedgerView {
  let rows: readonly RowView[] = [];
  let list = -1;
  let winner: string | null = null;
  let references = new Map<string, number>();
  const suppressed = new Set<string>();
  const askedAgain = new Map<string, number>();
  const isSuppressed = (address: string): boolean => suppressed.has(address) || heard.isOptedOut(address);
  const queries = new WeakMap<DatabaseSync, Queries>();

  const index = (): void => {
    references = new Map();
    for (const [at, { key, channel, state, reason }] of rows.entries()) {
      if (key !== null && !(state === 'skipped' && reason === 'duplicate'))
        references.set(referenceOf(key, channel), at);
    }
  };

  const noteAskedAgain = (before: readonly RowView[], now: readonly RowView[]): void => {
    for (const [at, { key, channel, state }] of before.entries()) {
      if (!ASKED_AGAIN.has(state) || now[at]?.state !== 'pending' || key === null) continue;
      const reference = referenceOf(key, channel);
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
      const run = query.run.get(campaign, occurrence) as unknown as
        | readonly [number, number, string | null, Channel]
        | undefined;
      if (run === undefined) return;
      const [nowList, count, nowWinner, channel] = run;
      const now = (query.rows.all(nowList) as unknown as readonly Stored[]).map((row) => toView(row, channel));
      const recipients = now.reduce((sum, { step }) => (step === 0 ? sum + 1 : sum), 0);
      if (recipients !== count) world.object(`the run has ${count} rows, but ${recipients} outcomes`);
      if (nowWinner !== winner) {
        world.cover('winner named');
        world.note(() => `the winner is ${nowWinner}`);
        if (by.operation !== 'setWinner' || nowWinner !== by.winner) {
          world.object(`the winner was ${winner} and is ${nowWinner} after ${by.operation}`);
        }
        winner = nowWinner;
      }
      const before = rows;
      rows = now;
      if (by.operation === 'reopenRejected' || by.operation === 'order') noteAskedAgain(before, now);
      const isPaused = query.paused.get() !== undefined;
      const suppress = (address: string): unknown => suppressed.add(address);
      const rules = { world, heard, referenceOf, isSuppressed, suppress, isPaused, askedAgain };
      if (nowList === list) compare(rules, by, before, now);
      else if (list !== -1) compareAmended(world, before, now);
      if (nowList !== list || now.length !== before.length) index();
      list = nowList;
      const claimed = now.reduce((sum, { state }) => (state === 'claimed' ? sum + 1 : sum), 0);
      if (claimed > by.mostClaimed) world.object(`${claimed} rows are claimed, more than ${by.mostClaimed} in flight`);
    },
    get rows() {
      return rows;
    },
    get winner() {
      return winner;
    },
    byReference: (reference) => rows[references.get(reference) ?? -1],
    suppressed: (address) => suppressed.add(address),
    isLeftOut: (address) => suppressed.has(address) || heard.wasOptedOut(address),
  };
}

interface Queries {
  readonly run: ReturnType<DatabaseSync['prepare']>;
  readonly rows: ReturnType<DatabaseSync['prepare']>;
  readonly paused: ReturnType<DatabaseSync['prepare']>;
}

type Stored = readonly [
  ...(readonly [number, number, string, string | null, string | null, string | null, number, Channel | null]),
  string | null,
];

function prepare(db: DatabaseSync): Queries {
  const asArrays = { returnArrays: true } as const;
  return {
    run: db.prepare(
      `SELECT list, rows, winner, channel FROM runs WHERE state <> 'loading' AND campaign = ? AND occurrence = ?`,
      asArrays,
    ),
    rows: db.prepare(
      'SELECT step, row, state, reason, key, address, attempts, channel, posted_from FROM recipients WHERE list = ? ORDER BY step, row',
      asArrays,
    ),
    paused: db.prepare('SELECT 1 FROM pauses WHERE resumed_at IS NULL'),
  };
}

function toView([step, row, state, reason, key, address, attempts, channel, from]: Stored, usual: Channel): RowView {
  const postedFrom = from ?? IDENTITY.environment;
  return { step, row, state, reason, key, address, attempts, channel: channel ?? usual, postedFrom };
}

interface ViewRules {
  readonly world: World;
  readonly heard: Heard;
  readonly referenceOf: (key: string, channel: Channel) => string;
  readonly isSuppressed: (address: string) => boolean;
  readonly suppress: (address: string) => unknown;
  readonly isPaused: boolean;
  readonly askedAgain: LedgerView['askedAgain'];
}

/** `claimed`: in doubt after a kill. */
const ASKED_AGAIN: ReadonlySet<string> = new Set(['rejected', 'in-doubt', 'claimed']);

function compare(
  { world, heard, referenceOf, isSuppressed, suppress, isPaused, askedAgain }: ViewRules,
  by: Committer,
  before: readonly RowView[],
  now: readonly RowView[],
): void {
  const allowed = MOVES[by.operation] ?? [];
  const old = new Map(before.map((row) => [placeOf(row), row]));
  const all = new Map(now.map((row) => [placeOf(row), row]));
  for (const row of before) if (!all.has(placeOf(row))) world.object(`row ${describe(row)} is gone`);
  const claims = (row: RowView): void => {
    if (isPaused) world.object(`row ${describe(row)} was claimed although everything is paused`);
    if (isSuppressed(row.address ?? '')) world.object(`row ${describe(row)} was claimed although it is suppressed`);
    if (row.step > 0) {
      world.cover('step claimed');
      if (!hasFallen(all.get(placeOf(row, row.step - 1)))) world.object(`row ${describe(row)} was claimed too early`);
    }
    by.claimed(row);
  };
  for (const row of now) {
    const was = old.get(placeOf(row));
    if (was === undefined) {
      begun(world, by, row, { now: all.get(placeOf(row, row.step - 1)), old: old.get(placeOf(row, row.step - 1)) });
      if (row.state === 'claimed') claims(row);
      continue;
    }
    if (was.key !== row.key) {
      world.object(`row ${describe(row)} became somebody else in ${by.operation}`);
      continue;
    }
    if (hasFallen(was) && (!hasFallen(row) || row.attempts !== was.attempts)) {
      world.object(`row ${describe(row)} had fallen back, and was changed in ${by.operation}`);
    }
    // Recorded and claimed again in one transaction: another attempt that came at once.
    const again = row.state === 'claimed' && was.state === 'claimed' && row.attempts > was.attempts;
    if (again) by.claimed(row);
    if (again && isPaused) world.object(`row ${describe(row)} was claimed again although everything is paused`);
    if (was.state === row.state) continue;
    const move = `${was.state}>${row.state}`;
    world.cover(`move:${move}`);
    world.note(() => `${by.name} row ${describe(row)}: ${move}${row.reason === null ? '' : ` (${row.reason})`}`);
    // Given back and claimed again in one transaction, which found that a rule leaves it out.
    const leftOutThen = move === 'claimed>skipped' && isLeftOut(row) && row.attempts > was.attempts;
    if (!allowed.includes(move) && !(leftOutThen && by.operation === 'commit')) {
      world.object(`row ${describe(row)} moved ${move} in ${by.operation}`);
    }
    if (OF_ORDERED.has(move)) {
      world.cover(`ordered:${move}`);
      if (!askedAgain.has(referenceOf(row.key ?? '', row.channel)))
        world.object(`row ${describe(row)} moved ${move}, and no second message was ordered`);
    }
    const isSettled = by.operation === 'resolve';
    if (isSettled && !heard.isReported(referenceOf(row.key ?? '', row.channel))) {
      world.object(`row ${describe(row)} is settled, and no report is about it`);
    }
    if (move === 'in-doubt>accepted' && !isSettled && was.reason !== 'crash')
      world.object(`row ${describe(row)} left ${was.reason}`);
    // With the outcome, and not later.
    if (move === 'claimed>rejected' && row.reason === 'opted-out' && row.address !== null) {
      world.cover('opted out by an answer');
      suppress(row.address);
    }
    const byReport = move === 'accepted>rejected';
    if (byReport) world.cover('fell back by report');
    // Two messages that a person ordered have one reference: what is heard of both cannot be told apart here.
    const isOrdered = askedAgain.has(referenceOf(row.key ?? '', row.channel));
    if (byReport && !isOrdered && !heard.isUnreached(referenceOf(row.key ?? '', row.channel), by.sinceMs)) {
      world.object(`row ${describe(row)} fell back, and no report says that it reached nobody`);
    }
    if (hasFallen(row) && move !== 'claimed>rejected' && !byReport) {
      world.object(`row ${describe(row)} fell back by ${move}`);
    }
    if (hasFallen(row) && !all.has(placeOf(row, row.step + 1)))
      world.object(`row ${describe(row)} fell back to nothing`);
    if (row.attempts < was.attempts) world.object(`row ${describe(row)} has fewer attempts than before`);
    if (row.state === 'claimed') claims(row);
  }
}

/**
 * A step begins in the very move in which the one before falls back. It is pending, or what a claim in the same transaction
 * made of it.
 */
function begun(
  world: World,
  by: Committer,
  row: RowView,
  former: { readonly now: RowView | undefined; readonly old: RowView | undefined },
): void {
  world.cover('step begun');
  world.note(() => `${by.name} row ${describe(row)}: begun, ${row.state}`);
  const fell = hasFallen(former.now) && (former.old?.state === 'claimed' || former.old?.state === 'accepted');
  if (former.old?.state === 'accepted' && row.state !== 'claimed') {
    world.object(`row ${describe(row)} began by a report, and is ${row.state}`);
  }
  if (row.step === 0 || !fell || by.operation !== 'commit' || former.now?.key !== row.key) {
    world.object(`row ${describe(row)} came out of nothing in ${by.operation}`);
  }
  const isNew = row.state === 'pending' || row.state === 'claimed' || isLeftOut(row);
  if (!isNew) world.object(`row ${describe(row)} began as ${row.state}`);
}

/** By a rule that a claim asks. */
function isLeftOut({ reason }: RowView): boolean {
  return reason === 'suppressed' || reason === 'unreachable' || reason === 'excluded' || reason === 'frequency-cap';
}

function hasFallen(row: RowView | undefined): boolean {
  return row?.state === 'rejected' && row.reason === 'fell-back';
}

/** Lists are shorter than this. */
const ROWS_PER_STEP = 10_000;

function placeOf({ step, row }: RowView, on = step): number {
  return on * ROWS_PER_STEP + row;
}

function describe({ row, step }: RowView): string {
  return step === 0 ? String(row) : `${row}, step ${step},`;
}

/** A final outcome of a step stays with its person, whatever the new list says, and no recipient who was known is gone. */
function compareAmended(world: World, before: readonly RowView[], now: readonly RowView[]): void {
  world.note(() => `the list is another one, of ${now.length} rows`);
  const people = new Map<string, RowView>();
  for (const row of now) if (row.key !== null && row.reason !== 'duplicate') people.set(`${row.step} ${row.key}`, row);
  for (const old of before) {
    if (old.key === null || old.reason === 'duplicate') continue;
    const row = people.get(`${old.step} ${old.key}`);
    if (row === undefined) world.object(`${old.key} is gone from the ledger, with step ${old.step}`);
    const stays = old.state === 'claimed' ? 'in-doubt' : FINAL.has(old.state) ? old.state : null;
    if (stays !== null && row?.state !== stays) world.object(`${old.key} was ${stays} and is ${row?.state}`);
    if (hasFallen(old) !== hasFallen(row)) world.object(`${old.key} fell back, or did not, by being amended`);
  }
}

const FINAL = new Set(['accepted', 'rejected', 'in-doubt']);
