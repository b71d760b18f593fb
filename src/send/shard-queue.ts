import process from 'node:process';
import { PgBoss } from 'pg-boss';
import { serverOptions } from '../ledger/postgres/server.ts';

export interface Offer {
  readonly shard: number;
  readonly id: string;
}

/** A start of a run: each has its own queue. */
interface QueuedRun {
  readonly number: number;
  readonly starts: number;
}

/** Hands each shard to one worker. The claim (WorkerStore) decides who may send, so a wrong hand-out does no harm. */
export interface ShardQueue {
  /** @param urgent - before waiting shards: a worker had begun with them */
  offer(run: QueuedRun, shards: readonly number[], urgent?: boolean): Promise<void>;
  /** Null: none is left, or the run has no queue. */
  take(run: QueuedRun): Promise<Offer | null>;
  done(run: QueuedRun, offer: Offer): Promise<void>;
  drop(run: QueuedRun): Promise<void>;
  close(): Promise<void>;
}

/** The schema for pg-boss, apart from the ledger's. A user who runs pg-boss too keeps separate tables. */
const SCHEMA = 'handbill_queue';
const CONNECT_MS = 10_000;

/** The ledger knows which worker has a shard and whether it lives: pg-boss need not watch it. */
const QUEUE = { policy: 'standard', retryLimit: 0, expireInSeconds: 3600 } as const;

interface Job {
  readonly shard: number;
}

/**
 * The queue of a shared ledger's server, by pg-boss. Each call throws its errors.
 * @param address - of the ledger; it may hold a password
 */
export async function openQueue(address: string): Promise<ShardQueue> {
  const boss = new PgBoss({
    ...serverOptions(address, process.env),
    connectionTimeoutMillis: CONNECT_MS,
    schema: SCHEMA,
    application_name: 'handbill',
    max: 1,
    supervise: false,
    schedule: false,
  });
  // The next call reports it.
  boss.on('error', () => undefined);
  const close = (): Promise<void> => boss.stop({ graceful: false });
  try {
    await boss.start();
  } catch (error) {
    // Open connections would keep the process alive.
    await close().catch(() => undefined);
    throw error;
  }
  return {
    async offer(run, shards, urgent = false) {
      const name = nameOf(run);
      await boss.createQueue(name, QUEUE);
      const priority = urgent ? 1 : 0;
      const jobs = shards.map((shard) => ({ data: { shard } satisfies Job, priority }));
      if (jobs.length > 0) await boss.insert(name, jobs);
    },
    async take(run): Promise<Offer | null> {
      if ((await boss.getQueue(nameOf(run))) === null) return null;
      const [job] = await boss.fetch<Job>(nameOf(run));
      return job === undefined ? null : { ...job.data, id: job.id };
    },
    async done(run, offer) {
      await boss.complete(nameOf(run), offer.id);
    },
    async drop(run) {
      await boss.deleteQueue(nameOf(run));
    },
    close,
  };
}

function nameOf({ number, starts }: QueuedRun): string {
  return `run-${number}-${starts}`;
}
