import { HandbillError } from '../errors.ts';
import { isPostgres } from '../util/ledger-address.ts';
import type { Ledger } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import { openExistingLedger } from './open.ts';

/** For commands that need no ledger: ignores one that cannot be read, and connects to no server. */
export function quietLedger(path: string, nowMs: number): Ledger | null {
  if (isPostgres(path)) return null;
  try {
    return openExistingLedger(path, { nowMs, leaveNothing: true });
  } catch (error) {
    if (error instanceof HandbillError || error instanceof LedgerError) return null;
    throw error;
  }
}
