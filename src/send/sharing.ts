import type { Ledger } from '../ledger/ledger.ts';
import type { Pulse, RunIdentity, RunRecord, Share, WorkerFacts, WorkerStore } from '../ledger/records.ts';
import type { Halt, Json } from '../model.ts';
import { readLatency } from '../report/latency.ts';
import { resolveByReports } from './deliveries.ts';
import { feed, type PendingRows, type RowsToSend } from './producer.ts';
import { addFigures, createProgress, type Figures, type Progress, stateAfter, triedIn } from './progress.ts';
import type { ShardQueue } from './shard-queue.ts';
import { createShardPendingRows } from './shard-rows.ts';
import { type Answers, NO_ANSWERS, type Stop } from './stop.ts';
import { TIMERS, type Timers } from './timers.ts';
import type { Work, WorkShared } from './work.ts';

/** Most shards of a run, as long as none is too large. */
const SHARDS = 128;
/** A smaller shard is not worth its round trips. */
const LEAST_ROWS = 50;
/** A larger shard would take another worker long to take over. */
const MOST_ROWS = 20_000;
/** A slow run is handed out in shards of some seconds. */
const SHARD_SECONDS = 5;

const FEED_LOOK_MS = 100;

interface SharingOptions extends Omit<PartOptions, 'run'> {
  readonly ratePerSecond: number | null;
  /** Facts for a worker that are neither in the ledger nor in the files. */
  readonly facts: Readonly<Record<string, Json>>;
}

interface SharedProducer extends Pick<RowsToSend, 'limit' | 'gate'> {
  readonly pendingRows: () => PendingRows;
  /** A recipient is pending, or due for a fallback. */
  readonly isAnyLeft: () => boolean;
}

