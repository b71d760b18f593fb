import type { Ledger } from '../ledger/ledger.ts';
import type { RunIdentity } from '../ledger/records.ts';
import { TIMERS, type Timers } from './timers.ts';

const LOOK_MS = 100;

/**
 * Takes a run away from workers who go on with it although its `send` has died: they finish what is in flight, and claim
 * nothing more. Waits for those who are alive; whoever is not heard of for his lease left doubts. Under the run's lock.
 */
export async function callWorkersBack(
  ledger: Pick<Ledger, 'findRun' | 'workers'>,
  identity: RunIdentity,
  { sleep }: Pick<Timers, 'sleep'> = TIMERS,
): Promise<void> {
  const { workers } = ledger;
  const run = workers === null ? null : ledger.findRun(identity);
  if (workers === null || run === null) return;
  if (workers.left(run) > 0) workers.callBack(run);
  while (workers.isWorkedOn(run, NOBODY)) await sleep(LOOK_MS, new AbortController().signal);
}

/** No worker is called so. */
const NOBODY = '';
