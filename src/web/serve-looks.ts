import { isRunHeld } from '../ledger/lock.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { RunDetail } from '../pages/serve-run-detail.ts';
import { countRun, type RunCounts } from './serve-counts.ts';
import { detailOf } from './serve-detail.ts';
import type { LedgerKeeper, OpenLedger } from './serve-ledger.ts';

/** A value that takes a pass over a list, as it was when it was last looked at. */
export interface Look<T> {
  /** Null: nobody has got to it yet. */
  readonly value: T | null;
  /** Something may have happened since: asked again, it is looked at anew. */
  readonly isOld: boolean;
}

/** What is known of runs, kept for as long as it is true: pages and listeners share each pass over a list. */
export interface Looks {
  /** Waits at most `patienceMs` for a pass that is needed. */
  counts(run: RunRecord, patienceMs: number): Promise<Look<RunCounts>>;
  detail(run: RunRecord, patienceMs: number): Promise<Look<RunDetail>>;
  /** Whether some process is at the run, asked at most once a second. */
  isHeld(run: RunRecord): boolean;
}

/** A pass takes a tenth of the time at most, however large the list is and however often it changes. */
const SHARE_OF_TIME = 10;

const HELD_MS = 1_000;

/** What was looked at longest ago is forgotten. */
const MOST_RUNS = 2_000;

interface Kept<T> {
  value: T | null;
  mark: string;
  /** Not looked at anew before this moment. */
  restUntilMs: number;
  pass: Promise<void> | null;
}

export function createLooks(keeper: LedgerKeeper, now: () => number): Looks {
  const held = new Map<string, { readonly is: boolean; readonly untilMs: number }>();
  let queue: Promise<void> = Promise.resolve();

  const isHeld = (run: RunRecord): boolean => {
    if (run.state !== 'running') return false;
    const known = held.get(run.id);
    if (known !== undefined && performance.now() < known.untilMs) return known.is;
    const is = isRunHeld(keeper.path, run);
    held.set(run.id, { is, untilMs: performance.now() + HELD_MS });
    return is;
  };

  /** One pass after the other: two at once would only share what there is of the machine. */
  const keep = <T>(
    markOf: (open: OpenLedger, run: RunRecord) => string,
    pass: (open: OpenLedger, run: RunRecord) => Promise<T>,
  ) => {
    const known = new Map<string, Kept<T>>();
    const refresh = (run: RunRecord, kept: Kept<T>, mark: string): Promise<void> => {
      const work = async (): Promise<void> => {
        const beganMs = performance.now();
        try {
          const open = keeper.current();
          if (open !== null) kept.value = await pass(open, run);
          kept.mark = mark;
        } catch (error) {
          keeper.failed(error);
        }
        const tookMs = performance.now() - beganMs;
        kept.restUntilMs = beganMs + tookMs * (SHARE_OF_TIME + 1);
        kept.pass = null;
      };
      queue = queue.then(work);
      return queue;
    };
    return async (run: RunRecord, patienceMs: number): Promise<Look<T>> => {
      const open = keeper.current();
      if (open === null) return { value: null, isOld: false };
      const key = `${open.file} ${run.number}`;
      const kept = known.get(key) ?? { value: null, mark: '', restUntilMs: 0, pass: null };
      known.delete(key);
      known.set(key, kept);
      const oldest = known.keys().next().value;
      if (known.size > MOST_RUNS && oldest !== undefined) known.delete(oldest);
      const mark = markOf(open, run);
      if (kept.mark === mark) return { value: kept.value, isOld: false };
      if (kept.pass === null && performance.now() >= kept.restUntilMs) kept.pass = refresh(run, kept, mark);
      if (kept.pass !== null && patienceMs > 0) await Promise.race([kept.pass, wait(patienceMs)]);
      return { value: kept.value, isOld: kept.mark !== mark };
    };
  };

  const countsMark = (open: OpenLedger, run: RunRecord): string => {
    const { list, state, starts, finishedAtMs, purgedAtMs } = run;
    const isGoing = isHeld(run);
    const resolved = open.query('SELECT count(*) FROM resolutions WHERE run = ?').get(run.number)?.[0];
    const facts = [list, state, starts, finishedAtMs, purgedAtMs, resolved, isGoing];
    // While it is sent, whatever is written may be about it; the rate of the last minute changes by itself.
    return [...facts, ...(isGoing ? [keeper.mark(), Math.floor(now() / 2_000)] : [])].join(' ');
  };
  const detailMark = (open: OpenLedger, run: RunRecord): string => {
    const [report, reply] = open.query(NEWEST_EVENTS).get() ?? [];
    // A reply can be read anew at any time.
    return [countsMark(open, run), report, reply, reply === null ? '' : keeper.mark()].join(' ');
  };
  return {
    isHeld,
    counts: keep(countsMark, (open, run) => countRun(open, run, isHeld(run), now())),
    detail: keep(detailMark, (open, run) => detailOf(open, run)),
  };
}

const NEWEST_EVENTS = 'SELECT (SELECT max(number) FROM delivery_reports), (SELECT max(number) FROM replies)';

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
