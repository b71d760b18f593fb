import type { Connection } from './connection.ts';
import { createReachIndex, type ReachIndex } from './reach-index.ts';
import { type ReachRows, reachRows } from './reach-rows.ts';
import { type OtherRun, otherRuns, type ReachRules } from './reach-runs.ts';
import type { Cap, RunIdentity } from './records.ts';

/**
 * A2: who was reached by other runs of the environment: accepted, in doubt, or claimed this very moment. A person is a
 * key or an address, of any leg; the legs of one row are one message.
 *
 * A run that nobody is at is read once. One that is `running`, or that is started later by whatever process, is looked
 * at again for each answer, and `refresh` finds it: so a claim that asks in its transaction sees every claim before it.
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
  /** Its rows are looked at when they are asked for; else they are as they were read. */
  readonly isLive: boolean;
  /** It was started or amended since: another source has its rows. */
  isReplaced: boolean;
  /** Later legs of a live run, which begin while it runs: how many there were, and which are in the index. */
  laterLegs: number;
  readonly indexed: Set<number>;
}

/** How times are kept with messages: in whole units; 0 is before any period. */
interface Clock {
  readonly fromMs: number;
  readonly unitMs: number;
}

export function reachOf(connection: Connection, own: RunIdentity, rules: ReachRules): Reach {
  const runs = otherRuns(connection, own, rules);
  const rows = reachRows(connection);
  const version = connection.query('PRAGMA data_version');
  const clock = clockOf(rules, connection.newestMs);
  const sources: Source[] = [];
  const byNumber = new Map<number, Source>();
  const purged: RunIdentity[] = [];

  // The version before the runs, and the runs before their rows: the next refresh finds what changes in between.
  let seenVersion = version.get()?.[0];
  let seenRuns = runs.signature();
  const begun = runs.read();
  const index = createReachIndex(begun.reduce((sum, run) => sum + run.rows, 0));
  let hasExcluded = false;
  const add = (run: OtherRun, isLive: boolean): void => {
    hasExcluded ||= run.isExcluded;
    const former = byNumber.get(run.number);
    if (former !== undefined) former.isReplaced = true;
    const source: Source = { ...run, isLive, isReplaced: false, laterLegs: 0, indexed: new Set() };
    byNumber.set(run.number, source);
    const at = sources.push(source) - 1;
    if (!run.isPurged) fill(index, rows, source, at, clock);
    else if (run.isExcluded || rows.wasReachedSince(run.list, rules.sinceMs ?? 0)) purged.push(run);
  };
  for (const run of begun) add(run, run.isRunning);

  /** When a message was sent; -1: it was not, or not any more. */
  const sentAt = (source: Source, message: number): number => {
    if (source.isReplaced) return -1;
    if (source.isLive) return rows.reachedAt(source.list, index.row(message));
    return clock.fromMs + index.at(message) * clock.unitMs;
  };
  const excluder = (person: string): Source | null => {
    for (let message = index.first(person); message !== 0; message = index.next(message)) {
      const source = sources[index.source(message)];
      if (source?.isExcluded && sentAt(source, message) >= 0) return source;
    }
    return null;
  };
  /** Messages that were counted, so that none is counted twice where both key and address lead to it. */
  const counted: number[] = [];
  const isUsedUp = (person: string, { max, sinceMs }: Cap): boolean => {
    for (let message = index.first(person); message !== 0; message = index.next(message)) {
      const source = sources[index.source(message)];
      if (!source?.isCounted || sentAt(source, message) < sinceMs) continue;
      const which = index.source(message) * ROWS + index.row(message);
      if (counted.includes(which)) continue;
      if (counted.push(which) >= max) return true;
    }
    return false;
  };

  return {
    purged,
    excludedBy(to, key) {
      if (!hasExcluded) return null;
      return excluder(key) ?? (to === key ? null : excluder(to));
    },
    cappedBy(to, key, caps) {
      for (const cap of caps) {
        counted.length = 0;
        if (isUsedUp(key, cap) || (to !== key && isUsedUp(to, cap))) return cap;
      }
      return null;
    },
    refresh() {
      const now = version.get()?.[0];
      if (now === seenVersion) return;
      const runsNow = runs.signature();
      if (runsNow !== seenRuns) {
        for (const run of runs.read()) {
          const known = byNumber.get(run.number);
          if (known === undefined || known.list !== run.list || known.starts !== run.starts) add(run, true);
        }
      }
      for (const [at, source] of sources.entries()) {
        if (source.isLive && !source.isReplaced) addLaterLegs(index, rows, source, at);
      }
      seenRuns = runsNow;
      seenVersion = now;
    },
  };
}

/** Puts a run into the index: of one that is looked at again whoever it may reach, else whoever it reached. */
function fill(index: ReachIndex, rows: ReachRows, source: Source, at: number, { fromMs, unitMs }: Clock): void {
  if (source.isLive) {
    rows.all(source.list, (person, row) => index.add(person, at, row, 0));
    addLaterLegs(index, rows, source, at);
    return;
  }
  const add = (person: string, row: number, sentMs: number): void => {
    const units = Math.ceil((sentMs - fromMs) / unitMs);
    index.add(person, at, row, units < 0 ? 0 : Math.min(units, NEWEST));
  };
  // To `exclude` it does not matter when somebody was reached.
  const sinceMs = source.isExcluded ? 0 : fromMs + unitMs;
  rows.reached(source.list, sinceMs, add);
  rows.reachedLater(source.list, sinceMs, add);
}

/** A leg of a run that is going on begins at any time, and only then its address is known. */
function addLaterLegs(index: ReachIndex, rows: ReachRows, source: Source, at: number): void {
  const legs = rows.laterLegs(source.list);
  if (legs === source.laterLegs) return;
  source.laterLegs = legs;
  rows.allLater(source.list, (person, row, leg) => {
    const which = leg * ROWS + row;
    if (source.indexed.has(which)) return;
    source.indexed.add(which);
    index.add(person, at, row, 0);
  });
}

/** Rows are less than this. */
const ROWS = 2 ** 32;

const NEWEST = ROWS - 1;

/** Other processes may write for days while this one lives. */
const MARGIN_MS = 10 * 86_400_000;

/** Whole milliseconds, unless the longest period has more of them than fit. */
function clockOf({ sinceMs }: ReachRules, newestMs: number): Clock {
  if (sinceMs === null) return { fromMs: 0, unitMs: NEWEST };
  const unitMs = Math.max(1, Math.ceil((newestMs + MARGIN_MS - sinceMs) / NEWEST));
  return { fromMs: sinceMs - unitMs, unitMs };
}
