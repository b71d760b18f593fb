import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Does one transaction of many, and leaves the ledger to others for half as long as it took. SQLite has no queue: who
 * waits for it only looks again every 100 ms, and would wait in vain for somebody who takes it again at once.
 */
export async function paced<T>(transaction: () => T): Promise<T> {
  const began = performance.now();
  const done = transaction();
  await sleep((performance.now() - began) / 2);
  return done;
}
