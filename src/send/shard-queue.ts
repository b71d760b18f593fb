import process from 'node:process';
import { PgBoss } from 'pg-boss';
import { problem, thrownText } from '../errors.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { serverOptions } from '../ledger/postgres/server.ts';

/** A start of a run: each has its own queue. */
interface QueuedRun {
  readonly number: number;
  readonly starts: number;
}

/**
 * Hands the number of each shard to one worker. The claim (WorkerStore) decides who may send, so a wrong hand-out does
 * no harm, and a worker that dies with a number leaves the shard open in the ledger: another process offers it again.
 * Each call throws its errors as failures of the ledger.
 */
export interface ShardQueue {
  /** @param urgent - before waiting shards: a worker had begun with them */
  offer(run: QueuedRun, shards: readonly number[], urgent?: boolean): Promise<void>;
  /** Undefined: no number is left, or the run has no queue. */
  take(run: QueuedRun): Promise<number | undefined>;
  drop(run: QueuedRun): Promise<void>;
  close(): Promise<void>;
}

/** The schema for pg-boss, apart from the ledger's. A user who runs pg-boss too keeps separate tables. */
const SCHEMA = 'handbill_queue';
const CONNECT_MS = 10_000;

/** The ledger knows which worker has a shard and whether it lives: pg-boss need not watch it. */
const QUEUE = { policy: 'standard', retryLimit: 0 } as const;

/**
 * The queue in the database of a shared ledger, by pg-boss.
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
    throw failure(error);
  }
  const guarded =
    <A extends readonly unknown[], T>(call: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      try {
        return await call(...args);
      } catch (error) {
        throw failure(error);
      }
    };
  return {
    offer: guarded(async (run, shards, urgent = false) => {
      await boss.createQueue(nameOf(run), QUEUE);
      const priority = urgent ? 1 : 0;
      if (shards.length > 0)
        await boss.insert(
          nameOf(run),
          shards.map((shard) => ({ data: { shard }, priority })),
        );
    }),
    take: guarded(async (run) => {
      if ((await boss.getQueue(nameOf(run))) === null) return undefined;
      const [job] = await boss.fetch<{ readonly shard: number }>(nameOf(run));
      return job?.data.shard;
    }),
    drop: guarded((run) => boss.deleteQueue(nameOf(run))),
    close: guarded(close),
  };
}

function nameOf({ number, starts }: QueuedRun): string {
  return `run-${number}-${starts}`;
}

function failure(error: unknown): LedgerError {
  const why = thrownText(error);
  const hint = 'Look whether the server can be reached, then run the command again: it continues where it stopped.';
  return new LedgerError('io', problem('ledger-write', `The queue of the shared ledger fails: ${why}.`, { hint }));
}
