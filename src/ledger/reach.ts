import type { Connection } from './connection.ts';
import { createReachIndex, type ReachIndex } from './reach-index.ts';
import { type AddPerson, type ReachRows, reachRows } from './reach-rows.ts';
import { type OtherRun, otherRuns, type ReachRules } from './reach-runs.ts';
import type { Cap, RunIdentity } from './records.ts';

/**
 * A2: who was reached by other runs of the environment: accepted, in doubt, or claimed this very moment. A person is a
 * key or an address, of any leg; the legs of one row are one message.
 *
 * A run that nobody is at is read once: whom it reached goes into an index. Of one that is `running`, or that is
 * started later by whatever process (`refresh` finds it), everybody does whom it may reach. The index only says who may
 * have been reached; nobody is kept out before a look into the ledger at that row. So a claim that asks in its
 * transaction sees every claim before it.
 */
export interface Reach {
  /** Runs that a rule asks about although their personal data is gone, so that it cannot be answered. */
  readonly purged: readonly RunIdentity[];
  /** The run of `exclude` that reached this person; null: none. */
  excludedBy(to: string, key: string): RunIdentity | null;
  /** The cap that is used up; null: none is. */
  cappedBy<C extends Cap>(to: string, key: string, caps: readonly C[]): C | null;
  /** Finds what other processes have begun since; 3 us where none of them has written anything. */
  refresh(): void;
}

/** A run whose rows are in the index. */
interface Source extends OtherRun {
  /** Anything may become of its rows; else they are as they were read. */
  readonly isLive: boolean;
  /** Added to the row it is the number of the message. */
  readonly base: number;
  /** It was started or amended since: another source has its rows. */
  isReplaced: boolean;
  /** Later legs of a live run, which begin while it runs: how many there were, and which are in the index. */
  laterLegs: number;
  readonly indexed: Set<number>;
}

export function reachOf(connection: Connection, own: RunIdentity, rules: ReachRules): Reach {
  const runs = otherRuns(connection, own, rules);
  const rows = reachRows(connection);
  const sources: Source[] = [];
  const byNumber = new Map<number, Source>();
  const purged: RunIdentity[] = [];

  // The version before the runs, and the runs before their rows: the next refresh finds what changes in between.
  let seenVersion = connection.version();
  let seenRuns = runs.signature();
  const begun = runs.read();
  const index = createReachIndex(begun.reduce((sum, run) => sum + run.rows, 0));
  const times = createTimes();
  let hasExcluded = false;
  let base = 0;
  const add = (run: OtherRun, isLive: boolean): void => {
    hasExcluded ||= run.isExcluded;
    const former = byNumber.get(run.number);
    if (former !== undefined) former.isReplaced = true;
    const source: Source = { ...run, isLive, base, isReplaced: false, laterLegs: 0, indexed: new Set() };
    byNumber.set(run.number, source);
    sources.push(source);
    base += rows.lastRow(run.list) + 1;
    if (base > MOST_ROWS) throw new Error('the ledger has more rows than can be numbered');
    if (!run.isPurged) fill(index, rows, source, times, rules.sinceMs ?? 0);
    else if (run.isExcluded || rows.wasReachedSince(run.list, rules.sinceMs ?? 0)) purged.push(run);
  };
  for (const run of begun) add(run, run.isRunning);

  /**
   * Messages that may be of whoever was asked about last: several rules ask about the same person, one after the other.
   */
  const found: number[] = [];
  let askedTo: string | null = null;
  let askedKey: string | null = null;
  const find = (to: string, key: string): readonly number[] => {
    if (to === askedTo && key === askedKey) return found;
    found.length = 0;
    index.find(key, found);
    if (to !== key) index.find(to, found);
    [askedTo, askedKey] = [to, key];
    return found;
  };
  const sentAt = (source: Source, message: number, to: string, key: string): number =>
    rows.reachedAt(source.list, message - source.base, key, to);
  /** Of these messages so many count towards a cap. The ledger is asked only where there are enough of them. */
  const isUsedUp = (messages: readonly number[], to: string, key: string, { max, sinceMs }: Cap): boolean => {
    if (messages.length < max) return false;
    const counted = messages.filter((message) => {
      const source = sourceOf(sources, message);
      return source.isCounted && !source.isReplaced && times.newest(message) >= sinceMs;
    });
    if (counted.length < max) return false;
    let had = 0;
    return counted.some((message) => sentAt(sourceOf(sources, message), message, to, key) >= sinceMs && ++had >= max);
  };

  return {
    purged,
    excludedBy(to, key) {
      if (!hasExcluded) return null;
      const messages = find(to, key);
      // The newest of the runs is named.
      for (let i = messages.length - 1; i >= 0; i--) {
        const message = messages[i] ?? 0;
        const source = sourceOf(sources, message);
        if (source.isExcluded && !source.isReplaced && sentAt(source, message, to, key) >= 0) return source;
      }
      return null;
    },
    cappedBy(to, key, caps) {
      const messages = find(to, key);
      for (const cap of caps) if (isUsedUp(messages, to, key, cap)) return cap;
      return null;
    },
    refresh() {
      const now = connection.version();
      if (now === seenVersion) return;
      askedTo = null;
      const runsNow = runs.signature();
      if (runsNow !== seenRuns) {
        for (const run of runs.read()) {
          const known = byNumber.get(run.number);
          if (known === undefined || known.list !== run.list || known.starts !== run.starts) add(run, true);
        }
      }
      for (const source of sources) {
        if (source.isLive && !source.isReplaced) addLaterLegs(index, rows, source, times);
      }
      seenRuns = runsNow;
      seenVersion = now;
    },
  };
}

