import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Share, WorkerStore } from '../ledger/worker-store.ts';
import type { Halt, Json } from '../model.ts';
import { readLatency } from '../report/latency.ts';
import { settleByReports } from './evidence.ts';
import type { FeedOptions } from './feed.ts';
import { addShare, NOTHING, openPart, type Part, type PartOptions } from './part.ts';
import { addFigures, createProgress, type Figures, type ProgressWithLatency, triedIn } from './progress.ts';
import { stateAfter } from './start-counts.ts';
import type { Answers } from './stop.ts';
import type { Todo } from './todo.ts';
import type { Work, WorkShared } from './work.ts';

/** Shards that a run is cut into at most, as long as none is too large. */
const SHARDS = 128;
/** Less is not worth the journeys that a shard takes. */
const LEAST_ROWS = 50;
/** More takes long to be sent again by somebody else. */
const MOST_ROWS = 20_000;
/** A slow run is handed out in pieces of some seconds. */
const SHARD_SECONDS = 5;

/** How often the last of the others are looked for. */
const LOOK_MS = 100;

export interface SharingOptions extends Omit<PartOptions, 'run'> {
  readonly ratePerSecond: number | null;
  /** What a worker has to know besides what is in the ledger and in the files. */
  readonly facts: Readonly<Record<string, Json>>;
}

/** A start of a run that is shared with others: whoever begins it works on it as well. */
export interface Sharing {
  join(run: RunRecord, before: Omit<Answers, 'inDoubt'>): SharedStart;
}

/** One start that is shared. */
export interface SharedStart {
  readonly shared: WorkShared;
  readonly halt: Halt | null;
  /** As a progress line shows them: of everybody. */
  figures(own: Figures): Figures;
  feed(work: Work, options: SharedFeed): Promise<void>;
  /** Ends the run for everybody, and waits for them. */
  rest(work: Work): Promise<void>;
  /** What everybody did. */
  sum(own: ProgressWithLatency): ProgressWithLatency;
}

export interface SharedFeed extends Pick<FeedOptions, 'limit' | 'gate'> {
  readonly todo: () => Todo;
  /** Somebody is pending, or due for a fallback. */
  readonly isAnyLeft: () => boolean;
}

export function createSharing(options: SharingOptions): Sharing {
  const { ledger, workers, worker, queue, now, timers } = options;
  return {
    join(run, before) {
      workers.forget(run);
      const facts = { ...options.facts, before: { ...before } };
      const part = openPart({ ledger, workers, worker, run, queue, now, timers });
      return {
        shared: part.shared,
        get halt() {
          return part.halt;
        },
        figures: (own) => figuresOfAll(own, part),
        async feed(work, { todo, isAnyLeft, limit, gate }) {
          part.begin(work);
          // The ramp of a canary is one sender's: whoever it lets through last is for everybody.
          if (gate !== null) await work.feed({ todo: todo(), limit, gate, untilWide: true });
          const left = limit === null ? null : limit - triedIn(work.progress.figures.settled);
          if (work.stopped.aborted || (left !== null && left <= 0)) return;
          const shards = workers.cut(run, rowsOfShard(work.progress.figures.toDo, options.ratePerSecond), left, facts);
          // Of a start before, which nobody ended.
          await queue.drop({ number: run.number, starts: run.starts - 1 });
          await queue.offer(
            run,
            shards.map(({ number }) => number),
          );
          await part.walk(work, null);
          // Fallbacks that a report made due, and whoever is not on the list any more: nobody, as a rule.
          const isAll = work.stopped.aborted || limit !== null || !isAnyLeft();
          if (!isAll) await work.feed({ todo: todo(), limit, gate: null });
        },
        async rest(work) {
          await part.rest(work);
          await endForAll(work);
        },
        sum: (own) => sumOfAll(own, () => workers.sum(run), part.others),
      };

      async function endForAll(work: Work): Promise<void> {
        try {
          if (work.stopped.aborted) workers.end(run, 'interrupted', null);
          while (workers.isWorkedOn(run, worker.id)) {
            workers.beat(worker);
            await timers.sleep(LOOK_MS, new AbortController().signal);
          }
          workers.callBack(run);
          await queue.drop(run);
        } catch (error) {
          work.fail(error);
        }
      }
    },
  };
}

/** Recipients of a shard: enough that nobody waits for the last one, and that handing them out costs next to nothing. */
export function rowsOfShard(recipients: number, ratePerSecond: number | null): number {
  const even = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.ceil(recipients / SHARDS)));
  return ratePerSecond === null ? even : Math.max(1, Math.min(even, Math.ceil(ratePerSecond * SHARD_SECONDS)));
}

/**
 * Ends a run that was shared and whose `send` has died, under its lock: what is left is for the next start.
 *
 * @returns null: it has ended meanwhile
 */
export function finishShared(ledger: Ledger, workers: WorkerStore, found: RunRecord, nowMs: number): RunRecord | null {
  const run = ledger.findRun(found);
  if (run?.state !== 'running' || run.starts !== found.starts || workers.left(run) > 0) return null;
  settleByReports(ledger, nowMs);
  const all = sumOfAll(createProgress(), () => workers.sum(run), NOTHING);
  const figures = addFigures(run.figures, all, nowMs - (run.lastStartAtMs ?? nowMs));
  workers.callBack(run);
  return ledger.finish(run, { state: stateAfter(ledger, run, null, false), halt: null, figures, nowMs });
}

/** What everybody did, the others' as the ledger has it; where it has lost that with the server, as it was heard last. */
function sumOfAll(
  own: ProgressWithLatency,
  read: () => ReturnType<WorkerStore['sum']>,
  others: Share,
): ProgressWithLatency {
  const all = createProgress();
  all.recognised = own.recognised;
  all.figures.toDo = own.figures.toDo;
  try {
    const { share, latencies } = read();
    if (share.posted >= own.figures.posted) {
      addShare(all, share);
      for (const saved of latencies) {
        const latency = readLatency(JSON.parse(saved));
        if (latency !== null) all.times.merge(latency);
      }
      return all;
    }
  } catch {
    // Said already: the failure that ended the start.
  }
  addShare(own, others);
  return own;
}

/** Figures that follow those of this process and what is heard of the others. */
function figuresOfAll(own: Figures, part: Pick<Part, 'others'>): Figures {
  return {
    get posted() {
      return own.posted + part.others.posted;
    },
    get retried() {
      return own.retried + part.others.retried;
    },
    get settled() {
      const all = { opens: () => undefined, figures: { ...own, settled: { ...own.settled } } };
      addShare(all, part.others);
      return all.figures.settled;
    },
    get toDo() {
      return own.toDo;
    },
    get waits() {
      return own.waits;
    },
  };
}
