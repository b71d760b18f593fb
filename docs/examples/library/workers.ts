import { HandbillError, listWorkers, runWorker } from 'handbill';

// With HANDBILL_LEDGER=postgres://... it works on what others send with `workers: true`, until there is nothing to do.
try {
  await runWorker({ environment: 'sandbox', idleMs: 60_000, log: console.log });
  for (const { host, pid, run } of await listWorkers()) console.log(host, pid, run?.run);
} catch (error) {
  if (error instanceof HandbillError) console.log(error.exit, error.message);
}

/* prints
2 Workers need a shared ledger; this one is a file.
*/