/** A start of a run that is shared with workers: the process that begins it works on it as well. */
export function createSharing(options: SharingOptions) {
  const { workers, worker, queue, timers, ratePerSecond } = options;
  return {
    join(run: RunRecord, before: Omit<Answers, 'inDoubt'>, areWaiting: boolean) {
      workers.forget(run, areWaiting);
      const facts = { ...options.facts, before: { ...before } };
      const part = openPart({ ...options, run });
      return {
        shared: part.shared,
        get halt() {
          return part.halt;
        },
        /** Sums all workers, for a progress line. */
        figures: (own: Figures): Figures => figuresOfAll(own, part),
        async feed(work: Work, { pendingRows, isAnyLeft, limit, gate }: SharedProducer): Promise<void> {
          part.begin(work);
          // One process sends the steps of a canary: all workers share the recipients behind its last gate.
          if (gate !== null) await feed({ pendingRows: pendingRows(), limit, gate, untilWide: true }, work);
          const left = limit === null ? null : limit - triedIn(work.progress.figures.finished);
          if (work.stopped.aborted || (left !== null && left <= 0)) return;
          // Few enough that workers end together, many enough that handing them out costs little.
          const even = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.ceil(work.progress.figures.toDo / SHARDS)));
          const paced = ratePerSecond === null ? even : Math.max(1, Math.ceil(ratePerSecond * SHARD_SECONDS));
          const shards = workers.cut(run, Math.min(even, paced), left, facts);
          // Jobs of an earlier start that did not end in order.
          await queue.drop({ number: run.number, starts: run.starts - 1 });
          await queue.offer(
            run,
            shards.map(({ number }) => number),
          );
          await part.walk(work);
          // Fallbacks that a report made due, and recipients that wait or are not on the list any more: usually none.
          const isAll = work.stopped.aborted || limit !== null || !isAnyLeft();
          if (!isAll) await feed({ pendingRows: pendingRows(), limit, gate: null }, work);
        },
        async rest(work: Work): Promise<void> {
          await part.rest(work);
          await endForAll(work);
        },
        sum: (own: Progress): Progress => sumOfAll(own, () => workers.sum(run), part.others),
      };

      async function endForAll(work: Work): Promise<void> {
        try {
          if (work.stopped.aborted) workers.end(run, 'interrupted', null);
          while (workers.isWorkedOn(run, worker.id)) {
            workers.beat(worker);
            await timers.sleep(FEED_LOOK_MS, new AbortController().signal);
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

export type Sharing = ReturnType<typeof createSharing>;

/**
 * Ends a shared run whose `send` has died, under its lock: the rest is for the next start.
 * @returns null: it has ended meanwhile
 */
export function finishShared(ledger: Ledger, workers: WorkerStore, found: RunRecord, nowMs: number): RunRecord | null {
  const run = ledger.findRun(found);
  if (run?.state !== 'running' || run.starts !== found.starts || workers.left(run) > 0) return null;
  resolveByReports(ledger, nowMs);
  const all = sumOfAll(createProgress(), () => workers.sum(run), NOTHING);
  const figures = addFigures(run.figures, all, nowMs - (run.lastStartAtMs ?? nowMs));
  workers.callBack(run);
  return ledger.finish(run, { state: stateAfter(ledger, run, null, false), halt: null, figures, nowMs });
}

/** Sums all workers. The others' figures are the ledger's; if a lost server took them, the last ones known. */
function sumOfAll(own: Progress, read: () => ReturnType<WorkerStore['sum']>, others: Share): Progress {
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
    // Reported already: the failure that ended the start.
  }
  addShare(own, others);
  return own;
}

/** Live figures of this process and of the others' reports. */
function figuresOfAll(own: Figures, part: { readonly others: Share }): Figures {
  return {
    get posted() {
      return own.posted + part.others.posted;
    },
    get retried() {
      return own.retried + part.others.retried;
    },
    get finished() {
      const all = { ...createProgress(), figures: { ...own, finished: { ...own.finished } } };
      addShare(all, part.others);
      return all.figures.finished;
    },
    get toDo() {
      return own.toDo;
    },
    get waits() {
      return own.waits;
    },
  };
}

/** How often a worker reports its figures and reads the state of the run: a halt anywhere stops all within a second. */
const PULSE_MS = 250;

const LOOK_MS = 1000;

interface PartOptions {
  readonly ledger: Ledger;
  readonly workers: WorkerStore;
  readonly worker: WorkerFacts;
  readonly run: RunRecord;
  readonly queue: ShardQueue;
  readonly now: () => number;
  readonly timers: Timers;
}

export function openPart(options: PartOptions) {
  const { ledger, workers, worker, run, queue, now, timers } = options;
  const pendingRows = createShardPendingRows((after, limit, lastRow) => ledger.pending(run, after, limit, lastRow));
  const held = { worker: worker.id, of: (row: number) => pendingRows.shardOf(row) };
  let inShards = false;
  /** Set from `begin` to `rest`. */
  let working: Work | null = null;
  /** A claim was refused in this walk, and with it others of the same commit. */
  let wasStopped = false;
  let pulse: Pulse | null = null;
  /** When the queue was last found empty. */
  let drainedAt: number | null = null;
  let lookedAt = timers.monotonicMs();
  let looking: Promise<void> | null = null;

  const beat = (work: Work): void => {
    if (working === null) return;
    try {
      pulse = workers.pulse(worker, run, shareOf(work.progress, work.stop));
      if (pulse.heldMs > 0) work.heldByOthers(pulse.heldMs);
      if (pulse.state !== 'running') work.halt();
      else if (looking === null && timers.monotonicMs() - lookedAt >= LOOK_MS) {
        lookedAt = timers.monotonicMs();
        looking = offerAgain()
          .catch((error: unknown) => work.fail(error))
          .finally(() => {
            looking = null;
          });
      }
    } catch (error) {
      work.fail(error);
      return;
    }
    timers.later(PULSE_MS, () => beat(work));
  };
  /** Offers the shards of dead workers, and shards that no job names. */
  const offerAgain = async (): Promise<void> => {
    const opened = workers.reopen(run, drainedAt !== null, now());
    if (opened.length > 0) await queue.offer(run, opened, true);
  };
  const taken = (offered: number): boolean => {
    const shard = workers.take(run, offered, worker, now());
    if (shard !== null) pendingRows.add(shard);
    return shard !== null;
  };
  /** False where none is left at the moment. */
  const takeNext = async (): Promise<boolean> => {
    for (;;) {
      const offered = await queue.take(run);
      drainedAt = offered === undefined ? timers.monotonicMs() : null;
      if (offered === undefined) return false;
      if (taken(offered)) return true;
    }
  };

  /** Finishes shards that the walk has passed, once no recipient in them is pending or claimed. */
  const finishPast = (isOver: boolean): void => {
    for (const { number } of pendingRows.passed(isOver)) {
      // A recipient whose claim was refused is still pending, and is sent to in the next walk.
      if (workers.finish(run, number, worker.id, isOver && !wasStopped)) pendingRows.remove(number);
      // The shard was called back or taken over, and no recipient was left in it whose claim could be refused.
      else if (isOver && !workers.holds(run.list, number, worker.id)) pendingRows.remove(number);
    }
  };
  /** One walk along the list: takes shards ahead while there is something to do. */
  const walkOnce = async (work: Work): Promise<void> => {
    pendingRows.restart();
    wasStopped = false;
    let batch = 0;
    let before = -1;
    let finishedAt = timers.monotonicMs();
    const between = async (): Promise<boolean> => {
      batch = Math.max(batch, pendingRows.lastRow - before);
      before = pendingRows.lastRow;
      const nowMs = timers.monotonicMs();
      if (nowMs - finishedAt >= PULSE_MS) {
        finishedAt = nowMs;
        finishPast(false);
      }
      // The next batch may be past the last of these: its shard must be known before.
      const isNearEnd = pendingRows.end - pendingRows.lastRow <= 2 * batch;
      const isDrained = drainedAt !== null && nowMs - drainedAt < PULSE_MS;
      if (isNearEnd && !isDrained && !work.stopped.aborted) await takeNext();
      return pendingRows.end > pendingRows.lastRow;
    };
    await feed({ pendingRows, gate: null, limit: null, between }, work);
    if (work.stopped.aborted) return;
    await work.groupCommit.written();
    finishPast(true);
  };

  const shared: WorkShared = {
    held: () => (inShards ? held : null),
    others: () => pulse?.others ?? NOTHING,
    onStopped() {
      wasStopped = true;
      try {
        for (const { number } of pendingRows.shards) {
          if (!workers.holds(run.list, number, worker.id)) pendingRows.lose(number);
        }
      } catch (error) {
        working?.fail(error);
      }
    },
    onHalt(stop) {
      try {
        workers.end(run, 'halted', stop.halt);
      } catch {
        // The ledger cannot be written, so claims fail as well: that stops the other workers.
      }
    },
  };
  return {
    shared,
    /** Why the run ended, if others ended it. */
    get halt(): Halt | null {
      return pulse?.halt ?? null;
    },
    /** Figures of the others at the last pulse. */
    get others(): Share {
      return pulse?.others ?? NOTHING;
    },
    /** Begins to report that it is alive, and to read the state of the run. */
    begin(work: Work): void {
      working = work;
      beat(work);
    },
    /**
     * Takes shards until all of them are done, or the work is stopped. Meanwhile claims are made only in them; before
     * and after, in the whole list.
     * @param first - already taken from the queue
     */
    async walk(work: Work, first?: number): Promise<void> {
      inShards = true;
      if (first !== undefined) taken(first);
      while (!work.stopped.aborted) {
        const had = pendingRows.shards.length;
        if (had > 0 || (await takeNext())) {
          await walkOnce(work);
          // A recipient in it may wait for another claim of this worker: pause before the next walk.
          if (pendingRows.shards.length >= had && had > 0) await timers.sleep(PULSE_MS, work.stopped);
        } else if (workers.left(run) === 0) break;
        else await timers.sleep(PULSE_MS, work.stopped);
      }
      inShards = false;
    },
    /** Everything is recorded: gives back its shards, and reports its figures. */
    async rest(work: Work): Promise<void> {
      working = null;
      await looking;
      try {
        const given = workers.giveBack(run, worker.id, now());
        const latency = JSON.stringify(work.progress.times.save());
        workers.rest(worker, run, shareOf(work.progress, work.stop), latency);
        const goesOn = pulse?.state === 'running' && work.stop.halt === null;
        if (given.length > 0 && goesOn) await queue.offer(run, given, true);
      } catch (error) {
        work.fail(error);
      }
    },
  };
}

export function shareOf({ figures }: Pick<Progress, 'figures'>, { counts }: Pick<Stop, 'counts'>): Share {
  const { posted, retried, opensAtMs = null, limitedUntilMs = null } = figures;
  const { 'in-doubt': inDoubt, accepted, rejected, failed, skipped, deferred } = figures.finished;
  const { firstSteps, fellBack } = counts;
  const outcomes = { accepted, rejected, failed, inDoubt, skipped, deferred };
  return { ...outcomes, posted, retried, firstSteps, fellBack, opensAtMs, limitedUntilMs };
}

export const NOTHING = shareOf(createProgress(), { counts: NO_ANSWERS });

function addShare(to: Pick<Progress, 'figures' | 'opens' | 'limited'>, share: Share): void {
  const { figures } = to;
  figures.posted += share.posted;
  figures.retried += share.retried;
  for (const name of OUTCOMES) figures.finished[name] += share[name];
  figures.finished['in-doubt'] += share.inDoubt;
  if (share.opensAtMs !== null) to.opens(share.opensAtMs);
  if (share.limitedUntilMs !== null) to.limited(share.limitedUntilMs, 0);
}

const OUTCOMES = ['accepted', 'rejected', 'failed', 'skipped', 'deferred'] as const;

const CALL_BACK_LOOK_MS = 100;

/**
 * Takes a run away from workers that continue it although its `send` has died: they finish what is in flight, and claim
 * nothing more. Waits for live ones; claims after an expired lease are in doubt. Called under the run's lock.
 */
export async function callWorkersBack(ledger: Ledger, identity: RunIdentity): Promise<void> {
  const { workers } = ledger;
  const run = workers === null ? null : ledger.findRun(identity);
  if (workers === null || run === null) return;
  if (workers.left(run) > 0) workers.callBack(run);
  while (workers.isWorkedOn(run, NO_WORKER)) await TIMERS.sleep(CALL_BACK_LOOK_MS, new AbortController().signal);
}

const NO_WORKER = '';