/** Puts a run into the index: of one that is looked at again whoever it may reach, else whoever it reached. */
function fill(index: ReachIndex, rows: ReachRows, source: Source, times: Times, sinceMs: number): void {
  const add: AddPerson = (person, row, sentMs) => {
    index.add(person, source.base + row);
    times.note(source.base + row, sentMs);
  };
  if (source.isLive) {
    rows.all(source.list, add);
    addLaterLegs(index, rows, source, times);
    return;
  }
  // To `exclude` it does not matter when somebody was reached.
  const fromMs = source.isExcluded ? 0 : sinceMs;
  rows.reached(source.list, fromMs, add);
  rows.reachedLater(source.list, fromMs, add);
}

/** A leg of a run that is going on begins at any time, and only then its address is known. */
function addLaterLegs(index: ReachIndex, rows: ReachRows, source: Source, times: Times): void {
  const legs = rows.laterLegs(source.list);
  if (legs === source.laterLegs) return;
  source.laterLegs = legs;
  rows.allLater(source.list, (person, row, leg) => {
    const which = leg * ROWS + row;
    if (source.indexed.has(which)) return;
    source.indexed.add(which);
    index.add(person, source.base + row);
    times.note(source.base + row, Number.POSITIVE_INFINITY);
  });
}

/** Rows are less than this. */
const ROWS = 2 ** 32;

/** The index numbers messages in 32 bits. */
const MOST_ROWS = ROWS - 1;

/** The run that a message is of: the last that begins before it. */
function sourceOf(sources: readonly Source[], message: number): Source {
  let [low, high] = [0, sources.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((sources[middle]?.base ?? 0) <= message) low = middle;
    else high = middle - 1;
  }
  const source = sources[low];
  if (source === undefined) throw new Error('a message in the index is of a run');
  return source;
}

/** When messages were sent, roughly: nobody is looked up in the ledger for what all the rows around are too old for. */
interface Times {
  note(message: number, sentMs: number): void;
  /** No message near this one was sent later. */
  newest(message: number): number;
}

/** Messages with one time in common: a run sends them within seconds. */
const BLOCK = 1024;

function createTimes(): Times {
  const newest: number[] = [];
  return {
    note(message, sentMs) {
      const block = Math.floor(message / BLOCK);
      while (newest.length <= block) newest.push(Number.NEGATIVE_INFINITY);
      if (sentMs > (newest[block] ?? 0)) newest[block] = sentMs;
    },
    newest: (message) => newest[Math.floor(message / BLOCK)] ?? Number.NEGATIVE_INFINITY,
  };
}
