import type { Halt, Json, RunState } from '../model.ts';
import type { RunRecord } from './records.ts';

/** Rows of a run's list that one worker has at a time: from `firstRow` to `lastRow`, both of them included. */
export interface Shard {
  readonly number: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

/** The shards of a worker, as claims ask for them. */
export interface HeldShards {
  readonly worker: string;
  /** The number of the shard that a row is in; null: of none that the worker has. */
  of(row: number): number | null;
}

export interface WorkerFacts {
  /** No other process ever has it. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** A worker that is silent for so long counts as dead. */
  readonly leaseMs: number;
}

/** What one worker did in one run since its start: recipients by outcome. */
export interface Share {
  readonly posted: number;
  readonly retried: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly failed: number;
  readonly inDoubt: number;
  readonly skipped: number;
  readonly deferred: number;
  /** Recipients whose step 0 was accepted and then given up for the next step. */
  readonly firstLegs: number;
  readonly fellBack: number;
  /** When the first window opens for recipients who wait for one, in ms since 1970; null: none waits. */
  readonly opensAtMs: number | null;
}

/** The state of a shared run, as one worker receives it. */
export interface Pulse {
  readonly state: RunState | 'loading';
  readonly halt: Halt | null;
  /** Of all other workers together. */
  readonly others: Share;
  /** The API asked a worker to wait: no worker posts for so long. 0 or less: it did not. */
  readonly heldMs: number;
}

/** A worker as `handbill workers` shows it; times are the database's, in ms since 1970. */
export interface WorkerRecord extends WorkerFacts {
  readonly joinedAtMs: number;
  readonly heardAtMs: number;
  /** The database's clock now. */
  readonly nowMs: number;
  /** Heard of within its lease. */
  readonly isAlive: boolean;
  /** The run that it works on. */
  readonly run: RunRecord | null;
  readonly shards: readonly number[];
  /** Rows of these shards. */
  readonly rows: number;
  readonly posted: number;
}

/**
 * Runs that several workers share, on any machine. A queue hands out shards; this store decides where a worker may
 * claim, and each claim checks it again in its transaction. All times are those of the database, so that the clocks of
 * the machines do not matter.
 */
export interface WorkerStore {
  /** Says that a worker is there. */
  join(worker: WorkerFacts): void;
  /** That it still is; without anything to do. */
  beat(worker: WorkerFacts): void;
  /** The same while it works on a run, with its counts; returns the state of the run. */
  pulse(worker: WorkerFacts, run: RunRecord, share: Share): Pulse;
  /** Its part of a run has ended: the requests in flight are recorded. `latency` is kept with the run's figures. */
  rest(worker: WorkerFacts, run: RunRecord, share: Share, latency: string): void;
  /** The worker has left: rows that it left claimed are in doubt, and its shards are open again. */
  leave(id: string): void;
  workers(): WorkerRecord[];

  /** Deletes shards of a former start, with their counts. */
  forget(run: RunRecord): void;
  /**
   * Cuts the pending rows into shards of so many recipients; there were none before.
   *
   * @param limit - recipients at most; null: all
   * @param facts - what a worker needs that is neither in the ledger nor in the files
   */
  cut(run: RunRecord, rows: number, limit: number | null, facts: Json): Shard[];
  /** As `cut` was given them; null: the run is not shared any more. */
  facts(run: RunRecord): Json;
  /** Runs that are going, with a shard that is not done. */
  shared(): RunRecord[];
  /** Running runs whose shards are all done. If no process holds such a run, the caller has to end it. */
  finished(): RunRecord[];
  /**
   * Takes a shard for this worker: from now on only this worker claims in it. Null if it is done, another live worker
   * has it, or the run is not running. Rows that a dead worker left claimed in it become in doubt (`crash`).
   */
  take(run: RunRecord, number: number, worker: WorkerFacts, nowMs: number): Shard | null;
  /** The shard is this worker's at this moment. In the transaction of a claim. */
  holds(list: number, number: number, id: string): boolean;
  /**
   * Ends a shard in which no row is pending or claimed any more. False if one is, or if another worker has the shard.
   *
   * @param passed - rows that are still pending are not on the list any more
   */
  finish(run: RunRecord, number: number, id: string, passed?: boolean): boolean;
  /** Shards that this worker had, for others to take. */
  giveBack(run: RunRecord, id: string, nowMs: number): number[];
  /**
   * Reopens the shards of dead workers, whose claims are in doubt then, so that they are offered again. With `drained`
   * (the queue is empty), also shards that were not offered for some time: the worker that was about to take them died.
   */
  reopen(run: RunRecord, drained: boolean, nowMs: number): number[];
  /** Shards that are not done. */
  left(run: RunRecord): number;
  /** What all workers did in this start, and how long requests took. */
  sum(run: RunRecord): { readonly share: Share; readonly latencies: readonly string[] };

  /** Ends the run: the next claim of every worker is refused. An earlier end is not overwritten. */
  end(run: RunRecord, state: 'halted' | 'interrupted', halt: Halt | null): void;
  /** Takes all shards away, of a start that is over. */
  callBack(run: RunRecord): void;
  /** Whether another live worker has requests in flight, or claims. */
  isWorkedOn(run: Pick<RunRecord, 'list'>, id: string): boolean;
}
