import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs one transaction of many, then leaves the ledger to other processes for half as long as it took. SQLite has no
 * queue: a waiting process only tries again every 100 ms, and would never get a ledger that is locked again at once.
 */
export async function paced<T>(transaction: () => T): Promise<T> {
  const began = performance.now();
  const done = transaction();
  await sleep((performance.now() - began) / 2);
  return done;
}
