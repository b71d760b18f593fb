import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Cap, LoadRow, RunRecord } from '../../src/ledger/records.ts';
import { type RunFacts, startedRun } from './given.ts';
import { NOON } from './values.ts';

/** A run of another campaign, started; default: `other`, `once`, in the environment of `HELLO`. */
export function givenOther(ledger: Ledger, list: readonly LoadRow[], options: RunFacts = {}): RunRecord {
  return startedRun(ledger, list, { campaign: 'other', ...options });
}

/** Ends a start, so that no process is at the run. */
export function ended(ledger: Ledger, run: RunRecord, nowMs = NOON): RunRecord {
  return ledger.finish(run, { state: 'partial', halt: null, figures: null, nowMs });
}

export function capOf(max: number, sinceMs = 0): Cap {
  return { max, sinceMs };
}

/** Two numbers that the index of the contact history cannot tell apart while it is small. */
export const SAME_HASHES = ['+447700821873', '+447704171471'] as const;
