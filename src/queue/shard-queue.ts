/** A shard that somebody was handed. */
export interface Offer {
  readonly shard: number;
  /** How the queue calls it. */
  readonly id: string;
}

/** A start of a run: each has a queue of its own. */
export interface QueuedRun {
  readonly number: number;
  readonly starts: number;
}

/**
 * Hands the shards of a run out to workers, each to one of them. It only distributes: who may send is decided by the claim
 * (WorkerStore), so that a shard that is handed out twice, or to somebody who has died, does no harm.
 */
export interface ShardQueue {
  /** @param urgent - before those that wait already: somebody had begun with them */
  offer(run: QueuedRun, shards: readonly number[], urgent?: boolean): Promise<void>;
  /** The next one; null: none is left, or the run has no queue. */
  take(run: QueuedRun): Promise<Offer | null>;
  /** It is somebody's, or needs nobody any more. */
  done(run: QueuedRun, offer: Offer): Promise<void>;
  /** Of a start that is over. */
  drop(run: QueuedRun): Promise<void>;
  close(): Promise<void>;
}
