import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { problem, refuse } from '../errors.ts';
import type { WorkerFacts } from '../ledger/worker-store.ts';
import { durationMs } from '../util/units.ts';

/** Whoever says nothing for so long is taken for dead. Longer than a commit takes that others keep waiting, as a rule. */
const LEASE_MS = 8000;
/** A worker speaks four times a second. */
const LEAST_MS = 1000;

/**
 * This process as a worker.
 *
 * @throws HandbillError (exit 2): HANDBILL_LEASE is no time
 */
export function thisWorker(env: Readonly<Record<string, string | undefined>>): WorkerFacts {
  const said = env['HANDBILL_LEASE'];
  const leaseMs = said === undefined || said === '' ? LEASE_MS : durationMs(said);
  if (leaseMs === null || leaseMs < LEAST_MS) {
    throw refuse(problem('usage', `HANDBILL_LEASE is no time: ${said}.`, { hint: 'Write it as 8s; 1s is the least.' }));
  }
  return { id: randomUUID(), host: hostname(), pid: process.pid, leaseMs };
}
