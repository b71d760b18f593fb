import { problem } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Pulse, Share, WorkerFacts, WorkerStore } from '../ledger/worker-store.ts';
import type { Halt } from '../model.ts';
import type { Offer, ShardQueue } from '../queue/shard-queue.ts';
import type { Progress } from './progress.ts';
import { createShardTodo } from './shard-todo.ts';
import type { Stop } from './stop.ts';
import type { Timers } from './timers.ts';
import type { Work, WorkShared } from './work.ts';

/** So often a worker says what it did and hears how the run stands: a halt anywhere stops all within a second. */
const PULSE_MS = 250;

/** So often it looks for the shards of the dead. */
const LOOK_MS = 1000;

export interface PartOptions {
  readonly ledger: Ledger;
  readonly workers: WorkerStore;
  readonly worker: WorkerFacts;
  readonly run: RunRecord;
  readonly queue: ShardQueue;
  readonly now: () => number;
  readonly timers: Timers;
}

/** What one worker does in a run that others work on as well. */
export interface Part {
  readonly shared: WorkShared;
  /** What ended the run, where others did. */
  readonly halt: Halt | null;
  /** What the others did, as of the last pulse. */
  readonly others: Share;
  /** Begins to say that it is there, and to hear how the run stands. */
  begin(work: Work): void;
  /**
   * Takes shards until all of them are done, or the work is stopped. Meanwhile claims are made in them alone; before, and
   * after, in the whole list.
   *
   * @param first - one that was taken already
   */
  walk(work: Work, first: Offer | null): Promise<void>;
  /** Everything is recorded: gives back what it has, and says what it did. */
  rest(work: Work): Promise<void>;
}

