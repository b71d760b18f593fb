import { existsSync } from 'node:fs';
import { HandbillError } from '../errors.ts';
import { isPostgres } from '../util/ledger-address.ts';
import type { Ledger } from './ledger.ts';

/** For commands that need no ledger: ignores one that cannot be read, and connects to no server. */
export async function quietLedger(path: string, nowMs: number): Promise<Ledger | null> {
  if (isPostgres(path) || !existsSync(path)) return null;
  // A fifth of the code that such a command would load.
  const { openExistingLedger } = await import('./open.ts');
  try {
    return openExistingLedger(path, { nowMs, leaveNothing: true });
  } catch (error) {
    if (error instanceof HandbillError) return null;
    throw error;
  }
}
