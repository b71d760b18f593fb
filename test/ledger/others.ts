import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Cap, LoadRow, RunIdentity, RunRecord } from '../../src/ledger/records.ts';
import { HELLO, NOON } from './values.ts';

export interface OtherOptions extends Partial<RunIdentity> {
  readonly isCounted?: boolean;
  readonly nowMs?: number;
}

/** A run of another campaign, started; default: `other`, `once`, in the environment of `HELLO`. */
export function givenOther(ledger: Ledger, list: readonly LoadRow[], options: OtherOptions = {}): RunRecord {
  const { isCounted = true, nowMs = NOON, ...identity } = options;
  const draft = ledger.beginLoad({ ...HELLO, campaign: 'other', ...identity }, { channel: 'sms', nowMs, isCounted });
  ledger.load(draft, list);
  const run = ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs });
  return ledger.start(run, nowMs).run;
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