export function openPart(options: PartOptions): Part {
  const { ledger, workers, worker, run, queue, now, timers } = options;
  const todo = createShardTodo((after, limit, lastRow) => ledger.pending(run, after, limit, lastRow));
  const held = { worker: worker.id, of: (row: number) => todo.shardOf(row) };
  let inShards = false;
  let working: Work | null = null;
  /** A claim was refused in this walk, and with it others that came together. */
  let wasStopped = false;
  let pulse: Pulse | null = null;
  let isAtWork = false;
  /** Nothing waited in the queue when it was asked last. */
  let drainedAt: number | null = null;
  let lookedAt = timers.monotonicMs();
  let looking: Promise<void> | null = null;

  const beat = (work: Work): void => {
    if (!isAtWork) return;
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
  /** What the dead had, and what nobody has heard of. */
  const offerAgain = async (): Promise<void> => {
    const opened = workers.reopen(run, drainedAt !== null, now());
    if (opened.length > 0) await queue.offer(run, opened, true);
  };
  const taken = async (offer: Offer): Promise<boolean> => {
    const shard = workers.take(run, offer.shard, worker, now());
    if (shard !== null) todo.add(shard);
    // Whose it is stands in the ledger from here on.
    await queue.done(run, offer);
    return shard !== null;
  };
  /** False where none is left at the moment. */
  const takeNext = async (): Promise<boolean> => {
    for (;;) {
      const offer = await queue.take(run);
      drainedAt = offer === null ? timers.monotonicMs() : null;
      if (offer === null) return false;
      if (await taken(offer)) return true;
    }
  };

  /** Those that the walk is past, once nobody in them is pending or claimed. */
  const finishPast = (isOver: boolean): void => {
    for (const { number } of todo.passed(isOver)) {
      // Whoever was refused a claim is pending still, and is sent to in the next walk.
      if (workers.finish(run, number, worker.id, isOver && !wasStopped)) todo.remove(number);
      // It was called back, or taken over, and nobody was left in it to be refused.
      else if (isOver && !workers.holds(run.list, number, worker.id)) todo.remove(number);
    }
  };
  /** One walk along the list: shards ahead are taken while there is something to do. */
  const walkOnce = async (work: Work): Promise<void> => {
    todo.restart();
    wasStopped = false;
    let batch = 0;
    let before = -1;
    let finishedAt = timers.monotonicMs();
    const between = async (): Promise<boolean> => {
      batch = Math.max(batch, todo.lastRow - before);
      before = todo.lastRow;
      const nowMs = timers.monotonicMs();
      if (nowMs - finishedAt >= PULSE_MS) {
        finishedAt = nowMs;
        finishPast(false);
      }
      // The next batch may be past the last of these: whoever is in it must be known before.
      const isNearEnd = todo.end - todo.lastRow <= 2 * batch;
      const isDrained = drainedAt !== null && nowMs - drainedAt < PULSE_MS;
      if (isNearEnd && !isDrained && !work.stopped.aborted) await takeNext();
      return todo.end > todo.lastRow;
    };
    await work.feed({ todo, gate: null, limit: null, between });
    if (work.stopped.aborted) return;
    await work.groupCommit.written();
    finishPast(true);
  };

  return {
    shared: {
      held: () => (inShards ? held : null),
      others: () => pulse?.others ?? NOTHING,
      onStopped() {
        wasStopped = true;
        try {
          for (const { number } of todo.shards) {
            if (!workers.holds(run.list, number, worker.id)) todo.lose(number);
          }
        } catch (error) {
          working?.fail(error);
        }
      },
      onHalt(stop) {
        try {
          workers.end(run, 'halted', stop.halt);
        } catch {
          // It cannot be written either that somebody was claimed: the others stop when their claims fail.
        }
      },
    },
    get halt() {
      return pulse?.halt ?? null;
    },
    get others() {
      return pulse?.others ?? NOTHING;
    },
    begin(work) {
      isAtWork = true;
      working = work;
      beat(work);
    },
    async walk(work, first) {
      inShards = true;
      if (first !== null) await taken(first);
      while (!work.stopped.aborted) {
        const had = todo.shards.length;
        if (had > 0 || (await takeNext())) {
          await walkOnce(work);
          // Somebody in it waits for another claim of this worker, say: not at once again.
          if (todo.shards.length >= had && had > 0) await timers.sleep(PULSE_MS, work.stopped);
        } else if (workers.left(run) === 0) break;
        else await timers.sleep(PULSE_MS, work.stopped);
      }
      inShards = false;
    },
    async rest(work) {
      isAtWork = false;
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

export const NOTHING: Share = {
  posted: 0,
  retried: 0,
  accepted: 0,
  rejected: 0,
  failed: 0,
  inDoubt: 0,
  skipped: 0,
  deferred: 0,
  firstLegs: 0,
  fellBack: 0,
  opensAtMs: null,
};

/** What this worker did in the run so far. */
export function shareOf({ figures }: Pick<Progress, 'figures'>, { counts }: Stop): Share {
  const { settled } = figures;
  return {
    posted: figures.posted,
    retried: figures.retried,
    accepted: settled.accepted,
    rejected: settled.rejected,
    failed: settled.failed,
    inDoubt: settled['in-doubt'],
    skipped: settled.skipped,
    deferred: settled.deferred,
    firstLegs: counts.firstLegs,
    fellBack: counts.fellBack,
    opensAtMs: figures.opensAtMs ?? null,
  };
}

/** Adds what somebody did to figures. */
export function addShare(to: Pick<Progress, 'figures' | 'opens'>, share: Share): void {
  const { figures } = to;
  const { settled } = figures;
  figures.posted += share.posted;
  figures.retried += share.retried;
  settled.accepted += share.accepted;
  settled.rejected += share.rejected;
  settled.failed += share.failed;
  settled['in-doubt'] += share.inDoubt;
  settled.skipped += share.skipped;
  settled.deferred += share.deferred;
  if (share.opensAtMs !== null) to.opens(share.opensAtMs);
}

/** The queue of a shared ledger, in its database: what goes wrong with the one is a failure of the other. */
export async function queueFor(address: string): Promise<ShardQueue> {
  const { openQueue } = await import('../queue/boss.ts');
  const queue = await asked(openQueue(address));
  return {
    offer: (...args) => asked(queue.offer(...args)),
    take: (...args) => asked(queue.take(...args)),
    done: (...args) => asked(queue.done(...args)),
    drop: (...args) => asked(queue.drop(...args)),
    close: () => asked(queue.close()),
  };
}

async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint = 'Look whether the server can be reached, then run the command again: it continues where it stopped.';
    throw new LedgerError('io', problem('ledger-write', `The queue of the shared ledger fails: ${why}.`, { hint }));
  }
}
